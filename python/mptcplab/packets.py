"""TCP segments out of capture files: pcapng and pcap, over IP or Ethernet.

Owns the reading of files, headers and TCP options. Written apart from the Rust code on purpose: it is what that is
checked against. Packets that are no TCP are passed over; a file that is damaged says where.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

Address = IPv4Address | IPv6Address
End = tuple[Address, int]

MPTCP = 30
"""The option kind of MPTCP."""

_ETHERNET, _RAW, _SLL, _RAW4, _RAW6 = 1, 101, 113, 228, 229
_TCP = 6
_EXTENSIONS = {0, 43, 60}


class BadCapture(ValueError):
    """A file is no capture, or is damaged; the message says where."""


@dataclass(frozen=True)
class Segment:
    """A TCP segment as captured."""

    where: str
    """File and packet number."""
    time: float
    source: End
    destination: End
    sequence: int
    acknowledgment: int
    flags: int
    mptcp: tuple[bytes, ...]
    """MPTCP options, without kind and length."""
    payload: bytes

    @property
    def syn(self) -> bool:
        """The SYN flag."""
        return bool(self.flags & 2)

    @property
    def ack(self) -> bool:
        """The ACK flag."""
        return bool(self.flags & 16)


def read(files: list[Path]) -> list[Segment]:
    """The segments of all files, in the order of their times."""
    found = [segment for file in files for segment in _segments(file)]
    return sorted(found, key=lambda segment: segment.time)


def _segments(file: Path) -> Iterator[Segment]:
    data = file.read_bytes()
    packets = _pcapng(data, file) if data[:4] == b"\x0a\x0d\x0d\x0a" else _pcap(data, file)
    for number, (time, link, packet) in enumerate(packets, 1):
        segment = _segment(f"{file.name}:{number}", time, _ip(link, packet))
        if segment is not None:
            yield segment


Packet = tuple[float, int, bytes]


def _pcap(data: bytes, file: Path) -> Iterator[Packet]:
    orders = {b"\xa1\xb2\xc3\xd4": (">", 1e6), b"\xd4\xc3\xb2\xa1": ("<", 1e6)}
    orders |= {b"\xa1\xb2\x3c\x4d": (">", 1e9), b"\x4d\x3c\xb2\xa1": ("<", 1e9)}
    if data[:4] not in orders or len(data) < 24:
        raise BadCapture(f"{file}: neither pcap nor pcapng")
    order, scale = orders[data[:4]]
    link = struct.unpack_from(order + "I", data, 20)[0]
    at = 24
    while at < len(data):
        if len(data) - at < 16:
            raise BadCapture(f"{file}: cut off at byte {at}")
        seconds, fraction, length, _ = struct.unpack_from(order + "IIII", data, at)
        at += 16
        if len(data) - at < length:
            raise BadCapture(f"{file}: cut off at byte {at}")
        yield seconds + fraction / scale, link, data[at : at + length]
        at += length


def _pcapng(data: bytes, file: Path) -> Iterator[Packet]:
    order, at = "<", 0
    interfaces: list[tuple[int, float]] = []
    while at < len(data):
        if len(data) - at < 12:
            raise BadCapture(f"{file}: cut off at byte {at}")
        kind = struct.unpack_from(order + "I", data, at)[0]
        if kind == 0x0A0D0D0A:
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        length = struct.unpack_from(order + "I", data, at + 4)[0]
        if length < 12 or len(data) - at < length:
            raise BadCapture(f"{file}: the block at byte {at} says {length} bytes, and that is not so")
        body = data[at + 8 : at + length - 4]
        if kind == 1:
            interfaces.append((struct.unpack_from(order + "H", body)[0], _resolution(body[8:], order)))
        elif kind == 6:
            interface, high, low, captured = struct.unpack_from(order + "IIII", body)
            if interface >= len(interfaces):
                raise BadCapture(f"{file}: the packet at byte {at} is of an interface that was not described")
            link, scale = interfaces[interface]
            yield (high << 32 | low) / scale, link, body[20 : 20 + captured]
        at += length


def _resolution(options: bytes, order: str) -> float:
    """Ticks in a second: if_tsresol."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 9 and length == 1:
            value = options[at + 4]
            return float(2 ** (value & 0x7F) if value & 0x80 else 10**value)
        at += 4 + (length + 3) // 4 * 4
    return 1e6


def _ip(link: int, packet: bytes) -> bytes:
    """The IP packet in a frame; empty when there is none."""
    if link in (_RAW, _RAW4, _RAW6):
        return packet
    start = {_ETHERNET: 14, _SLL: 16}.get(link)
    if start is None or len(packet) < start:
        return b""
    kind = packet[start - 2 : start]
    if link == _ETHERNET and kind == b"\x81\x00":
        start += 4
        kind = packet[start - 2 : start]
    return packet[start:] if kind in (b"\x08\x00", b"\x86\xdd") else b""


def _segment(where: str, time: float, packet: bytes) -> Segment | None:
    found = _transport(packet)
    if found is None:
        return None
    source, destination, tcp = found
    if len(tcp) < 20 or len(tcp) < (start := tcp[12] >> 4 << 2) or start < 20:
        return None
    source_port, destination_port, sequence, acknowledgment = struct.unpack_from(">HHII", tcp)
    return Segment(
        where,
        time,
        (source, source_port),
        (destination, destination_port),
        sequence,
        acknowledgment,
        tcp[13],
        tuple(_mptcp_options(tcp[20:start])),
        tcp[start:],
    )


def _transport(packet: bytes) -> tuple[Address, Address, bytes] | None:
    if len(packet) >= 20 and packet[0] >> 4 == 4:
        header, total = (packet[0] & 15) * 4, struct.unpack_from(">H", packet, 2)[0]
        if packet[9] != _TCP or struct.unpack_from(">H", packet, 6)[0] & 0x3FFF:
            return None
        return IPv4Address(packet[12:16]), IPv4Address(packet[16:20]), packet[header:total]
    if len(packet) >= 40 and packet[0] >> 4 == 6:
        protocol, at = packet[6], 40
        end = 40 + struct.unpack_from(">H", packet, 4)[0]
        while protocol in _EXTENSIONS and at + 8 <= len(packet):
            protocol, at = packet[at], at + 8 + 8 * packet[at + 1]
        if protocol == _TCP:
            return IPv6Address(packet[8:24]), IPv6Address(packet[24:40]), packet[at:end]
    return None


def _mptcp_options(options: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        if at + 1 >= len(options) or (length := options[at + 1]) < 2 or at + length > len(options):
            return
        if options[at] == MPTCP and length > 2:
            yield options[at + 2 : at + length]
        at += length
