"""The simulator held against the kernel: the same scenarios on both, flow by flow.

Owns the set of scenarios, and what counts as agreement. Never tunes anything, and never writes a file: `predictions`
does.
"""

from __future__ import annotations

import re
import statistics
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mptcplab.results import Run
from mptcplab.scenario import Scenario

GOODPUT = 0.10
"""The median goodput of both agrees within this part of the kernel's."""
SHARE = 0.05
"""Shares by path agree within this."""
FULL = 0.9
"""A flow that gets this part of what all its paths have is bound by them: that both fill them shows little."""

_LINUX = {"scheduler": "minrtt", "opportunistic_retransmission": False, "pacing": False}
"""What is nearest to the kernel's connections."""
_CUBIC = {"kind": "cubic", "as": "linux"}


@dataclass(frozen=True)
class Cell:
    """A scenario of the set."""

    name: str
    scenario: Scenario


@dataclass(frozen=True)
class Answer:
    """What one of both says of a flow, by seed."""

    goodput: list[float]
    """bit/s after the warm-up."""
    share: list[float]
    """The part of its bytes that its first path carried; plain TCP has one path and no share."""
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


def cells() -> list[Cell]:
    """The set of this version: one path, two paths, small buffers, loss, a path that goes."""
    wifi, mobile = (
        {"rate": "8Mbit", "rtt": "20ms", "queue": "53p"},
        {"rate": "2Mbit", "rtt": "150ms", "queue": "100p"},
    )
    both = {"wifi": wifi, "mobile": mobile}
    lossy = {"wifi": wifi | {"loss": "1%"}, "mobile": mobile}
    even = {
        "left": {"rate": "5Mbit", "rtt": "30ms", "queue": "50p"},
        "right": {"rate": "5Mbit", "rtt": "40ms", "queue": "50p"},
    }
    gone = {"at": "6s", "path": "left", "set": {"up": False}}
    return [
        _cell("tcp reno wifi", both, transport="tcp", congestion="reno", paths=["wifi"]),
        _cell("tcp cubic mobile", both, transport="tcp", congestion=_CUBIC, paths=["mobile"]),
        _cell("tcp reno loss", lossy, transport="tcp", congestion="reno", paths=["wifi"]),
        _cell("reno even", even, congestion="reno"),
        _cell("cubic even", even, congestion=_CUBIC),
        _cell("cubic uneven", both, congestion=_CUBIC),
        _cell("reno loss", lossy, congestion="reno"),
        *(
            _cell(f"reno rcvbuf {size}", both, congestion="reno", rcvbuf=size, sndbuf="4MB")
            for size in ("100KB", "200KB", "400KB", "1000KB")
        ),
        _cell("reno handoff", even, [gone], congestion="reno"),
    ]


def _cell(name: str, links: dict[str, dict[str, str]], events: Sequence[dict[str, Any]] = (), **flow: Any) -> Cell:
    flow = _LINUX | {"transport": "mptcp"} | flow
    scenario = Scenario(
        name=name, duration="12s", warmup="2s", sample="500ms", paths=links, flows={"bulk": flow}, events=events
    )
    return Cell(name, scenario)


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
                    first = ran.path_names[0]
                    own = sum(path["bytes_sent"] for path in row["paths"] if path["path"] == first)
                    answer.share.append(own / whole if whole else 0.0)
                answer.doubts.extend([doubts] if doubts else [])
                if row["flow"] in problems:
                    answer.problems.append(f"seed {seed}: {problems[row['flow']]}")
                if not row["intact"]:
                    answer.problems.append(f"seed {seed}: data arrived damaged")
        found[cell.name] = flows
        if done is not None:
            done(found)
    return found


def on_sim(cell: Cell, seed: int) -> Outcome:
    """In virtual time."""
    return cell.scenario.run(seed), None, {}


def on_kernel(cell: Cell, seed: int) -> Outcome:
    """On the kernel, with what is nearest to what it cannot do."""
    from mptcplab.kernel import run

    done, report = run(cell.scenario, seed, closest=True)
    return done, report.doubts, {one.flow: one.problem for one in report.flows if one.problem}


def compare(cells: Iterable[Cell], sim: Answers, kernel: Answers) -> list[Row]:
    """A row for each flow of each cell that both have."""
    return [
        Row(cell.name, flow, sim[cell.name][flow], answer, _capacity(cell.scenario, flow))
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
