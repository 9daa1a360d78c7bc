"""Computes the quantities of publications, such as the time of a transfer, from a saved run.

`published_plot` draws them next to the published values. Owns the values by flow or over all flows, and errors for
missing columns. An unfinished transfer has no time, and is counted separately.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from mptcplab.results.read.result_files import WHO as TEXTS
from mptcplab.results.read.result_files import read_table
from mptcplab.results.read.result_reader import WHO, SavedRun
from mptcplab.util.user_input import BadResult, readable

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """A saved run and its rows in the tables `flows` and `paths`."""

    run: SavedRun
    flows: Sequence[Row]
    paths: Sequence[Row]

    @cached_property
    def ended(self) -> Sequence[Row]:
        """The flows whose transfers ended."""
        return [row for row in self.flows if self._column(row, "completion_s") is not None]

    @cached_property
    def _carried(self) -> Mapping[str, tuple[float, float]]:
        """Bytes of each flow: over paths whose names start with wifi, and in total."""
        found: dict[str, tuple[float, float]] = {}
        for row in self.paths:
            got, (wifi, every) = self.number(row, "bytes_acked", "paths"), found.get(row["flow"], (0.0, 0.0))
            found[row["flow"]] = (wifi + got * row["path"].startswith("wifi"), every + got)
        return found

    def number(self, row: Row, column: str, table: str = "flows") -> float:
        """A value of a row. Raises `BadResult` if it is missing."""
        value = self._column(row, column, table)
        if not isinstance(value, int | float):
            raise BadResult(f"{self._where(table)} has no {column} of the flow {_named(row)} with seed {self.run.seed}")
        return float(value)

    def is_multipath(self, row: Row) -> bool:
        """Whether a flow used MPTCP. Raises `BadResult` if that is unknown."""
        return bool(self.number(row, "multipath"))

    def rate(self, row: Row) -> float:
        """The rate of a finished transfer from start to end, Mb/s."""
        took = self.number(row, "completion_s")
        if took <= 0:
            raise BadResult(f"{self._where('flows')}: the transfer of {_named(row)} took {took:g} s, so it has no rate")
        return self.number(row, "bytes_received_total") * 8 / took / 1e6

    def wifi_rate(self, row: Row) -> float:
        """The part of `rate` that paths whose names start with wifi carried, Mb/s."""
        wifi, every = self._carried.get(row["flow"], (0.0, 0.0))
        if not every:
            raise BadResult(f"{self._where('paths')}: no byte of {_named(row)} was delivered after the warm-up")
        return self.rate(row) * wifi / every

    def over_ended(self, value: Callable[[Row], float]) -> dict[str, float]:
        """The mean over finished transfers, for the curve of all flows; empty without any."""
        return {"": math.fsum(map(value, self.ended)) / len(self.ended)} if self.ended else {}

    def parts(self) -> tuple[list[float], list[float]]:
        """Throughputs of the MPTCP flows, and of the other flows; `BadResult` if there are none of one type."""
        kinds: dict[bool, list[float]] = {True: [], False: []}
        for row in self.flows:
            kinds[self.is_multipath(row)].append(self.number(row, "throughput"))
        if not all(kinds.values()):
            raise BadResult(f"{self.run.source}: the published value compares MPTCP with TCP, but only one of them ran")
        return kinds[True], kinds[False]

    def _column(self, row: Row, column: str, table: str = "flows") -> Any:
        if column not in row:
            raise BadResult(f"{self._where(table)} has no column {column!r}; repeat the run with --output")
        return row[column]

    def _where(self, table: str) -> str:
        return str(Path(self.run.source) / f"{table}.parquet")


def _named(row: Row) -> str:
    return readable(str(row["flow"]))


def measured(runs: Sequence[SavedRun]) -> list[Measured]:
    """The runs of one result with their rows."""
    text = pa.string()
    wanted = {"flows": TEXTS | {"flow": text}, "paths": TEXTS | {"flow": text, "path": text}}
    rows: dict[str, dict[tuple[Any, ...], list[Row]]] = {}
    for table, columns in wanted.items():
        rows[table] = {}
        for row in read_table(Path(runs[0].source) / f"{table}.parquet", columns).to_pylist():
            rows[table].setdefault(tuple(row[name] for name in WHO), []).append(row)
    found = []
    for run in runs:
        who = (run.name, run.seed, run.variant)
        if who not in rows["flows"]:
            raise BadResult(f"{run.source}: flows.parquet has no row of the run {run.name} with seed {run.seed}")
        found.append(Measured(run, rows["flows"][who], rows["paths"].get(who, [])))
    return found


def _goodput(found: Measured) -> dict[str, float]:
    return {str(row["flow"]): found.number(row, "goodput") / 1e6 for row in found.flows}


def _interfaces(found: Measured) -> dict[str, float]:
    total = 0.0
    for path in found.run.paths:
        times, rates = found.run.series("interface_throughput", path=path)
        late = rates[times > found.run.warmup + 1e-9]
        total += float(late.mean()) if late.size else 0.0
    return {"": total / 1e6}


def _wifi_share(found: Measured) -> dict[str, float]:
    wifi, every = found.over_ended(found.wifi_rate), found.over_ended(found.rate)
    if every and not every[""]:
        raise BadResult(
            f"{found.run.source}: the run with seed {found.run.seed} delivered nothing, so it has no share of WiFi"
        )
    return {"": 100 * wifi[""] / every[""]} if every else {}


def _ratio(found: Measured) -> dict[str, float]:
    mptcp, tcp = (sum(rates) / len(rates) for rates in found.parts())
    return {"": mptcp / max(tcp, 8e-6)}


def _part(found: Measured) -> dict[str, float]:
    mptcp, tcp = map(sum, found.parts())
    return {"": mptcp / max(mptcp + tcp, 8e-6)}


@dataclass(frozen=True)
class Value:
    """How a run gives the value of a published quantity."""

    name: str
    """The axis label with its unit."""
    of: Callable[[Measured], dict[str, float]]
    """Returns values by flow, or one value for all flows under an empty name; empty without values."""
    of_transfers: bool = False
    """Whether only finished transfers have this value."""


QUANTITIES: Mapping[str, Value] = {
    "goodput": Value("goodput [Mb/s]", _goodput),
    "interface_throughput": Value("rate of frames on all interfaces [Mb/s]", _interfaces),
    "completion_time": Value(
        "completion time of a transfer [s]",
        lambda found: found.over_ended(lambda row: found.number(row, "completion_s")),
        True,
    ),
    "pair_rate": Value("throughput of a pair of hosts [Mb/s]", lambda found: found.over_ended(found.rate), True),
    "wifi_rate": Value(
        "throughput over WiFi of a pair of hosts [Mb/s]", lambda found: found.over_ended(found.wifi_rate), True
    ),
    "wifi_share": Value("share of the throughput over WiFi [%]", _wifi_share, True),
    "mptcp_over_tcp": Value("throughput of MPTCP relative to TCP", _ratio),
    "mptcp_part": Value("MPTCP's share of the total throughput", _part),
}
