"""An executor of local processes that replaces lost ones.

Owns the processes. Never chooses jobs; `executors` does. A `ProcessPoolExecutor` accepts no more work after the loss of
a process, so this executor starts another one.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]


class LocalProcesses(Executor):
    """Some processes of this machine."""

    def __init__(self, workers: int) -> None:
        """Starts no process before the first job."""
        self.num_workers = workers
        self._pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # A forked process would lack the threads of this one, but have their locks.
        return ProcessPoolExecutor(self.num_workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs a function in a process; first replaces the processes if one was lost."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self._pool = self._started()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002, RUF100
        """Ends the processes after their current jobs."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def __exit__(self, *error: object) -> None:
        """Ends the processes; after an error at once, because nobody waits for their runs."""
        # The processes ignore Ctrl-C, and Python 3.13 has no function that ends them.
        for process in list((vars(self._pool).get("_processes") or {}).values()) if error[0] else ():
            process.terminate()
        self.shutdown(cancel_futures=True)


def needs_no_guard() -> bool:
    """Whether new processes would not run the main script again: in a notebook, and in the commands of mptcplab.

    A started process imports the main script. A script without `if __name__ == "__main__"` would run twice.
    """
    file = getattr(sys.modules["__main__"], "__file__", None)
    return file is None or Path(file).stem == "mptcplab" or Path(file).is_relative_to(PACKAGE)


def _ignore_interrupts() -> None:
    """Leaves Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
