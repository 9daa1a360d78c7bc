"""Reads results from the directories that `mptcplab run`, `sweep` and `merge` wrote.

Owns `SavedRun`, the form of a saved run for figures, tables and statistics. Never runs, computes or draws.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mptcplab.results.model.tables import ALL
from mptcplab.results.read.flow_times import LATENCY, FlowTimes
from mptcplab.results.read.result_files import read_json, read_scenario
from mptcplab.results.read.sample_file import RunSamples, SampleFile
from mptcplab.util.user_input import BadResult, nearest, readable, seconds

if TYPE_CHECKING:
    from mptcplab.results.run import Run

WHO = ("run", "seed", "variant")
"""The columns that identify a run of a result."""


@dataclass(frozen=True)
class SavedRun:
    """One run of a result; like `Run`, but from files."""

    source: str
    """The directory as the user gave it; empty for a run in memory."""
    name: str
    seed: int
    variant: str
    scenario: dict[str, Any]
    """The scenario file as nested dictionaries."""
    read: Callable[[], RunSamples]
    """Reads the samples of this run; memory never holds all runs of a large result."""
    times: FlowTimes
    """The times of the blocks and files of this run, possibly also of other runs."""

    @classmethod
    def of(cls, run: Run) -> SavedRun:
        """A run that was not saved, for notebooks."""
        scenario = tomllib.loads(run.scenario.to_toml())
        samples = RunSamples.of(run.samples)
        return cls("", run.name, run.seed, run.variant, scenario, lambda: samples, FlowTimes.of_run(run))

    @property
    def label(self) -> str:
        """Directory, variant and seed as text, for legends and file names."""
        parts = (Path(self.source).name or self.name, self.variant, f"seed {self.seed}")
        return ", ".join(part for part in parts if part)

    @property
    def samples(self) -> RunSamples:
        """The time series of this run."""
        return self.read()

    @property
    def flows(self) -> list[str]:
        """Names of the flows with samples."""
        return self.samples.flows

    @property
    def paths(self) -> list[str]:
        """Names of the interfaces: paths, or links of the clients, that a flow used."""
        return self.samples.paths

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics with samples."""
        return self.samples.metrics

    @property
    def duration(self) -> float:
        """Time of the last sample in seconds."""
        return float(self.samples.times.max(initial=0.0))

    @property
    def warmup(self) -> float:
        """The warm-up of the scenario in seconds."""
        return seconds(str(self.scenario.get("warmup", "0s")))

    def series(
        self, metric: str, *, flow: str = ALL, path: str = ALL
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times and values of one metric, empty if it was not measured; a latency is at the time its block was read."""
        if metric == LATENCY:
            ready, took = self.latency(flow) if path == ALL else (np.zeros(0), np.zeros(0))
            return ready + took, took
        return self.samples.series(metric, flow, path)

    def latency(self, flow: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The times at which the blocks of a flow were written, and their latencies, s; empty without blocks."""
        return self.times.latency((self.name, self.seed, self.variant), flow)

    def completion(self, flow: str) -> NDArray[np.float64]:
        """The completion time of the file of a flow, s: one value, or none if the transfer did not end."""
        return self.times.completion((self.name, self.seed, self.variant), flow)

    def settings(self) -> list[tuple[str, Any]]:
        """The keys of the scenario in the form of `--set`, with their values."""
        return _keys(self.scenario)

    def line(self, path: str) -> dict[str, Any]:
        """The table of a path, link or station in the scenario; empty if there is none."""
        tables = (self.scenario.get(kind, {}) for kind in ("paths", "links", "stations"))
        return next((dict(table[path]) for table in tables if path in table), {})

    def bit_rate(self, path: str, side: str = "forward") -> float | None:
        """The initial rate of a direction, bit/s; None without a fixed rate, such as with rate control."""
        line = self.line(path)
        direction = line.get(side, {})
        own = direction.get("rate") if isinstance(direction, dict) else None
        text = str(line.get("rate", "") if own is None else own).lower()
        for unit, scale in (("tbit", 1e12), ("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)):
            if text.endswith(unit):
                with suppress(ValueError):
                    return float(text.removesuffix(unit)) * scale
        return None

    def channel(self, path: str) -> int | None:
        """The radio channel of an interface: its own `channel`, or that of its `cell`; None without one."""
        line = self.line(path)
        cell = self.scenario.get("cells", {}).get(str(line.get("cell")), {})
        number = line.get("channel", cell.get("channel"))
        if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
            raise BadResult(f"{self.source or self.name}: the channel of {path} is {number!r}, not a number")
        return number

    def controllers(self) -> list[str]:
        """The congestion controllers of the flows, each once."""
        return sorted({str(flow.get("congestion", "")) for flow in self.scenario.get("flows", {}).values()})


def load(directory: str | PathLike[str]) -> list[SavedRun]:
    """The runs of a result, in the order in which they were saved.

    Raises `BadResult` if the directory is missing or has no result.
    """
    described = describe(directory)
    target = Path(directory)
    if not (target / "samples.parquet").is_file():
        raise BadResult(
            f"{target}: samples.parquet is missing; the run may have been interrupted before its first result"
        )
    file, times = SampleFile(target / "samples.parquet"), FlowTimes.of_directory(target)
    scenarios: dict[str, dict[str, Any]] = {}
    runs = []
    for row in described["runs"]:
        if row["scenario"] not in scenarios:
            scenarios[row["scenario"]] = read_scenario(target / row["scenario"])
        who = (row["run"], row["seed"], row["variant"])
        runs.append(SavedRun(readable(str(directory)), *who, scenarios[row["scenario"]], partial(file.of, who), times))
    return runs


def _keys(value: Any, key: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [row for name, item in value.items() for row in _keys(item, f"{key}.{name}" if key else str(name))]
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return [row for at, item in enumerate(value) for row in _keys(item, f"{key}.{at}")]
    return [(key, value)]


def describe(directory: str | PathLike[str]) -> dict[str, Any]:
    """Reads `run.json` of a result. Raises `BadResult` if it is missing."""
    target = Path(directory)
    if not target.is_dir():
        raise BadResult(f"{target}: directory not found{_did_you_mean(target)}")
    file = target / "run.json"
    if not file.is_file():
        raise BadResult(
            f"{target}: contains no result (run.json is missing); mptcplab run FILE --output {target} writes a result"
        )
    return read_json(file)


def _did_you_mean(target: Path) -> str:
    if not target.parent.is_dir():
        return ""
    around = [entry.name for entry in target.parent.iterdir() if (entry / "run.json").is_file()]
    near = nearest(target.name, around)
    return f"; did you mean {target.parent / near}?" if near else ""


def plain_text(table: pa.Table) -> pa.Table:
    """The table with plain text columns, so that tables of several files can be joined."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))
