"""Reads the kernel's state of this machine: interfaces, endpoints, limits, routes, counters.

All checks and the set-up of `mptcplab host` use it. Owns the queries (`ip -j`, /proc) and their parsing.
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
"""Documentation addresses (RFC 5737, RFC 3849, RFC 9637): a route to them is a default route."""
_BROAD = 3
"""Maximum prefix length of routes that count as default: the halves 0.0.0.0/1 and 128.0.0.0/1 of a VPN, 2000::/3."""
_SYS = Path("/proc/sys")


class CannotLook(RuntimeError):
    """The kernel cannot be queried; the message names the missing part."""


@dataclass(frozen=True)
class Interface:
    """A network device that could carry a path."""

    name: str
    up: bool
    """Whether the device is up and has a carrier."""
    mtu: int
    direct: bool
    """A point-to-point link, which needs no gateway."""
    addresses: tuple[Interfaced, ...] = ()
    """Addresses with more than link scope."""
    every: frozenset[Address] = frozenset()
    """All addresses, including link-local and deprecated ones."""
    kind: str = ""
    """The type of a device that is rarely a path to a peer: `loopback`, `part` of a bond, `bridge`."""


@dataclass(frozen=True)
class Endpoint:
    """An endpoint of the path manager."""

    number: int
    address: Address
    device: str | None
    flags: frozenset[str]


@dataclass(frozen=True)
class Route:
    """The route of a packet; `device` is None without one."""

    device: str | None
    gateway: str | None = None
    mtu: int | None = None
    """The MTU of the route or the route cache, if it is set."""


@dataclass(frozen=True)
class Machine:
    """The state of this machine, in the network namespace of this process."""

    speaks: bool
    """Whether the kernel has MPTCP."""
    interfaces: tuple[Interface, ...]
    endpoints: tuple[Endpoint, ...] = ()
    subflows: int = 0
    accepted: int = 0
    """The limits of the path manager: further subflows, and accepted announced addresses."""
    routes: tuple[dict[str, Any], ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    counters: dict[str, int] = field(default_factory=dict)
    """The MPTcpExt counters in /proc/net/netstat."""

    @classmethod
    def read(cls) -> Machine:
        """Reads the state once."""
        if sys.platform != "linux":
            raise CannotLook(f"this command needs Linux's Multipath TCP; this is {sys.platform}")
        if shutil.which("ip") is None:
            raise CannotLook("ip is not installed: install iproute2")
        speaks = (_SYS / "net/mptcp/enabled").exists()
        limits = _query("mptcp", "limits", "show") if speaks else ""
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
        """Interfaces that are up, have an address and may lead to a peer."""
        return [one for one in self.interfaces if one.up and one.addresses and self._carries(one)]

    def _carries(self, one: Interface) -> bool:
        """Whether a device may lead to a peer. Bridges of containers and virtual machines do not, unless a default
        route or an endpoint uses them.
        """
        if one.kind != "bridge":
            return not one.kind
        return any(self.gateways(one.name, family) for family in (4, 6)) or any(
            endpoint.address in one.every and endpoint.device in (None, one.name) for endpoint in self.endpoints
        )

    def holder(self, address: Address, device: str | None = None) -> Interface | None:
        """The interface that has an address, preferably `device`; None if no interface has it."""
        found = [one for one in self.interfaces if address in one.every]
        # After `device`, devices without a `kind` come first, and among equal ones those that are up.
        found.sort(key=lambda one: (one.name != device, bool(one.kind), not one.up))
        return found[0] if found else None

    def nobody(self, family: int) -> Address | None:
        """An address that only default routes match; None if all addresses have other routes."""
        own = [ipaddress.ip_network(one["dst"]) for one in self.routes if one.get("dst", "default") != "default"]
        own = [one for one in own if one.prefixlen > _BROAD]
        return next((one for one in _NOBODY if one.version == family and not any(one in net for net in own)), None)

    def gateways(self, device: str, family: int) -> list[str | None]:
        """Gateways of default routes through a device, in any table, the best first; None for a route without a
        gateway.
        """
        found = [one for one in self._defaults if one.get("dev") == device and one["family"] == family]
        return [one.get("gateway") for one in sorted(found, key=lambda one: int(one.get("metric", 0)))]

    def has_default(self, family: int) -> bool:
        """Whether a family has a default route."""
        return any(one["family"] == family for one in self._defaults)

    @cached_property
    def _defaults(self) -> list[dict[str, Any]]:
        return [one for one in self.routes if one.get("dst") == "default" and one.get("type", "unicast") == "unicast"]


def sysctl(key: str) -> str | None:
    """The value of a sysctl such as `net.mptcp.enabled`; None if it is missing or unreadable."""
    try:
        return sysctl_file(key).read_text().strip()
    except OSError:
        return None


def sysctl_file(key: str) -> Path:
    """The path of a sysctl. As in sysctl(8), a slash stands for a dot in a device name."""
    return _SYS / "/".join(part.replace("/", ".") for part in key.split("."))


def way(to: Address, source: Address | None = None, device: str | None = None) -> Route:
    """The route of a packet with this source, or bound to this device."""
    words = ["route", "get", str(to)]
    # IPv6 honours the device only without a source.
    words += [] if source is None or (device and to.version == 6) else ["from", str(source)]
    words += [] if device is None else ["oif", device]
    try:
        found = next(iter(_rows(f"-{to.version}", *words)), {})
    except CannotLook:
        return Route(None)
    if found.get("type", "unicast") != "unicast":
        return Route(None)
    mtu = next((int(metric["mtu"]) for metric in found.get("metrics", []) if "mtu" in metric), None)
    return Route(found.get("dev"), found.get("gateway"), mtu)


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
    # `rawflags` are flags that this iproute2 cannot name.
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
    message = _query(*words).strip()
    try:
        rows: list[dict[str, Any]] = json.loads(message) if message else []
    except ValueError:
        raise CannotLook(f"ip {' '.join(words)}: the output is not JSON; a newer iproute2 is needed") from None
    # iproute2 prints empty objects for omitted entries.
    return [row for row in rows if row]


def _query(*words: str) -> str:
    command = ["ip", "-j", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        raise CannotLook(f"{' '.join(command)}: no answer within 30 s") from None
    if done.returncode:
        message = done.stderr.strip().splitlines()
        raise CannotLook(f"{' '.join(command)}: {message[0] if message else done.returncode}")
    return done.stdout
