"""Reads the TCP segments of capture files, with their MPTCP options, for `mptcplab verify`.

Owns the parsing of IP and TCP headers and options; `capture_file` reads files and frames. Shares no code with the Rust
stack, so that `verify` can find errors of that stack. Counts and skips packets other than TCP.
"""

from __future__ import annotations

import gzip
import heapq
import io
import math
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import IO, cast

from mptcplab.captures.capture_file import BadCapture, CutOff, Source, ip_packet, packets
from mptcplab.util.files import BadFile, check_regular, open_regular

__all__ = ["MPTCP", "Address", "BadCapture", "End", "Segment", "Skipped", "read", "stream"]

Address = IPv4Address | IPv6Address
End = tuple[Address, int]

MPTCP = 30
"""The option kind of MPTCP."""

MOST_BYTES = 1 << 30
"""Default maximum bytes of captures."""

_TCP = 6
_EXTENSIONS = {0, 43, 60}


@dataclass(frozen=True)
class Segment:
    """A captured TCP segment."""

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


Skipped = Counter[str]
"""Skipped packets by reason."""
HEADER, PAYLOAD, FRAGMENT, OTHER = (
    "packets cut off in their TCP header", "packets cut off in their payload", "fragments", "packets without TCP",
)  # fmt: skip
_REORDERED = 1024
"""Maximum number of packets by which the order in a file may differ from the order of their times."""


def read(files: list[Path], most: int = MOST_BYTES, cut: list[str] | None = None) -> list[Segment]:
    """All segments of all files; see `stream`."""
    return list(stream(files, most, cut))


def stream(
    files: list[Path], most: int = MOST_BYTES, cut: list[str] | None = None, skipped: Skipped | None = None
) -> Iterator[Segment]:
    """The segments of all files, in the order of their times; memory holds at most `_REORDERED` of each file.

    Raises `BadCapture` for an invalid or damaged file, for unknown link types, and for more than `most` bytes after
    decompression. A file that ends within a packet, perhaps because it is still written, raises `CutOff`. If `cut` is a
    list, the message is added to it instead, and later segments of other files are omitted. `skipped` counts packets.
    """
    total = 0
    for file in files:
        try:
            check_regular(file, most)
        except BadFile as error:
            raise BadCapture(f"{error}; split the file with editcap, or raise the limit with --most") from error
        total += file.stat().st_size
    if total > most:
        raise BadCapture(
            f"{total} bytes of captures exceed the maximum of {most}; verify fewer files, or raise the limit with "
            "--most"
        )
    ends = [math.inf]
    whole = [_ordered(_whole(file, most, cut, ends, Counter() if skipped is None else skipped)) for file in files]
    for segment in heapq.merge(*whole, key=lambda segment: segment.time):
        if segment.time > min(ends):
            return
        yield segment


def _whole(file: Path, most: int, cut: list[str] | None, ends: list[float], skipped: Skipped) -> Iterator[Segment]:
    """The segments of a file; if the file is cut off, adds the time of its last segment to `ends`."""
    last: float | None = None
    try:
        for segment in _segments(file, most, skipped):
            last = segment.time
            yield segment
    except CutOff as error:
        if cut is None or last is None:
            raise
        cut.append(str(error))
        ends.append(last)


def _ordered(segments: Iterator[Segment]) -> Iterator[Segment]:
    """Sorts segments by time, within a bounded window."""
    waiting: list[tuple[float, int, Segment]] = []
    for number, segment in enumerate(segments):
        heapq.heappush(waiting, (segment.time, number, segment))
        if len(waiting) > _REORDERED:
            yield heapq.heappop(waiting)[2]
    while waiting:
        yield heapq.heappop(waiting)[2]


def _segments(file: Path, most: int, skipped: Skipped) -> Iterator[Segment]:
    with _opened(file, most) as stream:
        source = Source(stream, file, most=most)
        for number, (time, link, packet) in enumerate(packets(source), 1):
            segment = _segment(f"{file.name}:{number}", time, ip_packet(link, packet, file), skipped)
            if segment is not None:
                yield segment


@contextmanager
def _opened(file: Path, most: int) -> Iterator[IO[bytes]]:
    """Opens a file; decompresses gzip."""
    with cast(io.BufferedReader, open_regular(file, most)) as opened:
        if opened.peek(2)[:2] != b"\x1f\x8b":
            yield opened
            return
        with gzip.GzipFile(fileobj=opened) as unpacked:
            yield cast(IO[bytes], unpacked)


def _segment(where: str, time: float, packet: bytes, skipped: Skipped) -> Segment | None:
    found = _transport(packet)
    if isinstance(found, str):
        skipped[found] += 1
        return None
    source, destination, tcp, length = found
    if len(tcp) < 20 or len(tcp) < (start := tcp[12] >> 4 << 2) or start < 20:
        skipped[HEADER] += 1
        return None
    # Options can still be checked; the missing payload leaves checksums unknown.
    skipped[PAYLOAD] += len(tcp) < length
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


def _transport(packet: bytes) -> tuple[Address, Address, bytes, int] | str:
    """Addresses, TCP segment and its original length, or the reason for skipping."""
    if len(packet) >= 20 and packet[0] >> 4 == 4:
        header, total = (packet[0] & 15) * 4, struct.unpack_from(">H", packet, 2)[0]
        if packet[9] != _TCP:
            return OTHER
        if struct.unpack_from(">H", packet, 6)[0] & 0x3FFF:
            return FRAGMENT
        # A packet of more than 65,535 bytes, captured before segmentation offload, has the total length 0.
        end = total or len(packet)
        return IPv4Address(packet[12:16]), IPv4Address(packet[16:20]), packet[header:end], end - header
    if len(packet) >= 40 and packet[0] >> 4 == 6:
        protocol, at = packet[6], 40
        end = 40 + struct.unpack_from(">H", packet, 4)[0]
        while protocol in _EXTENSIONS and at + 8 <= len(packet):
            protocol, at = packet[at], at + 8 + 8 * packet[at + 1]
        if protocol == _TCP:
            return IPv6Address(packet[8:24]), IPv6Address(packet[24:40]), packet[at:end], end - at
    return OTHER


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
