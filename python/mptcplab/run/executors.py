"""Runs jobs on any `concurrent.futures.Executor`: local processes, Dask, Ray or MPI pools.

Owns chunks of groups of runs: their size, the number in flight, and their repetition after the loss of a worker.
Results arrive in order of completion; neither chunks nor losses change them. Never starts or ends a worker; the caller
owns the executor.
"""

from __future__ import annotations

import contextlib
import math
import pickle
import queue
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab import _core
from mptcplab.policies.errors import with_remote_text
from mptcplab.run import worker

if TYPE_CHECKING:
    from mptcplab.run.jobs import Job

CHUNK_S = 0.5
"""Intended time of a chunk, s. On two cores, an empty chunk costs 0.4 ms with processes and 8 ms with Dask, less than
2% of this time. These are the minima of four batches of 200 chunks.
"""
MOST_RUNS = 256
"""Maximum number of runs in a chunk."""
QUEUED = 2
"""Chunks in flight for each worker: one that runs, and the next one, so that no worker waits for the sender."""
RESUBMISSIONS = 3
"""Times that a run is submitted again after the loss of its worker; also Dask's default (`allowed-failures`)."""
_FIXED = (worker.OtherVersion, ImportError, AttributeError)
"""Errors that every further attempt would repeat: a worker without this version of mptcplab."""


class WorkersLost(RuntimeError):
    """The executor cannot finish the runs. The message names a run that was lost, and says what helps."""


@dataclass(frozen=True)
class _Chunk:
    """Groups by their numbers, and the number of times that their worker was lost."""

    groups: tuple[int, ...]
    losses: int = 0


class Dispatch:
    """The jobs of a batch on an executor."""

    def __init__(
        self,
        executor: Executor,
        jobs: Sequence[Job],
        workers: Callable[[], int],
        size: int = 1,
        samples: worker.Samples = worker.Samples.KEPT,
    ) -> None:
        """Submits nothing before `results`. `workers` returns the number of chunks that the executor runs at once.

        Consecutive jobs form groups of `size`, of which the last one may be smaller.
        """
        self._executor, self._jobs, self._number = executor, jobs, workers
        self._group, self._samples = size, samples
        self._groups = -(-len(jobs) // size)
        self._workers = 1
        self._next = 0
        self._lost: deque[_Chunk] = deque()
        self._flying: dict[Future[bytes], _Chunk] = {}
        self._arrived: queue.SimpleQueue[Future[bytes]] = queue.SimpleQueue()
        self._ready: deque[worker.Finished] = deque()
        """Results that arrived and were not returned yet."""
        self._group_s = math.inf
        """Mean wall-clock time of a group, s; infinite before the first outcome."""
        self._pickled: tuple[_core.Scenario, bytes] | None = None
        self._final: tuple[type[BaseException], ...] = getattr(executor, "final_errors", ())
        """Errors after which the executor itself has already tried again."""
        self._check: Callable[[], None] = getattr(executor, "check", lambda: None)
        """Raises `WorkersLost` for a problem that no outcome reports."""

    def results(self, timeout: float) -> Iterator[worker.Finished | None]:
        """The groups in order of completion; None after each `timeout` seconds without any.

        Raises `RuntimeError` for a run that fails, and `WorkersLost` for lost workers.
        """
        self._workers = self._number()
        done = 0
        while done < self._groups:
            self._fill()
            try:
                future = self._arrived.get(timeout=timeout)
            except queue.Empty:
                self._check()
                yield None
                continue
            failure = self._take(future)
            while self._ready:
                done += 1
                yield self._ready.popleft()
            if failure is not None:
                raise _error(failure)

    def under_way(self) -> float:
        """Virtual time of the unfinished runs, s; unknown, so 0."""
        return 0.0

    def cancel(self) -> list[worker.Finished]:
        """Cancels the chunks that no worker runs yet; returns the groups that arrived and were not returned yet."""
        arrived = list(self._ready)
        with contextlib.suppress(queue.Empty):
            while True:
                future = self._arrived.get_nowait()
                if not future.cancelled() and future.exception() is None:
                    arrived += _read(future).finished
        for future in self._flying:
            future.cancel()
        return arrived

    def _fill(self) -> None:
        """Submits chunks up to the limit. A chunk that was lost twice runs alone, so that its loss has one cause."""
        while len(self._flying) < QUEUED * self._workers:
            if self._lost and self._lost[0].losses > 1:
                if not self._flying:
                    self._submit(self._lost.popleft())
                return
            if any(chunk.losses > 1 for chunk in self._flying.values()):
                return
            if self._lost:
                self._submit(self._lost.popleft())
            elif self._next < self._groups:
                size = self._size()
                self._submit(_Chunk(tuple(range(self._next, self._next + size))))
                self._next += size
            else:
                return

    def _size(self) -> int:
        """Groups of the next chunk. The last chunks are smaller, so that all workers end together."""
        left = self._groups - self._next
        share = math.ceil(left / (QUEUED * self._workers))
        return max(1, min(int(CHUNK_S / max(self._group_s, 1e-6)), share, max(1, MOST_RUNS // self._group), left))

    def _submit(self, chunk: _Chunk) -> None:
        data = pickle.dumps([self._sent(number) for number in chunk.groups], worker.PROTOCOL)
        try:
            future = self._executor.submit(worker.run_chunk, worker.version(), data)
        except (BrokenExecutor, RuntimeError, OSError) as error:
            # A pool of the standard library never recovers.
            raise WorkersLost(
                f"{self._name(chunk)}: the executor accepts no more runs: {_said(error)}; if a worker ran out of "
                "memory, use fewer workers (mptcplab.run.local_processes replaces lost ones)"
            ) from error
        self._flying[future] = chunk
        future.add_done_callback(self._arrived.put)

    def _sent(self, number: int) -> worker.SentGroup:
        jobs = self._jobs_of(number)
        return worker.SentGroup(jobs.start, tuple(self._sent_run(self._jobs[at]) for at in jobs), self._samples)

    def _sent_run(self, job: Job) -> worker.SentRun:
        if self._pickled is None or self._pickled[0] is not job.scenario:
            self._pickled = job.scenario, pickle.dumps(job.scenario, worker.PROTOCOL)
        return worker.SentRun(self._pickled[1], job.seed, job.trace, job.payload, job.variant)

    def _jobs_of(self, number: int) -> range:
        """The numbers of the jobs of a group."""
        return range(number * self._group, min((number + 1) * self._group, len(self._jobs)))

    def _take(self, future: Future[bytes]) -> worker.Failure | None:
        """Takes the results of a chunk; returns the failure of a run, if there is one."""
        chunk = self._flying.pop(future)
        error = CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self._lose(chunk, error)
            return None
        outcome = _read(future)
        if outcome.finished:
            mean = outcome.took_s / len(outcome.finished)
            self._group_s = mean if math.isinf(self._group_s) else (self._group_s + mean) / 2
        self._ready.extend(outcome.finished)
        return outcome.failure

    def _lose(self, chunk: _Chunk, error: BaseException) -> None:
        """Keeps the groups of a lost chunk, one by one, to submit them again. Raises `WorkersLost` at the limit."""
        if isinstance(error, _FIXED):
            raise WorkersLost(f"{error}; install the same mptcplab for every worker") from error
        if isinstance(error, CancelledError):
            raise WorkersLost(
                f"{self._name(chunk)}: the executor cancelled it; if it is Dask, its scheduler has ended"
            ) from error
        if isinstance(error, self._final) or chunk.losses == RESUBMISSIONS:
            again = "" if isinstance(error, self._final) else f" {RESUBMISSIONS + 1} times"
            raise WorkersLost(
                f"{self._name(chunk)}: its worker was lost{again}: {_said(error)}; if the worker ran out of memory, "
                "use fewer workers per machine or a longer sampling interval"
            ) from error
        self._lost.extend(_Chunk((number,), chunk.losses + 1) for number in chunk.groups)

    def _name(self, chunk: _Chunk) -> str:
        first = self._jobs[chunk.groups[0] * self._group]
        name = f"run {first.scenario.name}{f', {first.variant}' if first.variant else ''}, seed {first.seed}"
        others = sum(len(self._jobs_of(number)) for number in chunk.groups) - 1
        return f"{name} and the {others} runs after it" if others else name


def workers_of(executor: Executor, workers: int | None, default: int) -> int:
    """The number of chunks that an executor runs at once: `workers` if given, its own number, or `default`.

    The pools of the standard library and loky keep their number in `_max_workers`, and that of mpi4py in `num_workers`.
    """
    own = (getattr(executor, name, None) for name in ("num_workers", "_max_workers"))
    return workers or next((number for number in own if isinstance(number, int) and number > 0), default)


def _error(failure: worker.Failure) -> Exception:
    """The exception of a failed run: that of the policy, or an error with the traceback as a note."""
    # Not every exception of a user can be unpickled, for example if its constructor has several parameters.
    with contextlib.suppress(Exception):
        if failure.exception:
            error: Exception = pickle.loads(failure.exception)  # noqa: S301 - bytes of a worker
            return with_remote_text(error, failure.traceback)
    failed = RuntimeError(f"run {failure.at}: {failure.message}")
    failed.add_note(failure.traceback)
    return failed


def _read(future: Future[bytes]) -> worker.Outcome:
    outcome: worker.Outcome = pickle.loads(future.result())  # noqa: S301 - bytes of a worker
    return outcome


def _said(error: BaseException) -> str:
    """The error as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
