"""Runs studies: all runs in one batch over all cores, then the judgement of each experiment.

A study lists the experiments of one publication. An experiment lists points (scenario and seed), and turns their runs
into an outcome: figures, and claims with verdicts. Owns the steps from studies to outcomes; `report` writes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mptcplab.plots.figure_style import house_style
from mptcplab.plots.parallel_drawing import uncollected
from mptcplab.results.model.events import Trace
from mptcplab.results.run import Run, Runs
from mptcplab.run.batch import Unfinished, run_jobs
from mptcplab.run.jobs import Job
from mptcplab.scenario.definition import Scenario
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Point, Study
from mptcplab.studies.limiting_factor_panels import panels
from mptcplab.studies.verdicts import Verdict, replicated, replicated_shorter

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from matplotlib.figure import Figure

Change = Callable[[Scenario], Scenario]
HELD: Trace = (["subflow_blocked"], 0.0, 1e9)
"""The events kept of runs whose limiting factors a figure shows."""


@dataclass(frozen=True)
class Reproduction:
    """Studies, and the outcome of each experiment: claims with verdicts, and figures."""

    studies: Sequence[Study]
    effort: Effort
    outcomes: dict[tuple[str, str], Outcome]
    points: dict[tuple[str, str], list[Point]]
    """The points on which the outcome of each experiment is based."""
    runs: Runs
    data_packets: int
    wall_s: float
    missing: int
    """Number of experiments that Ctrl-C or lost workers left incomplete."""
    problem: str = ""
    """The reason why an executor lost its workers; empty if it did not."""

    @property
    def facts(self) -> list[Fact]:
        """All claims in the order of the studies."""
        return [fact for outcome in self.outcomes.values() for fact in outcome.facts]

    @property
    def figures(self) -> dict[str, Figure]:
        """All figures in the order of the studies."""
        return {name: figure for outcome in self.outcomes.values() for name, figure in outcome.figures.items()}

    def runs_of(self, study: Study) -> int:
        """The number of distinct runs of a study."""
        texts: dict[int, str] = {}
        different = set()
        for experiment in study.experiments:
            for point in self.points.get((study.name, experiment.name), []):
                if id(point.scenario) not in texts:
                    texts[id(point.scenario)] = point.scenario.to_toml()
                different.add((texts[id(point.scenario)], point.seed))
        return len(different)


BLOCKS, BLOCK = 3, 20
"""Seeds per block with `full`; all blocks must give the same verdict."""
ROUNDS: Mapping[str, Sequence[int]] = {"quick": (1,), "default": (1, 2), "full": (1, 2, 4)}
"""Factors by which the seeds of an experiment grow while a claim is undecided."""


def reproduce(
    studies: Sequence[Study],
    effort: Effort,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    quiet: bool = False,
    change: Change | None = None,
    rounds: Sequence[int] | None = None,
    about: Collection[str] | None = None,
    settled: Callable[[Outcome], None] | None = None,
) -> Reproduction:
    """Runs each point once, and judges the experiments; after Ctrl-C or lost workers, only the complete ones.

    An experiment is judged as soon as its runs are finished. `settled` gets each outcome once, when its figures are
    final. If the interval of a published claim (with `full`, of any claim) straddles a bound, the experiment gets more
    seeds, up to the limit of the effort. `about` selects other claims for this. With `full`, each experiment has three
    blocks of seeds; if they disagree, a claim is undecided (see `Study.short_blocks`). `change` alters every scenario
    (see `mutants`). `rounds` replaces the rounds of the effort.
    """
    start = time.monotonic()
    work = _Work(change, partial(run_jobs, workers=workers, executor=executor, quiet=quiet, label="reproduce"))
    judged = _Judged(about, settled)
    open_ = [experiment for study in studies for experiment in study.experiments]
    in_blocks = effort.name == "full" and not effort.exactly and rounds is None
    alike, comparison = (
        [one for study in studies for one in study.experiments if in_blocks and study.short_blocks is short]
        for short in (False, True)
    )
    with house_style(), panels(drawn=effort.name != "quick"):
        if alike:
            open_ = [experiment for experiment in open_ if experiment not in alike]
            for where, (outcome, its) in _replicate(work, alike, effort).items():
                judged.outcomes[where], judged.points[where] = outcome, its
        several = rounds or ((1,) if effort.exactly else ROUNDS[effort.name])
        for times in several:
            now = replace(effort, times=times)
            asked = {experiment: list(experiment.points(now)) for experiment in open_}
            whole = work.run(asked, partial(judged.take, asked, now, last=times == several[-1]))
            if not whole:
                break
            open_ = [experiment for experiment in open_ if judged.is_open(experiment, now)]
        _compare(work, comparison, replace(effort, name="default"), judged.outcomes)
        order = [(experiment.study, experiment.name) for study in studies for experiment in study.experiments]
        outcomes = {where: judged.outcomes[where] for where in order if where in judged.outcomes}
        for where in outcomes:
            judged.tell(where)
    runs = Runs([work.slots[at] for at in sorted(work.slots)])
    packets = sum(run.data_packets for run in runs)
    missing = len(order) - len(outcomes)
    took = time.monotonic() - start
    return Reproduction(studies, effort, outcomes, judged.points, runs, packets, took, missing, work.problem)


def _replicate(
    work: _Work, experiments: Sequence[Experiment], effort: Effort
) -> dict[tuple[str, str], tuple[Outcome, list[Point]]]:
    """Judges all seeds together, and each block separately; after Ctrl-C, only complete experiments."""
    whole = replace(effort, exactly=BLOCKS * BLOCK)
    asked = {experiment: list(experiment.points(whole)) for experiment in experiments}
    work.run(asked)
    found: dict[tuple[str, str], tuple[Outcome, list[Point]]] = {}
    for experiment, its in asked.items():
        together = work.measured(its)
        if together is None:
            continue
        parts = _parts(work, experiment, effort)
        outcome = _judged(experiment, together, whole)
        outcome.facts = [_with_verdict(fact, *replicated(fact.verdict, parts[fact.fact])) for fact in outcome.facts]
        found[experiment.study, experiment.name] = outcome, its
    return found


def _compare(
    work: _Work, experiments: Sequence[Experiment], effort: Effort, outcomes: Mapping[tuple[str, str], Outcome]
) -> None:
    """Compares the verdicts of blocks of shorter runs with those of the longer runs; skipped after Ctrl-C."""
    blocks = _blocks(effort)
    if not work.run({one: [point for block in blocks for point in one.points(block)] for one in experiments}):
        return
    for experiment in experiments:
        outcome = outcomes.get((experiment.study, experiment.name))
        parts = _parts(work, experiment, effort)
        if outcome is not None:
            outcome.facts = [
                _with_verdict(fact, *replicated_shorter(fact.verdict, parts[fact.fact])) for fact in outcome.facts
            ]


def _blocks(effort: Effort) -> list[Effort]:
    return [replace(effort, first=effort.first + at * BLOCK, exactly=BLOCK) for at in range(BLOCKS)]


def _parts(work: _Work, experiment: Experiment, effort: Effort) -> dict[str, list[Verdict]]:
    """The verdict of each block of seeds on each claim."""
    parts: dict[str, list[Verdict]] = {}
    for block in _blocks(effort):
        asked = list(experiment.points(block))
        work.run({experiment: asked})
        part = work.measured(asked)
        if part is not None:
            for fact in _judged(experiment, part, block).facts:
                parts.setdefault(fact.fact, []).append(fact.verdict)
    return parts


def _judged(experiment: Experiment, measured: Measured, effort: Effort) -> Outcome:
    with uncollected():
        return experiment.evaluate(measured, effort)


def _with_verdict(fact: Fact, verdict: Verdict, words: str) -> Fact:
    return replace(fact, verdict=verdict, reason=f"{words} {fact.reason}".strip()) if words else fact


class _Judged:
    """The outcomes so far, by study and experiment."""

    def __init__(self, about: Collection[str] | None, settled: Callable[[Outcome], None] | None) -> None:
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.points: dict[tuple[str, str], list[Point]] = {}
        self._about, self._settled = about, settled
        self._told: set[tuple[str, str]] = set()

    def take(
        self,
        asked: Mapping[Experiment, list[Point]],
        effort: Effort,
        experiment: Experiment,
        found: Measured,
        *,
        last: bool,
    ) -> None:
        """Judges an experiment whose runs are complete."""
        where = (experiment.study, experiment.name)
        self.points[where], self.outcomes[where] = asked[experiment], _judged(experiment, found, effort)
        if last or not self.is_open(experiment, effort):
            self.tell(where)

    def is_open(self, experiment: Experiment, effort: Effort) -> bool:
        """Whether more seeds are needed."""
        return any(
            fact.verdict == "undecided"
            and (
                effort.name == "full" or fact.origin == "published" if self._about is None else fact.fact in self._about
            )
            for fact in self.outcomes[experiment.study, experiment.name].facts
        )

    def tell(self, where: tuple[str, str]) -> None:
        """Reports the figures of this experiment as final."""
        if self._settled and where not in self._told:
            self._told.add(where)
            self._settled(self.outcomes[where])


class _Work:
    """Runs each scenario with each seed once, also if several experiments need it."""

    def __init__(self, change: Change | None, run_jobs: Callable[..., Runs]) -> None:
        self._change, self._run_jobs = change, run_jobs
        self._known: dict[tuple[str, int], int] = {}
        self._places: dict[int, int] = {}
        self._interrupted = False
        self.problem = ""
        self.slots: dict[int, Run] = {}

    def run(
        self,
        asked: Mapping[Experiment, Sequence[Point]],
        complete: Callable[[Experiment, Measured], None] | None = None,
    ) -> bool:
        """Runs the missing points; returns whether all were run.

        `complete` gets each experiment whose runs are finished, while others still run.
        """
        first = len(self._known)
        jobs = self._jobs(asked)
        lacking = {
            one: {self._places[id(point)] for point in points} - set(self.slots) for one, points in asked.items()
        }
        wanted: dict[int, list[Experiment]] = {}
        for experiment, places in lacking.items():
            for at in places:
                wanted.setdefault(at, []).append(experiment)

        def look(experiment: Experiment) -> None:
            found = None if lacking[experiment] else self.measured(asked[experiment])
            if complete and found is not None:
                complete(experiment, found)

        def keep(at: int, run: Run) -> None:
            self.slots[first + at] = run
            for experiment in wanted.get(first + at, ()):
                lacking[experiment].discard(first + at)
                look(experiment)

        if self._interrupted:
            return False
        try:
            for experiment in asked:
                look(experiment)
            self._run_jobs(jobs, on_result=keep)
        except (KeyboardInterrupt, Unfinished) as error:
            # Ctrl-C can also interrupt a judgement after the last run.
            self._interrupted = True
            self.problem = error.reason if isinstance(error, Unfinished) else ""
        return not self._interrupted

    def _jobs(self, asked: Mapping[Experiment, Sequence[Point]]) -> list[Job]:
        """Jobs for the missing points; assigns each point the index of its run."""
        jobs: list[Job] = []
        first = len(self._known)
        watched: set[int] = set()
        # Points with different seeds share a scenario.
        texts: dict[int, tuple[Scenario, str]] = {}
        for experiment, points in asked.items():
            for point in points:
                if id(point.scenario) not in texts:
                    changed = self._change(point.scenario) if self._change else point.scenario
                    texts[id(point.scenario)] = changed, changed.to_toml()
                scenario, text = texts[id(point.scenario)]
                at = self._known.setdefault((text, point.seed), len(self._known))
                self._places[id(point)] = at
                if point.watched:
                    watched.add(at)
                if at == first + len(jobs):
                    variant = " ".join([experiment.study, experiment.name, *(str(part) for part in point.key)])
                    jobs.append(Job(scenario.core, point.seed, variant))
        return [replace(job, trace=HELD) if first + at in watched else job for at, job in enumerate(jobs)]

    def measured(self, points: Sequence[Point]) -> Measured | None:
        """The runs of these points, if all are finished."""
        rows = [(point.key, self.slots.get(self._places[id(point)])) for point in points]
        complete = [(key, run) for key, run in rows if run is not None]
        return Measured(complete) if len(complete) == len(rows) else None
