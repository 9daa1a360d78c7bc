"""Compares the simulator with the Linux kernel: the same scenarios on both, flow by flow (`mptcplab validate`).

The comparison shows how well simulated goodputs, shares and stalls predict Linux. Owns the criteria of agreement.
`fixed_set` and `generated_set` have the scenarios, `predictions` writes the files.
"""

from __future__ import annotations

import re
import statistics
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mptcplab.results.model.events import REASONS
from mptcplab.results.run import Run
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.scenario.definition import Scenario
from mptcplab.util.user_input import seconds
from mptcplab.validation.fixed_set import Cell

if TYPE_CHECKING:
    from concurrent.futures import Executor

GOODPUT = 0.10
"""Maximum relative difference of the median goodputs, as a share of the kernel's."""
SHARE = 0.05
"""Maximum difference of the first path's share of the bytes."""
STALL = 0.3
"""Maximum difference of the longest times without data for the application, s."""
FULL = 0.9
"""A flow with this share of its paths' capacity saturates them; agreement of its goodputs then shows little."""
AT_ONCE = 50
"""Scenarios whose simulated runs are in memory together."""


@dataclass(frozen=True)
class Answer:
    """The results of one side, simulator or kernel, for a flow, by seed."""

    goodput: list[float]
    """Goodput in bit/s after the warm-up."""
    share: list[float]
    """The share of the flow's bytes on the first path; empty for plain TCP."""
    stall: list[float] = field(default_factory=list)
    """The longest time after the warm-up without data for the application, s, with the resolution of the samples."""
    doubts: list[str] = field(default_factory=list)
    """Why the results are doubtful; empty if they are not."""
    problems: list[str] = field(default_factory=list)
    """Errors that make the results useless, usually none."""

    @property
    def rate(self) -> float:
        """The median goodput, bit/s."""
        return statistics.median(self.goodput)

    @property
    def part(self) -> float | None:
        """The median share; None for plain TCP."""
        return statistics.median(self.share) if self.share else None

    @property
    def pause(self) -> float:
        """The median of the longest stalls, s."""
        return statistics.median(self.stall) if self.stall else 0.0


Answers = dict[str, dict[str, Answer]]
"""Results by cell and flow."""


@dataclass(frozen=True)
class Row:
    """The results of a flow of a cell on both sides."""

    cell: str
    flow: str
    sim: Answer
    kernel: Answer
    capacity: float | None = None
    """The total capacity of the flow's paths, bit/s; None if it is unknown or changes."""
    blind: bool = False
    """Whether the scenario is held out from the simulator's development."""

    @property
    def ratio(self) -> float:
        """The simulator's goodput relative to the kernel's."""
        return self.sim.rate / self.kernel.rate if self.kernel.rate else float("inf")

    @property
    def failed(self) -> bool:
        """Whether either side failed, so that nothing is compared."""
        return bool(self.sim.problems or self.kernel.problems)

    @property
    def doubtful(self) -> bool:
        """Whether the results of a row without errors are doubtful."""
        return not self.failed and bool(self.sim.doubts or self.kernel.doubts)

    @property
    def counts(self) -> bool:
        """Whether the row counts in the comparison: without errors and doubts."""
        return not self.failed and not self.doubtful

    @property
    def saturated(self) -> bool:
        """Whether both sides saturate all paths, so that their goodputs can hardly differ."""
        return self.capacity is not None and min(self.sim.rate, self.kernel.rate) >= FULL * self.capacity

    @property
    def agrees(self) -> bool:
        """Whether goodputs agree."""
        return abs(self.ratio - 1) <= GOODPUT

    @property
    def shares_agree(self) -> bool | None:
        """Whether shares agree; None if neither side has shares."""
        sim, kernel = self.sim.part, self.kernel.part
        if sim is None or kernel is None:
            return None if sim is kernel else False
        return abs(sim - kernel) <= SHARE

    @property
    def stalls(self) -> bool:
        """Whether either side stalls for longer than the allowed difference."""
        return max(self.sim.pause, self.kernel.pause) > STALL

    @property
    def stalls_agree(self) -> bool:
        """Whether the longest stalls agree; they are multiples of the sampling interval."""
        return abs(self.sim.pause - self.kernel.pause) <= STALL + 1e-9


Outcome = tuple[Run, str | None, dict[str, str]]
"""A run, the reason to doubt it (None without one), and errors by flow."""


def answers(
    cells: Iterable[Cell],
    seeds: Sequence[int],
    run: Callable[[Cell, int], Outcome],
    done: Callable[[Answers], None] | None = None,
) -> Answers:
    """The results of `run` for each cell and seed; `done` is called after each cell with all results so far."""
    found: Answers = {}
    for cell in cells:
        flows: dict[str, Answer] = {name: Answer([], []) for name in cell.scenario.flows}
        for seed in seeds:
            ran, doubts, problems = run(cell, seed)
            for row in ran.flow_rows:
                answer = flows[row["flow"]]
                answer.goodput.append(row["goodput"])
                if row["multipath"]:
                    whole = sum(path["bytes_sent"] for path in row["paths"])
                    own = row["paths"][0]["bytes_sent"] if row["paths"] else 0
                    answer.share.append(own / whole if whole else 0.0)
                answer.stall.append(_longest_stall(ran, row["flow"], cell.scenario))
                answer.doubts.extend([doubts] if doubts else [])
                if row["flow"] in problems:
                    answer.problems.append(f"seed {seed}: {problems[row['flow']]}")
                if not row["intact"]:
                    answer.problems.append(f"seed {seed}: data arrived corrupted")
        found[cell.name] = flows
        if done is not None:
            done(found)
    return found


def _longest_stall(ran: Run, flow: str, scenario: Scenario) -> float:
    """The longest time without in-order data after the warm-up, from the samples."""
    warmup = seconds(tomllib.loads(scenario.to_toml())["warmup"])
    times, rates = ran.series("goodput", flow=flow)
    longest = row = before = 0.0
    for time, rate in zip(times.tolist(), rates.tolist(), strict=True):
        row = 0.0 if rate > 0 or time <= warmup else row + time - before
        longest, before = max(longest, row), time
    return round(longest, 3)


def sim_answers(cells: Sequence[Cell], seeds: Sequence[int], executor: Executor | None = None) -> Answers:
    """The results of the simulator, on all cores or on an executor."""
    found: Answers = {}
    for first in range(0, len(cells), AT_ONCE):
        some = cells[first : first + AT_ONCE]
        jobs = [Job(cell.scenario.core, seed, cell.name, REASONS) for cell in some for seed in seeds]
        runs = {(run.variant, run.seed): run for run in run_jobs(jobs, executor=executor, quiet=True)}
        found |= answers(some, seeds, partial(_ran, runs))
    return found


def _ran(runs: Mapping[tuple[str, int], Run], cell: Cell, seed: int) -> Outcome:
    return runs[cell.name, seed], None, {}


def on_kernel(cell: Cell, seed: int) -> Outcome:
    """Runs a cell on the kernel; settings that it does not support become the closest supported ones."""
    from mptcplab.backends.kernel_backend import run

    done, report = run(cell.scenario, seed, closest=True)
    return done, report.doubts, {one.flow: one.problem for one in report.flows if one.problem}


def compare(cells: Iterable[Cell], sim: Answers, kernel: Answers) -> list[Row]:
    """One row per flow of each cell that both sides have."""
    return [
        Row(cell.name, flow, sim[cell.name][flow], answer, _capacity(cell.scenario, flow), cell.blind)
        for cell in cells
        for flow, answer in kernel.get(cell.name, {}).items()
        if flow in sim.get(cell.name, {})
    ]


_RATE = re.compile(r"(?P<number>[0-9.]+)(?P<unit>[kMG]?)bit")


def _capacity(scenario: Scenario, flow: str) -> float | None:
    """The total capacity of the paths of a flow; None without constant rates."""
    table = tomllib.loads(scenario.to_toml())
    paths = table.get("paths", {})
    own = [paths.get(name, {}) for name in table["flows"].get(flow, {}).get("paths", paths)]
    rates = [_RATE.fullmatch(str(path.get("rate"))) for path in own]
    if not rates or table.get("events"):
        return None
    total = 0.0
    for rate in rates:
        if rate is None:
            return None
        total += float(rate["number"]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[rate["unit"]]
    return total
