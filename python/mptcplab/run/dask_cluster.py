"""An executor on a Dask cluster that already runs.

Owns the connection to the scheduler, and the check of the workers. Dask distributes the runs, moves those of a lost
worker to another one, and spills results to disk. Never starts or ends a scheduler or a worker.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from mptcplab.run.executors import WorkersLost
from mptcplab.run.worker import version
from mptcplab.util.optional_packages import need

ANSWER_S = 10.0
"""Maximum time for the answer of the scheduler, and for its first worker; s."""
WITHOUT_WORKERS_S = 60.0
"""Maximum time without any worker; s. A nanny restarts a worker within a few seconds."""


class NoCluster(Exception):
    """No usable cluster at this address; the message says what is missing."""


class DaskCluster(Executor):
    """The workers of a scheduler."""

    def __init__(self, place: str) -> None:
        """Connects to the scheduler at `HOST:PORT`.

        Raises `NoCluster` without a scheduler or workers there, or if a worker has another mptcplab, and
        `ModuleNotFoundError` without the package `distributed`.
        """
        need("distributed")
        from distributed import Client, KilledWorker

        self.final_errors = (KilledWorker,)
        """Dask has then tried the run on several workers (its setting `allowed-failures`)."""
        self._place = place
        # Dask also logs each error that it raises, and each connection that it loses while it sends.
        for name in ("distributed.client", "distributed.batched"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = Client(f"tcp://{place}", timeout=ANSWER_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise NoCluster(
                f"dask://{place}: no Dask scheduler answers; start one with: dask scheduler --port {_port(place)}"
            ) from error
        try:
            self._check_workers()
            self._pool = self._client.get_executor(pure=False)
        except BaseException:
            self._client.close()
            raise
        self._seen = self._looked = time.monotonic()

    def _check_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_S)
        except TimeoutError:
            raise NoCluster(
                f"dask://{self._place}: the scheduler has no worker; start one with: dask worker tcp://{self._place} "
                "--nworkers auto --nthreads 1"
            ) from None
        found: dict[str, Any] = self._client.run(version, on_error="return")
        for name, its in found.items():
            if its != version():
                other = f"cannot load mptcplab ({its})" if isinstance(its, Exception) else f"has mptcplab {its}"
                raise NoCluster(
                    f"dask://{self._place}: the worker {name} {other}, but this process has {version()}; install the "
                    "same mptcplab for every worker"
                )

    @property
    def num_workers(self) -> int:
        """The number of runs at once: threads of all workers. Raises `WorkersLost` without an answer."""
        try:
            return sum(self._client.nthreads().values())
        except OSError as error:
            raise WorkersLost(f"dask://{self._place}: the scheduler has ended") from error

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs a function on a worker."""
        with warnings.catch_warnings():
            # A chunk with a recording is large. It cannot be shared between chunks, because its holder may get lost.
            warnings.filterwarnings("ignore", "Sending large graph")
            future: Future[Any] = self._pool.submit(fn, *args, **kwargs)
        return future

    def check(self) -> None:
        """Raises `WorkersLost` if the cluster has had no worker for `WITHOUT_WORKERS_S`."""
        now = time.monotonic()
        if now - self._looked < 1.0:
            return
        self._looked = now
        if self._client.status != "running" or self._client.scheduler_info()["workers"]:
            self._seen = now
        elif now - self._seen > WITHOUT_WORKERS_S:
            raise WorkersLost(f"dask://{self._place}: the cluster has had no worker for {WITHOUT_WORKERS_S:.0f} s")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002, RUF100
        """Closes the connection; the cluster drops the runs of this process."""
        self._client.close()


def _port(place: str) -> str:
    return place.rpartition(":")[2]
