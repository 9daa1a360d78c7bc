"""What the kernel says of this machine: interfaces, endpoints, limits, routes, counters.

Owns the questions (`ip -j`, /proc) and how their answers are read. Judges nothing and changes nothing.
"""

from __future__ import annotations

import ipaddress
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mptcplab.host.netstat import counters

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Interfaced = ipaddress.IPv4Interface | ipaddress.IPv6Interface

_NOBODY: tuple[Address, ...] = tuple(
    map(ipaddress.ip_address, ("192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"))
)
"""Addresses for documentation (RFC 5737, RFC 3849, RFC 9637): where a route to them leads, a default route leads."""
_BROAD = 3
"""Routes of so short a prefix stand for default ones: the halves 0.0.0.0/1 and 128.0.0.0/1 of a VPN, 2000::/3."""
_SYS = Path("/proc/sys")


class CannotLook(RuntimeError):
    """The kernel cannot be asked; the message says what is missing."""


@dataclass(frozen=True)
class Interface:
    """A network device that could carry a path."""

    name: str
    up: bool
    """It is on, and its line is there."""
    mtu: int
    direct: bool
    """It has one other end, which needs no gateway."""
    addresses: tuple[Interfaced, ...] = ()
    """Those that reach further than the link."""
    every: frozenset[Address] = frozenset()
    """All, also those of the link and those that are deprecated."""
    kind: str = ""
    """What it is where it is seldom a way to a peer: `loopback`, `part` of a bond, `bridge`."""


@dataclass(frozen=True)
class Endpoint:
    """An address that the path manager was told of."""

    number: int
    address: Address
    device: str | None
    flags: frozenset[str]


@dataclass(frozen=True)
class Way:
    """Where packets would leave; `device` is None where none would."""

    device: str | None
    gateway: str | None = None
    mtu: int | None = None
    """What a route or the cache says, where it says something."""


@dataclass(frozen=True)
class Machine:
    """A look at this machine, in the network namespace of this process."""

    speaks: bool
    """The kernel has MPTCP."""
    interfaces: tuple[Interface, ...]
    endpoints: tuple[Endpoint, ...] = ()
    subflows: int = 0
    accepted: int = 0
    """The limits of the path manager: further subflows, and addresses of the peer that it uses."""
    routes: tuple[dict[str, Any], ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    counters: dict[str, int] = field(default_factory=dict)
    """Those of MPTcpExt in /proc/net/netstat."""

    @classmethod
    def read(cls) -> Machine:
        """Looks once."""
        if sys.platform != "linux":
            raise CannotLook(f"this looks at Linux's Multipath TCP; this is {sys.platform}")
        if shutil.which("ip") is None:
            raise CannotLook("ip is not installed: install iproute2")
        speaks = (_SYS / "net/mptcp/enabled").exists()
        limits = _said("mptcp", "limits", "show") if speaks else ""
        numbers = {key: int(value) for key, value in re.findall(r"(\w+)\"?:? +(\d+)", limits)}
        return cls(
            speaks=speaks,
            interfaces=tuple(_interfaces()),
            endpoints=tuple(map(_endpoint, _rows("mptcp", "endpoint", "show"))) if speaks else (),
            subflows=numbers.get("subflows", 0),
            accepted=numbers.get("add_addr_accepted", 0),
            routes=tuple(_both("route", "show", "table", "all")),
            rules=tuple(_both("rule", "show")),
            counters=_counters(),
        )

    def usable(self) -> list[Interface]:
        """Interfaces that are up, have an address and may be a way to a peer."""
        return [one for one in self.interfaces if one.up and one.addresses and self._carries(one)]

    def _carries(self, one: Interface) -> bool:
        """Bridges of containers and virtual machines are no way to a peer; one that a default route uses is."""
        if one.kind != "bridge":
            return not one.kind
        return any(self.gateways(one.name, family) for family in (4, 6)) or any(
            endpoint.address in one.every and endpoint.device in (None, one.name) for endpoint in self.endpoints
        )

    def holder(self, address: Address, device: str | None = None) -> Interface | None:
        """The interface that has an address; `device`, if several have it."""
        found = [one for one in self.interfaces if address in one.every]
        # Of others, those that may carry it go first, and those that are up.
        found.sort(key=lambda one: (one.name != device, bool(one.kind), not one.up))
        return found[0] if found else None

    def nobody(self, family: int) -> Address | None:
        """An address that default routes lead to, and no other route; None where all have routes of their own."""
        own = [ipaddress.ip_network(one["dst"]) for one in self.routes if one.get("dst", "default") != "default"]
        own = [one for one in own if one.prefixlen > _BROAD]
        return next((one for one in _NOBODY if one.version == family and not any(one in net for net in own)), None)

    def gateways(self, device: str, family: int) -> list[str | None]:
        """Gateways of default routes through a device, in any table, the best first; None where a route names none."""
        found = [one for one in self._defaults if one.get("dev") == device and one["family"] == family]
        return [one.get("gateway") for one in sorted(found, key=lambda one: int(one.get("metric", 0)))]

    def has_default(self, family: int) -> bool:
        """Whether any default route of a family is there."""
        return any(one["family"] == family for one in self._defaults)

    @cached_property
    def _defaults(self) -> list[dict[str, Any]]:
        return [one for one in self.routes if one.get("dst") == "default" and one.get("type", "unicast") == "unicast"]


def sysctl(key: str) -> str | None:
    """The value of a sysctl such as `net.mptcp.enabled`; None where there is none, or none for this user."""
    try:
        return sysctl_file(key).read_text().strip()
    except OSError:
        return None


def sysctl_file(key: str) -> Path:
    """Where a sysctl is. A dot in the name of a device is written as a slash, as sysctl(8) does."""
    return _SYS / "/".join(part.replace("/", ".") for part in key.split("."))


def way(to: Address, source: Address | None = None, device: str | None = None) -> Way:
    """Where a packet would leave, with this source or bound to this device."""
    words = ["route", "get", str(to)]
    # IPv6 keeps to a device only where it is not told a source.
    words += [] if source is None or (device and to.version == 6) else ["from", str(source)]
    words += [] if device is None else ["oif", device]
    try:
        found = next(iter(_rows(f"-{to.version}", *words)), {})
    except CannotLook:
        return Way(None)
    if found.get("type", "unicast") != "unicast":
        return Way(None)
    mtu = next((int(metric["mtu"]) for metric in found.get("metrics", []) if "mtu" in metric), None)
    return Way(found.get("dev"), found.get("gateway"), mtu)


def _interfaces() -> Iterable[Interface]:
    for row in _rows("-d", "addr", "show"):
        flags, name, link = set(row.get("flags", [])), row["ifname"], row.get("linkinfo", {})
        kind = "loopback" if "LOOPBACK" in flags else "part" if "SLAVE" in flags else ""
        kind = "bridge" if not kind and link.get("info_kind") == "bridge" else kind
        every = [one for one in row.get("addr_info", []) if "local" in one]
        every = [one for one in every if not one.get("tentative") and not one.get("dadfailed")]
        own = [one for one in every if one.get("scope") == "global" and not one.get("deprecated")]
        yield Interface(
            name=name,
            up={"UP", "LOWER_UP"} <= flags,
            mtu=int(row.get("mtu", 0)),
            direct="BROADCAST" not in flags,
            addresses=tuple(ipaddress.ip_interface(f"{one['local']}/{one['prefixlen']}") for one in own),
            every=frozenset(ipaddress.ip_address(one["local"]) for one in every),
            kind=kind,
        )


def _endpoint(row: dict[str, Any]) -> Endpoint:
    # `rawflags` are those that this iproute2 has no name for.
    flags = frozenset(key for key, value in row.items() if value is True or key == "rawflags")
    return Endpoint(int(row["id"]), ipaddress.ip_address(row["address"]), row.get("dev"), flags)


def _counters() -> dict[str, int]:
    try:
        text = Path("/proc/self/net/netstat").read_text()
    except OSError:
        return {}
    return counters(text).get("MPTcpExt", {})


def _both(*words: str) -> Iterable[dict[str, Any]]:
    for family in (4, 6):
        yield from ({**row, "family": family} for row in _rows(f"-{family}", *words))


def _rows(*words: str) -> list[dict[str, Any]]:
    said = _said(*words).strip()
    try:
        rows: list[dict[str, Any]] = json.loads(said) if said else []
    except ValueError:
        raise CannotLook(f"ip {' '.join(words)}: this is not JSON; a newer iproute2 is needed") from None
    # iproute2 puts empty objects where it leaves something out.
    return [row for row in rows if row]


def _said(*words: str) -> str:
    command = ["ip", "-j", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        raise CannotLook(f"{' '.join(command)}: no answer") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise CannotLook(f"{' '.join(command)}: {said[0] if said else done.returncode}")
    return done.stdout
