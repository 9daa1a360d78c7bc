"""Rows of samples as arrays of codes, times and values, which `sample_file` sorts into series.

Owns the codes: one number for the flow, path and metric of a row. Never reads a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]
Series = tuple[str, str, str]
"""Flow, path and metric."""

FEW = 1 << 16
"""Smaller codes fit into two bytes, which numpy sorts in linear time."""


@dataclass(frozen=True)
class Rows:
    """Rows in the order of the file."""

    series: Callable[[int], Series]
    """The series of a code."""
    codes: Codes
    times: Floats
    values: Floats

    @classmethod
    def of(cls, table: pa.Table) -> Rows:
        """The rows of a table; text columns are dictionaries or plain."""
        (flow, flows), (path, paths), (metric, metrics) = (numbered(table[name]) for name in ("flow", "path", "metric"))

        def series(code: int) -> Series:
            rest, metric_at = divmod(code, len(metrics))
            flow_at, path_at = divmod(rest, len(paths))
            return flows[flow_at], paths[path_at], metrics[metric_at]

        few = max(len(flows) * len(paths) * len(metrics), len(flows), len(paths), len(metrics)) < FEW
        kind = np.uint16 if few else np.int64
        codes: Codes = flow.astype(kind) * len(paths) + path.astype(kind)
        codes = codes * len(metrics) + metric.astype(kind)
        return cls(cache(series), codes, table["time_s"].to_numpy(), table["value"].to_numpy())

    def part(self, places: Sequence[slice]) -> Rows:
        """The rows at these places; one contiguous part shares memory with all rows."""
        if len(places) == 1:
            rows: slice | Codes = places[0]
        else:
            rows = np.concatenate([np.arange(place.start, place.stop) for place in places])
        return Rows(self.series, self.codes[rows], self.times[rows], self.values[rows])

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The concatenated rows, with common codes."""
        if len(parts) == 1:
            return parts[0]
        numbers: dict[Series, int] = {}
        codes: list[Codes] = [np.zeros(0, np.int64)]
        for part in parts:
            found, place = np.unique(part.codes, return_inverse=True)
            mine = [numbers.setdefault(part.series(code), len(numbers)) for code in found.tolist()]
            codes.append(np.array(mine, np.int64)[place])
        times, values = ([np.zeros(0), *columns] for columns in ([p.times for p in parts], [p.values for p in parts]))
        return cls(list(numbers).__getitem__, np.concatenate(codes), np.concatenate(times), np.concatenate(values))


def encoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A text column as a dictionary column (numbers and names)."""
    if pa.types.is_dictionary(column.type):
        if column.type.value_type != pa.string():
            column = column.cast(column.type.value_type)
        else:
            return column.unify_dictionaries()
    return column.cast(pa.string()).dictionary_encode().unify_dictionaries()


def numbered(column: pa.ChunkedArray) -> tuple[Codes, list[str]]:
    """The numbers of a text column, and the list of names that they index."""
    whole = encoded(column).combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], pa.string()).dictionary_encode()
    return whole.indices.to_numpy(), whole.dictionary.to_pylist()
