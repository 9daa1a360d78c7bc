"""Runs studies: all their runs in one batch over all cores, then each experiment's judgement.

Owns the way from studies to outcomes. Writes nothing; see `report`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab.batch import Job, run_jobs
from mptcplab.plots import house_style
from mptcplab.studies.base import Effort, Experiment, Fact, Key, Measured, Outcome, Study

if TYPE_CHECKING:
    from mptcplab.results import Runs


@dataclass(frozen=True)
class Reproduction:
    """Studies with what their experiments found."""

    studies: Sequence[Study]
    effort: Effort
    outcomes: dict[tuple[str, str], Outcome]
    runs: Runs
    data_packets: int
    wall_s: float

    @property
    def facts(self) -> list[Fact]:
        """All facts in the order of the studies."""
        return [fact for outcome in self.outcomes.values() for fact in outcome.facts]


def reproduce(
    studies: Sequence[Study], effort: Effort, *, workers: int | None = None, quiet: bool = False
) -> Reproduction:
    """Runs everything that the studies ask for and judges it."""
    start = time.monotonic()
    places: list[tuple[Experiment, Key]] = []
    jobs: list[Job] = []
    for study in studies:
        for experiment in study.experiments:
            for point in experiment.points(effort):
                places.append((experiment, point.key))
                variant = " ".join([study.name, experiment.name, *(str(part) for part in point.key)])
                jobs.append(Job(point.scenario.core, point.seed, variant))
    runs = run_jobs(jobs, workers=workers, quiet=quiet, label="reproduce")
    found = defaultdict(list)
    for (experiment, key), run in zip(places, runs, strict=True):
        found[experiment.study, experiment.name].append((key, run))
    outcomes: dict[tuple[str, str], Outcome] = {}
    with house_style():
        for study in studies:
            for experiment in study.experiments:
                where = (study.name, experiment.name)
                outcomes[where] = experiment.evaluate(Measured(found[where]), effort)
    packets = sum(run.data_packets for run in runs)
    return Reproduction(studies, effort, outcomes, runs, packets, time.monotonic() - start)
