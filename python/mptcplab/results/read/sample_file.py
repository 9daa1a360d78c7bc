"""Reads samples, the measured values over time, of a saved result run by run.

Owns the search for the rows of a run, and their conversion to series. Memory holds the last row groups and the series
of the last few runs, for any size of the file.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mptcplab.results.model.tables import ALL
from mptcplab.results.read.result_files import LONGEST, SAMPLES, WHO, damaged, open_table
from mptcplab.results.read.sample_rows import Floats, Rows, Series, encoded, numbered
from mptcplab.util.files import BadFile
from mptcplab.util.user_input import BadResult

Who = tuple[str, int, str]
"""Run, seed and variant."""
Span = tuple[int, int] | tuple[str, str] | None
"""Minimum and maximum of a column; None if unknown."""
K = TypeVar("K")
V = TypeVar("V")

GROUPS, RUNS = 2, 4
"""Row groups and runs that are cached."""
CUT = 60
"""Length from which the minimum and maximum text of a row group may be truncated."""
_TEXT = ("run", "variant", "flow", "path", "metric")
_NONE = np.zeros(0, np.int64)


class RunSamples:
    """The series of one run, by flow, path and metric."""

    def __init__(self, rows: Rows) -> None:
        """Sorts the rows by series."""
        self._series: dict[Series, tuple[Floats, Floats]] = {}
        self.times = _different(rows.times)
        codes = rows.codes
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if codes.size else _NONE
        times, values = rows.times[order], rows.values[order]
        edges = [*starts.tolist(), codes.size]
        # In the order of the first row of each series, as the names are listed.
        for at in np.argsort(order[starts]).tolist():
            mine = slice(edges[at], edges[at + 1])
            self._series[rows.series(int(ordered[edges[at]]))] = times[mine], values[mine]
        self.flows = _each(flow for flow, _, _ in self._series)
        self.paths = _each(path for flow, path, _ in self._series if flow != ALL)
        self.metrics = _each(metric for _, _, metric in self._series)

    @classmethod
    def of(cls, table: pa.Table) -> RunSamples:
        """The series of a table with one run."""
        return cls(Rows.of(table))

    def series(self, metric: str, flow: str, path: str) -> tuple[Floats, Floats]:
        """Times and values of a series, both empty if it was not measured."""
        return self._series.get((flow, path, metric)) or (np.zeros(0), np.zeros(0))


class SampleFile:
    """A file of samples. Raises `BadResult` when a damaged part is read."""

    def __init__(self, file: Path) -> None:
        """Checks the columns; reads no rows yet."""
        self._file = file
        with open_table(file) as parquet:
            schema = parquet.schema_arrow
            for name in SAMPLES:
                if schema.names.count(name) != 1:
                    raise damaged(file, f"has no column {name!r}")
            self._spans = [_spans(parquet, group) for group in range(parquet.num_row_groups)]
        # The positions of runs in a row group, known after it was read.
        self._places: dict[int, dict[Who, list[slice]]] = {}
        # Row groups that may contain a run, by name and variant.
        self._likely: dict[tuple[str, str], list[int]] = {}
        self._groups = _Few[int, Rows](GROUPS)
        self._runs = _Few[Who, RunSamples](RUNS)

    def of(self, who: Who) -> RunSamples:
        """The series of a run."""
        return self._runs.get(who, self._read)

    def _read(self, who: Who) -> RunSamples:
        run, seed, variant = who
        if (run, variant) not in self._likely:
            self._likely[run, variant] = [
                group
                for group, (runs, _, variants) in enumerate(self._spans)
                if not _beyond(run, runs) and not _beyond(variant, variants)
            ]
        parts = []
        for group in self._likely[run, variant]:
            if group not in self._places:
                if _beyond(seed, self._spans[group][1]):
                    continue
                self._groups.get(group, self._group)
            places = self._places[group].get(who)
            if places:
                rows = self._groups.get(group, self._group)
                parts.append(rows.part(places))
        return RunSamples(Rows.joined(parts))

    def _group(self, number: int) -> Rows:
        try:
            with open_table(self._file, _TEXT) as parquet:
                # Single-threaded: more threads are slower on a busy machine.
                table = parquet.read_row_group(number, columns=list(SAMPLES), use_threads=False)
            table.validate(full=True)
            table = self._checked(table)
        except (BadResult, BadFile):
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
            raise damaged(self._file, f"is not a readable Parquet file: {first}") from error
        self._places[number] = _runs(table)
        return Rows.of(table)

    def _checked(self, table: pa.Table) -> pa.Table:
        """Converts the columns to their types; rejects missing values and implausible times."""
        for at, (name, kind) in enumerate(SAMPLES.items()):
            column = table[name]
            if name in _TEXT:
                column = encoded(column)
            elif column.type != kind:
                column = column.cast(kind)
            if column.null_count:
                raise damaged(self._file, f"has missing values in column {name!r}")
            table = table.set_column(at, name, column)
        table = table.combine_chunks()
        if table.num_rows:
            times = table["time_s"].to_numpy()
            # NaN is neither below nor above.
            if not (times.min() >= 0 and times.max() <= LONGEST):
                low, high = pc.min_max(table["time_s"]).as_py().values()
                raise damaged(self._file, f"has times from {low} to {high} s, but they must be from 0 to {LONGEST:g} s")
        return table


class _Few(Generic[K, V]):
    """A cache of the last few results."""

    def __init__(self, most: int) -> None:
        self._most, self._kept = most, OrderedDict[K, V]()

    def get(self, key: K, make: Callable[[K], V]) -> V:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        while len(self._kept) >= self._most:
            self._kept.popitem(last=False)
        self._kept[key] = make(key)
        return self._kept[key]


def _runs(table: pa.Table) -> dict[Who, list[slice]]:
    """The positions of the rows of each run."""
    if not table.num_rows:
        return {}
    (runs, run_names), (variants, variant_names) = numbered(table["run"]), numbered(table["variant"])
    seeds = table["seed"].to_numpy()
    changed = (runs[1:] != runs[:-1]) | (variants[1:] != variants[:-1]) | (seeds[1:] != seeds[:-1])
    edges = [0, *(np.flatnonzero(changed) + 1).tolist(), table.num_rows]
    found: dict[Who, list[slice]] = {}
    for start, stop in itertools.pairwise(edges):
        who = (run_names[runs[start]], int(seeds[start]), variant_names[variants[start]])
        found.setdefault(who, []).append(slice(start, stop))
    return found


def _spans(parquet: pq.ParquetFile, group: int) -> tuple[Span, Span, Span]:
    """The minimum and maximum run, seed and variant of a row group; None without statistics."""
    return tuple(_span(parquet, group, name, kind) for name, kind in WHO.items())  # type: ignore[return-value, unused-ignore]


def _span(parquet: pq.ParquetFile, group: int, name: str, kind: pa.DataType) -> Span:
    at = parquet.schema_arrow.get_field_index(name)
    of = parquet.schema_arrow.field(at).type
    if (of.value_type if pa.types.is_dictionary(of) else of) != kind:
        return None
    try:
        message = parquet.metadata.row_group(group).column(at).statistics
        if message is None or not message.has_min_max:
            return None
        return (int(message.min), int(message.max)) if kind == WHO["seed"] else _texts(message.min, message.max)
    except (pa.ArrowException, OSError, ValueError, TypeError, IndexError):
        return None


def _texts(low: object, high: object) -> Span:
    """Text bounds; None for long ones, which a writer may truncate. Parquet and Python compare text alike."""
    whole = isinstance(low, str) and isinstance(high, str) and len(low) < CUT and len(high) < CUT
    return (str(low), str(high)) if whole else None


def _beyond(own: object, span: Span) -> bool:
    """Whether a row group certainly lacks this run, seed or variant."""
    if span is None:
        return False
    low, high = span
    if isinstance(own, str) and isinstance(low, str) and isinstance(high, str):
        return not low <= own <= high
    return isinstance(own, int) and isinstance(low, int) and isinstance(high, int) and not low <= own <= high


def _different(times: Floats) -> Floats:
    """The distinct times in order; rows of a run are mostly sorted."""
    if times.size and bool(np.all(times[1:] >= times[:-1])):
        return times[np.concatenate(([True], times[1:] > times[:-1]))]
    return np.unique(times)


def _each(names: Iterable[str]) -> list[str]:
    """The distinct names in order, without `ALL`."""
    return [name for name in dict.fromkeys(names) if name != ALL]
