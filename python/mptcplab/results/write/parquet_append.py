"""Appends Parquet files to each other without decoding their rows: only offsets in the footer change.

Owns the fields of the footer that depend on the position of a row group. The files must have one schema and one
writer. The result has their row groups in order. Appending files that were appended gives the same bytes as appending
all of them at once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mptcplab.results.write.thrift_footer import I64, LIST, STRUCT, Decoder, Struct, number, plain, put
from mptcplab.util.files import replacing

MAGIC = b"PAR1"
_ROWS, _GROUPS = 3, 4
"""Fields of the footer."""
_COLUMNS, _GROUP_START, _ORDINAL = 1, 5, 7
"""Fields of a row group."""
_COLUMN_START, _METADATA = 2, 3
"""Fields of a column."""
_PAGES = (9, 10, 11)
"""Fields of the metadata of a column: the offsets of its data, index and dictionary pages."""
_INDEXES = (4, 6)
"""Fields of a column: the offsets of its indexes, which mptcplab does not write."""
MOST_ORDINAL = (1 << 15) - 1
"""Maximum number of a row group. The number is optional, so later row groups have none."""


def append(files: Iterable[bytes], target: Path) -> None:
    """Writes one file with the row groups of all files; memory holds one file and the footer.

    Raises `ValueError` without files, for a damaged file, and for files of different schemas.
    """
    like: _Footer | None = None
    groups: list[Struct] = []
    rows = 0
    with replacing(target) as out:
        out.write(MAGIC)
        end = len(MAGIC)
        for data in files:
            try:
                footer = _footer(data, like)
            except (IndexError, RecursionError) as error:
                raise ValueError(f"not a Parquet file: its footer is damaged: {error}") from error
            if like and (footer.head, footer.tail) != (like.head, like.tail):
                raise ValueError(f"{target.name}: files of different schemas cannot be appended")
            like = footer
            _move(footer.groups, end - len(MAGIC), len(groups))
            groups += footer.groups
            rows += footer.rows
            out.write(memoryview(data)[len(MAGIC) : footer.start])
            end += footer.start - len(MAGIC)
        if like is None:
            raise ValueError(f"{target.name}: there is no file to append")
        text = bytearray(like.head)
        text.append(1 << 4 | I64)
        put(text, I64, number(rows))
        text.append(1 << 4 | LIST)
        put(text, LIST, (STRUCT, groups))
        out.write(text + like.tail + struct.pack("<I", len(text) + len(like.tail)) + MAGIC)


class _Footer(NamedTuple):
    """The footer of a file."""

    start: int
    """The number of bytes before it."""
    head: bytes
    """The fields before the number of rows: version and schema."""
    rows: int
    groups: list[Struct]
    tail: bytes
    """The fields after the row groups: metadata and writer."""


def _footer(data: bytes, like: _Footer | None) -> _Footer:
    """The footer of a file. Skips the fields of the head if they are `like` those of another file."""
    if len(data) < 12 or data[:4] != MAGIC or data[-4:] != MAGIC:
        raise ValueError("not a Parquet file")
    start = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    if start < len(MAGIC):
        raise ValueError("not a Parquet file: its footer is longer than the file")
    text = bytes(data[start:-8])
    decoder, field = Decoder(text), 0
    if like and text.startswith(like.head):
        decoder, field = Decoder(text, len(like.head)), _ROWS - 1
    while True:
        before = decoder.at
        field, kind = decoder.field(field)
        if field >= _ROWS or not kind:
            break
        decoder.value(kind)
    if (field, kind) != (_ROWS, I64):
        raise ValueError("not a Parquet file: its footer has no number of rows")
    rows = plain(decoder.value(kind))
    if decoder.field(field) != (_GROUPS, LIST):
        raise ValueError("not a Parquet file: its footer has no row groups")
    groups = decoder.value(LIST)[1]
    return _Footer(start, text[:before], rows, groups, text[decoder.at :])


def _move(groups: list[Struct], by: int, first: int) -> None:
    """Adds `by` bytes to all offsets, and numbers the row groups from `first`."""
    for at, group in enumerate(groups, first):
        if at > MOST_ORDINAL:
            group.pop(_ORDINAL, None)
        elif _ORDINAL in group:
            group[_ORDINAL] = group[_ORDINAL][0], number(at)
        _add(group, (_GROUP_START,), by)
        for column in group[_COLUMNS][1][1]:
            if any(field in column for field in _INDEXES):
                raise ValueError("files with page indexes cannot be appended")
            # Arrow writes 0, because the specification deprecates this offset.
            if column[_COLUMN_START][1]:
                _add(column, (_COLUMN_START,), by)
            _add(column[_METADATA][1], _PAGES, by)


def _add(fields: Struct, which: tuple[int, ...], by: int) -> None:
    for field in which:
        if field in fields:
            kind, value = fields[field]
            fields[field] = kind, number(plain(value) + by)
