"""TCP segments out of capture files.

Owns the headers of IP and TCP and the options; files and frames are the business of `captures`. Written apart from the
Rust code on purpose: it is what that is checked against. Packets that are no TCP are passed over; a file that is
damaged says where.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from mptcplab.captures import BadCapture, CutOff, Source, ip_packet, packets
from mptcplab.files import BadFile, check_regular

__all__ = ["MPTCP", "Address", "BadCapture", "End", "Segment", "read"]

Address = IPv4Address | IPv6Address
End = tuple[Address, int]

MPTCP = 30
"""The option kind of MPTCP."""

MOST_BYTES = 1 << 30
"""Bytes of captures that are read, if nobody allows more: segments are kept until they are in order."""

_TCP = 6
_EXTENSIONS = {0, 43, 60}


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


def read(files: list[Path], most: int = MOST_BYTES, cut: list[str] | None = None) -> list[Segment]:
    """The segments of all files, in the order of their times.

    Raises `BadCapture` for a file that is no capture, is damaged, or has frames of a link that is not known here, and
    when all of them together are more than `most` bytes. With `cut`, a file that ends in the middle of a packet, as one
    that is still written does, is told there and read up to it; of the others, too, nothing later is kept.
    """
    total = 0
    for file in files:
        try:
            check_regular(file, most)
        except BadFile as error:
            raise BadCapture(f"{error}; cut it by editcap, or allow more by --most") from error
        total += file.stat().st_size
    if total > most:
        raise BadCapture(f"{total} bytes of captures are more than {most}; verify fewer, or allow more by --most")
    found, until = list[Segment](), math.inf
    for file in files:
        its = list[Segment]()
        try:
            its.extend(_segments(file))
        except CutOff as error:
            if cut is None or not its:
                raise
            cut.append(str(error))
            until = min(until, its[-1].time)
        found += its
    return sorted((segment for segment in found if segment.time <= until), key=lambda segment: segment.time)


def _segments(file: Path) -> Iterator[Segment]:
    with file.open("rb") as stream:
        source = Source(stream, file)
        for number, (time, link, packet) in enumerate(packets(source), 1):
            segment = _segment(f"{file.name}:{number}", time, ip_packet(link, packet, file))
            if segment is not None:
                yield segment


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
        # A packet that the device would have cut has no length that fits 16 bits.
        return IPv4Address(packet[12:16]), IPv4Address(packet[16:20]), packet[header : total or len(packet)]
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
