"""Draws figures in parallel worker processes (`python -m mptcplab.plots.parallel_drawing`).

`reproduce` draws the figures of its report with it. Owns the transfer of figures and images between processes. The
images do not depend on the number of processes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Self

from mptcplab.plots import figure_style, rendering

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORTH_IT = 4
"""Figures for each further process, because starting a process takes a second."""


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, and as PNG if requested."""

    svg: bytes
    png: bytes | None


def draw(figures: Mapping[str, Figure], *, workers: int | None = None, dots: bool = True) -> dict[str, Drawing]:
    """Draws all figures, by name and in order; with `dots` also as PNG."""
    with DrawingPool(workers, dots=dots) as studio:
        studio.take(figures)
        return studio.finish()


class DrawingPool:
    """Draws figures while they arrive; only `finish` waits."""

    def __init__(self, workers: int | None = None, *, dots: bool = True) -> None:
        """`workers` processes draw, including this one (default: the number of cores). `dots`: see `draw`."""
        self._dots = dots
        self._most_helpers = (workers or os.cpu_count() or 1) - 1
        self._names: list[str] = []
        self._waiting: queue.SimpleQueue[tuple[str, Figure] | None] = queue.SimpleQueue()
        """None ends a worker."""
        self._drawn: dict[str, Drawing] = {}
        self._helpers: list[threading.Thread] = []
        self._problems: list[str] = []
        self._kept: list[tuple[str, Figure]] = []
        """Figures that cannot be pickled, such as those with a lambda as formatter."""

    def __enter__(self) -> Self:
        """Returns itself; workers start with the first figures."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the workers; undrawn figures are dropped."""
        while self._next() is not None:
            pass
        self._end()

    def take(self, figures: Mapping[str, Figure]) -> None:
        """Figures to draw. The caller must not change them afterwards."""
        for name, figure in figures.items():
            self._names.append(name)
            self._waiting.put((name, figure))
        while len(self._helpers) < min(self._most_helpers, len(self._names) // WORTH_IT):
            self._helpers.append(threading.Thread(target=self._help, name="draws figures"))
            self._helpers[-1].start()

    def finish(self) -> dict[str, Drawing]:
        """Draws the remaining figures with the workers; returns all drawings by name, in the order of `take`.

        Raises `RuntimeError` if a worker ended early.
        """
        while (one := self._next()) is not None:
            self._drawn[one[0]] = _draw(one[1], dots=self._dots)
        self._end()
        if self._problems:
            raise RuntimeError(self._problems[0])
        self._drawn |= {name: _draw(figure, dots=self._dots) for name, figure in self._kept}
        return {name: self._drawn[name] for name in self._names}

    def _next(self) -> tuple[str, Figure] | None:
        with contextlib.suppress(queue.Empty):
            return self._waiting.get_nowait()
        return None

    def _end(self) -> None:
        for _ in self._helpers:
            self._waiting.put(None)
        for helper in self._helpers:
            helper.join()
        # After an interruption, the workers must still get the end signal.
        self._helpers.clear()

    def _help(self) -> None:
        """Sends figures to a worker process; runs in a thread of its own."""
        process = _start()
        try:
            with process:
                if process.stdin and process.stdout:
                    self._hand_over(process.stdin, process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._problems.append(f"a drawing process ended with exit code {process.wait()}")

    def _hand_over(self, there: IO[bytes], back: IO[bytes]) -> None:
        while (one := self._waiting.get()) is not None:
            try:
                packed = pickle.dumps((one[1], self._dots), pickle.HIGHEST_PROTOCOL)
            except (pickle.PicklingError, AttributeError, TypeError):
                self._kept.append(one)
                continue
            there.write(packed)
            there.flush()
            self._drawn[one[0]] = pickle.load(back)  # noqa: S301 - from our own child, over its own pipe


def _draw(figure: Figure, *, dots: bool) -> Drawing:
    with uncollected(), rendering.arranged(figure):
        return Drawing(figure_style.svg(figure), figure_style.png(figure) if dots else None)


def _start() -> subprocess.Popen[bytes]:
    """Starts a worker in a session of its own, so that Ctrl-C reaches only the parent."""
    command = [sys.executable, "-m", "mptcplab.plots.parallel_drawing"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)


def _serve() -> None:
    """Draws the figures on standard input until the input ends."""
    from mptcplab.plots.parallel_drawing import _draw

    while True:
        try:
            asked: tuple[Figure, bool] = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own parent
        except EOFError:
            return
        pickle.dump(_draw(asked[0], dots=asked[1]), sys.stdout.buffer)
        sys.stdout.buffer.flush()


@contextmanager
def uncollected() -> Iterator[None]:
    """Disables the garbage collector, which takes a third of the drawing time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


if __name__ == "__main__":
    _serve()
