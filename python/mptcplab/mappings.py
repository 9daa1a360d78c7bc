"""Payload of a subflow and the mappings that say which data it is, put together for DSS checksums.

Owns what is kept while a mapping waits for its bytes, and the bound of it. Never knows a key, and judges nothing.
"""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field

MOST_WAITING, MOST_CHUNKS, MOST_KEPT = 256, 2048, 1 << 22
"""Mappings that wait for payload in one direction of a subflow, and what is kept for them: pieces, bytes."""


@dataclass
class Mapping:
    """A mapping whose payload is not complete yet."""

    where: str
    data: int
    start: int
    length: int
    payload: int
    checksum: int
    received: bytearray = field(init=False)
    seen: bytearray = field(init=False)
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        """Nothing has come yet."""
        self.received, self.seen = bytearray(self.payload), bytearray(self.payload)
        self.missing = self.payload

    def fill(self, begin: int, data: bytes) -> None:
        """Takes what of `data`, which begins at this place of the subflow, is of the mapping."""
        at = (begin - self.start + 2**31) % 2**32 - 2**31
        low, high = max(at, 0), min(at + len(data), self.payload)
        if low < high:
            self.missing -= self.seen.count(0, low, high)
            self.received[low:high] = data[low - at : high - at]
            self.seen[low:high] = b"\1" * (high - low)

    def is_right(self) -> bool:
        """Whether its checksum is that of its pseudo-header and its payload (RFC 8684 section 3.3.1)."""
        header = struct.pack(">QIHH", self.data, self.start, self.length, self.checksum)
        return _sum(header + bytes(self.received)) == 0xFFFF


@dataclass
class Half:
    """One direction of a subflow."""

    initial: int | None = None
    chunks: deque[tuple[int, bytes]] = field(default_factory=deque)
    """Payload by its offset, while a mapping waits: the next one may be of it too."""
    kept: int = 0
    """Bytes of it."""
    waiting: list[Mapping] = field(default_factory=list)
    judged: set[tuple[int, int, int]] = field(default_factory=set)

    def map(self, mapping: Mapping) -> Mapping | None:
        """Takes a mapping that was not seen before; gives back one that has waited too long."""
        seen = (mapping.start, mapping.length, mapping.checksum)
        if seen in self.judged:
            return None
        self.judged.add(seen)
        for begin, chunk in self.chunks:
            mapping.fill(begin, chunk)
        self.waiting.append(mapping)
        return self.waiting.pop(0) if len(self.waiting) > MOST_WAITING else None

    def take(self, begin: int, payload: bytes) -> None:
        """Takes payload that begins at this place of the subflow."""
        if not self.waiting:
            return
        for mapping in self.waiting:
            mapping.fill(begin, payload)
        self.chunks.append((begin, payload))
        self.kept += len(payload)
        while self.kept > MOST_KEPT or len(self.chunks) > MOST_CHUNKS:
            self.kept -= len(self.chunks.popleft()[1])

    def complete(self) -> list[Mapping]:
        """Takes out the mappings that have all of their payload."""
        done = [mapping for mapping in self.waiting if not mapping.missing]
        self.waiting = [mapping for mapping in self.waiting if mapping.missing]
        if not self.waiting:
            self.chunks.clear()
            self.kept = 0
        return done


def _sum(data: bytes) -> int:
    """One's complement sum of 16-bit words (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
