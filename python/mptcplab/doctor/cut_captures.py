"""Parts of pcapng files: a time range, one direction, or the first bytes of each packet.

Captures without an answer (`cannot-tell`) are made from complete ones this way. Owns the blocks of the format that the
simulator writes: section headers, interface descriptions and enhanced packets (draft-ietf-opsawg-pcapng).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mptcplab.util.user_input import BadResult

PACKET = 6
"""Block type of an enhanced packet."""
INTERFACE = 1
"""Block type of an interface description."""
_HEAD = struct.Struct("<IIIII")
"""Interface, upper and lower half of the time, captured length, original length."""


@dataclass(frozen=True)
class Cut:
    """The packets of a capture that remain, and their length."""

    begin: float = 0.0
    """Time of the first packet, in seconds after the start of the run."""
    length: float | None = None
    """Time range in seconds; None keeps all packets after `begin`."""
    source: str | None = None
    """The first two numbers of the IPv4 source address, such as `10.1`; None keeps all packets."""
    snap: int | None = None
    """Maximum number of captured bytes of a packet; None keeps all bytes."""


def _blocks(content: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 12 <= len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if length < 12 or length % 4 or at + length > len(content):
            raise BadResult(f"{path}: block at byte {at} has a length of {length} bytes; expected a whole block")
        yield kind, content[at + 8 : at + length - 4]
        at += length


def _block(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def cut(path: Path, change: Cut) -> None:
    """Replaces the file by the part of it that `change` describes.

    Times are those of interfaces with nanoseconds, as the simulator writes them.
    """
    written: list[bytes] = []
    prefix = None if change.source is None else bytes(int(part) for part in change.source.split("."))
    for kind, body in _blocks(path.read_bytes(), path):
        if kind != PACKET:
            written.append(_block(kind, body))
            continue
        interface, upper, lower, captured, original = _HEAD.unpack_from(body)
        after = (upper << 32 | lower) / 1e9 - change.begin
        packet = body[_HEAD.size : _HEAD.size + captured]
        is_outside = after < 0 or (change.length is not None and after > change.length)
        if is_outside or (prefix is not None and not packet[12:].startswith(prefix)):
            continue
        kept = packet if change.snap is None else packet[: change.snap]
        padded = kept + b"\0" * (-len(kept) % 4)
        written.append(_block(PACKET, _HEAD.pack(interface, upper, lower, len(kept), original) + padded))
    path.write_bytes(b"".join(written))
