"""Reads pcapng and pcap files packet by packet, and finds the IP packet in each frame, for `mptcplab verify`.

Owns file formats and link types; `packets` parses TCP. A file may be damaged or hostile, so the reader holds at most
one block and trusts no length before the bytes are read. An unknown link type is an error, or its packets would be
skipped silently.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

LARGEST = 1 << 26
"""Maximum bytes of a block or packet, far above the maximum of Linux."""
MOST_INTERFACES = 65_536

NULL, ETHERNET, RAW, LOOP, SLL, RAW4, RAW6, SLL2 = 0, 1, 101, 108, 113, 228, 229, 276
_RAW_BSD = (12, 14)
"""Other values of LINKTYPE_RAW, in files of some BSD systems."""
_IP = {0x0800: 4, 0x86DD: 6}
_TAGS = (0x8100, 0x88A8, 0x9100)
"""Ethertypes of VLAN tags (IEEE 802.1Q, 802.1ad, and older)."""
_LOOP_IP = {2: 4, 10: 6, 24: 6, 28: 6, 30: 6}
"""Address families of NULL and LOOP; that of IPv6 differs between systems."""

Packet = tuple[float, int, bytes]
"""Time in seconds, link type, frame."""


class BadCapture(ValueError):
    """A file that is not a capture, or is damaged; the message names the position."""


class CutOff(BadCapture):
    """The file ends within a packet or block; the earlier part is complete."""


@dataclass
class Source:
    """A capture, read from start to end."""

    stream: IO[bytes]
    file: Path
    at: int = 0
    most: int | None = None
    """Maximum bytes after decompression; None for no limit."""

    def take(self, length: int) -> bytes:
        """The next `length` bytes."""
        if length > LARGEST:
            raise self.bad(f"the block at byte {self.at} has an invalid length of {length} bytes")
        if self.most is not None and self.at + length > self.most:
            raise self.bad(
                f"has more than {self.most} bytes; split the file with editcap, or raise the limit with --most"
            )
        data = self._read(length)
        if len(data) < length:
            raise CutOff(f"{self.file}: cut off at byte {self.at + len(data)}")
        self.at += length
        return data

    def take_or_end(self, length: int) -> bytes:
        """The next bytes, or none at the end of the file."""
        first = self._read(1)
        if not first:
            return b""
        self.at += 1
        return first + self.take(length - 1)

    def _read(self, length: int) -> bytes:
        try:
            return self.stream.read(length) or b""
        except EOFError as error:
            raise CutOff(f"{self.file}: cut off at byte {self.at} of the uncompressed data") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.bad(f"damaged gzip data: {error}") from error

    def bad(self, what: str) -> BadCapture:
        """An error in this file."""
        return BadCapture(f"{self.file}: {what}")


def packets(source: Source) -> Iterator[Packet]:
    """The packets of a capture."""
    start = source.take_or_end(4)
    if start == b"\x0a\x0d\x0d\x0a":
        yield from _pcapng(source)
    else:
        yield from _pcap(source, start)


def _pcap(source: Source, magic: bytes) -> Iterator[Packet]:
    orders = {b"\xa1\xb2\xc3\xd4": (">", 1e6), b"\xd4\xc3\xb2\xa1": ("<", 1e6)}
    orders |= {b"\xa1\xb2\x3c\x4d": (">", 1e9), b"\x4d\x3c\xb2\xa1": ("<", 1e9)}
    if magic not in orders:
        raise source.bad("neither pcap nor pcapng")
    order, scale = orders[magic]
    # The upper bits are the length of the frame check sequence.
    link = struct.unpack_from(order + "I", source.take(20), 16)[0] & 0xFFFF
    while header := source.take_or_end(16):
        seconds, fraction, length, _ = struct.unpack(order + "IIII", header)
        yield seconds + fraction / scale, link, source.take(length)


@dataclass
class _Section:
    """The state of a pcapng section."""

    order: str = "<"
    interfaces: list[tuple[int, float]] = field(default_factory=list)
    """Link type, and ticks per second."""


def _pcapng(source: Source) -> Iterator[Packet]:
    section, head, begin = _Section(), b"\x0a\x0d\x0d\x0a" + source.take(4), 0
    while head:
        begin = source.at - 8
        is_section = head[:4] == b"\x0a\x0d\x0d\x0a"
        magic = b""
        if is_section:
            magic = source.take(4)
            if magic not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise source.bad(f"the section at byte {begin} has an unknown byte-order magic")
            section = _Section("<" if magic == b"\x4d\x3c\x2b\x1a" else ">")
        kind, length = struct.unpack(section.order + "II", head)
        if length < 12 + len(magic) or length > LARGEST:
            raise source.bad(f"the block at byte {begin} has an invalid length of {length} bytes")
        body = magic + source.take(length - 12 - len(magic))
        if source.take(4) != head[4:]:
            raise source.bad(f"the block at byte {begin} has an invalid length of {length} bytes")
        try:
            packet = _block(section, kind, body)
        except (struct.error, IndexError, OverflowError, ZeroDivisionError) as error:
            raise source.bad(f"the block at byte {begin} is too short, or its interface has no description") from error
        if packet is not None:
            yield packet
        head = source.take_or_end(8)


def _block(section: _Section, kind: int, body: bytes) -> Packet | None:
    """Parses a block; returns its packet, if it has one."""
    order = section.order
    if kind == 1:
        if len(section.interfaces) >= MOST_INTERFACES:
            raise IndexError
        section.interfaces.append((struct.unpack_from(order + "H", body)[0], _resolution(body[8:], order)))
    elif kind == 6:
        interface, high, low, captured = struct.unpack_from(order + "IIII", body)
        return _packet(section, interface, high << 32 | low, body[20:], captured)
    elif kind == 2:
        # The obsolete Packet Block.
        interface, _, high, low, captured = struct.unpack_from(order + "HHIII", body)
        return _packet(section, interface, high << 32 | low, body[20:], captured)
    elif kind == 3:
        # A Simple Packet Block has no time, and belongs to the first interface.
        original = struct.unpack_from(order + "I", body)[0]
        return _packet(section, 0, 0, body[4:], min(original, len(body) - 4))
    return None


def _packet(section: _Section, interface: int, ticks: int, data: bytes, captured: int) -> Packet:
    link, scale = section.interfaces[interface]
    if captured > len(data):
        raise IndexError
    return ticks / scale, link, data[:captured]


def _resolution(options: bytes, order: str) -> float:
    """Ticks per second, from the option if_tsresol; 10^6 without it."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 9 and length == 1 and at + 4 < len(options):
            value = options[at + 4]
            return float(2 ** (value & 0x7F) if value & 0x80 else 10**value)
        at += 4 + (length + 3) // 4 * 4
    return 1e6


def ip_packet(link: int, frame: bytes, file: Path) -> bytes:
    """The IP packet in a frame; empty if the frame has none. Raises `BadCapture` for unknown link types."""
    if link in (RAW, RAW4, RAW6, *_RAW_BSD):
        return frame
    if link in (NULL, LOOP):
        # LOOP uses network order, NULL that of the capturing host; families are at most 255.
        families = (int.from_bytes(frame[:4], "big"), int.from_bytes(frame[:4], "little"))
        known = any(family in _LOOP_IP for family in families[: 1 if link == LOOP else 2])
        return frame[4:] if known and len(frame) >= 4 else b""
    start, at = {ETHERNET: (14, 12), SLL: (16, 14), SLL2: (20, 0)}.get(link, (0, 0))
    if not start:
        names = "Ethernet (1), raw IP (101), Linux cooked (113, 276), loopback (0, 108)"
        raise BadCapture(f"{file}: unknown link type {link}; supported: {names}")
    kind = int.from_bytes(frame[at : at + 2], "big")
    while kind in _TAGS and len(frame) >= start + 4:
        kind, start = int.from_bytes(frame[start + 2 : start + 4], "big"), start + 4
    return frame[start:] if kind in _IP and len(frame) > start else b""
