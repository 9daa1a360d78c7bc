"""The option `--executor`: threads of this process, local processes, or a Dask cluster.

Owns the syntax of the option. Never runs a job.
"""

from __future__ import annotations

import argparse
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput, workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

THREADS, PROCESSES, DASK = "threads", "processes", "dask"
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s\[\]/:@]+):([0-9]{1,5})")


def add_executor(parser: argparse.ArgumentParser) -> None:
    """Adds `--executor`."""
    parser.add_argument(
        "--executor",
        type=_executor,
        default=(THREADS, ""),
        metavar="WHERE",
        help="threads, processes[:N] or dask://HOST:PORT (default: threads)",
    )


def _executor(text: str) -> tuple[str, str]:
    """The type of executor, and its number of processes or its address."""
    name, _, rest = text.partition(":")
    if name == THREADS and text == THREADS:
        return THREADS, ""
    if name == PROCESSES:
        if text != PROCESSES:
            workers(rest)
        return PROCESSES, rest
    if name == DASK:
        place = _PLACE.fullmatch(rest.removeprefix("//").rstrip("/"))
        if not rest.startswith("//") or place is None or not 0 < int(place[2]) < 65536:
            raise argparse.ArgumentTypeError(f"{text!r} is not dask://HOST:PORT, such as dask://localhost:8786")
        return DASK, place[0]
    raise argparse.ArgumentTypeError(f"{text!r} is unknown; choose threads, processes[:N] or dask://HOST:PORT")


def is_remote(given: argparse.Namespace) -> bool:
    """Whether other processes run the jobs."""
    return bool(given.executor[0] != THREADS)


@contextmanager
def chosen_executor(given: argparse.Namespace) -> Iterator[Executor | None]:
    """The executor that `--executor` and `--workers` select; None for threads of this process."""
    name, rest = given.executor
    if name == THREADS:
        yield None
    elif name == PROCESSES:
        from mptcplab.run.batch import default_workers
        from mptcplab.run.local_processes import LocalProcesses

        number = given.__dict__.get("workers")
        if rest and number:
            raise BadInput(
                f"mptcplab: --executor processes:{rest} and --workers {number}: give one number of processes"
            )
        with LocalProcesses(int(rest or number or default_workers())) as processes:
            yield processes
    else:
        from mptcplab.run.dask_cluster import DaskCluster, NoCluster

        try:
            cluster = DaskCluster(rest)
        except NoCluster as error:
            raise BadInput(f"mptcplab: --executor {error}") from error
        with cluster:
            yield cluster
