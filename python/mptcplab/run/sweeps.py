"""Runs the sweeps of `mptcplab sweep` part by part, and resumes them after an interruption.

A part is a group of consecutive runs of the plan, with their tables. Parts are joined in order, so
interruptions do not change the files. Memory holds one part, for any number of runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.results.model.measured_run import flow_rows
from mptcplab.results.run import Runs
from mptcplab.run.batch import Interrupted, Progress, Unfinished, run_jobs
from mptcplab.run.sweep_plan import SweepPlan
from mptcplab.util.files import only_writer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mptcplab.run.sweep_store import Store

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
        run = partial(run_jobs, workers=workers, executor=executor, quiet=True)
        with only_writer(output) if output else nullcontext():
            self._run(self._store(output, resume=resume) if output else None, take, run, quiet=quiet)

    def _store(self, output: Path, *, resume: bool) -> Store:
        # Without files, Arrow is not needed.
        from mptcplab.run.sweep_store import Store

        return Store(self, output, resume=resume)

    def _run(self, store: Store | None, take: Take, run: Callable[..., Runs], *, quiet: bool) -> None:
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
                    results = self._part(runs, progress, run)
                    found = flow_rows(results)
                    if store:
                        store.write(number, results)
                take(found)
                done += len(runs)
                progress.tick(done)
        except (KeyboardInterrupt, Unfinished) as cause:
            # Ctrl-C can come while a part runs or is written.
            some = cause.finished if isinstance(cause, Interrupted | Unfinished) else Runs([])
            if store:
                # A part may be on disk but not yet in `done`, so the files decide.
                done = min(store.finished() * self.runs_of_part, self.runs)
                store.join(done, some)
            count = done + len(some)
            if isinstance(cause, Unfinished):
                raise Unfinished(cause.reason, Runs([]), self.runs, count) from cause
            raise Interrupted(Runs([]), self.runs, count) from None
        finally:
            progress.close()
        if store:
            store.join(done)
            store.clear()

    def _part(self, runs: range, progress: Progress, run: Callable[..., Runs]) -> Runs:
        finished = itertools.count(runs.start + 1)
        return run([self.job(at) for at in runs], on_result=lambda _at, _run: progress.tick(next(finished)))
