"""Parses texts of a Linux host: `ip mptcp`, `nstat`, /proc/net/netstat and `ss`, one or several in a file.

Owns the formats of these texts. `host_facts` draws conclusions from the values. Texts are recognised by their lines, so
that a file may contain any of them, with or without the commands that printed them.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mptcplab.host.netstat import counters as proc_counters

MOST_BYTES = 16 << 20
"""Maximum size of a text; `ss` on a busy host prints some megabytes."""

_LIMITS = re.compile(r"add_addr_accepted (\d{1,9}) subflows (\d{1,9})\b")
_ENDPOINT = re.compile(r"(\S+)(?: port \d{1,5})? id (\d{1,3})\b(.*)")
_COUNTER = re.compile(r"([A-Z][A-Za-z0-9]+)\s+(\d{1,20})(?:\s+[\d.]+)?")
_SOCKET = re.compile(
    r"(?:(?P<type>tcp|mptcp)\s+)?(?P<state>ESTAB|LISTEN|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|CLOSE-WAIT|LAST-ACK|TIME-WAIT"
    r"|CLOSING|UNCONN|CLOSED)\s+\d+\s+\d+\s+(?P<local>\S+)\s+(?P<remote>\S+)"
)
_SOCKET_TABLE = re.compile(r"(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\b")
_COMMAND = re.compile(r"(?:^|[#$%>]\s*)(?:sudo )?(ip (?:-[^\s#$%>]+ ){0,4}mptcp (?:endpoint|limits)|nstat|ss)\b")
_GROUPS = ("Tcp", "TcpExt", "MPTcpExt", "Ip", "IpExt")
"""Groups of counters that are used."""


@dataclass(frozen=True)
class Endpoint:
    """A line of `ip mptcp endpoint show`."""

    address: str
    number: int
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Socket:
    """A socket of `ss`."""

    state: str
    local: str
    remote: str
    is_mptcp: bool
    """Whether it is an MPTCP connection, or a subflow of one."""
    is_fallback: bool
    """Whether `ss` shows it as fallen back to TCP."""


@dataclass
class HostText:
    """The values in one file; None where the file has no such text."""

    name: str
    subflow_limit: int | None = None
    add_addr_accepted: int | None = None
    endpoints: list[Endpoint] | None = None
    counters: dict[str, int] | None = None
    """Counters by the names of `nstat`, such as `MPTcpExtBlackhole`."""
    sockets: list[Socket] | None = None
    commands: set[str] = field(default_factory=set)
    """Commands that the text itself names, such as `ip mptcp endpoint`."""

    @property
    def types(self) -> set[str]:
        """The texts that were found."""
        found = {
            "limits": self.subflow_limit,
            "endpoints": self.endpoints,
            "counters": self.counters,
            "sockets": self.sockets,
        }
        return {name for name, value in found.items() if value is not None}

    @property
    def addresses(self) -> set[str]:
        """The addresses of this host, as far as the text has them."""
        own = {one.address for one in self.endpoints or ()}
        return own | {_address(one.local) for one in self.sockets or () if one.state != "LISTEN"}


def parse(text: str, name: str) -> HostText:
    """The values of a text; `types` is empty if nothing was recognised."""
    found = HostText(name)
    if text.lstrip()[:1] in {"{", "["}:
        _parse_json(text, found)
        return found
    _parse_lines(text, found)
    proc = {group + label: value for group, pairs in proc_counters(text).items() for label, value in pairs.items()}
    if proc:
        found.counters = {**(found.counters or {}), **_used(proc)}
    if found.endpoints is None and "ip mptcp endpoint" in found.commands:
        found.endpoints = []
    if found.sockets is None and "ss" in found.commands:
        found.sockets = []
    if not text.strip() and "endpoint" in name.lower():
        # `ip mptcp endpoint show` prints nothing if there are no endpoints.
        found.endpoints = []
    return found


def _parse_lines(text: str, found: HostText) -> None:
    """Reads line by line; details of `ss` are in the line after the socket, or in the same one (`ss -O`)."""
    counters: dict[str, int] = {}
    sockets: list[Socket] = []
    endpoints: list[Endpoint] = []
    for line in text.splitlines():
        stripped = line.strip()
        if line[:1] in {"\t", " "} and sockets:
            sockets[-1] = _with_details(sockets[-1], stripped)
        elif match := _LIMITS.search(stripped):
            found.add_addr_accepted, found.subflow_limit = int(match[1]), int(match[2])
        elif match := _SOCKET.match(stripped):
            kind = match["type"] == "mptcp"
            one = Socket(match["state"], match["local"], match["remote"], kind, is_fallback=False)
            sockets.append(_with_details(one, stripped[match.end() :]))
        elif match := _COUNTER.fullmatch(stripped):
            counters[match[1]] = int(match[2])
        elif (match := _ENDPOINT.fullmatch(stripped)) and (address := _valid(match[1])):
            endpoints.append(Endpoint(address, int(match[2]), _flags(match[3])))
        elif _SOCKET_TABLE.match(stripped):
            found.commands.add("ss")
        elif match := _COMMAND.search(stripped):
            words = match[1].split()
            found.commands.add(f"ip mptcp {words[-1]}" if words[0] == "ip" else words[0])
    if counters:
        found.counters = _used(counters)
    if sockets:
        found.sockets = sockets
    if endpoints:
        found.endpoints = endpoints


def _with_details(socket: Socket, details: str) -> Socket:
    has_ulp = "tcp-ulp-mptcp" in details
    is_mptcp = socket.is_mptcp or has_ulp or "subflows_max:" in details
    words = details.split()
    return Socket(socket.state, socket.local, socket.remote, is_mptcp, socket.is_fallback or "fallback" in words)


def _flags(words: str) -> tuple[str, ...]:
    """The flags in the rest of a line; the name of the device follows `dev`."""
    return tuple(re.sub(r"\bdev \S+", "", words).split())


def _valid(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def _address(end: str) -> str:
    """The address of an end in `ss`: 10.0.0.1%eth0:80, [2001:db8::1]:80."""
    host = end.rpartition(":")[0].strip("[]").partition("%")[0].strip("[]")
    return _valid(host.removeprefix("::ffff:")) or host


def _used(counters: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in counters.items() if name.startswith(_GROUPS)}


def _parse_json(text: str, found: HostText) -> None:
    """`nstat --json`, `ip -j mptcp limits show` and `ip -j mptcp endpoint show`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    endpoints: list[Endpoint] = []
    counters: dict[str, int] = {}
    for one in _tables(value):
        limits = one.get("add_addr_accepted"), one.get("subflows")
        if all(_is_count(limit) for limit in limits):
            found.add_addr_accepted, found.subflow_limit = limits
        elif isinstance(address := one.get("address"), str) and _is_count(one.get("id")) and (own := _valid(address)):
            flags = one.get("flags")
            named = [str(flag) for flag in flags] if isinstance(flags, list) else []
            named += [key for key, is_set in one.items() if is_set is True]
            endpoints.append(Endpoint(own, one["id"], tuple(named)))
        else:
            counters |= _used({key: number for key, number in one.items() if _is_count(number)})
    found.endpoints, found.counters = endpoints or None, counters or None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def _tables(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a JSON document: itself, the entries of a list, and the values of an object such as `kernel`."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield one
            yield from (inner for inner in one.values() if isinstance(inner, dict))
