"""UDP sockets with arrival times of the kernel, bound to an interface or an address.

Owns the socket options. A packet that waits in the socket while this process is busy keeps its arrival time.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys
import time
from dataclasses import dataclass
from typing import Any

LINUX = sys.platform == "linux"
_SO_BINDTODEVICE = 25
_SO_TIMESTAMPNS = 35
"""asm-generic/socket.h."""
_IP_PKTINFO, _IPV6_RECVPKTINFO, _IPV6_PKTINFO = 8, 49, 50
_BUFFER = 4 << 20
"""Requested bytes of socket buffers; the kernel may grant less."""
_TIMESPEC = struct.Struct("=qq")
_BROKEN = (errno.EBADF, errno.ENOTSOCK)
_MULTICAST = 0xFF
"""The first byte of a multicast address of IPv6 (RFC 4291, section 2.7)."""

Ancillary = list[tuple[int, int, bytes]]


class CannotSend(OSError):
    """A link cannot be used; the message names a solution."""


@dataclass(frozen=True)
class Arrival:
    """A received datagram."""

    data: bytes
    time_ns: int
    """Arrival at this host, nanoseconds of the real-time clock."""
    source: tuple[Any, ...]
    local: Ancillary
    """Sends an answer from the address at which the datagram arrived."""


class Datagrams:
    """A UDP socket that does not block."""

    def __init__(self, made: socket.socket) -> None:
        """Takes a bound socket."""
        self.socket = made
        self.refused = False
        """Whether the peer has answered that the port is closed."""
        self.full = 0
        """How often this host's own queue was full."""
        made.setblocking(False)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            made.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        if LINUX:
            made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)

    def close(self) -> None:
        """Closes the socket."""
        self.socket.close()

    def send(self, data: bytes, to: tuple[Any, ...] | None = None, local: Ancillary | None = None) -> bool:
        """Sends a datagram; returns False if this host's queue was full.

        With `to`, which an unknown host may have chosen, False also means that this host refused to send it.
        """
        try:
            if to is None:
                self.socket.send(data)
            else:
                self.socket.sendmsg([data], local or [], 0, to)
        except BlockingIOError:
            self.full += 1
            return False
        except OSError as error:
            if error.errno == errno.ENOBUFS:
                self.full += 1
                return False
            if to is not None and error.errno not in _BROKEN:
                return False
            self._note(error)
        return True

    def receive(self) -> Arrival | None:
        """The next datagram; None if there is none."""
        try:
            data, extra, _, source = self.socket.recvmsg(2048, 256)
        except BlockingIOError:
            return None
        except OSError as error:
            self._note(error)
            return None
        at = 0
        local: Ancillary = []
        for level, kind, value in extra:
            if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
                seconds, rest = _TIMESPEC.unpack_from(value)
                at = seconds * 10**9 + rest
            elif level == socket.IPPROTO_IP and kind == _IP_PKTINFO:
                # struct in_pktinfo: interface, source of the answer, destination. Interface 0 is that of the route.
                local.append((level, kind, struct.pack("=i", 0) + value[4:12]))
            elif level == socket.IPPROTO_IPV6 and kind == _IPV6_PKTINFO and value[0] != _MULTICAST:
                local.append((level, kind, value[:16] + struct.pack("=i", 0)))
        return Arrival(data, at or time.time_ns(), source, local)

    def _note(self, error: OSError) -> None:
        """Handles ICMP errors, which the kernel reports at the next call."""
        if error.errno == errno.ECONNREFUSED:
            self.refused = True
        elif error.errno not in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EMSGSIZE, errno.EPERM, errno.ENETDOWN):
            raise error


def server_socket(port: int, address: str | None) -> Datagrams:
    """A socket of the server: of IPv6 and IPv4 if possible, and answers come from the address that was asked."""
    tried: OSError | None = None
    families = [socket.AF_INET6, socket.AF_INET] if address is None else [_family(address)]
    for family in families:
        try:
            made = socket.socket(family, socket.SOCK_DGRAM)
        except OSError as error:
            tried = error
            continue
        try:
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address is not None))
                if LINUX:
                    made.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVPKTINFO, 1)
            if LINUX:
                # A socket of IPv6 needs it for IPv4 peers, too.
                made.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)
            made.bind((address or ("::" if family == socket.AF_INET6 else "0.0.0.0"), port))  # noqa: S104
        except OSError as error:
            made.close()
            tried = error
            continue
        return Datagrams(made)
    raise CannotSend(tried.errno if tried else 0, f"UDP port {port}: {tried.strerror if tried else 'no address'}")


def client_socket(peer: tuple[Any, ...], device: str | None, address: str | None) -> Datagrams:
    """A connected socket whose packets leave by a device, from an address. Linux 5.7 permits this without root."""
    made = socket.socket(_family(str(peer[0])), socket.SOCK_DGRAM)
    try:
        if device is not None:
            if not LINUX:
                raise CannotSend(errno.EOPNOTSUPP, "interfaces need Linux; write NAME=ADDRESS with its address instead")
            made.setsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, device.encode() + b"\0")
        if address is not None:
            made.bind((address, 0))
        made.connect(peer)
    except OSError as error:
        made.close()
        where = device or address or "any interface"
        raise CannotSend(error.errno, f"{where} to {peer[0]}: {error.strerror or error}") from error
    return Datagrams(made)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
