"""The plan of a sweep: every combination of some values, with every seed, cut into parts.

Owns the order of the runs, and what two plans must have in common. Runs nothing.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.results.model.events import REASONS
from mptcplab.results.model.varied_values import Value, typed
from mptcplab.run.batch import Job

if TYPE_CHECKING:
    from mptcplab.scenario.definition import Scenario

PART_BYTES = 64e6
"""Results of a part in memory, about."""
MOST_RUNS = 1024
"""Runs of a part."""


@dataclass(frozen=True)
class Point:
    """Values, and the scenario with them."""

    values: dict[str, str]
    scenario: _core.Scenario
    typed: dict[str, Value]
    """The same as columns have them."""

    @property
    def variant(self) -> str:
        """What its runs are called."""
        return ", ".join(f"{key}={value}" for key, value in self.values.items())


class SweepPlan:
    """What is to be run, in order: for each point every seed."""

    def __init__(
        self, scenario: Scenario, vary: Mapping[str, Sequence[str]], seeds: range, *, observed: bool = False
    ) -> None:
        """Checks every point; `observed` runs also tell what their links could carry, and take a little longer.

        Raises `ScenarioError` where a point cannot be.
        """
        self.vary, self.seeds, self.observed = dict(vary), seeds, observed
        choices = zip(itertools.product(*vary.values()), itertools.product(*typed(vary).values()), strict=True)
        points = ((dict(zip(vary, choice, strict=True)), dict(zip(vary, its, strict=True))) for choice, its in choices)
        self.points = [Point(values, scenario.vary(values, origin="--vary").core, its) for values, its in points]

    @property
    def runs(self) -> int:
        """How many."""
        return len(self.points) * len(self.seeds)

    @property
    def runs_of_part(self) -> int:
        """How many runs a part has; the last one has what is left."""
        largest = max(point.scenario.result_bytes for point in self.points)
        return int(min(MOST_RUNS, max(1.0, PART_BYTES // max(largest, 1.0))))

    def parts(self) -> Iterator[range]:
        """The numbers of the runs of each part."""
        size = self.runs_of_part
        return (range(at, min(at + size, self.runs)) for at in range(0, self.runs, size))

    def job(self, at: int) -> Job:
        """The run with this number."""
        point = self.points[at // len(self.seeds)]
        trace = REASONS if self.observed else None
        return Job(point.scenario, self.seeds[at % len(self.seeds)], point.variant, values=point.typed, trace=trace)

    def plan(self) -> dict[str, Any]:
        """What an unfinished sweep must have in common with one that goes on with it."""
        digest = hashlib.sha256("\0".join(point.scenario.to_toml() for point in self.points).encode()).hexdigest()
        return {
            "mptcplab": _core.__version__,
            "scenarios": digest,
            "vary": self.vary,
            "seed": self.seeds.start,
            "seeds": len(self.seeds),
            "runs_of_part": self.runs_of_part,
            **({"observed": True} if self.observed else {}),
        }
