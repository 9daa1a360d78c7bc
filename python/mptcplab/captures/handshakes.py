"""Connections of a capture, their keys and subflows, and joins of unknown connections, for `verify`.

Owns the values that follow from keys (RFC 8684, RFC 6824): tokens, HMACs and first data sequence numbers. `verify`
compares them with the captured values.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass, field

from mptcplab.captures.dss_mappings import Half
from mptcplab.captures.packets import End


@dataclass
class Connection:
    """An MPTCP connection. Host 0 opened it, host 1 accepted it. A key is None if it was not captured."""

    version: int
    keys: list[int | None]

    def digest(self, data: bytes) -> bytes:
        """SHA-256, or SHA-1 in version 0 (RFC 8684 section 3.1, RFC 6824 section 3.1)."""
        return hashlib.sha256(data).digest() if self.version else hashlib.sha1(data).digest()  # noqa: S324

    def hmac(self, first: int, second: int, message: bytes) -> bytes:
        """The HMAC of a message, keyed with both keys in this order."""
        key = struct.pack(">QQ", first, second)
        return hmac.new(key, message, "sha256" if self.version else "sha1").digest()

    def both(self, side: int) -> tuple[int, int] | None:
        """The keys of a host and of its peer; None unless both are known."""
        mine, other = self.keys[side], self.keys[1 - side]
        return None if mine is None or other is None else (mine, other)

    def token(self, side: int) -> int | None:
        """The token of a host, which a join to this host carries; None if the key is unknown."""
        key = self.keys[side]
        return None if key is None else int.from_bytes(self.digest(struct.pack(">Q", key))[:4], "big")

    def first(self, side: int) -> int | None:
        """The data sequence number of a host's first byte, one after the initial one; None if the key is unknown."""
        key = self.keys[side]
        if key is None:
            return None
        return (int.from_bytes(self.digest(struct.pack(">Q", key))[-8:], "big") + 1) % 2**64


@dataclass
class Subflow:
    """A captured TCP connection; `connection` is None if it is plain TCP, or if its MPTCP connection is unknown."""

    opener: End
    connection: Connection | None = None
    opened_by: int = 0
    """The host of the connection that sent the SYN."""
    nonces: dict[int, int] = field(default_factory=dict)
    """The nonces of a join: 0 is that of the SYN, 1 that of the SYN/ACK."""
    answer: bytes = b""
    """The HMAC in the SYN/ACK of a join."""
    halves: tuple[Half, Half] = field(default_factory=lambda: (Half(), Half()))

    def side(self, sender: End) -> int:
        """The number of the sending host in the connection."""
        return self.opened_by if sender == self.opener else 1 - self.opened_by


@dataclass
class Join:
    """A join whose token belongs to no known key."""

    where: str
    token: int
    subflow: Subflow

    def is_of(self, connection: Connection) -> bool:
        """Whether the HMAC in the SYN/ACK was computed with the keys of this connection."""
        nonces, given = self.subflow.nonces, self.subflow.answer
        if len(nonces) < 2 or not given:
            return False
        message = struct.pack(">II", nonces[1], nonces[0])
        pairs = (connection.both(side) for side in (0, 1))
        return any(keys is not None and connection.hmac(*keys, message)[: len(given)] == given for keys in pairs)
