"""The plan of a sweep: every combination of values with every seed, cut into parts that are run and stored as a whole.

Owns the order of the runs, and the identity by which `--resume` recognises the same sweep. Runs nothing.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.results.model.events import REASONS
from mptcplab.results.model.varied_values import Value, typed
from mptcplab.run.jobs import Job

if TYPE_CHECKING:
    from mptcplab.scenario.definition import Scenario

PART_BYTES = 64e6
"""Approximate size of the results of a part in memory, bytes."""
MOST_RUNS = 128
"""Maximum number of runs in a part, and so the runs that an interruption of `sweep` can lose."""
GROUP_BYTES = 4e6
"""Approximate size of the results of a group in memory, bytes."""
LEAST_GROUPS = 64
"""Number of groups below which groups have one run, so that all workers of a cluster have work."""


@dataclass(frozen=True)
class Point:
    """One combination of values, and the scenario with these values."""

    values: dict[str, str]
    scenario: _core.Scenario
    typed: dict[str, Value]
    """The values as numbers where possible, for columns of the tables."""

    @property
    def variant(self) -> str:
        """The name of the runs of this point."""
        return ", ".join(f"{key}={value}" for key, value in self.values.items())


class SweepPlan:
    """The runs in order: every seed of each point."""

    def __init__(
        self, scenario: Scenario, vary: Mapping[str, Sequence[str]], seeds: range, *, observed: bool = False
    ) -> None:
        """Checks every point. `observed` runs also measure the capacity of links, and take slightly longer.

        Raises `ScenarioError` for an invalid point.
        """
        self.vary, self.seeds, self.observed = dict(vary), seeds, observed
        choices = zip(itertools.product(*vary.values()), itertools.product(*typed(vary).values()), strict=True)
        points = ((dict(zip(vary, choice, strict=True)), dict(zip(vary, its, strict=True))) for choice, its in choices)
        self.points = [Point(values, scenario.vary(values, origin="--vary").core, its) for values, its in points]

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.points) * len(self.seeds)

    @functools.cached_property
    def _largest(self) -> float:
        """Approximate size of the largest results of a run in memory, bytes."""
        return max(1.0, *(point.scenario.result_bytes for point in self.points))

    @property
    def runs_of_group(self) -> int:
        """The number of consecutive runs that one worker runs, and whose samples are a row group of the result.

        Depends only on the plan, so that the result has the same bytes for any number of workers.
        """
        return int(max(1, min(MOST_RUNS, GROUP_BYTES // self._largest, self.runs // LEAST_GROUPS)))

    @property
    def runs_of_part(self) -> int:
        """The number of runs in a part, a multiple of `runs_of_group`; the last part may have fewer."""
        group = self.runs_of_group
        return int(max(1, min(MOST_RUNS, PART_BYTES // self._largest) // group)) * group

    def part(self, number: int) -> range:
        """The run numbers of a part."""
        return range(number * self.runs_of_part, min((number + 1) * self.runs_of_part, self.runs))

    def parts(self) -> Iterator[range]:
        """The run numbers of each part."""
        return (self.part(number) for number in range(-(-self.runs // self.runs_of_part)))

    def job(self, at: int) -> Job:
        """The run with this number."""
        point = self.points[at // len(self.seeds)]
        trace = REASONS if self.observed else None
        return Job(point.scenario, self.seeds[at % len(self.seeds)], point.variant, values=point.typed, trace=trace)

    def plan(self) -> dict[str, Any]:
        """The identity of the plan; a resumed sweep must have an equal one."""
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
