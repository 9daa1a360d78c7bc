"""Collects the payload of each DSS mapping of a subflow, for `verify`.

A DSS checksum covers a whole mapping, whose payload can arrive in several segments, before or after the option. Owns
the bounded buffer for incomplete mappings.
"""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_WAITING, MOST_CHUNKS, MOST_KEPT = 256, 2048, 1 << 22
"""Maximum per direction of a subflow: incomplete mappings, buffered pieces of payload, and their bytes."""


@dataclass
class Mapping:
    """A mapping with the payload that was captured so far."""

    where: str
    """File and packet number of the option."""
    data: int
    """Data sequence number."""
    start: int
    """Subflow sequence number, relative to the initial one."""
    length: int
    """The length in the option, which counts a DATA_FIN as one byte."""
    payload: int
    """The length without the DATA_FIN."""
    checksum: int
    received: bytearray = field(init=False)
    seen: bytearray = field(init=False)
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        """Starts without payload."""
        self.received, self.seen = bytearray(self.payload), bytearray(self.payload)
        self.missing = self.payload

    def fill(self, begin: int, data: bytes) -> None:
        """Copies the part of `data` that belongs to the mapping; `begin` is the subflow position of `data`."""
        at = (begin - self.start + 2**31) % 2**32 - 2**31
        low, high = max(at, 0), min(at + len(data), self.payload)
        if low < high:
            self.missing -= self.seen.count(0, low, high)
            self.received[low:high] = data[low - at : high - at]
            self.seen[low:high] = b"\1" * (high - low)

    def is_right(self) -> bool:
        """Whether the checksum matches its pseudo-header and payload (RFC 8684 section 3.3.1)."""
        header = struct.pack(">QIHH", self.data, self.start, self.length, self.checksum)
        return _sum(header + bytes(self.received)) == 0xFFFF


@dataclass
class Near(Generic[T]):
    """An index of sequence ranges in buckets of 64 KiB; each range is in at most two buckets."""

    places: dict[int, dict[int, T]] = field(default_factory=dict)

    def add(self, number: int, begin: int, length: int, thing: T) -> None:
        """Adds a range with a number."""
        for place in _places(begin, length):
            self.places.setdefault(place, {})[number] = thing

    def remove(self, number: int, begin: int, length: int) -> None:
        """Removes the range with this number."""
        for place in _places(begin, length):
            del self.places[place][number]
            if not self.places[place]:
                del self.places[place]

    def find(self, begin: int, length: int) -> list[T]:
        """Ranges that may overlap this one, each once, in the order of their numbers."""
        found: dict[int, T] = {}
        for place in _places(begin, length):
            found |= self.places.get(place, {})
        return [found[number] for number in sorted(found)]


@dataclass
class Half:
    """One direction of a subflow."""

    initial: int | None = None
    chunks: deque[tuple[int, int, bytes]] = field(default_factory=deque)
    """Number, position and bytes of payload, kept while a mapping waits, because a later mapping may cover it, too."""
    kept: int = 0
    """Total bytes in `chunks`."""
    judged: set[tuple[int, int, int]] = field(default_factory=set)
    _waiting: dict[int, Mapping] = field(default_factory=dict)
    _complete: set[int] = field(default_factory=set)
    _mappings: Near[tuple[int, Mapping]] = field(default_factory=Near)
    _pieces: Near[tuple[int, bytes]] = field(default_factory=Near)
    _count: int = 0

    @property
    def waiting(self) -> list[Mapping]:
        """Unfinished mappings, the oldest first."""
        return list(self._waiting.values())

    def map(self, mapping: Mapping) -> Mapping | None:
        """Adds a mapping unless it is known; if too many are incomplete, removes and returns the oldest one."""
        seen = (mapping.start, mapping.length, mapping.checksum)
        if seen in self.judged:
            return None
        self.judged.add(seen)
        self._count += 1
        for begin, chunk in self._pieces.find(mapping.start, mapping.payload):
            mapping.fill(begin, chunk)
        if not mapping.missing:
            self._complete.add(self._count)
        self._waiting[self._count] = mapping
        self._mappings.add(self._count, mapping.start, mapping.payload, (self._count, mapping))
        return self._forget(next(iter(self._waiting))) if len(self._waiting) > MOST_WAITING else None

    def take(self, begin: int, payload: bytes) -> None:
        """Adds payload at this position of the subflow."""
        if not self._waiting:
            return
        for number, mapping in self._mappings.find(begin, len(payload)):
            mapping.fill(begin, payload)
            if not mapping.missing:
                self._complete.add(number)
        self._count += 1
        self.chunks.append((self._count, begin, payload))
        self._pieces.add(self._count, begin, len(payload), (begin, payload))
        self.kept += len(payload)
        while self.kept > MOST_KEPT or len(self.chunks) > MOST_CHUNKS:
            number, begin, payload = self.chunks.popleft()
            self._pieces.remove(number, begin, len(payload))
            self.kept -= len(payload)

    def complete(self) -> list[Mapping]:
        """Removes and returns the complete mappings."""
        done = [self._forget(number) for number in sorted(self._complete)]
        if not self._waiting and self.chunks:
            self.chunks.clear()
            self._pieces = Near()
            self.kept = 0
        return done

    def _forget(self, number: int) -> Mapping:
        mapping = self._waiting.pop(number)
        self._complete.discard(number)
        self._mappings.remove(number, mapping.start, mapping.payload)
        return mapping


def _places(begin: int, length: int) -> set[int]:
    """The index buckets of a range of at most 65,536 bytes."""
    return {begin % 2**32 >> 16, (begin + length - 1) % 2**32 >> 16}


def _sum(data: bytes) -> int:
    """One's complement sum of 16-bit words (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
