"""Joins Parquet files: the results of `mptcplab merge`, and the parts of a sweep.

Reads piece by piece, so memory does not grow with the files. Owns the joint schema: missing columns are null, text
becomes dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mptcplab.util.files import replacing

ROWS = 1 << 20
"""Rows of a row group."""


def join(pieces: Iterable[pa.Table], schemas: Sequence[pa.Schema], target: Path) -> None:
    """Writes the pieces in order; `schemas` are those of all pieces. The same pieces give the same bytes.

    Raises `pa.ArrowException` if the schemas cannot be joined.
    """
    schema = pa.unify_schemas(_alike([_plain(one) for one in schemas]), promote_options="default")
    waiting: list[pa.Table] = []
    rows = 0
    with (
        replacing(target) as file,
        pq.ParquetWriter(
            file, schema, version="2.6", compression="zstd", compression_level=3, data_page_version="2.0"
        ) as writer,
    ):
        for piece in pieces:
            waiting.append(_as(piece, schema))
            rows += piece.num_rows
            if rows >= ROWS:
                _write(writer, waiting)
                waiting, rows = [], 0
        if waiting:
            _write(writer, waiting)


def _write(writer: pq.ParquetWriter, tables: Sequence[pa.Table]) -> None:
    writer.write_table(pa.concat_tables(tables).unify_dictionaries().combine_chunks(), row_group_size=ROWS)


def _as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        _cast(table[field.name], field.type) if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]  # fmt: skip
    return pa.Table.from_arrays(columns, schema=schema)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(column.type):
        column = column.cast(kind.value_type).dictionary_encode()
    return column.cast(kind)


def _alike(schemas: Sequence[pa.Schema]) -> list[pa.Schema]:
    """Makes a varied key (a column with a dot) text if one sweep has numbers and another text."""
    kinds: dict[str, set[pa.DataType]] = {}
    for schema in schemas:
        for one in schema:
            kinds.setdefault(one.name, set()).add(one.type)
    text = {
        name: next(filter(_is_text, found), None) for name, found in kinds.items() if "." in name and len(found) > 1
    }
    return [pa.schema([pa.field(one.name, text.get(one.name) or one.type) for one in schema]) for schema in schemas]


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema with one dictionary type for all text, because files store text as strings or as dictionaries."""
    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([pa.field(one.name, text if _is_text(one.type) else one.type) for one in schema])


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) or pa.types.is_string(kind))
