"""Runs jobs on several cores or an executor, for every command and study that simulates more than one run.

Shows a progress line. Results are in the order of the jobs, for any number of workers. Ctrl-C and lost workers keep
finished runs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

from mptcplab import _core
from mptcplab.results.model.measured_run import MeasuredRun
from mptcplab.results.run import Run, Runs
from mptcplab.run.executors import Dispatch, WorkersLost, workers_of
from mptcplab.run.local_processes import LocalProcesses, needs_no_guard
from mptcplab.run.policy_payloads import with_policies
from mptcplab.run.worker import Finished, Samples, encoded

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mptcplab.run.jobs import Job


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a batch. `finished` has the finished runs, in the order of the jobs."""

    def __init__(self, finished: Runs, total: int, count: int | None = None) -> None:
        """Stores the finished runs of `total`; `count` is their number if some are no longer in memory."""
        count = len(finished) if count is None else count
        super().__init__(f"interrupted after {count} of {total} runs")
        self.finished = finished
        self.count, self.total = count, total


class Unfinished(RuntimeError):
    """An executor lost its workers during a batch. `finished` has the finished runs, in the order of the jobs."""

    def __init__(self, reason: str, finished: Runs, total: int, count: int | None = None) -> None:
        """As `Interrupted`, with the reason of the loss."""
        self.reason, self.finished, self.total = reason, finished, total
        self.count = len(finished) if count is None else count
        super().__init__(f"{reason} ({self.count} of {total} runs are finished)")


def default_workers() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(  # noqa: PLR0913, RUF100 - what callers of a batch can choose
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    quiet: bool = False,
    label: str = "runs",
    on_result: Callable[[int, Run], None] | None = None,
) -> Runs:
    """Runs the jobs; `on_result` gets the number and run of each finished job.

    Without an executor, `workers` threads run them (default: the number of cores). Policies written in Python run in
    processes instead, or in one thread if a process would run the main script again. With an executor, `workers` is
    the number of its workers, if it does not report that number.

    Raises `Interrupted` with the finished runs on Ctrl-C, and `Unfinished` with them if an executor loses its workers.
    A run that fails raises `RuntimeError`, and a policy its own exception.
    """
    if not jobs:
        return Runs([])
    progress = Progress(len(jobs), label, quiet=quiet, length=sum(job.scenario.duration for job in jobs))
    found = _Found(jobs)

    def keep(group: Finished) -> None:
        for at, run in enumerate(found.keep(group), group.at):
            if on_result is not None:
                on_result(at, run)

    def tick(under_way: float) -> None:
        progress.tick(found.count, found.virtual_s + under_way)

    try:
        run_groups(jobs, 1, keep, late=found.keep, tick=tick, workers=workers, executor=executor)
    except Interrupted:
        raise Interrupted(found.runs(), len(jobs)) from None
    except Unfinished as error:
        raise Unfinished(error.reason, found.runs(), len(jobs)) from error.__cause__
    finally:
        progress.close()
    return found.runs()


def run_groups(  # noqa: PLR0913, RUF100 - what callers of a batch can choose
    jobs: Sequence[Job],
    size: int,
    keep: Callable[[Finished], None],
    *,
    samples: Samples = Samples.KEPT,
    late: Callable[[Finished], object] | None = None,
    tick: Callable[[float], None] = lambda _: None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> None:
    """Runs the jobs in groups of `size` consecutive ones; `keep` gets each finished group, in order of completion.

    After an interruption, `late` (default: `keep`) gets the finished groups that `keep` did not get. `tick` gets the
    virtual time of unfinished runs [s], at least ten times per second. Raises as `run_jobs`, without finished runs.
    """
    jobs = with_policies(jobs)
    if executor is None and any(job.payload for job in jobs):
        # Threads that run Python wait for each other.
        workers = min(workers or default_workers(), len(jobs)) if needs_no_guard() else 1
        if workers > 1:
            with LocalProcesses(workers) as processes:
                run_groups(jobs, size, keep, samples=samples, late=late, tick=tick, executor=processes)
            return
    batch = _batch(jobs, workers, executor, size, samples)
    try:
        for group in batch.results(0.1):
            tick(batch.under_way())
            if group is not None:
                keep(group)
    except (KeyboardInterrupt, WorkersLost) as cause:
        for group in batch.cancel():
            (late or keep)(group)
        if isinstance(cause, WorkersLost):
            raise Unfinished(str(cause), Runs([]), len(jobs)) from cause
        raise Interrupted(Runs([]), len(jobs)) from None
    except BaseException:
        batch.cancel()
        raise


def _batch(
    jobs: Sequence[Job], workers: int | None, executor: Executor | None, size: int, samples: Samples
) -> _Threads | Dispatch:
    """The started batch."""
    if executor is None:
        return _Threads(jobs, workers or default_workers(), size, samples)
    return Dispatch(executor, jobs, partial(workers_of, executor, workers, default_workers()), size, samples)


class _Found:
    """The finished runs of a batch."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._slots: list[Run | None] = [None] * len(jobs)
        self.count = 0
        self.virtual_s = 0.0
        """Virtual time of the finished runs, s."""

    def keep(self, group: Finished) -> list[Run]:
        """The runs of a group."""
        jobs = self._jobs[group.at : group.at + len(group.results)]
        runs = group.runs(jobs)
        self._slots[group.at : group.at + len(runs)] = runs
        self.count += len(runs)
        self.virtual_s += sum(job.scenario.duration for job in jobs)
        return runs

    def runs(self) -> Runs:
        """The finished runs in the order of the jobs."""
        return Runs([run for run in self._slots if run is not None])


class _Threads:
    """The jobs of a batch on threads of this process."""

    def __init__(self, jobs: Sequence[Job], workers: int, size: int, samples: Samples) -> None:
        self._jobs, self._size, self._samples = jobs, size, samples
        self._left = len(jobs)
        self._parts: dict[int, dict[int, _core.Results]] = {}
        """The results of incomplete groups, by the number of the group and of the job."""
        self._batch = _core.Batch([(job.scenario, job.seed, job.trace) for job in jobs], workers)

    def results(self, timeout: float) -> Iterator[Finished | None]:
        """The groups in order of completion; None after each `timeout` seconds without any, or an incomplete group."""
        while self._left:
            outcome = self._batch.next(timeout)
            self._left -= outcome is not None
            yield outcome and self._add(*outcome)
        self._batch.join()

    def _add(self, at: int, results: _core.Results) -> Finished | None:
        """The group of a job, if this job completes it."""
        first = at // self._size * self._size
        jobs = self._jobs[first : first + self._size]
        group = self._parts.setdefault(first, {})
        group[at] = results
        if len(group) < len(jobs):
            return None
        whole = [its for _, its in sorted(self._parts.pop(first).items())]
        runs = [MeasuredRun(job.scenario, job.seed, its, job.variant) for job, its in zip(jobs, whole, strict=True)]
        return Finished(first, whole, [], encoded(runs, self._samples))

    def under_way(self) -> float:
        """Virtual time of the unfinished runs, s."""
        return sum(reached for _, reached in self._batch.under_way())

    def cancel(self) -> list[Finished]:
        """Ends all runs; none of their results is kept."""
        self._batch.cancel()
        return []


class Progress:
    """A progress bar on a terminal, or a line every five seconds in a file or pipe; nothing in the first second.

    A single run prints no lines to a file or pipe.
    """

    def __init__(
        self, total: int, label: str, *, quiet: bool = False, out: TextIO | None = None, length: float = 0.0
    ) -> None:
        """`out` is stderr by default; `length` is the virtual time of all runs in seconds, if it is known."""
        self._out = sys.stderr if out is None else out
        self._total, self._label, self._quiet, self._length = total, label, quiet, length
        self._start = time.monotonic()
        self._terminal = self._out.isatty()
        self._shown = self._start
        self._drawn = False

    def tick(self, done: int, behind: float = 0.0) -> None:
        """Prints that `done` runs and `behind` virtual seconds are finished, if the next output is due."""
        now = time.monotonic()
        pause = 0.1 if self._terminal else 5.0
        alone = self._total == 1 and not self._terminal
        if self._quiet or alone or now - self._start < 1.0 or now - self._shown < pause:
            return
        self._shown = now
        share, text = progress_text(done, self._total, behind, self._length, now - self._start)
        text = f"{self._label}: {text}"
        if self._terminal:
            filled = round(24 * share)
            self._out.write(f"\r[{'█' * filled}{'·' * (24 - filled)}] {text}\x1b[K")
            self._drawn = True
        else:
            self._out.write(text + "\n")
        self._out.flush()

    def close(self) -> None:
        """Clears the bar."""
        if self._drawn:
            self._out.write("\r\x1b[K")
            self._out.flush()
            self._drawn = False


def progress_text(done: int, total: int, behind: float, length: float, spent: float) -> tuple[float, str]:
    """The finished share, and its text: runs, virtual time, its rate, and the remaining time."""
    share = min(1.0, behind / length if length else done / total)
    parts = [f"{done} of {total}"] if total > 1 else []
    if length:
        parts.append(f"{share:.0%} of {_span(length)} simulated")
        if behind:
            parts.append(f"{behind / spent:,.0f} times real time")
    parts.append(f"{_span(spent * (1 / share - 1))} left" if share else "…")
    return share, ", ".join(parts)


def _span(seconds: float) -> str:
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    return (
        f"{whole // 60} min {whole % 60:02d} s" if whole < 7200 else f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    )
