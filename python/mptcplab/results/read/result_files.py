"""Reads the files of a result, which may be damaged or hostile.

Owns the checks: a truncated, changed or foreign file raises a `BadResult` that names the file. Reads only regular files
of a bounded size, and nothing outside the directory of the result.
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
"""Maximum bytes of `run.json` or of a scenario."""
MOST_TABLE = 1 << 34
"""Maximum bytes of a table."""
MOST_ROWS = 500_000_000
"""Maximum rows of a table, because a small file may claim any number of rows."""
BYTES_OF_TEXT, BYTES_OF_ROW = 1 << 26, 1 << 10
"""Maximum bytes of text in a table, plus bytes per row, because a small file may repeat a long text."""
LONGEST = 1e10
"""Maximum time in seconds, about 300 years."""

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
"""The columns of samples, with their types when read."""
EVENTS = {
    "run": TEXT,
    "seed": NUMBER,
    "variant": TEXT,
    "time_s": REAL,
    "kind": TEXT,
    "what": TEXT,
}
"""Columns of events with a value in every row."""
WHO = {"run": TEXT, "seed": NUMBER, "variant": TEXT}
"""Columns of every table."""
TABLES = ("paths", "links", "stations", "cells", "flows")
"""Keys of a scenario that contain named tables."""


def read_json(file: Path) -> dict[str, Any]:
    """Reads `run.json`, and checks its runs."""
    text = _text(file)
    try:
        described = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(file, f"is not JSON: {error}") from error
    if not isinstance(described, dict) or not isinstance(described.get("runs"), list):
        raise damaged(file, "has no list of runs")
    if not isinstance(described.get("mptcplab"), str):
        raise damaged(file, "has no version of mptcplab")
    for at, row in enumerate(described["runs"]):
        if not isinstance(row, dict):
            raise damaged(file, f"run {at} is not a table")
        for key in ("run", "variant", "scenario"):
            if not isinstance(row.get(key), str):
                raise damaged(file, f"run {at} has no key {key!r}")
        seed = row.get("seed")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
            raise damaged(file, f"run {at} has no seed from 0 to 2^64 - 1")
        name = row["scenario"]
        if name in ("", ".", "..") or any(letter in "/\\\0" for letter in name):
            raise damaged(file, f"run {at} refers to the scenario {name!r} outside this directory")
    return described


def read_scenario_text(file: Path) -> str:
    """The text of a scenario file."""
    return _text(file)


def read_scenario(file: Path) -> dict[str, Any]:
    """A scenario file as nested dictionaries."""
    try:
        scenario = tomllib.loads(_text(file))
    except (ValueError, RecursionError) as error:
        raise damaged(file, f"is not TOML: {error}") from error
    for kind in TABLES:
        tables = scenario.get(kind, {})
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise damaged(file, f"{kind} does not contain named tables")
    return scenario


@contextmanager
def open_table(file: Path, text: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    """Opens a Parquet file of a bounded size, with the columns `text` as dictionaries. Raises `BadResult`."""
    try:
        check_regular(file, MOST_TABLE)
        # As a plain name, `s3:x` would be a URI.
        with pa.OSFile(str(file)) as opened, pq.ParquetFile(opened, read_dictionary=list(text)) as parquet:
            _check_rows(file, parquet.metadata.num_rows)
            yield parquet
    except BadFile as error:
        raise BadResult(str(error)) from error
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, BadResult):
            raise
        raise damaged(file, f"is not a readable Parquet file: {_first_line(error)}") from error


def read_table(file: Path, wanted: dict[str, pa.DataType] | None = None, *, seed: int | None = None) -> pa.Table:
    """Reads a Parquet file with at least these columns, text as plain text.

    With a `seed`, reads only its rows; memory holds one further row group at a time.
    """
    wanted = WHO if wanted is None else wanted
    with open_table(file, _texts(file)) as parquet:
        _check_sizes(file, parquet)
        return _plain(_checked(file, parquet.read() if seed is None else _of_seed(parquet, seed), wanted))


def read_pieces(file: Path, wanted: dict[str, pa.DataType] | None = None) -> Iterator[pa.Table]:
    """Reads a file by row groups, text as dictionaries; a file without rows gives one empty piece."""
    wanted = WHO if wanted is None else wanted
    with open_table(file, _texts(file)) as parquet:
        _check_sizes(file, parquet)
        for group in range(parquet.num_row_groups):
            yield _checked(file, parquet.read_row_group(group), wanted)
        if not parquet.num_row_groups:
            yield _checked(file, parquet.schema_arrow.empty_table(), wanted)


def read_columns(file: Path) -> pa.Schema:
    """The columns of a Parquet file, without rows."""
    with open_table(file) as parquet:
        return _plain(parquet.schema_arrow.empty_table()).schema


def _texts(file: Path) -> list[str]:
    """The text columns, which are read as dictionaries, so that repeated long texts are stored once."""
    with open_table(file) as parquet:
        return [one.name for one in parquet.schema_arrow if pa.types.is_string(one.type) or _is_numbered(one.type)]


def _is_numbered(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))


def _check_sizes(file: Path, parquet: pq.ParquetFile) -> None:
    """Rejects row groups whose declared size exceeds the maximum for their rows."""
    for group in range(parquet.num_row_groups):
        lines = parquet.metadata.row_group(group)
        if lines.total_byte_size > _most_bytes(lines.num_rows):
            raise BadFile(f"{file}: {lines.total_byte_size} bytes in {lines.num_rows} rows exceed the maximum")


def _most_bytes(rows: int) -> int:
    return BYTES_OF_TEXT + BYTES_OF_ROW * rows


def _check_text(file: Path, name: str, column: pa.ChunkedArray) -> None:
    """Rejects a column whose text would be too large if each row stored it as plain text."""
    total = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary)
        total += pc.sum(lengths).as_py() or 0
        total += pc.sum(pc.cast(lengths.take(chunk.indices), pa.int64())).as_py() or 0
    if total > _most_bytes(len(column)):
        raise BadFile(f"{file}: {total} bytes of text in the {len(column)} rows of {name!r} exceed the maximum")


def _checked(file: Path, table: pa.Table, wanted: dict[str, pa.DataType]) -> pa.Table:
    table.validate(full=True)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if _is_numbered(column.type):
            _check_text(file, name, column)
    for name, kind in wanted.items():
        at = table.column_names.index(name) if table.column_names.count(name) == 1 else -1
        if at < 0:
            raise damaged(file, f"has no column {name!r}")
        column = table[name]
        if kind != TEXT or not _is_numbered(column.type):
            column = column.cast(kind)
        if column.null_count:
            raise damaged(file, f"has missing values in column {name!r}")
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
        raise BadFile(f"{file}: {rows} rows exceed the maximum of {MOST_ROWS}")


def _plain(table: pa.Table) -> pa.Table:
    """The table with plain text columns, so that tables of several files can be joined."""
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
        raise damaged(file, f"is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise damaged(file, error.strerror or str(error)) from error


def damaged(file: Path, why: str) -> BadResult:
    """The error for a truncated, changed or foreign file."""
    # Escapes line breaks of file names, so that the message stays on one line.
    words = f"{file}: damaged, or not written by mptcplab: {why}; repeat the run with --output"
    return BadResult("".join(one if one.isprintable() else ascii(one)[1:-1] for one in words))


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
