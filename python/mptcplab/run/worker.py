"""The worker's side of an executor: runs a chunk of groups in another process, perhaps on another machine.

Owns the form of chunks and of their outcomes, and the check that both sides have the same mptcplab. A scenario travels
with the contents of its recordings, so a worker reads no file. Never retries and never chooses an order.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pickle
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.policies.errors import policy_error
from mptcplab.results.model.measured_run import MeasuredRun
from mptcplab.results.run import Run

if TYPE_CHECKING:
    from mptcplab.results.model.events import Trace
    from mptcplab.run.jobs import Job

PROTOCOL = 5
"""Of pickle: the highest of Python 3.11, the oldest one that workers may have."""
HOOKS: list[str] = ["mptcplab.policies.loading:install"]
"""Functions `module:name` that `prepare` calls with the payload of a job, in order."""


class Samples(Enum):
    """The form in which a worker returns the samples of its runs."""

    KEPT = "kept"
    """As part of the results."""
    ENCODED = "encoded"
    """As a Parquet file of the group. The sender only appends such files, so that it keeps up with many workers."""
    DROPPED = "dropped"
    """Not at all."""


@dataclass(frozen=True)
class SentRun:
    """A run of a chunk."""

    scenario: bytes
    """A pickled `_core.Scenario`. The runs of a chunk share equal ones."""
    seed: int
    trace: Trace | None
    payload: bytes
    """Bytes for `prepare`; empty without any."""
    variant: str


@dataclass(frozen=True)
class SentGroup:
    """Consecutive runs of a chunk that one worker runs."""

    at: int
    """The number of the first job."""
    runs: tuple[SentRun, ...]
    samples: Samples


@dataclass(frozen=True)
class Finished:
    """The results of a group."""

    at: int
    """The number of the first job."""
    results: list[_core.Results]
    rows: list[dict[str, Any]]
    """The rows of each run (`MeasuredRun.rows`); empty for threads."""
    samples: bytes = b""
    """With `Samples.ENCODED`, the samples of all runs as a Parquet file; the results then have none."""

    def runs(self, jobs: Sequence[Job]) -> list[Run]:
        """The runs of these jobs."""
        rows = self.rows or [{} for _ in self.results]
        return [
            Run(job.scenario, job.seed, results, job.variant, values=job.values, rows=its)
            for job, results, its in zip(jobs, self.results, rows, strict=True)
        ]


@dataclass(frozen=True)
class Failure:
    """An error of a run. The same run would fail again, so nobody repeats it."""

    at: int
    message: str
    traceback: str
    exception: bytes = b""
    """The pickled exception of a policy, which the sender raises; empty for other errors."""


@dataclass(frozen=True)
class Outcome:
    """The results of the groups of a chunk, up to the first failure."""

    finished: list[Finished]
    failure: Failure | None
    took_s: float
    """Wall-clock time in the worker."""


class OtherVersion(Exception):
    """The worker has another mptcplab than the process that sends the chunk."""


def version() -> str:
    """The version of this process and the digest of its core, with its name if `MPTCPLAB_CORE` replaces it."""
    core = os.environ.get("MPTCPLAB_CORE")
    return f"{_core.__version__} (build {_build()}{f' of {core}' if core else ''})"


@functools.cache
def _build() -> str:
    """Twelve hexadecimal digits that identify the compiled core: builds of one version may differ."""
    with Path(_core.__file__).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def prepare(payload: bytes) -> None:
    """Calls every hook with the payload of a job, before its scenario is built."""
    for name in HOOKS:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)(payload)


def run_chunk(sender: str, chunk: bytes) -> bytes:
    """Runs the pickled `SentGroup`s; returns a pickled `Outcome`. `sender` is the version of the sender.

    Raises `OtherVersion` if this is not the version of the worker.
    """
    if sender != version():
        raise OtherVersion(f"a worker has mptcplab {version()}, but this process has {sender}")
    return pickle.dumps(_run(pickle.loads(chunk)), PROTOCOL)  # noqa: S301 - bytes of the sender


def _run(groups: Sequence[SentGroup]) -> Outcome:
    start = time.perf_counter()
    finished: list[Finished] = []
    for group in groups:
        results: list[_core.Results] = []
        try:
            for one in group.runs:
                if one.payload:
                    prepare(one.payload)
                scenario = _scenario(one.scenario, one.payload)
                results.append(_core.run(scenario, one.seed, None, one.trace))
        except Exception as error:  # noqa: BLE001 - any error belongs to the run
            failure = _failure(group.at + len(results), error)
            return Outcome(finished, failure, time.perf_counter() - start)
        runs = [
            MeasuredRun(_scenario(one.scenario, one.payload), one.seed, its, one.variant)
            for one, its in zip(group.runs, results, strict=True)
        ]
        samples = encoded(runs, group.samples)
        finished.append(Finished(group.at, results, [run.rows() for run in runs], samples))
    return Outcome(finished, None, time.perf_counter() - start)


def encoded(runs: Sequence[MeasuredRun], samples: Samples) -> bytes:
    """The samples of a group in the wanted form, which the results then lack; empty if they are kept or dropped."""
    if samples is Samples.KEPT:
        return b""
    # Columns that were taken are no longer part of the pickled results.
    if samples is Samples.DROPPED:
        for run in runs:
            _ = run.columns
        return b""
    from mptcplab.results.write.export import samples_file

    return samples_file(runs)


def _failure(at: int, error: Exception) -> Failure:
    """The failure of a run. An exception of a policy travels as an object, if it can be pickled."""
    text = policy_error(error)
    if text is None:
        return Failure(at, _text(error), traceback.format_exc())
    import cloudpickle

    try:
        exception = cloudpickle.dumps(error, PROTOCOL)
    except Exception:  # noqa: BLE001 - an exception of the user may hold anything
        exception = b""
    return Failure(at, _text(error), text, exception)


def _text(error: Exception) -> str:
    """The message; also the type, except for errors of the core."""
    return str(error) if type(error) is RuntimeError else f"{type(error).__name__}: {error}"


@functools.lru_cache(maxsize=2)
def _scenario(pickled: bytes, _payload: bytes) -> _core.Scenario:
    """The scenario. Consecutive runs often share one, and large ones take a while to check.

    With another payload, the same text may have another meaning.
    """
    scenario: _core.Scenario = pickle.loads(pickled)  # noqa: S301 - bytes of the sender
    return scenario
