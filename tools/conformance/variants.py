"""The scripts of a packetdrill checkout, and the three ways in which each is run."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

SCRIPTS = Path("gtests/net/mptcp")
PROGRAM = Path("gtests/net/packetdrill/packetdrill")

NARROW = (
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1/24",
)
WIDE = (
    "--mtu=1520",
    "--local_ip=fd3d:0a0b:17d6::1",
    "--gateway_ip=fd3d:0a0b:17d6:8888::1",
    "--remote_ip=fd3d:fa7b:d17d::1/32",
)
# The cookie is what Linux makes of the addresses and of the key in common/defaults.sh.
MODES: dict[str, tuple[str, ...]] = {
    "ipv4": ("--ip_version=ipv4", *NARROW, "-D", "TFO_COOKIE=3021b9d889017eeb"),
    "ipv4-mapped-v6": ("--ip_version=ipv4-mapped-ipv6", *NARROW, "-D", "TFO_COOKIE=3021b9d889017eeb"),
    "ipv6": ("--ip_version=ipv6", *WIDE, "-D", "TFO_COOKIE=c1d1e9742a47a9bc"),
}


@dataclass(frozen=True, order=True)
class Variant:
    """One script with one kind of addresses."""

    script: str
    mode: str

    @property
    def directory(self) -> str:
        """The directory of the script, as the table names it."""
        return self.script.split("/")[0]

    def __str__(self) -> str:
        """Script and mode, as the explanations name them."""
        return f"{self.script} ({self.mode})"

    @property
    def local(self) -> str:
        """The address and the MTU of the host under test, as `--so_flags` takes them."""
        return "local=fd3d:a0b:17d6::1,mtu=1520" if self.mode == "ipv6" else "local=192.168.0.1,mtu=1500"


def find(checkout: Path, pattern: str) -> list[Variant]:
    """All variants whose script matches a pattern; one for IPv4 only ends in `v4`, one for IPv6 only in `v6`."""
    found = []
    for path in sorted((checkout / SCRIPTS).rglob("*.pkt")):
        script = path.relative_to(checkout / SCRIPTS).as_posix()
        if not fnmatch(script, pattern) and not fnmatch(path.name, pattern) and not fnmatch(path.stem, pattern):
            continue
        for mode in MODES:
            excluded = "v6" if mode.startswith("ipv4") else "v4"
            if not path.stem.endswith(excluded):
                found.append(Variant(script, mode))
    return found
