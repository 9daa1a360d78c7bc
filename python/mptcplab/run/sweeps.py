"""Runs the sweeps of `mptcplab sweep` part by part, and resumes them after an interruption.

A part is a number of consecutive runs of the plan, with their tables. A group is a smaller number of them that one
worker runs. Parts are joined in order, so interruptions do not change the files. Memory holds the parts that run at
once, for any number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.results.model.measured_run import flow_rows
from mptcplab.results.run import Runs
from mptcplab.run.batch import Interrupted, Progress, Unfinished, run_groups
from mptcplab.run.sweep_plan import SweepPlan
from mptcplab.run.worker import Finished, Samples
from mptcplab.util.files import only_writer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mptcplab.run.sweep_store import Store

PARTS_OF_THREADS, PARTS_OF_EXECUTORS = 4, 512
"""Parts that run at once. At the end of the last one of these, threads and workers wait for each other."""
Take = Callable[[list[dict[str, Any]]], None]
"""A function that receives rows of flows."""


class Sweep(SweepPlan):
    """A sweep that can be run, and resumed after Ctrl-C or the loss of workers."""

    def run(  # noqa: PLR0913, RUF100 - one parameter per option
        self,
        output: Path | None,
        take: Take,
        *,
        resume: bool = False,
        workers: int | None = None,
        executor: Executor | None = None,
        quiet: bool = False,
    ) -> None:
        """Runs the missing parts; gives `take` the rows of flows of each part, in order.

        Raises `Interrupted` after Ctrl-C, and `Unfinished` if the executor loses its workers; `output` then has the
        finished runs, and `resume` continues.
        """
        with only_writer(output) if output else nullcontext():
            store = self._store(output, resume=resume) if output else None
            if store and store.is_complete:
                for rows in store.all_rows():
                    take(rows)
                return
            run = partial(run_groups, workers=workers, executor=executor)
            # Each thread also holds samples that are not encoded yet.
            window = PARTS_OF_THREADS if executor is None else PARTS_OF_EXECUTORS
            _Unfinished(self, store, take, Progress(self.runs, "sweep", quiet=quiet)).run(run, window)

    def _store(self, output: Path, *, resume: bool) -> Store:
        # Without files, Arrow is not needed.
        from mptcplab.run.sweep_store import Store

        return Store(self, output, resume=resume)


class _Unfinished:
    """A sweep while it runs: the groups of incomplete parts, and the rows that wait for those of earlier parts."""

    def __init__(self, sweep: Sweep, store: Store | None, take: Take, progress: Progress) -> None:
        self._sweep, self._store, self._take, self._progress = sweep, store, take, progress
        self._groups: dict[int, list[Finished]] = {}
        """The groups of incomplete parts, by the number of the part; `at` is the number of the first run."""
        self._rows: dict[int, list[dict[str, Any]]] = {}
        """Rows of flows of complete parts after an incomplete one."""
        self._next = 0
        """The first part whose rows were not taken."""
        self._done = 0

    def run(self, run: Callable[..., None], window: int) -> None:
        """Runs the missing parts, at most `window` at once, and writes the result."""
        try:
            missing = [number for number in range(len(list(self._sweep.parts()))) if not self._restored(number)]
            for first in range(0, len(missing), window):
                runs = [at for number in missing[first : first + window] for at in self._sweep.part(number)]
                run(
                    [self._sweep.job(at) for at in runs],
                    self._sweep.runs_of_group,
                    partial(self._keep, runs),
                    samples=Samples.ENCODED if self._store else Samples.DROPPED,
                    tick=lambda _: self._progress.tick(self._done),
                )
        except (KeyboardInterrupt, Unfinished) as cause:
            # Ctrl-C can come while a part runs or is written.
            count = self._store.join({number: self._part(number) for number in self._groups}) if self._store else None
            count = self._done if count is None else count
            if isinstance(cause, Unfinished):
                raise Unfinished(cause.reason, Runs([]), self._sweep.runs, count) from cause
            raise Interrupted(Runs([]), self._sweep.runs, count) from None
        finally:
            self._progress.close()
        if self._store:
            self._store.join()
            self._store.clear()

    def _restored(self, number: int) -> bool:
        """Takes a part on disk; false if it is missing or damaged."""
        rows = self._store.rows(number) if self._store else None
        if rows is None:
            return False
        self._done += len(self._sweep.part(number))
        self._complete(number, rows)
        return True

    def _keep(self, runs: Sequence[int], group: Finished) -> None:
        """Keeps a group, and writes the part that it completes. `runs` has the number of the run of each job."""
        group = replace(group, at=runs[group.at])
        number = group.at // self._sweep.runs_of_part
        groups = self._groups.setdefault(number, [])
        groups.append(group)
        self._done += len(group.results)
        if sum(len(one.results) for one in groups) == len(self._sweep.part(number)):
            results, samples = self._part(number)
            if self._store:
                self._store.write(number, results, samples)
            self._complete(number, flow_rows(results))
            del self._groups[number]

    def _part(self, number: int) -> tuple[Runs, list[bytes]]:
        """The finished runs of a part, and the samples of its groups, in order."""
        groups = sorted(self._groups[number], key=lambda one: one.at)
        runs = [
            run
            for group in groups
            for run in group.runs([self._sweep.job(group.at + at) for at in range(len(group.results))])
        ]
        return Runs(runs), [group.samples for group in groups]

    def _complete(self, number: int, rows: list[dict[str, Any]]) -> None:
        """Gives the rows of the complete parts to `take`, in order."""
        self._rows[number] = rows
        while self._next in self._rows:
            self._take(self._rows.pop(self._next))
            self._next += 1
