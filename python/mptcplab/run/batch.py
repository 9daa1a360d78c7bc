"""Runs jobs on several cores, with a progress line, for every command and study that simulates more than one run.

Results are in the order of the jobs, for any number of workers. Ctrl-C keeps finished runs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from mptcplab import _core
from mptcplab.results.run import Run, Runs

if TYPE_CHECKING:
    from mptcplab.results.model.events import Trace
    from mptcplab.results.model.varied_values import Value


@dataclass(frozen=True)
class Job:
    """A scenario and a seed; `variant` distinguishes the runs of a batch."""

    scenario: _core.Scenario
    seed: int
    variant: str = ""
    trace: Trace | None = None
    """The events to keep; None keeps no events and observes nothing."""
    values: Mapping[str, Value] = field(default_factory=dict, compare=False)
    """The varied values of this run in a sweep, by key; they become columns of the tables."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a batch. `finished` has the finished runs, in the order of the jobs."""

    def __init__(self, finished: Runs, total: int, count: int | None = None) -> None:
        """Stores the finished runs of `total`; `count` is their number if some are no longer in memory."""
        count = len(finished) if count is None else count
        super().__init__(f"interrupted after {count} of {total} runs")
        self.finished = finished
        self.count, self.total = count, total


def default_workers() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    quiet: bool = False,
    label: str = "runs",
    on_result: Callable[[int, Run], None] | None = None,
) -> Runs:
    """Runs the jobs; `on_result` gets the number and run of each finished job.

    Raises `Interrupted` with the finished runs on Ctrl-C.
    """
    slots: list[Run | None] = [None] * len(jobs)
    if not jobs:
        return Runs([])
    batch = _core.Batch([(job.scenario, job.seed, job.trace) for job in jobs], workers or default_workers())
    progress = Progress(len(jobs), label, quiet=quiet, length=sum(job.scenario.duration for job in jobs))
    left, behind = len(jobs), 0.0
    try:
        while left:
            outcome = batch.next(0.1)
            progress.tick(len(jobs) - left, behind + sum(reached for _, reached in batch.under_way()))
            if outcome is None:
                continue
            at, results = outcome
            run = Run(jobs[at].scenario, jobs[at].seed, results, jobs[at].variant, values=jobs[at].values)
            slots[at] = run
            left -= 1
            behind += jobs[at].scenario.duration
            if on_result is not None:
                on_result(at, run)
    except KeyboardInterrupt:
        batch.cancel()
        raise Interrupted(Runs([run for run in slots if run is not None]), len(jobs)) from None
    except BaseException:
        batch.cancel()
        raise
    finally:
        progress.close()
    batch.join()
    return Runs([run for run in slots if run is not None])


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
