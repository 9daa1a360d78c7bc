"""Runs studies: all their runs in one batch over all cores, then each experiment's judgement.

Owns the way from studies to outcomes. Writes nothing; see `report`.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.batch import Interrupted, Job, run_jobs
from mptcplab.plots import house_style
from mptcplab.results import Run, Runs
from mptcplab.studies.base import Effort, Experiment, Fact, Key, Measured, Outcome, Study


@dataclass(frozen=True)
class Reproduction:
    """Studies with what their experiments found."""

    studies: Sequence[Study]
    effort: Effort
    outcomes: dict[tuple[str, str], Outcome]
    runs: Runs
    data_packets: int
    wall_s: float
    missing: int
    """Experiments that Ctrl-C left without all of their runs."""

    @property
    def facts(self) -> list[Fact]:
        """All facts in the order of the studies."""
        return [fact for outcome in self.outcomes.values() for fact in outcome.facts]


def reproduce(
    studies: Sequence[Study], effort: Effort, *, workers: int | None = None, quiet: bool = False
) -> Reproduction:
    """Runs everything that the studies ask for, equal points once, and judges it; after Ctrl-C, what is complete."""
    start = time.monotonic()
    places: list[tuple[Experiment, Key, int]] = []
    jobs: list[Job] = []
    known: dict[tuple[str, int], int] = {}
    for study in studies:
        for experiment in study.experiments:
            for point in experiment.points(effort):
                at = known.setdefault((point.scenario.to_toml(), point.seed), len(jobs))
                places.append((experiment, point.key, at))
                if at == len(jobs):
                    variant = " ".join([study.name, experiment.name, *(str(part) for part in point.key)])
                    jobs.append(Job(point.scenario.core, point.seed, variant))
    slots: dict[int, Run] = {}
    with contextlib.suppress(Interrupted):
        run_jobs(jobs, workers=workers, quiet=quiet, label="reproduce", on_result=slots.__setitem__)
    found: dict[Experiment, list[tuple[Key, Run | None]]] = defaultdict(list)
    for experiment, key, at in places:
        found[experiment].append((key, slots.get(at)))
    outcomes: dict[tuple[str, str], Outcome] = {}
    with house_style():
        for experiment, rows in found.items():
            complete = [(key, run) for key, run in rows if run is not None]
            if len(complete) == len(rows):
                where = (experiment.study, experiment.name)
                outcomes[where] = experiment.evaluate(Measured(complete), effort)
    runs = Runs([slots[at] for at in sorted(slots)])
    packets = sum(run.data_packets for run in runs)
    missing = len(found) - len(outcomes)
    return Reproduction(studies, effort, outcomes, runs, packets, time.monotonic() - start, missing)
