"""The simulator held against the kernel: the same scenarios on both, flow by flow.

Owns what counts as agreement. Which scenarios there are is `validation_set`'s. Never tunes anything, and never writes a
file: `predictions` does.
"""

from __future__ import annotations

import re
import statistics
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mptcplab.results.run import Run
from mptcplab.scenario.definition import Scenario
from mptcplab.util.user_input import seconds
from mptcplab.validation.fixed_set import Cell

GOODPUT = 0.10
"""The median goodput of both agrees within this part of the kernel's."""
SHARE = 0.05
"""Shares by path agree within this."""
STALL = 0.3
"""The longest times without data for the application agree within so many seconds."""
FULL = 0.9
"""A flow that gets this part of what all its paths have is bound by them: that both fill them shows little."""


@dataclass(frozen=True)
class Answer:
    """What one of both says of a flow, by seed."""

    goodput: list[float]
    """bit/s after the warm-up."""
    share: list[float]
    """The part of its bytes that its first path carried; plain TCP has one path and no share."""
    stall: list[float] = field(default_factory=list)
    """The longest time after the warm-up in which the application got nothing, s, to the sample."""
    doubts: list[str] = field(default_factory=list)
    """Why its numbers may be other than the network's."""
    problems: list[str] = field(default_factory=list)
    """What went wrong: its numbers are of no use."""

    @property
    def rate(self) -> float:
        """The median goodput."""
        return statistics.median(self.goodput)

    @property
    def part(self) -> float | None:
        """The median share; None for plain TCP."""
        return statistics.median(self.share) if self.share else None

    @property
    def pause(self) -> float:
        """The median of the longest stalls."""
        return statistics.median(self.stall) if self.stall else 0.0


Answers = dict[str, dict[str, Answer]]
"""By cell and flow."""


@dataclass(frozen=True)
class Row:
    """A flow of a cell on both."""

    cell: str
    flow: str
    sim: Answer
    kernel: Answer
    capacity: float | None = None
    """What all its paths have, bit/s, where that is known and stays."""
    blind: bool = False
    """Its scenario was not built with."""

    @property
    def ratio(self) -> float:
        """The simulator's goodput as part of the kernel's."""
        return self.sim.rate / self.kernel.rate if self.kernel.rate else float("inf")

    @property
    def failed(self) -> bool:
        """Whether something went wrong on either side: then nothing is compared."""
        return bool(self.sim.problems or self.kernel.problems)

    @property
    def doubtful(self) -> bool:
        """Whether something speaks against the numbers of a row that did not fail."""
        return not self.failed and bool(self.sim.doubts or self.kernel.doubts)

    @property
    def counts(self) -> bool:
        """Whether it is counted for or against the simulator."""
        return not self.failed and not self.doubtful

    @property
    def saturated(self) -> bool:
        """Whether both fill all paths, so that their goodputs could hardly differ."""
        return self.capacity is not None and min(self.sim.rate, self.kernel.rate) >= FULL * self.capacity

    @property
    def agrees(self) -> bool:
        """Whether goodputs agree."""
        return abs(self.ratio - 1) <= GOODPUT

    @property
    def shares_agree(self) -> bool | None:
        """Whether shares agree; None where neither has one."""
        sim, kernel = self.sim.part, self.kernel.part
        if sim is None or kernel is None:
            return None if sim is kernel else False
        return abs(sim - kernel) <= SHARE

    @property
    def stalls(self) -> bool:
        """Whether either side stalls for longer than may differ."""
        return max(self.sim.pause, self.kernel.pause) > STALL

    @property
    def stalls_agree(self) -> bool:
        """Whether the longest stalls agree; samples end between multiples of their length."""
        return abs(self.sim.pause - self.kernel.pause) <= STALL + 1e-9


Outcome = tuple[Run, str | None, dict[str, str]]
"""A run, what speaks against its numbers, and by flow what went wrong."""


def answers(
    cells: Iterable[Cell],
    seeds: Sequence[int],
    run: Callable[[Cell, int], Outcome],
    done: Callable[[Answers], None] | None = None,
) -> Answers:
    """What `run` gives for each cell and seed; `done` is called after each cell with all so far."""
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
                    answer.problems.append(f"seed {seed}: data arrived damaged")
        found[cell.name] = flows
        if done is not None:
            done(found)
    return found


def _longest_stall(ran: Run, flow: str, scenario: Scenario) -> float:
    """The longest time without data in order, after the warm-up, by the samples."""
    warmup = seconds(tomllib.loads(scenario.to_toml())["warmup"])
    times, rates = ran.series("goodput", flow=flow)
    longest = row = before = 0.0
    for time, rate in zip(times.tolist(), rates.tolist(), strict=True):
        row = 0.0 if rate > 0 or time <= warmup else row + time - before
        longest, before = max(longest, row), time
    return round(longest, 3)


def on_sim(cell: Cell, seed: int) -> Outcome:
    """In virtual time."""
    return cell.scenario.run(seed), None, {}


def on_kernel(cell: Cell, seed: int) -> Outcome:
    """On the kernel, with what is nearest to what it cannot do."""
    from mptcplab.backends.kernel_backend import run

    done, report = run(cell.scenario, seed, closest=True)
    return done, report.doubts, {one.flow: one.problem for one in report.flows if one.problem}


def compare(cells: Iterable[Cell], sim: Answers, kernel: Answers) -> list[Row]:
    """A row for each flow of each cell that both have."""
    return [
        Row(cell.name, flow, sim[cell.name][flow], answer, _capacity(cell.scenario, flow), cell.blind)
        for cell in cells
        for flow, answer in kernel.get(cell.name, {}).items()
        if flow in sim.get(cell.name, {})
    ]


_RATE = re.compile(r"(?P<number>[0-9.]+)(?P<unit>[kMG]?)bit")


def _capacity(scenario: Scenario, flow: str) -> float | None:
    """What the paths of a flow have together; None where that is not a fixed rate of each."""
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
