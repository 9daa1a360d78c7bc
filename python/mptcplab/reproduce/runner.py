"""Runs studies: all their runs in one batch over all cores, then each experiment's judgement.

Owns the way from studies to outcomes. Writes nothing; see `report`.
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
from mptcplab.run.batch import Job, run_jobs
from mptcplab.scenario.definition import Scenario
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Point, Study
from mptcplab.studies.limiting_factor_panels import panels
from mptcplab.studies.verdicts import Verdict, replicated, replicated_shorter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Change = Callable[[Scenario], Scenario]
HELD: Trace = (["subflow_blocked"], 0.0, 1e9)
"""What is kept of a run that is watched."""


@dataclass(frozen=True)
class Reproduction:
    """Studies with what their experiments found."""

    studies: Sequence[Study]
    effort: Effort
    outcomes: dict[tuple[str, str], Outcome]
    points: dict[tuple[str, str], list[Point]]
    """What each experiment needed in the end."""
    runs: Runs
    data_packets: int
    wall_s: float
    missing: int
    """Experiments that Ctrl-C left without all of their runs."""

    @property
    def facts(self) -> list[Fact]:
        """All facts in the order of the studies."""
        return [fact for outcome in self.outcomes.values() for fact in outcome.facts]

    @property
    def figures(self) -> dict[str, Figure]:
        """All figures in the order of the studies."""
        return {name: figure for outcome in self.outcomes.values() for name, figure in outcome.figures.items()}

    def runs_of(self, study: Study) -> int:
        """How many different runs a study took; one that two experiments share counts once."""
        texts: dict[int, str] = {}
        different = set()
        for experiment in study.experiments:
            for point in self.points.get((study.name, experiment.name), []):
                if id(point.scenario) not in texts:
                    texts[id(point.scenario)] = point.scenario.to_toml()
                different.add((texts[id(point.scenario)], point.seed))
        return len(different)


BLOCKS, BLOCK = 3, 20
"""What `full` runs of each study: blocks of so many seeds, which have to give the same verdict."""
ROUNDS: Mapping[str, Sequence[int]] = {"quick": (1,), "default": (1, 2), "full": (1, 2, 4)}
"""How many times as many seeds an experiment gets, one after the other, while a fact of it is undecided."""


def reproduce(
    studies: Sequence[Study],
    effort: Effort,
    *,
    workers: int | None = None,
    quiet: bool = False,
    change: Change | None = None,
    rounds: Sequence[int] | None = None,
    about: Collection[str] | None = None,
    settled: Callable[[Outcome], None] | None = None,
) -> Reproduction:
    """Runs everything that the studies ask for, equal points once, and judges it; after Ctrl-C, what is complete.

    An experiment is judged as soon as it has its runs, while others run; `settled` is told once of each outcome whose
    figures stay as they are.

    Where an interval straddles a bound, the experiment gets more seeds, as many as the effort allows, by default for
    what was published alone; with `full` each has three blocks of seeds, and where these disagree a fact is undecided
    (see `Study.short_blocks`). `change` swaps something in every scenario (see `mutants`); `rounds` are those of the
    effort if nothing else is said, and no fact but those that it is `about` asks for more seeds.
    """
    start = time.monotonic()
    work = _Work(change, workers, quiet)
    judged = _Judged(about, settled)
    open_ = [experiment for study in studies for experiment in study.experiments]
    in_blocks = effort.name == "full" and not effort.exactly and rounds is None
    alike, beside = (
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
        _compare(work, beside, replace(effort, name="default"), judged.outcomes)
        order = [(experiment.study, experiment.name) for study in studies for experiment in study.experiments]
        outcomes = {where: judged.outcomes[where] for where in order if where in judged.outcomes}
        for where in outcomes:
            judged.tell(where)
    runs = Runs([work.slots[at] for at in sorted(work.slots)])
    packets = sum(run.data_packets for run in runs)
    missing = len(order) - len(outcomes)
    return Reproduction(studies, effort, outcomes, judged.points, runs, packets, time.monotonic() - start, missing)


def _replicate(
    work: _Work, experiments: Sequence[Experiment], effort: Effort
) -> dict[tuple[str, str], tuple[Outcome, list[Point]]]:
    """Judges all seeds together, and each block of them alone; after Ctrl-C those experiments that are complete."""
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
        outcome.facts = [_said(fact, *replicated(fact.verdict, parts[fact.fact])) for fact in outcome.facts]
        found[experiment.study, experiment.name] = outcome, its
    return found


def _compare(
    work: _Work, experiments: Sequence[Experiment], effort: Effort, outcomes: Mapping[tuple[str, str], Outcome]
) -> None:
    """Lets blocks of shorter runs qualify what longer ones say; after Ctrl-C they do not."""
    blocks = _blocks(effort)
    if not work.run({one: [point for block in blocks for point in one.points(block)] for one in experiments}):
        return
    for experiment in experiments:
        outcome = outcomes.get((experiment.study, experiment.name))
        parts = _parts(work, experiment, effort)
        if outcome is not None:
            outcome.facts = [_said(fact, *replicated_shorter(fact.verdict, parts[fact.fact])) for fact in outcome.facts]


def _blocks(effort: Effort) -> list[Effort]:
    return [replace(effort, first=effort.first + at * BLOCK, exactly=BLOCK) for at in range(BLOCKS)]


def _parts(work: _Work, experiment: Experiment, effort: Effort) -> dict[str, list[Verdict]]:
    """What each block of seeds alone says of each fact."""
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


def _said(fact: Fact, verdict: Verdict, words: str) -> Fact:
    return replace(fact, verdict=verdict, reason=f"{words} {fact.reason}".strip()) if words else fact


class _Judged:
    """What was found so far, by experiment."""

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
        """Judges an experiment that has its runs."""
        where = (experiment.study, experiment.name)
        self.points[where], self.outcomes[where] = asked[experiment], _judged(experiment, found, effort)
        if last or not self.is_open(experiment, effort):
            self.tell(where)

    def is_open(self, experiment: Experiment, effort: Effort) -> bool:
        """Whether more seeds are asked for."""
        return any(
            fact.verdict == "undecided"
            and (
                effort.name == "full" or fact.origin == "published" if self._about is None else fact.fact in self._about
            )
            for fact in self.outcomes[experiment.study, experiment.name].facts
        )

    def tell(self, where: tuple[str, str]) -> None:
        """The figures of this experiment stay as they are."""
        if self._settled and where not in self._told:
            self._told.add(where)
            self._settled(self.outcomes[where])


class _Work:
    """Runs by scenario and seed, each once."""

    def __init__(self, change: Change | None, workers: int | None, quiet: bool) -> None:  # noqa: FBT001, RUF100
        self._change, self._workers, self._quiet = change, workers, quiet
        self._known: dict[tuple[str, int], int] = {}
        self._places: dict[int, int] = {}
        self._interrupted = False
        self.slots: dict[int, Run] = {}

    def run(
        self,
        asked: Mapping[Experiment, Sequence[Point]],
        complete: Callable[[Experiment, Measured], None] | None = None,
    ) -> bool:
        """Runs what is not known yet; whether all of it was run.

        `complete` is told of each experiment that has all of its runs, while those of others go on.
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
            run_jobs(jobs, workers=self._workers, quiet=self._quiet, label="reproduce", on_result=keep)
        except KeyboardInterrupt:
            # Perhaps while something was judged, with all runs there.
            self._interrupted = True
        return not self._interrupted

    def _jobs(self, asked: Mapping[Experiment, Sequence[Point]]) -> list[Job]:
        """What is not known yet, and gives each point its place."""
        jobs: list[Job] = []
        first = len(self._known)
        watched: set[int] = set()
        # Seeds share a scenario.
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
        """The runs of these points, if there are all of them."""
        rows = [(point.key, self.slots.get(self._places[id(point)])) for point in points]
        complete = [(key, run) for key, run in rows if run is not None]
        return Measured(complete) if len(complete) == len(rows) else None
