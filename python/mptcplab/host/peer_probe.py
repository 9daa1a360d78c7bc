"""Tests whether a peer answers echoes and MPTCP connections from each address (`mptcplab host check --peer`).

The tests find middleboxes and path MTU black holes, which the settings of this machine cannot show. Owns the packets, a
few dozen at most.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from shlex import quote

from mptcplab.host.findings import IPPROTO_MPTCP, Finding, note
from mptcplab.host.machine import Address, Machine
from mptcplab.host.routing import Source

_TRIES, _PATIENCE = 2, 0.7
_CONNECTING = 5.0
_SOON = 0.9
"""Timeout of an MPTCP connection in seconds: before the first retransmission (1 s), after which the kernel may suspect
a black hole.
"""
# linux/in.h, linux/in6.h
_IP_MTU_DISCOVER, _IPV6_MTU_DISCOVER, _PROBE, _IPV6_RECVERR = 10, 23, 3, 25
# linux/mptcp.h
_SOL_MPTCP, _MPTCP_INFO, _FLAG_FALLBACK = 284, 1, 1
_HEADERS = {4: 28, 6: 48}
_NUMBERS = itertools.count(1)


def echoes(sources: list[Source], peer: Address) -> Iterator[Finding]:
    """Whether the peer answers echoes from each address, also in packets of the interface's MTU."""
    own = [source for source in sources if source.own.version == peer.version]
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield note("echo", f"echoes of {peer} were skipped because they require root")
        return
    answers = {source: _echoed(source, peer, 84) for source in own}
    for source, answered in answers.items():
        where = f"{source.own.ip} ({source.interface.name})"
        if answered:
            yield from _long(source, peer, where)
        elif any(answers.values()):
            yield Finding(
                "peer-path",
                f"{peer} answers echoes from other addresses, but not from {where}, so this path carries no packets",
            )
    if own and not any(answers.values()):
        yield note("echo", f"{peer} answers no echo from any address: it is down, or ignores echoes")


def _long(source: Source, peer: Address, where: str) -> Iterator[Finding]:
    most = min(source.interface.mtu, 65_535)
    if most <= 84 or (answered := _echoed(source, peer, most)):
        return
    if answered is None:
        yield note(
            "route-mtu", f"packets of {most} bytes from {where} exceed a router's MTU, and the router reports this"
        )
        return
    least, beyond = 84, most
    while beyond - least > 1:
        middle = (least + beyond) // 2
        if _echoed(source, peer, middle):
            least = middle
        else:
            beyond = middle
    what = (
        f"packets of more than {least} bytes from {where} to {peer} are dropped silently (the interface MTU is "
        f"{most}): connections start and then stall"
    )
    yield Finding("mtu-black-hole", what, (f"ip link set dev {quote(source.interface.name)} mtu {least}",))


def _echoed(source: Source, peer: Address, size: int) -> bool | None:
    """Whether an IP packet of `size` bytes is answered; None if a router reports that it is too long."""
    six = peer.version == 6
    family, protocol = (socket.AF_INET6, socket.IPPROTO_ICMPV6) if six else (socket.AF_INET, socket.IPPROTO_ICMP)
    number, token = next(_NUMBERS) & 0xFFFF, os.getpid() & 0xFFFF
    body = bytes(size - _HEADERS[peer.version])
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        level, option = (socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER) if six else (socket.IPPROTO_IP, _IP_MTU_DISCOVER)
        raw.setsockopt(level, option, _PROBE)
        if six:
            # Otherwise the socket does not report Packet Too Big.
            raw.setsockopt(level, _IPV6_RECVERR, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, source.interface.name.encode())
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        try:
            raw.bind((str(source.own.ip), 0))
            raw.connect((str(peer), 0))
            for _ in range(_TRIES):
                raw.send(_echo(128 if six else 8, token, number, body))
                if _answer(raw, 129 if six else 0, token, number, six=six):
                    return True
        except OSError as error:
            return None if error.errno == errno.EMSGSIZE else False
    return False


def _echo(kind: int, token: int, number: int, body: bytes) -> bytes:
    """An echo request (RFC 792, RFC 4443 section 4.1); the kernel computes the checksum of ICMPv6."""
    whole = struct.pack("!BBHHH", kind, 0, 0, token, number) + body
    total = sum(struct.unpack(f"!{len(whole) // 2}H", whole[: len(whole) // 2 * 2])) + (
        whole[-1] << 8 if len(whole) % 2 else 0
    )
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return whole[:2] + struct.pack("!H", ~total & 0xFFFF) + whole[4:]


def _answer(raw: socket.socket, kind: int, token: int, number: int, *, six: bool) -> bool:
    until = time.monotonic() + _PATIENCE
    while (left := until - time.monotonic()) > 0:
        raw.settimeout(left)
        try:
            data = raw.recv(65_535)
        except TimeoutError:
            return False
        # A raw IPv4 socket includes the IP header.
        data = data if six else data[(data[0] & 0xF) * 4 :]
        if len(data) >= 8 and data[0] == kind and struct.unpack_from("!HH", data, 4) == (token, number):
            return True
    return False


@dataclass(frozen=True)
class _Asked:
    """The result of a connection from one address: MPTCP, TCP, or an error."""

    spoken: str = ""
    why: str = ""
    took_s: float = 0.0


def connection(sources: list[Source], peer: Address, port: int) -> Iterator[Finding]:
    """Whether connections from each address use MPTCP.

    The test leaves no state: it ends before the kernel would send a SYN without the option and cache that for an hour
    (net.mptcp.blackhole_timeout), and it closes all connections.
    """
    own = [one for one in sources if one.own.version == peer.version]
    asked = {source: _asked(source, peer, port) for source in own}
    if any(one is None for one in asked.values()):
        # This kernel opens no MPTCP sockets; the findings `kernel` and `disabled` report this.
        return
    speaks = [source for source, one in asked.items() if one is not None and one.spoken == "MPTCP"]
    for source, one in asked.items():
        if one is None or one.spoken == "MPTCP":
            continue
        where = f"{source.own.ip} ({source.interface.name})"
        if one.spoken:
            yield _of_tcp(peer, port, where, speaks, one)
        elif (plain := _tcp(source, peer, port)).spoken:
            yield _of_silence(peer, port, where, plain)
        else:
            yield Finding("peer-connection", f"{peer} port {port} is unreachable from {where}: {plain.why}")


def _of_tcp(peer: Address, port: int, where: str, speaks: list[Source], one: _Asked) -> Finding:
    if one.why:
        return note("peer-not-asked", f"{peer} port {port} was not tested from {where}: {one.why}")
    others = " and ".join(f"{source.own.ip} ({source.interface.name})" for source in speaks)
    why = (
        f"it answers {others} with MPTCP, so a middlebox on this path removes the option"
        if others
        else "the server does not use MPTCP, or a middlebox removes the option"
    )
    return Finding("peer-tcp", f"{peer} port {port} answers {where} with TCP, not MPTCP ({why})")


def _of_silence(peer: Address, port: int, where: str, plain: _Asked) -> Finding:
    if plain.took_s > _SOON:
        what = f"{peer} port {port} answers {where} only after {plain.took_s:.1f} s, too late to test MPTCP"
        return note("peer-slow", what)
    what = (
        f"MPTCP SYNs from {where} to {peer} port {port} stay unanswered, but TCP SYNs are answered: a middlebox drops "
        "them. A connection that starts there falls back to TCP after some seconds, and the kernel then uses TCP for "
        "all connections for a while (net.mptcp.blackhole_timeout). This check left no such state"
    )
    return Finding("peer-drops-mptcp", what)


def _asked(source: Source, peer: Address, port: int) -> _Asked | None:
    """Connects with MPTCP; None if this kernel opens no MPTCP socket."""
    for _ in range(_TRIES):
        before = Machine.read().counters
        try:
            tried = socket.socket(_family(peer), socket.SOCK_STREAM, IPPROTO_MPTCP)
        except OSError:
            return None
        with tried:
            try:
                _connect(tried, source, peer, port, _SOON)
                info = b""
                with suppress(OSError):
                    info = tried.getsockopt(_SOL_MPTCP, _MPTCP_INFO, 64)
            except TimeoutError:
                continue
            except OSError as error:
                return _Asked(why=error.strerror or str(error))
            _close(tried)
            # struct mptcp_info: six bytes, padding, then the flags.
            if len(info) >= 12 and not struct.unpack_from("=I", info, 8)[0] & _FLAG_FALLBACK:
                return _Asked("MPTCP")
        disabled = "MPCapableSYNTXDisabled"
        if Machine.read().counters.get(disabled, 0) > before.get(disabled, 0):
            return _Asked("TCP", "this kernel uses TCP for now (see the finding blackhole)")
        return _Asked("TCP")
    return _Asked(why="no answer")


def _tcp(source: Source, peer: Address, port: int) -> _Asked:
    """Connects with TCP, and measures the time."""
    with socket.socket(_family(peer), socket.SOCK_STREAM) as tried:
        begin = time.monotonic()
        try:
            _connect(tried, source, peer, port, _CONNECTING)
        except OSError as error:
            return _Asked(why="no answer" if isinstance(error, TimeoutError) else error.strerror or str(error))
        took = time.monotonic() - begin
        _close(tried)
        return _Asked("TCP", took_s=took)


def _close(opened: socket.socket) -> None:
    """Closes a connection; resets it if the peer does not close."""
    with suppress(OSError):
        opened.shutdown(socket.SHUT_WR)
        opened.settimeout(_PATIENCE)
        try:
            while opened.recv(65_536):
                pass
        except TimeoutError:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _family(peer: Address) -> int:
    return socket.AF_INET6 if peer.version == 6 else socket.AF_INET


def _connect(tried: socket.socket, source: Source, peer: Address, port: int, patience: float) -> None:
    tried.settimeout(patience)
    if source.bound:
        with suppress(PermissionError):
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, source.interface.name.encode())
    tried.bind((str(source.own.ip), 0))
    tried.connect((str(peer), port))
