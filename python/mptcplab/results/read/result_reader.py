"""Results read back from the directories that `mptcplab run`, `sweep` and `merge` wrote.

Owns the way from files to runs, and which interface is on which radio channel. Never runs, computes or draws.
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
"""The columns that tell the runs of a result apart."""


@dataclass(frozen=True)
class SavedRun:
    """One run of a result; as `Run`, but from files."""

    source: str
    """The directory, as it was given."""
    name: str
    seed: int
    variant: str
    scenario: dict[str, Any]
    """The scenario file as nested dictionaries."""
    read: Callable[[], RunSamples]
    """Gives its samples; a large result is never in memory whole."""
    times: FlowTimes
    """Of its blocks and files, and perhaps of those of other runs."""

    @classmethod
    def of(cls, run: Run) -> SavedRun:
        """The same of a run that was never saved, for notebooks."""
        scenario = tomllib.loads(run.scenario.to_toml())
        samples = RunSamples.of(run.samples)
        return cls("", run.name, run.seed, run.variant, scenario, lambda: samples, FlowTimes.of_run(run))

    @property
    def label(self) -> str:
        """Directory, variant and seed in a word, for legends and file names."""
        parts = (Path(self.source).name or self.name, self.variant, f"seed {self.seed}")
        return ", ".join(part for part in parts if part)

    @property
    def samples(self) -> RunSamples:
        """Its series."""
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
        """Seconds up to the last sample."""
        return float(self.samples.times.max(initial=0.0))

    @property
    def warmup(self) -> float:
        """Seconds that the scenario leaves out at the start."""
        return seconds(str(self.scenario.get("warmup", "0s")))

    def series(
        self, metric: str, *, flow: str = ALL, path: str = ALL
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times and values of one metric, both empty where it was not measured; latency at the time of reading."""
        if metric == LATENCY:
            ready, took = self.latency(flow) if path == ALL else (np.zeros(0), np.zeros(0))
            return ready + took, took
        return self.samples.series(metric, flow, path)

    def latency(self, flow: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """When the blocks of a flow were ready and how long each took, s; empty for a flow without blocks."""
        return self.times.latency((self.name, self.seed, self.variant), flow)

    def completion(self, flow: str) -> NDArray[np.float64]:
        """How long the file of a flow took, s: one value, or none where it was not complete."""
        return self.times.completion((self.name, self.seed, self.variant), flow)

    def settings(self) -> list[tuple[str, Any]]:
        """The keys of its scenario as `--set` writes them, with their values."""
        return _keys(self.scenario)

    def line(self, path: str) -> dict[str, Any]:
        """What the scenario says of a path, link or station; empty if it says nothing."""
        tables = (self.scenario.get(kind, {}) for kind in ("paths", "links", "stations"))
        return next((dict(table[path]) for table in tables if path in table), {})

    def bit_rate(self, path: str, side: str = "forward") -> float | None:
        """Bit/s that the scenario gives a direction at the start; None where it says none, as with rate control."""
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
            raise BadResult(f"{self.source or self.name}: the channel of {path} is {number!r}, and no number")
        return number

    def controllers(self) -> list[str]:
        """The congestion controllers of the flows, each once."""
        return sorted({str(flow.get("congestion", "")) for flow in self.scenario.get("flows", {}).values()})


def load(directory: str | PathLike[str]) -> list[SavedRun]:
    """The runs of a result, in the order in which they were saved.

    Raises `BadResult` when the directory does not exist or holds no result.
    """
    described = describe(directory)
    target = Path(directory)
    if not (target / "samples.parquet").is_file():
        raise BadResult(f"{target}: no samples.parquet; was the run interrupted before its first result?")
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
    """`run.json` of a result. Raises `BadResult` when there is none."""
    target = Path(directory)
    if not target.is_dir():
        raise BadResult(f"{target}: no such directory{_did_you_mean(target)}")
    file = target / "run.json"
    if not file.is_file():
        raise BadResult(
            f"{target}: no result here (run.json is missing); mptcplab run FILE --output {target} makes one"
        )
    return read_json(file)


def _did_you_mean(target: Path) -> str:
    if not target.parent.is_dir():
        return ""
    around = [entry.name for entry in target.parent.iterdir() if (entry / "run.json").is_file()]
    near = nearest(target.name, around)
    return f"; did you mean {target.parent / near}?" if near else ""


def plain_text(table: pa.Table) -> pa.Table:
    """The same table with text columns as text, so that tables of several files go together."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))
