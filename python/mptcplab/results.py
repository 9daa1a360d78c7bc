"""What a run gave, as tables.

Owns the shape of results in Python: tidy samples, rows of flows, paths and links. Never computes what
the core measured already; files are the business of `export`, pictures of `plots`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mptcplab import _core
from mptcplab.tables import (
    ALL,
    BLOCK_SCHEMA,
    LINK_METRICS,
    LINK_SCHEMA,
    PATH_SCHEMA,
    dictionary,
    flow_schema,
    metric_names,
    metrics_of,
    units,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab._core import EventColumns, FlowRow, LinkRow, PathRow


class Run:
    """One run of a scenario with a seed."""

    def __init__(
        self, scenario: _core.Scenario, seed: int, results: _core.Results, variant: str = "", backend: str = "sim"
    ) -> None:
        """Takes over what the core measured."""
        self.backend = backend
        self.scenario = scenario
        self.seed = seed
        self.variant = variant
        self._results = results

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.name

    @functools.cached_property
    def columns(self) -> _core.Columns:
        """The samples as numpy columns; flow, path and metric are numbers."""
        return self._results.take_samples()

    @functools.cached_property
    def samples(self) -> pa.Table:
        """The time series, one value a row; the numeric columns are the core's memory, not a copy."""
        columns = self.columns
        rows = len(columns["time_s"])
        names, unit_of = units()
        once = np.zeros(rows, dtype=np.uint8)
        return pa.table(
            {
                "run": dictionary(once, [self.name]),
                "seed": pa.array(np.full(rows, self.seed, dtype=np.uint64)),
                "variant": dictionary(once, [self.variant]),
                "time_s": pa.array(columns["time_s"]),
                "flow": dictionary(columns["flow"], [*self._results.flow_names, ALL]),
                "path": dictionary(columns["path"], [*self._results.path_names, ALL]),
                "metric": dictionary(columns["metric"], metrics_of(columns["metric"])),
                "value": pa.array(columns["value"]),
                "unit": dictionary(unit_of[columns["metric"]], names),
            }
        )

    def series(
        self, metric: str, *, flow: str = ALL, path: str = ALL
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times and values of one metric; a flow of `*` means the only flow, or a link's own samples."""
        columns = self.columns
        names = self._results.flow_names
        links = metric in LINK_METRICS
        if flow == ALL and not links and len(names) != 1:
            raise ValueError(f"there are several flows, say which: {', '.join(names)}")
        wanted_flow = len(names) if flow == ALL and links else 0 if flow == ALL else names.index(flow)
        paths = self._results.path_names
        wanted_path = len(paths) if path == ALL else paths.index(path)
        rows = (
            (columns["metric"] == metric_names().index(metric))
            & (columns["flow"] == wanted_flow)
            & (columns["path"] == wanted_path)
        )
        return columns["time_s"][rows], columns["value"][rows]

    @functools.cached_property
    def event_columns(self) -> EventColumns | None:
        """The events as numpy columns; None where none were asked for."""
        return self._results.take_events()

    @functools.cached_property
    def events(self) -> pa.Table:
        """The events that were asked for, one a row; its columns are told in docs/events.md."""
        from mptcplab import events

        columns = self.event_columns
        if columns is None:
            return events.schema().empty_table()
        return events.table(columns, self.flow_names, self.path_names, _named(self))

    @property
    def events_dropped(self) -> int:
        """Events that found no room (`limits.trace`)."""
        return self.event_columns["dropped"] if self.event_columns else 0

    @functools.cached_property
    def flow_rows(self) -> list[FlowRow]:
        """A dictionary for each flow; `paths` and `limits` are inside."""
        return self._results.flows

    @functools.cached_property
    def link_rows(self) -> list[LinkRow]:
        """A dictionary for each direction of each link."""
        return self._results.links

    def flow(self, name: str | None = None) -> FlowRow:
        """The row of a flow; of the first one without a name."""
        if name is None:
            return self.flow_rows[0]
        found = [row for row in self.flow_rows if row["flow"] == name]
        if not found:
            raise KeyError(f"no flow {name}; there are: {', '.join(self.flow_names)}")
        return found[0]

    def path(self, path: str, flow: str | None = None) -> PathRow | None:
        """The row of a path of a flow; None when the flow never used it."""
        rows = [row for row in self.flow(flow)["paths"] if row["path"] == path]
        return rows[0] if rows else None

    @property
    def flow_names(self) -> list[str]:
        """Names of the flows."""
        return self._results.flow_names

    @property
    def path_names(self) -> list[str]:
        """Names of the paths."""
        return self._results.path_names

    @functools.cached_property
    def flows(self) -> pa.Table:
        """One row for each flow: rates in bit/s, times in s; `limit_*` are shares of the time."""
        return Runs([self]).flows

    @functools.cached_property
    def paths(self) -> pa.Table:
        """One row for each flow and path."""
        return Runs([self]).paths

    @functools.cached_property
    def links(self) -> pa.Table:
        """One row for each direction of each link."""
        return Runs([self]).links

    @functools.cached_property
    def blocks(self) -> pa.Table:
        """One row for each block of application-limited traffic; empty without such traffic."""
        return Runs([self]).blocks

    def block_columns(self, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """When the blocks of a flow were written, and how long they took; seconds."""
        return self._results.blocks(flow)

    @property
    def data_packets(self) -> int:
        """Data segments that reached a host."""
        return self._results.data_packets

    @property
    def wall_s(self) -> float:
        """Seconds of wall clock that the run took."""
        return self._results.wall_s

    def to_pandas(self) -> Any:
        """The samples as a pandas data frame; needs pandas."""
        return self.samples.to_pandas()

    def summary(self) -> str:
        """What happened, for a person."""
        from mptcplab.summary import summary

        return summary(self)

    def plot(self, metric: str = "throughput", *, flow: str | None = None) -> Figure:
        """A metric over time, a line for each path."""
        from mptcplab.plots import plot_run

        return plot_run(self, metric, flow)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the scenario as run, the seed, the version and all tables."""
        from mptcplab.export import save_run

        save_run(self, directory)

    def iperf3(self) -> dict[str, Any]:
        """What `iperf3 --json` would say, with `subflows` beside."""
        from mptcplab.export import iperf3

        return iperf3(self)

    def __repr__(self) -> str:
        """Name, seed and the goodput of the first flows."""
        flows = ", ".join(f"{row['flow']} {row['goodput'] / 1e6:.2f} Mb/s" for row in self.flow_rows[:3])
        more = ", …" if len(self.flow_rows) > 3 else ""
        variant = f" ({self.variant})" if self.variant else ""
        return f"<Run {self.name}{variant}, seed {self.seed}: {flows}{more}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from mptcplab.summary import summary_html

        return summary_html(self)


class Runs(Sequence[Run]):
    """Several runs in the order of their jobs, and their tables one below the other."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Takes the runs as they are."""
        self._runs = list(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        """A run, or a slice of them."""
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __len__(self) -> int:
        """How many runs."""
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        """The runs in order."""
        return iter(self._runs)

    @property
    def samples(self) -> pa.Table:
        """The samples of all runs."""
        tables = [run.samples for run in self._runs]
        return pa.concat_tables(tables).unify_dictionaries() if tables else pa.table({})

    @property
    def flows(self) -> pa.Table:
        """One row for each run and flow."""
        limits = list(dict.fromkeys(name for run in self for row in run.flow_rows for name in row["limits"]))
        rows = []
        for run in self:
            for row in run.flow_rows:
                flat: dict[str, Any] = {**row}
                del flat["paths"], flat["limits"], flat["never_joined"]
                flat |= {f"limit_{name}": row["limits"].get(name, 0.0) for name in limits}
                rows.append(_named(run) | flat)
        return pa.Table.from_pylist(rows, schema=flow_schema(limits))

    @property
    def paths(self) -> pa.Table:
        """One row for each run, flow and path."""
        rows, limits = [], dict[str, None]()
        for run in self:
            for row in run.flow_rows:
                for path in row["paths"]:
                    own = path.get("limits", {})
                    limits |= dict.fromkeys(own)
                    shares = {f"limit_{name}": share for name, share in own.items()}
                    rows.append(_named(run) | {"flow": row["flow"]} | {**path} | shares)
        # What holds paths back is known of runs that were observed; tables of the others stay what they were.
        more = [pa.field(f"limit_{name}", pa.float64()) for name in limits]
        more += [pa.field("blamed", pa.float64())] if limits else []
        return pa.Table.from_pylist(rows, schema=pa.schema([*PATH_SCHEMA, *more]))

    @property
    def events(self) -> pa.Table:
        """The events of all runs that kept some."""
        from mptcplab import events

        tables = [run.events for run in self if run.event_columns is not None]
        return pa.concat_tables(tables).unify_dictionaries() if tables else events.schema().empty_table()

    @property
    def links(self) -> pa.Table:
        """One row for each run and direction of a link."""
        rows = [_named(run) | {**row} for run in self for row in run.link_rows]
        marks = any("queue_marks" in row for row in rows)
        schema = LINK_SCHEMA.append(pa.field("queue_marks", pa.int64())) if marks else LINK_SCHEMA
        return pa.Table.from_pylist(rows, schema=schema)

    @property
    def blocks(self) -> pa.Table:
        """One row for each block of application-limited traffic."""
        tables = []
        for run in self:
            for at, row in enumerate(run.flow_rows):
                if row["blocks"]:
                    written, latency = run.block_columns(at)
                    columns: dict[str, Any] = {
                        key: pa.array([value] * len(written), BLOCK_SCHEMA.field(key).type)
                        for key, value in (_named(run) | {"flow": row["flow"]}).items()
                    }
                    columns |= {"written_s": written, "latency_s": latency}
                    tables.append(pa.table(columns, schema=BLOCK_SCHEMA))
        return pa.concat_tables(tables) if tables else BLOCK_SCHEMA.empty_table()

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the tables of all runs."""
        from mptcplab.export import save_runs

        save_runs(self, directory)

    def __repr__(self) -> str:
        """How many there are."""
        return f"<{len(self)} runs>"


def _named(run: Run) -> dict[str, Any]:
    return {"run": run.name, "seed": run.seed, "variant": run.variant}
