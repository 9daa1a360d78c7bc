"""The files of a result, read by somebody who did not write them.

Owns what is wrong with a result that was cut off, changed or made by another: every such fault is a `BadResult` that
names the file. Reads regular files of a bounded size, and nothing outside the directory of the result.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mptcplab.util.files import BadFile, check_regular, read_bytes
from mptcplab.util.user_input import BadResult

MOST_TEXT = 1 << 28
"""Bytes of `run.json` or of a scenario."""
MOST_TABLE = 1 << 34
"""Bytes of a table."""
MOST_ROWS = 500_000_000
"""Rows of a table: a small file may say that it has any number."""
BYTES_OF_TEXT, BYTES_OF_ROW = 1 << 26, 1 << 10
"""Bytes of the text of a table, and as many more for each of its rows: a small file may repeat a long text."""
LONGEST = 1e10
"""Seconds, about 300 years: no run is longer."""

TEXT, NUMBER, REAL = pa.string(), pa.uint64(), pa.float64()
SAMPLES = {
    "run": TEXT,
    "seed": NUMBER,
    "variant": TEXT,
    "time_s": REAL,
    "flow": TEXT,
    "path": TEXT,
    "metric": TEXT,
    "value": REAL,
}
"""The columns of the samples that are read, and what they are read as."""
EVENTS = {
    "run": TEXT,
    "seed": NUMBER,
    "variant": TEXT,
    "time_s": REAL,
    "kind": TEXT,
    "what": TEXT,
}
"""The columns of events that have a value in every row; the others may have none."""
WHO = {"run": TEXT, "seed": NUMBER, "variant": TEXT}
"""The columns that every table has."""
TABLES = ("paths", "links", "stations", "cells", "flows")
"""What a scenario has by name."""


def read_json(file: Path) -> dict[str, Any]:
    """`run.json`, with runs that say who they are."""
    text = _text(file)
    try:
        described = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(file, f"this is not JSON: {error}") from error
    if not isinstance(described, dict) or not isinstance(described.get("runs"), list):
        raise damaged(file, "it has no list of runs")
    if not isinstance(described.get("mptcplab"), str):
        raise damaged(file, "it does not say which version wrote it")
    for at, row in enumerate(described["runs"]):
        if not isinstance(row, dict):
            raise damaged(file, f"run {at} is no table")
        for key in ("run", "variant", "scenario"):
            if not isinstance(row.get(key), str):
                raise damaged(file, f"run {at} has no {key!r}")
        seed = row.get("seed")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
            raise damaged(file, f"run {at} has no seed from 0 to 2^64 - 1")
        name = row["scenario"]
        if name in ("", ".", "..") or any(letter in "/\\\0" for letter in name):
            raise damaged(file, f"run {at} has its scenario at {name!r}, and not beside this file")
    return described


def read_scenario_text(file: Path) -> str:
    """The text of a scenario file."""
    return _text(file)


def read_scenario(file: Path) -> dict[str, Any]:
    """A scenario file as nested dictionaries."""
    try:
        scenario = tomllib.loads(_text(file))
    except (ValueError, RecursionError) as error:
        raise damaged(file, f"this is not TOML: {error}") from error
    for kind in TABLES:
        tables = scenario.get(kind, {})
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise damaged(file, f"{kind} are not tables by name")
    return scenario


@contextmanager
def open_table(file: Path, text: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    """A Parquet file of a size that is read, its columns `text` as numbers and names. Raises `BadResult`."""
    try:
        check_regular(file, MOST_TABLE)
        # By its name alone, `s3:x` would be a place on the net.
        with pa.OSFile(str(file)) as opened, pq.ParquetFile(opened, read_dictionary=list(text)) as parquet:
            _check_rows(file, parquet.metadata.num_rows)
            yield parquet
    except BadFile as error:
        raise BadResult(str(error)) from error
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, BadResult):
            raise
        raise damaged(file, f"this is no Parquet file that can be read: {_first_line(error)}") from error


def read_table(file: Path, wanted: dict[str, pa.DataType] | None = None, *, seed: int | None = None) -> pa.Table:
    """A Parquet file, with these columns among its own; text is text, not numbers of it.

    With a `seed`, its rows alone, and no more than a group of the others' in memory at a time.
    """
    wanted = WHO if wanted is None else wanted
    with open_table(file, _texts(file)) as parquet:
        _check_sizes(file, parquet)
        return _plain(_checked(file, parquet.read() if seed is None else _of_seed(parquet, seed), wanted))


def read_pieces(file: Path, wanted: dict[str, pa.DataType] | None = None) -> Iterator[pa.Table]:
    """The same, a group of rows at a time, its text numbered; a file without rows is one piece."""
    wanted = WHO if wanted is None else wanted
    with open_table(file, _texts(file)) as parquet:
        _check_sizes(file, parquet)
        for group in range(parquet.num_row_groups):
            yield _checked(file, parquet.read_row_group(group), wanted)
        if not parquet.num_row_groups:
            yield _checked(file, parquet.schema_arrow.empty_table(), wanted)


def read_columns(file: Path) -> pa.Schema:
    """The columns of a table, without its rows."""
    with open_table(file) as parquet:
        return _plain(parquet.schema_arrow.empty_table()).schema


def _texts(file: Path) -> list[str]:
    """The columns of text, which are read as numbers and names: a long text that each row repeats is there once."""
    with open_table(file) as parquet:
        return [one.name for one in parquet.schema_arrow if pa.types.is_string(one.type) or _is_numbered(one.type)]


def _is_numbered(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))


def _check_sizes(file: Path, parquet: pq.ParquetFile) -> None:
    """Refuses groups of rows that are larger, by what the file says, than any text of so many rows is."""
    for group in range(parquet.num_row_groups):
        told = parquet.metadata.row_group(group)
        if told.total_byte_size > _most_bytes(told.num_rows):
            raise BadFile(f"{file}: {told.total_byte_size} bytes in {told.num_rows} rows are more than are read")


def _most_bytes(rows: int) -> int:
    return BYTES_OF_TEXT + BYTES_OF_ROW * rows


def _check_text(file: Path, name: str, column: pa.ChunkedArray) -> None:
    """Refuses text that would take too much if each row had its own."""
    total = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary)
        total += pc.sum(lengths).as_py() or 0
        total += pc.sum(pc.cast(lengths.take(chunk.indices), pa.int64())).as_py() or 0
    if total > _most_bytes(len(column)):
        raise BadFile(f"{file}: {total} bytes of text in the {len(column)} rows of {name!r} are more than are read")


def _checked(file: Path, table: pa.Table, wanted: dict[str, pa.DataType]) -> pa.Table:
    table.validate(full=True)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if _is_numbered(column.type):
            _check_text(file, name, column)
    for name, kind in wanted.items():
        at = table.column_names.index(name) if table.column_names.count(name) == 1 else -1
        if at < 0:
            raise damaged(file, f"it has no column {name!r}")
        column = table[name]
        if kind != TEXT or not _is_numbered(column.type):
            column = column.cast(kind)
        if column.null_count:
            raise damaged(file, f"its column {name!r} has holes")
        table = table.set_column(at, name, column)
    return table


def _of_seed(parquet: pq.ParquetFile, seed: int) -> pa.Table:
    mine = [parquet.schema_arrow.empty_table()]
    for group in range(parquet.num_row_groups):
        rows = parquet.read_row_group(group)
        if "seed" in rows.column_names:
            rows = rows.filter(pc.equal(rows["seed"], seed))
        mine.append(rows)
    return pa.concat_tables(mine)


def _check_rows(file: Path, rows: int) -> None:
    if rows > MOST_ROWS:
        raise BadFile(f"{file}: {rows} rows are more than the {MOST_ROWS} that are read")


def _plain(table: pa.Table) -> pa.Table:
    """The same table with text columns as text, so that tables of several files go together."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _text(file: Path) -> str:
    try:
        return read_bytes(file, MOST_TEXT).decode("utf-8")
    except BadFile as error:
        raise BadResult(str(error)) from error
    except UnicodeDecodeError as error:
        raise damaged(file, f"it is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise damaged(file, error.strerror or str(error)) from error


def damaged(file: Path, why: str) -> BadResult:
    """What to say of a file that was cut off, changed or made by another."""
    # A description may name a file with a line break in its name, and the message stays one line.
    words = f"{file}: damaged, or not of mptcplab: {why}; run it again with --output"
    return BadResult("".join(one if one.isprintable() else ascii(one)[1:-1] for one in words))


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
