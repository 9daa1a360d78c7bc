"""What a peer answers: echoes of all sizes from each address, and a connection of Multipath TCP.

Owns the packets of `mptcplab host check --peer`, a few dozen at most. Judges only what came back.
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
from shlex import quote

from mptcplab.host.findings import IPPROTO_MPTCP, Finding, note
from mptcplab.host.machine import Address
from mptcplab.host.routing import Source

_TRIES, _PATIENCE = 2, 0.7
_CONNECTING = 5.0
# linux/in.h, linux/in6.h
_IP_MTU_DISCOVER, _IPV6_MTU_DISCOVER, _PROBE, _IPV6_RECVERR = 10, 23, 3, 25
# linux/mptcp.h
_SOL_MPTCP, _MPTCP_INFO, _FLAG_FALLBACK = 284, 1, 1
_HEADERS = {4: 28, 6: 48}
_NUMBERS = itertools.count(1)


def echoes(sources: list[Source], peer: Address) -> Iterator[Finding]:
    """Whether the peer is reached from each address, and by packets as long as the interface's."""
    own = [source for source in sources if source.own.version == peer.version]
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield note("echo", f"echoes of {peer} were not asked for: that takes root")
        return
    answers = {source: _echoed(source, peer, 84) for source in own}
    for source, answered in answers.items():
        where = f"{source.own.ip} ({source.interface.name})"
        if answered:
            yield from _long(source, peer, where)
        elif any(answers.values()):
            yield Finding(
                "peer-path",
                f"{peer} answers echoes from other addresses, and none from {where}: nothing gets through there",
            )
    if own and not any(answers.values()):
        yield note("echo", f"{peer} answers no echo from any address: it is down, or does not answer them")


def _long(source: Source, peer: Address, where: str) -> Iterator[Finding]:
    most = min(source.interface.mtu, 65_535)
    if most <= 84 or (answered := _echoed(source, peer, most)):
        return
    if answered is None:
        yield note(
            "route-mtu", f"packets of {most} bytes from {where} are too long for a router on the way, and it says so"
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
        f"packets of more than {least} bytes from {where} to {peer} vanish without a word (the interface has {most}): "
        "connections begin and then stand still"
    )
    yield Finding("mtu-black-hole", what, (f"ip link set dev {quote(source.interface.name)} mtu {least}",))


def _echoed(source: Source, peer: Address, size: int) -> bool | None:
    """Whether an IP packet of `size` bytes comes back; None when somebody says that it was too long."""
    six = peer.version == 6
    family, protocol = (socket.AF_INET6, socket.IPPROTO_ICMPV6) if six else (socket.AF_INET, socket.IPPROTO_ICMP)
    number, token = next(_NUMBERS) & 0xFFFF, os.getpid() & 0xFFFF
    body = bytes(size - _HEADERS[peer.version])
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        level, option = (socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER) if six else (socket.IPPROTO_IP, _IP_MTU_DISCOVER)
        raw.setsockopt(level, option, _PROBE)
        if six:
            # Packet Too Big is otherwise no error of such a socket, but kept from it.
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
    """RFC 792, RFC 4443 section 4.1; the kernel fills in the checksum of ICMPv6."""
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
        # IPv4 comes with its header.
        data = data if six else data[(data[0] & 0xF) * 4 :]
        if len(data) >= 8 and data[0] == kind and struct.unpack_from("!HH", data, 4) == (token, number):
            return True
    return False


def connection(sources: list[Source], peer: Address, port: int) -> Iterator[Finding]:
    """Whether a connection from each address is one of Multipath TCP. It is closed at once."""
    family = socket.AF_INET6 if peer.version == 6 else socket.AF_INET
    for source in (one for one in sources if one.own.version == peer.version):
        where = f"{source.own.ip} ({source.interface.name})"
        try:
            tried = socket.socket(family, socket.SOCK_STREAM, IPPROTO_MPTCP)
        except OSError:
            # This kernel's doing, which `kernel` and `disabled` tell of.
            return
        try:
            with tried:
                tried.settimeout(_CONNECTING)
                if source.bound:
                    with suppress(PermissionError):
                        tried.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, source.interface.name.encode())
                tried.bind((str(source.own.ip), 0))
                tried.connect((str(peer), port))
                info = b""
                with suppress(OSError):
                    info = tried.getsockopt(_SOL_MPTCP, _MPTCP_INFO, 64)
        except OSError as error:
            why = "no answer" if isinstance(error, TimeoutError) else error.strerror
            yield Finding("peer-connection", f"{peer} port {port} cannot be reached from {where}: {why}")
            continue
        # struct mptcp_info: six bytes, padding, then the flags.
        if len(info) < 12 or struct.unpack_from("=I", info, 8)[0] & _FLAG_FALLBACK:
            what = (
                f"{peer} port {port} answers {where} with TCP: no Multipath TCP is spoken there (a program that "
                "does not ask for it, or a middlebox that takes its options away)"
            )
            yield Finding("peer-tcp", what)
