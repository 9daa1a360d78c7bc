"""Decodes and encodes structures of Apache Thrift's compact protocol, the format of Parquet footers.

Owns the bytes only: `parquet_append` knows the fields. Decoded structures keep unknown fields, so encoding restores
the same bytes.
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
"""Types of fields. A boolean field has its value as its type."""

Struct = dict[int, tuple[int, Any]]
"""Type and value by number of the field, in increasing order of these numbers. Integers are zigzag-encoded."""


def number(value: int) -> int:
    """The zigzag encoding of an integer, and the integer that it encodes: `plain` is the inverse."""
    return value << 1 if value >= 0 else (-value << 1) - 1


def plain(value: int) -> int:
    """The integer of a zigzag encoding."""
    return (value >> 1) ^ -(value & 1)


class Decoder:
    """Reads structures from bytes. Raises `ValueError` or `IndexError` for bytes of another format."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        """Starts at the byte `at`."""
        self._data, self.at = data, at

    def field(self, previous: int) -> tuple[int, int]:
        """The number and type of the next field of a structure; 0 and 0 at its end."""
        head = self._byte()
        if not head:
            return 0, 0
        return previous + (head >> 4) if head >> 4 else plain(self._varint()), head & 15

    def value(self, kind: int) -> Any:
        """The next value, of this type."""
        if kind in (I16, I32, I64):
            return self._varint()
        if kind == STRUCT:
            found: Struct = {}
            field, of = self.field(0)
            while of:
                found[field] = of, None if of in (TRUE, FALSE) else self.value(of)
                field, of = self.field(field)
            return found
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind in (LIST, SET):
            head = self._byte()
            length, of = head >> 4, head & 15
            length = self._varint() if length == 15 else length
            # Booleans in a list have a byte each.
            return of, [self._byte() if of in (TRUE, FALSE) else self.value(of) for _ in range(length)]
        if kind in (BYTE, DOUBLE):
            return self._bytes(1 if kind == BYTE else 8)
        raise ValueError(f"thrift type {kind} at byte {self.at}")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, length: int) -> bytes:
        found = self._data[self.at : self.at + length]
        if len(found) != length:
            raise ValueError("thrift: truncated")
        self.at += length
        return found

    def _varint(self) -> int:
        data, at = self._data, self.at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                self.at = at
                return value
            shift += 7


def put(out: bytearray, kind: int, value: Any) -> None:
    """Appends the bytes of a value of this type."""
    if kind in (I16, I32, I64):
        _put_varint(out, value)
    elif kind == STRUCT:
        last = 0
        for field, (of, its) in value.items():
            if 0 < field - last < 16:
                out.append((field - last) << 4 | of)
            else:
                out.append(of)
                _put_varint(out, number(field))
            last = field
            if of not in (TRUE, FALSE):
                put(out, of, its)
        out.append(0)
    elif kind == BINARY:
        _put_varint(out, len(value))
        out += value
    elif kind in (LIST, SET):
        of, items = value
        if len(items) < 15:
            out.append(len(items) << 4 | of)
        else:
            out.append(0xF0 | of)
            _put_varint(out, len(items))
        for item in items:
            if of in (TRUE, FALSE):
                out.append(item)
            else:
                put(out, of, item)
    else:
        out += value


def _put_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
