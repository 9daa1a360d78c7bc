"""One run as the Rust core measured it: samples, rows of flows, paths and links, events.

Works without pyarrow and matplotlib; its subclass `results.run.Run` adds Arrow tables, files and figures. Never repeats
a computation of the core.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mptcplab import _core
from mptcplab.results.model.tables import ALL, LINK_METRICS, metric_names
from mptcplab.util.user_input import choose

if TYPE_CHECKING:
    from mptcplab._core import EventColumns, FlowRow, LinkRow, PathRow
    from mptcplab.results.model.varied_values import Value


class MeasuredRun:
    """One run of a scenario with a seed, without tables, files and figures."""

    def __init__(  # noqa: PLR0913, RUF100 - the identity of a run
        self,
        scenario: _core.Scenario,
        seed: int,
        results: _core.Results,
        variant: str = "",
        backend: str = "sim",
        *,
        values: Mapping[str, Value] | None = None,
        rows: Mapping[str, Any] | None = None,
    ) -> None:
        """Stores the results of the core; `values` has the value of each key of a sweep.

        `variant` is empty for the scenario itself, and otherwise names a baseline or a point of a sweep. `rows` are
        those of an equal run in another process, because unpickled results copy their rows slowly.
        """
        vars(self).update(rows or {})
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

    def series(
        self, metric: str, *, flow: str = ALL, path: str = ALL, missing_ok: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times and values of one metric. A flow of `*` means the only flow, or the samples of a link.

        Raises `ValueError` for a path metric without a path, and for a flow metric with a path. With `missing_ok`,
        returns empty arrays instead.
        """
        columns = self.columns
        names = self._results.flow_names
        links = metric in LINK_METRICS
        if flow == ALL and not links and len(names) != 1:
            raise ValueError(f"this run has several flows; add flow=..., one of: {', '.join(names)}")
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
        """Rejects a path metric without a path, and a flow metric with a path."""
        columns, names = self.columns, self._results.path_names
        same = (columns["metric"] == metric_names().index(metric)) & (columns["flow"] == wanted_flow)
        places = np.unique(columns["path"][same])
        known = ", ".join(names[place] for place in places if place < len(names))
        if path == ALL and known:
            raise ValueError(f"{metric} is measured per path; add path=..., one of: {known}")
        if path != ALL and places.size and not known:
            raise ValueError(f"{metric} is measured for the whole flow, not on {path}; remove path=...")

    @functools.cached_property
    def event_columns(self) -> EventColumns | None:
        """The events as numpy columns; None without a trace."""
        return self._results.take_events()

    @property
    def events_dropped(self) -> int:
        """Number of events dropped beyond `limits.trace`."""
        return self.event_columns["dropped"] if self.event_columns else 0

    @functools.cached_property
    def flow_rows(self) -> list[FlowRow]:
        """A dictionary per flow, with `paths` and `limits` inside."""
        rows = self._results.flows
        longest = self._longest_waits
        for path in (path for row in rows for path in row["paths"] if path["path"] in longest):
            path["longest_wait_s"] = longest[path["path"]]
        for at, row in enumerate(rows):
            if row["blocks"]:
                row["measured_blocks"] = int((self._results.blocks(at)[0] >= self.scenario.warmup).sum())
        return rows

    def rows(self) -> dict[str, Any]:
        """The rows of flows and links, for `rows` of an equal run."""
        return {"flow_rows": self.flow_rows, "link_rows": self.link_rows}

    @functools.cached_property
    def _longest_waits(self) -> dict[str, float]:
        """By link: the sum of the longest queueing times of its two directions, s. Omits links without a rate."""
        waits: dict[str, float] = {}
        rates: dict[str, list[float | None]] = {}
        for link in self.link_rows:
            rates.setdefault(link["link"], []).append(link["capacity"])
            wait = 8 * link["longest_queue"] / link["capacity"] if link["capacity"] else 0.0
            waits[link["link"]] = waits.get(link["link"], 0.0) + wait
        return {name: wait for name, wait in waits.items() if all(rates[name])}

    @functools.cached_property
    def link_rows(self) -> list[LinkRow]:
        """A dictionary per direction of each link."""
        return self._results.links

    def flow(self, name: str | None = None) -> FlowRow:
        """The row of a flow, by default of the first one."""
        if name is None:
            return self.flow_rows[0]
        found = [row for row in self.flow_rows if row["flow"] == name]
        if not found:
            raise KeyError(f"no flow {name}; choose from: {', '.join(self.flow_names)}")
        return found[0]

    def path(self, path: str, flow: str | None = None) -> PathRow | None:
        """The row of a path of a flow; None if the flow never used it."""
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

    def block_columns(self, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The times at which the blocks of a flow were written, and their latencies; seconds."""
        return self._results.blocks(flow)

    @property
    def measured_s(self) -> float:
        """Measured time after the warm-up, s."""
        return self._results.measured_s

    @property
    def data_packets(self) -> int:
        """Data segments that arrived at a host."""
        return self._results.data_packets

    @property
    def wall_s(self) -> float:
        """Seconds of wall-clock time of the run."""
        return self._results.wall_s

    def __repr__(self) -> str:
        """Name, seed and the goodput of the first flows."""
        flows = ", ".join(f"{row['flow']} {row['goodput'] / 1e6:.2f} Mb/s" for row in self.flow_rows[:3])
        more = ", …" if len(self.flow_rows) > 3 else ""
        variant = f" ({self.variant})" if self.variant else ""
        return f"<Run {self.name}{variant}, seed {self.seed}: {flows}{more}>"


def flow_rows(runs: Iterable[MeasuredRun]) -> list[dict[str, Any]]:
    """One row per run and flow, with a share for each limiting factor of any run."""
    runs = list(runs)
    limits = list(dict.fromkeys(name for run in runs for row in run.flow_rows for name in row["limits"]))
    rows = []
    for run in runs:
        for row in run.flow_rows:
            flat: dict[str, Any] = {**row}
            for key in ("paths", "limits", "never_joined", "never_joined_down", "never_joined_boxes", "waited_s"):
                flat.pop(key, None)
            flat |= {f"limit_{name}": row["limits"].get(name, 0.0) for name in limits}
            rows.append({"run": run.name, "seed": run.seed, "variant": run.variant} | run.values | flat)
    return rows
