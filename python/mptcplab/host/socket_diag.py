"""The sockets of TCP and MPTCP in a network namespace with their state, from the kernel's sock_diag interface.

Owns the netlink messages (sock_diag(7)) and the layout of `tcp_info` and `mptcp_info`. A query takes about 0.1 ms, so
that a live view can ask often; `ss` would start a process each time. Never changes a socket.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAMESPACES = Path("/run/netns")
"""The directory of `ip netns`."""
MAX_SOCKETS = 1_000
"""Maximum sockets of one query; `TooMany` if there are more."""
TIMEOUT = 1.0
"""Maximum seconds to wait for the kernel's answer."""

_CLONE_NEWNET = 0x40000000
_NETLINK_SOCK_DIAG, _BY_FAMILY = 4, 20
_ERROR, _DONE = 2, 3
_REQUEST_DUMP = 0x301
_TCP, _MPTCP = 6, 262
_INFO, _CONG, _SKMEMINFO, _ULP_INFO = 2, 4, 7, 19
"""INET_DIAG_* (linux/inet_diag.h)."""
_RCVBUF, _SNDBUF, _WMEM_QUEUED = 1, 3, 5
"""SK_MEMINFO_* (linux/sock_diag.h)."""
_REQ_PROTOCOL = 3
_ULP_MPTCP, _TOKEN_LOC, _FLAGS = 3, 2, 8
_BACKUP = 0x30
"""MPTCP_SUBFLOW_FLAG_BKUP_REM and _LOC (linux/mptcp.h)."""
_FALLBACK = 1
"""MPTCP_INFO_FLAG_FALLBACK."""
_STATES = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11
"""All states but CLOSE, LISTEN and TIME_WAIT (net/tcp_states.h)."""
ESTABLISHED = 1
_MAPPED = bytes(10) + b"\xff\xff"
"""The prefix of IPv4 addresses in sockets of IPv6."""
_INFINITE = 0x7FFFFFFF
"""The initial ssthresh."""


class TooMany(RuntimeError):
    """There are more sockets than a query reads."""


@dataclass(frozen=True)
class TcpSocket:
    """A TCP connection, or a subflow of MPTCP. Sizes are bytes, times seconds."""

    state: int
    local: tuple[str, int]
    remote: tuple[str, int]
    token: int | None
    """The local token of the MPTCP connection; None for plain TCP."""
    backup: bool
    congestion: str
    mss: int
    cwnd: int
    ssthresh: int | None
    in_flight: int
    srtt: float | None
    rttvar: float
    min_rtt: float | None
    retransmits: int
    """Segments, cumulative."""
    bytes_sent: int
    bytes_acked: int
    bytes_received: int
    unacked: int
    """Written and not acknowledged."""
    peer_window: int
    receive_limited: float
    """Seconds in which the receive window of the peer was full, cumulative."""
    send_buffer_limited: float
    receive_buffer: int
    busy: float = 0.0
    """Seconds with data in flight, cumulative."""
    bytes_retransmitted: int = 0
    not_sent: int = 0
    """Bytes in the queue of this socket that were never sent."""


@dataclass(frozen=True)
class MptcpSocket:
    """An MPTCP connection. Sizes are bytes."""

    state: int
    token: int
    fallback: bool
    unacked: int
    """Written and not acknowledged at the data level."""
    bytes_acked: int
    bytes_received: int
    """In order, without duplicates."""
    bytes_retransmitted: int
    """Retransmitted at the data level, cumulative."""
    receive_buffer: int
    send_buffer: int = 0
    send_queued: int = 0
    """Memory of the written data that is not acknowledged, in the same unit as `send_buffer`."""


class SocketDiag:
    """Queries one namespace. Not for several threads at once."""

    def __init__(self, namespace: str | None = None, families: tuple[int, ...] = (socket.AF_INET,)) -> None:
        """Opens a socket in the namespace `ip netns` calls so; None is the present one. Raises `OSError`.

        `families` are those of the sockets. IPv4 connections to a listener of IPv6 count as IPv6.
        """
        self._namespace, self._families = namespace, families
        self._number = 0
        self._socket = _opened(namespace)

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()

    def tcp(self) -> list[TcpSocket]:
        """All TCP connections, with the subflows of MPTCP. Raises `OSError`, and `TooMany`."""
        return [found for body in self._dump(_TCP) if (found := _tcp(body)) is not None]

    def mptcp(self) -> list[MptcpSocket]:
        """All MPTCP connections. Raises `OSError`, also without support in the kernel, and `TooMany`."""
        return [found for body in self._dump(_MPTCP) if (found := _mptcp(body)) is not None]

    def _dump(self, protocol: int) -> list[bytes]:
        return [body for family in self._families for body in self._dump_family(protocol, family)]

    def _dump_family(self, protocol: int, family: int) -> list[bytes]:
        self._number += 1
        extensions = sum(1 << (one - 1) for one in (_INFO, _CONG, _SKMEMINFO))
        body = struct.pack("=BBBBI48x", family, protocol & 0xFF, extensions, 0, _STATES)
        if protocol > 0xFF:
            body += struct.pack("=HHI", 8, _REQ_PROTOCOL, protocol)
        self._socket.send(struct.pack("=IHHII", 16 + len(body), _BY_FAMILY, _REQUEST_DUMP, self._number, 0) + body)
        found: list[bytes] = []
        for kind, message in self._messages():
            if kind == _DONE:
                return found
            if kind == _ERROR:
                raise OSError(-struct.unpack_from("=i", message)[0], "sock_diag refused the query")
            found.append(message)
            if len(found) > MAX_SOCKETS:
                # The kernel sends the rest of its answer to this socket: replace it.
                self._socket.close()
                self._socket = _opened(self._namespace)
                raise TooMany(f"more than {MAX_SOCKETS} sockets")
        return found

    def _messages(self) -> Iterator[tuple[int, bytes]]:
        while True:
            data = self._socket.recv(1 << 18)
            at = 0
            while at + 16 <= len(data):
                length, kind, _, number, _ = struct.unpack_from("=IHHII", data, at)
                if length < 16:
                    break
                if number == self._number:
                    yield kind, data[at + 16 : at + length]
                at += length + 3 & ~3


def _opened(namespace: str | None) -> socket.socket:
    """A netlink socket in a namespace: a socket stays in the namespace of the thread that created it."""
    found: list[socket.socket | OSError] = []

    def open_there() -> None:
        try:
            if namespace is not None:
                _enter(NAMESPACES / namespace)
            made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)
            made.settimeout(TIMEOUT)
            found.append(made)
        except OSError as error:
            found.append(error)

    thread = threading.Thread(target=open_there)
    thread.start()
    thread.join()
    [result] = found
    if isinstance(result, OSError):
        raise result
    return result


def _enter(path: Path) -> None:
    """Moves this thread into a namespace (setns(2); `os.setns` needs Python 3.12)."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(descriptor, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {path.name}")
    finally:
        os.close(descriptor)


def _attributes(data: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[at + 4 : at + length]
        at += length + 3 & ~3
    return found


def _end(data: bytes, port_at: int, address_at: int) -> tuple[str, int]:
    port = int.from_bytes(data[port_at : port_at + 2], "big")
    address = data[address_at : address_at + 16]
    if data[0] == socket.AF_INET6:
        mapped = address[:12] == _MAPPED
        return socket.inet_ntoa(address[12:]) if mapped else socket.inet_ntop(socket.AF_INET6, address), port
    return socket.inet_ntoa(address[:4]), port


class _Info:
    """Fields of a struct that may be shorter on an older kernel; missing ones are 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def u32(self, at: int) -> int:
        return self._at("=I", at)

    def u64(self, at: int) -> int:
        return self._at("=Q", at)

    def _at(self, form: str, at: int) -> int:
        if at + struct.calcsize(form) > len(self._data):
            return 0
        value: int = struct.unpack_from(form, self._data, at)[0]
        return value


def _tcp(body: bytes) -> TcpSocket | None:
    """A socket from `struct inet_diag_msg` with `struct tcp_info`; None without this information."""
    attributes = _attributes(body[72:])
    if len(body) < 72 or _INFO not in attributes:
        return None
    info = _Info(attributes[_INFO])
    mss = info.u32(16)
    unacked, sacked, lost, retransmitted = (info.u32(at) for at in (24, 28, 32, 36))
    srtt, min_rtt, ssthresh = info.u32(68), info.u32(148), info.u32(76)
    ulp = _attributes(_attributes(attributes.get(_ULP_INFO, b"")).get(_ULP_MPTCP, b""))
    token = _Info(ulp[_TOKEN_LOC]).u32(0) if _TOKEN_LOC in ulp else None
    return TcpSocket(
        state=body[1],
        local=_end(body, 4, 8),
        remote=_end(body, 6, 24),
        token=token,
        backup=bool(_Info(ulp.get(_FLAGS, b"")).u32(0) & _BACKUP),
        congestion=attributes.get(_CONG, b"").rstrip(b"\0").decode("ascii", "replace"),
        mss=mss,
        cwnd=info.u32(80) * mss,
        ssthresh=None if ssthresh >= _INFINITE else ssthresh * mss,
        in_flight=max(0, unacked - sacked - lost + retransmitted) * mss,
        srtt=srtt / 1e6 if srtt else None,
        rttvar=info.u32(72) / 1e6,
        min_rtt=min_rtt / 1e6 if min_rtt not in (0, 0xFFFFFFFF) else None,
        retransmits=info.u32(100),
        bytes_sent=info.u64(200),
        bytes_acked=info.u64(120),
        bytes_received=info.u64(128),
        unacked=struct.unpack_from("=I", body, 60)[0],
        peer_window=info.u32(228),
        receive_limited=info.u64(176) / 1e6,
        send_buffer_limited=info.u64(184) / 1e6,
        receive_buffer=_memory(attributes, _RCVBUF),
        busy=info.u64(168) / 1e6,
        bytes_retransmitted=info.u64(208),
        not_sent=info.u32(144),
    )


def _mptcp(body: bytes) -> MptcpSocket | None:
    """A socket from `struct inet_diag_msg` with `struct mptcp_info`; None before the connection exists."""
    attributes = _attributes(body[72:])
    if len(body) < 72 or _INFO not in attributes:
        return None
    info = _Info(attributes[_INFO])
    flags, token = info.u32(8), info.u32(12)
    if not token:
        return None
    return MptcpSocket(
        state=body[1],
        token=token,
        fallback=bool(flags & _FALLBACK),
        unacked=info.u64(16) - info.u64(24) & 0xFFFFFFFFFFFFFFFF,
        bytes_acked=info.u64(72),
        bytes_received=info.u64(64),
        bytes_retransmitted=info.u64(48),
        receive_buffer=_memory(attributes, _RCVBUF),
        send_buffer=_memory(attributes, _SNDBUF),
        send_queued=_memory(attributes, _WMEM_QUEUED),
    )


def _memory(attributes: dict[int, bytes], number: int) -> int:
    """An entry of the memory information of a socket."""
    return _Info(attributes.get(_SKMEMINFO, b"")).u32(4 * number)
