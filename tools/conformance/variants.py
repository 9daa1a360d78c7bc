"""The suites of a packetdrill checkout, their scripts, and the three modes of each script."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

SUITES = {"mptcp": Path("gtests/net/mptcp"), "tcp": Path("gtests/net/tcp")}
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
CONTROL_V4 = ("-D", "CMSG_LEVEL_IP=SOL_IP", "-D", "CMSG_TYPE_RECVERR=IP_RECVERR")
CONTROL_V6 = ("-D", "CMSG_LEVEL_IP=SOL_IPV6", "-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR")
# Linux computes this cookie from the addresses and the key in common/defaults.sh.
COOKIE_V4 = ("-D", "TFO_COOKIE=3021b9d889017eeb", "-D", "CODE=host_unreachable")
COOKIE_V6 = ("-D", "TFO_COOKIE=c1d1e9742a47a9bc", "-D", "CODE=address_unreachable")
MODES: dict[str, tuple[str, ...]] = {
    "ipv4": ("--ip_version=ipv4", *NARROW, *COOKIE_V4, *CONTROL_V4),
    "ipv4-mapped-v6": ("--ip_version=ipv4-mapped-ipv6", *NARROW, *COOKIE_V4, *CONTROL_V6),
    "ipv6": ("--ip_version=ipv6", *WIDE, *COOKIE_V6, *CONTROL_V6),
}


@dataclass(frozen=True, order=True)
class Variant:
    """One script with one type of addresses."""

    script: str
    mode: str
    suite: str = "mptcp"

    @property
    def path(self) -> Path:
        """The path of the script in the checkout."""
        return SUITES[self.suite] / self.script

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


def find(checkout: Path, pattern: str, suite: str) -> list[Variant]:
    """All matching variants of a suite. A name in `v4` limits a script to IPv4, a name in `v6` to IPv6."""
    found = []
    scripts = checkout / SUITES[suite]
    for path in sorted(scripts.rglob("*.pkt")):
        script = path.relative_to(scripts).as_posix()
        if not fnmatch(script, pattern) and not fnmatch(path.name, pattern) and not fnmatch(path.stem, pattern):
            continue
        for mode in MODES:
            excluded = "v6" if mode.startswith("ipv4") else "v4"
            if not path.stem.endswith(excluded):
                found.append(Variant(script, mode, suite))
    return found
