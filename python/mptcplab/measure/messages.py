"""The datagrams of `mptcplab measure`, and the cookie that proves the address of a client.

Owns the layout of each message and its checks. The server is no amplifier: an answer to an unknown address is never
longer than the request. Everything longer needs the cookie, which only the owner of the address receives.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass
from enum import IntEnum

MAGIC = b"MLM2"
"""The first bytes of each datagram; the digit is the version."""
_HEAD = struct.Struct(">4sB3x8s")
HEAD = _HEAD.size
"""Bytes of the header: magic, kind, and the cookie or the session."""
HELLO_SIZE = 64
"""A request from an unknown address has at least this size; the answers have at most this size."""
OVERHEAD = {4: 28, 6: 48}
"""Bytes of the IP and UDP headers by IP version."""
FRAME_HEADER = 14
"""Bytes that a link adds to an IP packet in scenarios."""
SMALLEST, LARGEST = 64, 1452
"""Sizes of the UDP payload of packets of a train. The largest fits into an IPv6 packet of 1500 bytes."""
PORT = 8684
"""The default port, after the number of the RFC of MPTCP."""
RECORDS = 100
"""Arrivals in one answer to FETCH."""
_EPOCH = 30.0
"""Seconds after which a new cookie is issued; the previous one is accepted as long again."""


class Kind(IntEnum):
    """The kind of a message."""

    HELLO = 1
    """Client: asks for a cookie."""
    COOKIE = 2
    OPEN = 3
    """Client: returns the cookie and opens a session."""
    ACCEPT = 4
    REFUSED = 5
    PING = 6
    PONG = 7
    SEND = 8
    """Client: requests a train of packets."""
    DATA = 9
    """A packet of a train, in either direction."""
    FEEDBACK = 10
    """The receiver of a train: its state so far. A train stops without it."""
    STOP = 11
    """Client: ends a train of the server."""
    FETCH = 12
    """Client: requests the arrivals of a train at the server, and how many packets the server sent."""
    ARRIVALS = 13
    BYE = 14


@dataclass(frozen=True)
class Message:
    """A datagram with a valid header."""

    kind: Kind
    session: bytes
    """The cookie or the session, eight bytes."""
    body: bytes


def packed(kind: Kind, session: bytes, body: bytes = b"", size: int = 0) -> bytes:
    """A datagram of at least `size` bytes."""
    return (_HEAD.pack(MAGIC, kind, session) + body).ljust(size, b"\0")


def parsed(data: bytes) -> Message | None:
    """The message in a datagram; None if it is not one."""
    if len(data) < HEAD:
        return None
    magic, kind, session = _HEAD.unpack_from(data)
    try:
        return Message(Kind(kind), session, data[HEAD:]) if magic == MAGIC else None
    except ValueError:
        return None


class Fields:
    """A body of integers, which may be followed by padding."""

    def __init__(self, layout: str) -> None:
        """`layout` is that of the module `struct`, without the byte order."""
        self._layout = struct.Struct(f">{layout}")
        self.size = self._layout.size

    def pack(self, *values: int) -> bytes:
        """The body."""
        return self._layout.pack(*values)

    def unpack(self, body: bytes) -> tuple[int, ...] | None:
        """The values; None if the body is too short."""
        return self._layout.unpack_from(body) if len(body) >= self.size else None


ACCEPT = Fields("QII")
"""Session, KiB that the server may send, seconds that the session may last."""
PING = Fields("IQ")
"""Number, time at the client in nanoseconds."""
PONG = Fields("IQQQ")
"""Number, time at the client, times of arrival and departure at the server."""
SEND = Fields("HHQII")
"""Train, bytes of the UDP payload, bit/s of frames, packets at most, milliseconds at most."""
DATA = Fields("HxxIQQ")
"""Train, number, time of departure at the sender in nanoseconds, and a secret of this packet.

Only a receiver of the packet knows the secret; it is zero in packets of the client.
"""
FEEDBACK = Fields("HxxIIQQ")
"""Train, packets received, highest number, delay of the last packet in nanoseconds with an unknown constant, and the
secret of the packet with the highest number.
"""
STOP = Fields("H")
FETCH = Fields("HxxI")
"""Train, position of the first arrival."""
ARRIVALS = Fields("HHIII")
"""Train, arrivals in this message, position of the first one, arrivals in total, packets that the server sent.

Each arrival is a number and a time (`ARRIVAL`).
"""
ARRIVAL = Fields("IQ")


class Cookies:
    """Issues cookies without storing them: a keyed hash of the address and the time."""

    def __init__(self, secret: bytes) -> None:
        """`secret` is known only to this server."""
        self._secret = secret

    def issue(self, address: str, port: int, now: float) -> bytes:
        """The cookie of an address at a time in seconds."""
        return self._at(address, port, int(now // _EPOCH))

    def is_valid(self, cookie: bytes, address: str, port: int, now: float) -> bool:
        """Whether this server issued the cookie to this address, at most a minute ago."""
        epoch = int(now // _EPOCH)
        return any(hmac.compare_digest(cookie, self._at(address, port, one)) for one in (epoch, epoch - 1))

    def _at(self, address: str, port: int, epoch: int) -> bytes:
        return hmac.digest(self._secret, f"{address}|{port}|{epoch}".encode(), hashlib.sha256)[:8]
