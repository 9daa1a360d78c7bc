"""What a run gave, as tables.

Owns the shape of results in Python: tidy samples, rows of flows, paths and links. Never computes what
the core measured already; files are the business of `export`, pictures of `plots`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from mptcplab import _core
from mptcplab.results.model.tables import ALL, LINK_METRICS, metric_names
from mptcplab.util.optional_packages import need
from mptcplab.util.user_input import choose

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from mptcplab._core import EventColumns, FlowRow, LinkRow, PathRow
    from mptcplab.results.model.varied_values import Value


class Run:
    """One run of a scenario with a seed."""

    def __init__(  # noqa: PLR0913, RUF100 - what tells a run from others
        self,
        scenario: _core.Scenario,
        seed: int,
        results: _core.Results,
        variant: str = "",
        backend: str = "sim",
        *,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Takes over what the core measured; `values` are those of a sweep, by key."""
        self.backend = backend
        self.values: dict[str, Value] = dict(values or {})
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
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.samples(self)

    def series(
        self, metric: str, *, flow: str = ALL, path: str = ALL, missing_ok: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times and values of one metric; a flow of `*` means the only flow, or a link's own samples.

        Raises `ValueError` for a metric of paths without a path, and for one of the whole flow with a path; with
        `missing_ok` both are empty then.
        """
        columns = self.columns
        names = self._results.flow_names
        links = metric in LINK_METRICS
        if flow == ALL and not links and len(names) != 1:
            raise ValueError(f"there are several flows, say which: {', '.join(names)}")
        wanted_flow = (
            len(names) if flow == ALL and links else 0 if flow == ALL else names.index(choose(flow, names, "flow"))
        )
        paths = self._results.path_names
        wanted_path = len(paths) if path == ALL else paths.index(choose(path, paths, "path"))
        rows = (
            (columns["metric"] == metric_names().index(choose(metric, metric_names(), "metric")))
            & (columns["flow"] == wanted_flow)
            & (columns["path"] == wanted_path)
        )
        if not missing_ok and not rows.any():
            self._check_place(metric, path, wanted_flow)
        return columns["time_s"][rows], columns["value"][rows]

    def _check_place(self, metric: str, path: str, wanted_flow: int) -> None:
        """Refuses a metric of paths that is asked for without one, and a metric of the whole flow with one."""
        columns, names = self.columns, self._results.path_names
        same = (columns["metric"] == metric_names().index(metric)) & (columns["flow"] == wanted_flow)
        places = np.unique(columns["path"][same])
        known = ", ".join(names[place] for place in places if place < len(names))
        if path == ALL and known:
            raise ValueError(f"{metric} is measured on each path; name one, path=...: {known}")
        if path != ALL and places.size and not known:
            raise ValueError(f"{metric} is measured for the whole flow, and not on {path}; leave path out")

    @functools.cached_property
    def event_columns(self) -> EventColumns | None:
        """The events as numpy columns; None where none were asked for."""
        return self._results.take_events()

    @functools.cached_property
    def events(self) -> pa.Table:
        """The events that were asked for, one a row; its columns are told in docs/events.md."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables, event_table

        columns = self.event_columns
        if columns is None:
            return event_table.schema().empty_table()
        return event_table.table(columns, self.flow_names, self.path_names, arrow_tables.named(self))

    @property
    def events_dropped(self) -> int:
        """Events that found no room (`limits.trace`)."""
        return self.event_columns["dropped"] if self.event_columns else 0

    @functools.cached_property
    def flow_rows(self) -> list[FlowRow]:
        """A dictionary for each flow; `paths` and `limits` are inside."""
        rows = self._results.flows
        longest = self._longest_waits
        for path in (path for row in rows for path in row["paths"] if path["path"] in longest):
            path["longest_wait_s"] = longest[path["path"]]
        for at, row in enumerate(rows):
            if row["blocks"]:
                row["measured_blocks"] = int((self._results.blocks(at)[0] >= self.scenario.warmup).sum())
        return rows

    @functools.cached_property
    def _longest_waits(self) -> dict[str, float]:
        """The longest time that the queues of both directions of a link held a frame, s; of links with a rate of their
        own.
        """
        waits: dict[str, float] = {}
        rates: dict[str, list[float | None]] = {}
        for link in self.link_rows:
            rates.setdefault(link["link"], []).append(link["capacity"])
            wait = 8 * link["longest_queue"] / link["capacity"] if link["capacity"] else 0.0
            waits[link["link"]] = waits.get(link["link"], 0.0) + wait
        return {name: wait for name, wait in waits.items() if all(rates[name])}

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
    def measured_s(self) -> float:
        """Seconds after the warm-up."""
        return self._results.measured_s

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
        from mptcplab.results.text.summary import summary

        return summary(self.observed())

    def observed(self) -> Run:
        """This run with what limited its paths."""
        return self._observed

    @functools.cached_property
    def _observed(self) -> Run:
        """The same run with what limited its paths, which `sweep` and `runs` do not measure: it is run once more."""
        from mptcplab.results.model.events import REASONS

        known = any(path["limits"] for row in self.flow_rows for path in row["paths"])
        if known or self.backend != "sim":
            return self
        return Run(self.scenario, self.seed, _core.run(self.scenario, self.seed, None, REASONS), self.variant)

    def plot(self, metric: str | None = None, *, flow: str | None = None) -> Figure:
        """A metric over time, a line for each path; without a metric, the throughput at the receiver.

        Raises `ModuleNotFoundError` without matplotlib.
        """
        need("matplotlib")
        from mptcplab.plots.run_plot import plot_run

        return plot_run(self, metric, flow)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the scenario as run, the seed, the version and all tables."""
        from mptcplab.results.write.export import save_run

        save_run(self, directory)

    def iperf3(self) -> dict[str, Any]:
        """What `iperf3 --json` would say, with `subflows` beside."""
        from mptcplab.results.write.iperf3 import iperf3

        return iperf3(self)

    def __repr__(self) -> str:
        """Name, seed and the goodput of the first flows."""
        flows = ", ".join(f"{row['flow']} {row['goodput'] / 1e6:.2f} Mb/s" for row in self.flow_rows[:3])
        more = ", …" if len(self.flow_rows) > 3 else ""
        variant = f" ({self.variant})" if self.variant else ""
        return f"<Run {self.name}{variant}, seed {self.seed}: {flows}{more}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from mptcplab.results.text.summary import summary_html

        return summary_html(self.observed())


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
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.all_samples(self)

    @property
    def flows(self) -> pa.Table:
        """One row for each run and flow."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.flows(self)

    @property
    def paths(self) -> pa.Table:
        """One row for each run, flow and path."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.paths(self)

    @property
    def events(self) -> pa.Table:
        """The events of all runs that kept some."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.events(self)

    @property
    def links(self) -> pa.Table:
        """One row for each run and direction of a link."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.links(self)

    @property
    def blocks(self) -> pa.Table:
        """One row for each block of application-limited traffic."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.blocks(self)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the tables of all runs."""
        from mptcplab.results.write.export import save_runs

        save_runs(self, directory)

    def plot(self, metric: str = "goodput") -> Figure:
        """A column of `flows` for each variant: the mean over its seeds, with its interval."""
        need("matplotlib")
        from mptcplab.plots.runs_overview import plot_runs

        return plot_runs(self, metric)

    def __repr__(self) -> str:
        """How many there are."""
        return f"<{len(self)} runs>"

    def _repr_html_(self) -> str:
        """For notebooks: a row for each variant."""
        from mptcplab.plots.runs_overview import runs_html

        return runs_html(self)
