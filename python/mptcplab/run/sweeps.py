"""A sweep: every combination of some values, run and written part by part.

Owns the plan of a sweep, its parts on the disk, and how an unfinished one goes on. A part is the tables of so many runs
that follow each other in the plan; parts are joined in its order, so that the files are the same however often it was
interrupted. Memory holds one part, however many runs there are.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.results.model.events import REASONS
from mptcplab.results.model.tables import flow_rows
from mptcplab.results.model.varied_values import Value, typed
from mptcplab.results.run import Runs
from mptcplab.run.batch import Interrupted, Job, Progress, run_jobs
from mptcplab.util.files import only_writer

if TYPE_CHECKING:
    from mptcplab.run.sweep_store import Store
    from mptcplab.scenario.definition import Scenario

Take = Callable[[list[dict[str, Any]]], None]
"""Who is given rows of flows."""

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


class Sweep:
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

    def run(  # noqa: PLR0913, RUF100 - what a person can ask for
        self,
        output: Path | None,
        take: Take,
        *,
        resume: bool = False,
        workers: int | None = None,
        quiet: bool = False,
    ) -> None:
        """Runs what is missing; gives `take` the rows of flows of each part, in order.

        Raises `Interrupted` after Ctrl-C; what was finished is in `output` then, and `resume` goes on there.
        """
        with only_writer(output) if output else nullcontext():
            self._run(self._store(output, resume=resume) if output else None, take, workers, quiet=quiet)

    def _store(self, output: Path, *, resume: bool) -> Store:
        # What needs no files needs no Arrow.
        from mptcplab.run.sweep_store import Store

        return Store(self, output, resume=resume)

    def _run(self, store: Store | None, take: Take, workers: int | None, *, quiet: bool) -> None:
        if store and store.is_complete:
            for rows in store.all_rows():
                take(rows)
            return
        progress = Progress(self.runs, "sweep", quiet=quiet)
        done = 0
        try:
            for number, runs in enumerate(self.parts()):
                found = store.rows(number) if store else None
                if found is None:
                    results = self._part(runs, progress, workers)
                    found = flow_rows(results)
                    if store:
                        store.write(number, results)
                take(found)
                done += len(runs)
                progress.tick(done)
        except KeyboardInterrupt as interrupt:
            # Anywhere: in the middle of a part, or while one is written.
            some = interrupt.finished if isinstance(interrupt, Interrupted) else Runs([])
            if store:
                # It may have come between the last part's file and `done`: the disk knows.
                done = min(store.finished() * self.runs_of_part, self.runs)
                store.join(done, some)
            raise Interrupted(Runs([]), self.runs, done + len(some)) from None
        finally:
            progress.close()
        if store:
            store.join(done)
            store.clear()

    def _part(self, runs: range, progress: Progress, workers: int | None) -> Runs:
        finished = itertools.count(runs.start + 1)
        return run_jobs(
            [self.job(at) for at in runs],
            workers=workers,
            quiet=True,
            on_result=lambda _at, _run: progress.tick(next(finished)),
        )
