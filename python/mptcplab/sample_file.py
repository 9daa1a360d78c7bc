"""The samples of a saved result, read run by run.

Owns which rows of the file are a run's, and how they become series. Holds the group of rows that was read last and the
series of the last few runs, however large the file is.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from mptcplab.files import BadFile
from mptcplab.inputs import BadResult
from mptcplab.reading import LONGEST, SAMPLES, WHO, damaged, open_table
from mptcplab.tables import ALL

Who = tuple[str, int, str]
"""Run, seed and variant."""
Floats = NDArray[np.float64]
Span = tuple[int, int] | tuple[str, str] | None
K = TypeVar("K")
V = TypeVar("V")

GROUPS, RUNS = 2, 4
"""How much is held: groups of rows of a file, and runs."""
CUT = 60
"""Letters from which the first and the last text of a group may have been cut short."""
_TEXT = ("run", "variant", "flow", "path", "metric")


class RunSamples:
    """The series of one run, by flow, path and metric."""

    def __init__(self, table: pa.Table) -> None:
        """Sorts the rows; text columns are numbered or plain."""
        columns = {name: _numbered(table[name]) for name in ("flow", "path", "metric")}
        self._names = {name: names for name, (_, names) in columns.items()}
        codes = [codes for codes, _ in columns.values()]
        flow = codes[0]
        self.times = _different(table["time_s"].to_numpy())
        self.flows = _known(*columns["flow"])
        self.metrics = _known(*columns["metric"])
        whole = self._names["flow"].index(ALL) if ALL in self._names["flow"] else -1
        self.paths = _known(codes[1][flow != whole], self._names["path"])
        key = (flow * len(self._names["path"]) + codes[1]) * len(self._names["metric"]) + codes[2]
        # Small numbers are sorted by counting.
        small = key.size and int(key.max()) < 1 << 16
        order = np.argsort(key.astype(np.uint16) if small else key, kind="stable")
        ordered = key[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._keys = ordered[starts]
        self._rows = np.split(order, starts[1:]) if order.size else []
        self._times, self._values = table["time_s"].to_numpy(), table["value"].to_numpy()

    def series(self, metric: str, flow: str, path: str) -> tuple[Floats, Floats]:
        """Times and values, both empty where it was not measured."""
        try:
            flow_at, path_at, metric_at = (
                self._names[column].index(name) for column, name in (("flow", flow), ("path", path), ("metric", metric))
            )
        except ValueError:
            return np.zeros(0), np.zeros(0)
        key = (flow_at * len(self._names["path"]) + path_at) * len(self._names["metric"]) + metric_at
        at = int(np.searchsorted(self._keys, key))
        if at == len(self._keys) or self._keys[at] != key:
            return np.zeros(0), np.zeros(0)
        rows = self._rows[at]
        return self._times[rows], self._values[rows]


class SampleFile:
    """A file of samples. Raises `BadResult` where it is damaged, when that part of it is read."""

    def __init__(self, file: Path) -> None:
        """Looks at its columns; reads no row yet."""
        self._file = file
        with open_table(file) as parquet:
            schema = parquet.schema_arrow
            for name in SAMPLES:
                if schema.names.count(name) != 1:
                    raise damaged(file, f"it has no column {name!r}")
            self._spans = [_spans(parquet, group) for group in range(parquet.num_row_groups)]
        # Where the runs of a group are is known once it was read, and kept.
        self._places: dict[int, dict[Who, list[slice]]] = {}
        self._groups = _Few[int, pa.Table](GROUPS)
        self._runs = _Few[Who, RunSamples](RUNS)

    def of(self, who: Who) -> RunSamples:
        """The series of a run."""
        return self._runs.get(who, self._read)

    def _read(self, who: Who) -> RunSamples:
        parts = []
        for group, span in enumerate(self._spans):
            if any(_beyond(own, known) for own, known in zip(who, span, strict=True)):
                continue
            if group not in self._places:
                self._groups.get(group, self._group)
            places = self._places[group].get(who, [])
            if places:
                table = self._groups.get(group, self._group)
                parts += [table.slice(own.start, own.stop - own.start) for own in places]
        whole = pa.concat_tables(parts).unify_dictionaries() if parts else _empty()
        return RunSamples(whole)

    def _group(self, number: int) -> pa.Table:
        try:
            with open_table(self._file, _TEXT) as parquet:
                table = parquet.read_row_group(number, columns=list(SAMPLES))
            table.validate(full=True)
            table = self._checked(table)
        except (BadResult, BadFile):
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
            raise damaged(self._file, f"this is no Parquet file that can be read: {first}") from error
        self._places[number] = _runs(table)
        return table

    def _checked(self, table: pa.Table) -> pa.Table:
        """The columns of their own types, without holes, times in order of magnitude of a run."""
        for at, (name, kind) in enumerate(SAMPLES.items()):
            column = table[name]
            if name in _TEXT:
                column = _encoded(column)
            elif column.type != kind:
                column = column.cast(kind)
            if column.null_count:
                raise damaged(self._file, f"its column {name!r} has holes")
            table = table.set_column(at, name, column)
        table = table.combine_chunks()
        if table.num_rows:
            low, high = pc.min_max(table["time_s"]).as_py().values()
            # What is not a number is neither.
            if not pc.all(pc.is_finite(table["time_s"])).as_py() or low < 0 or high > LONGEST:
                raise damaged(self._file, f"its times go from {low} to {high} s")
        return table


class _Few(Generic[K, V]):
    """The last few of what was made."""

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
    """Where the rows of each run are."""
    if not table.num_rows:
        return {}
    (runs, run_names), (variants, variant_names) = _numbered(table["run"]), _numbered(table["variant"])
    seeds = table["seed"].to_numpy()
    changed = (np.diff(runs) != 0) | (np.diff(variants) != 0) | (seeds[1:] != seeds[:-1])
    edges = [0, *(np.flatnonzero(changed) + 1).tolist(), table.num_rows]
    found: dict[Who, list[slice]] = {}
    for start, stop in itertools.pairwise(edges):
        who = (run_names[runs[start]], int(seeds[start]), variant_names[variants[start]])
        found.setdefault(who, []).append(slice(start, stop))
    return found


def _spans(parquet: pq.ParquetFile, group: int) -> tuple[Span, Span, Span]:
    """The first and the last run, seed and variant of a group of rows; None where the file does not say."""
    return tuple(_span(parquet, group, name, kind) for name, kind in WHO.items())  # type: ignore[return-value, unused-ignore]


def _span(parquet: pq.ParquetFile, group: int, name: str, kind: pa.DataType) -> Span:
    at = parquet.schema_arrow.get_field_index(name)
    of = parquet.schema_arrow.field(at).type
    if (of.value_type if pa.types.is_dictionary(of) else of) != kind:
        return None
    try:
        said = parquet.metadata.row_group(group).column(at).statistics
        if said is None or not said.has_min_max:
            return None
        return (int(said.min), int(said.max)) if kind == WHO["seed"] else _texts(said.min, said.max)
    except (pa.ArrowException, OSError, ValueError, TypeError, IndexError):
        return None


def _texts(low: object, high: object) -> Span:
    """Texts as they are ordered by the file: by bytes, as Python orders them. A writer may cut long ones short."""
    whole = isinstance(low, str) and isinstance(high, str) and len(low) < CUT and len(high) < CUT
    return (str(low), str(high)) if whole else None


def _beyond(own: object, span: Span) -> bool:
    """Whether a group of rows has no such run, seed or variant; False where that is not known."""
    if span is None:
        return False
    low, high = span
    if isinstance(own, str) and isinstance(low, str) and isinstance(high, str):
        return not low <= own <= high
    return isinstance(own, int) and isinstance(low, int) and isinstance(high, int) and not low <= own <= high


def _different(times: Floats) -> Floats:
    """Each time once, in order; the rows of a run mostly are."""
    if times.size and bool(np.all(times[1:] >= times[:-1])):
        return times[np.concatenate(([True], times[1:] > times[:-1]))]
    return np.unique(times)


def _encoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as numbers and names."""
    if pa.types.is_dictionary(column.type):
        if column.type.value_type != pa.string():
            column = column.cast(column.type.value_type)
        else:
            return column.unify_dictionaries()
    return column.cast(pa.string()).dictionary_encode().unify_dictionaries()


def _numbered(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
    encoded = _encoded(column).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], pa.string()).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


def _known(codes: NDArray[np.int64], names: list[str]) -> list[str]:
    """The names that occur, in the order in which they come, but for all."""
    first = np.full(len(names), codes.size)
    # Of several rows with a name, what is written last is the first of them.
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    order = np.argsort(first, kind="stable")
    return [names[code] for code in order if first[code] < codes.size and names[code] != ALL]


def _empty() -> pa.Table:
    return pa.schema(list(SAMPLES.items())).empty_table()
