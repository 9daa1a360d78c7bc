"""The worker's side of an executor: runs a chunk of jobs in another process, perhaps on another machine.

Owns the form of chunks and of their outcomes, and the check that both sides have the same mptcplab. A scenario travels
with the contents of its recordings, so a worker reads no file. Never retries and never chooses an order.
"""

from __future__ import annotations

import functools
import importlib
import os
import pickle
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab import _core
from mptcplab.policies.errors import policy_error

if TYPE_CHECKING:
    from mptcplab.results.model.events import Trace

PROTOCOL = 5
"""Of pickle: the highest of Python 3.11, the oldest one that workers may have."""
HOOKS: list[str] = ["mptcplab.policies.loading:install"]
"""Functions `module:name` that `prepare` calls with the payload of a job, in order."""


@dataclass(frozen=True)
class SentRun:
    """A run of a chunk."""

    at: int
    """The number of its job."""
    scenario: bytes
    """A pickled `_core.Scenario`. The runs of a chunk share equal ones."""
    seed: int
    trace: Trace | None
    payload: bytes
    """Bytes for `prepare`; empty without any."""


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
    """The results of a chunk by number of the job, up to the first failure."""

    finished: list[tuple[int, _core.Results]]
    failure: Failure | None
    took_s: float
    """Wall-clock time in the worker."""


class OtherVersion(Exception):
    """The worker has another mptcplab than the process that sends the chunk."""


def version() -> str:
    """The version of this process, and the name of its core if `MPTCPLAB_CORE` replaces it."""
    core = os.environ.get("MPTCPLAB_CORE")
    return f"{_core.__version__} with MPTCPLAB_CORE={core}" if core else _core.__version__


def prepare(payload: bytes) -> None:
    """Calls every hook with the payload of a job, before its scenario is built."""
    for name in HOOKS:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)(payload)


def run_chunk(sender: str, chunk: bytes) -> bytes:
    """Runs the pickled `SentRun`s; returns a pickled `Outcome`. `sender` is the version of the sender.

    Raises `OtherVersion` if this is not the version of the worker.
    """
    if sender != version():
        raise OtherVersion(f"a worker has mptcplab {version()}, but this process has {sender}")
    return pickle.dumps(_run(pickle.loads(chunk)), PROTOCOL)  # noqa: S301 - bytes of the sender


def _run(runs: Sequence[SentRun]) -> Outcome:
    start = time.perf_counter()
    finished: list[tuple[int, _core.Results]] = []
    failure = None
    for one in runs:
        try:
            if one.payload:
                prepare(one.payload)
            scenario = _scenario(one.scenario, one.payload)
            finished.append((one.at, _core.run(scenario, one.seed, None, one.trace)))
        except Exception as error:  # noqa: BLE001 - any error belongs to the run
            failure = _failure(one.at, error)
            break
    return Outcome(finished, failure, time.perf_counter() - start)


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
