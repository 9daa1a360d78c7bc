"""The results that Python users get: `Run` and `Runs`, with tables, summaries, figures and files.

A facade: each method calls the module that does the work. `model.measured_run` has the measurements.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from mptcplab import _core
from mptcplab.results.model import data_frames
from mptcplab.results.model.events import REASONS
from mptcplab.results.model.measured_run import MeasuredRun
from mptcplab.util.optional_packages import need

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


class Run(MeasuredRun):
    """One run of a scenario with a seed."""

    @functools.cached_property
    def samples(self) -> pa.Table:
        """The time series, one value per row; numeric columns share the core's memory."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.samples(self)

    @functools.cached_property
    def events(self) -> pa.Table:
        """The traced events, one per row; docs/events.md describes the columns."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.events_of(self)

    @functools.cached_property
    def flows(self) -> pa.Table:
        """One row per flow: rates in bit/s, times in s; `limit_*` are shares of the time."""
        return Runs([self]).flows

    @functools.cached_property
    def paths(self) -> pa.Table:
        """One row per flow and path."""
        return Runs([self]).paths

    @functools.cached_property
    def links(self) -> pa.Table:
        """One row per direction of each link."""
        return Runs([self]).links

    @functools.cached_property
    def blocks(self) -> pa.Table:
        """One row per block of application-limited traffic; empty without such traffic."""
        return Runs([self]).blocks

    def to_pandas(self, table: str = "samples") -> Any:
        """A table as a pandas data frame: samples, flows, paths, links, blocks or events. Needs pandas."""
        return data_frames.to_pandas(self, table)

    def to_polars(self, table: str = "samples") -> Any:
        """A table as a polars data frame. Needs polars."""
        return data_frames.to_polars(self, table)

    def summary(self) -> str:
        """A summary as text."""
        from mptcplab.results.text.summary import summary

        return summary(self.observed())

    def observed(self) -> Run:
        """This run, or an equal one, with limiting factors."""
        return self._observed

    @functools.cached_property
    def _observed(self) -> Run:
        """This run; simulated again if it has no limiting factors, such as runs of `sweep` and `runs`."""
        known = any(path["limits"] for row in self.flow_rows for path in row["paths"])
        if known or self.backend != "sim":
            return self
        return Run(self.scenario, self.seed, _core.run(self.scenario, self.seed, None, REASONS), self.variant)

    def plot(self, metric: str | None = None, *, flow: str | None = None) -> Figure:
        """A metric over time, with one curve per path; by default the throughput at the receiver.

        Raises `ModuleNotFoundError` without matplotlib.
        """
        need("matplotlib")
        from mptcplab.plots.run_plot import plot_run

        return plot_run(self, metric, flow)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the scenario, seed, version and all tables to a directory."""
        from mptcplab.results.write.export import save_run

        save_run(self, directory)

    def iperf3(self) -> dict[str, Any]:
        """The result in the format of `iperf3 --json`, with additional `subflows`."""
        from mptcplab.results.write.iperf3 import iperf3

        return iperf3(self)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        from mptcplab.results.text.summary import summary_html

        return summary_html(self.observed())


class Runs(Sequence[Run]):
    """Several runs in the order of their jobs, with joint tables."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Stores the runs."""
        self._runs = list(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        """A run, or a slice of them."""
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __len__(self) -> int:
        """The number of runs."""
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        """The runs in order."""
        return iter(self._runs)

    def to_pandas(self, table: str = "flows") -> Any:
        """A table of all runs as a pandas data frame, with a column for each varied key. Needs pandas."""
        return data_frames.to_pandas(self, table)

    def to_polars(self, table: str = "flows") -> Any:
        """A table of all runs as a polars data frame. Needs polars."""
        return data_frames.to_polars(self, table)

    @property
    def samples(self) -> pa.Table:
        """The samples of all runs."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.all_samples(self)

    @property
    def flows(self) -> pa.Table:
        """One row per run and flow."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.flows(self)

    @property
    def paths(self) -> pa.Table:
        """One row per run, flow and path."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.paths(self)

    @property
    def events(self) -> pa.Table:
        """The events of all runs."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.events(self)

    @property
    def links(self) -> pa.Table:
        """One row per run and direction of a link."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.links(self)

    @property
    def blocks(self) -> pa.Table:
        """One row per block of application-limited traffic."""
        need("pyarrow")
        from mptcplab.results.model import arrow_tables

        return arrow_tables.blocks(self)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the tables of all runs."""
        from mptcplab.results.write.export import save_runs

        save_runs(self, directory)

    def plot(self, metric: str = "goodput") -> Figure:
        """A column of `flows` by variant: the mean over the seeds with its 95% interval."""
        need("matplotlib")
        from mptcplab.plots.runs_overview import plot_runs

        return plot_runs(self, metric)

    def __repr__(self) -> str:
        """The number of runs."""
        return f"<{len(self)} runs>"

    def _repr_html_(self) -> str:
        """A table with one row per variant, for notebooks."""
        from mptcplab.plots.runs_overview import runs_html

        return runs_html(self)
