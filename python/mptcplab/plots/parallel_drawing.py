"""Draws figures in parallel worker processes (`python -m mptcplab.plots.parallel_drawing`).

Owns the way of figures to those processes and back. What a figure looks like is the business of `plots`; the bytes do
not depend on how many processes there are.
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
"""Figures for each further process: with fewer it costs more than it saves, for it takes a second to begin."""


@dataclass(frozen=True)
class Drawing:
    """A figure in lines and, where that was asked for, in dots."""

    svg: bytes
    png: bytes | None


def draw(figures: Mapping[str, Figure], *, workers: int | None = None, dots: bool = True) -> dict[str, Drawing]:
    """Draws all figures, by name and in their order; with `dots` as PNG, too."""
    with Studio(workers, dots=dots) as studio:
        studio.take(figures)
        return studio.finish()


class Studio:
    """Figures that are drawn as they come. Who has taken them in waits for nothing before `finish`."""

    def __init__(self, workers: int | None = None, *, dots: bool = True) -> None:
        """So many draw, this process among them: as many as there are cores if nothing is said. `dots`: see `draw`."""
        self._dots = dots
        self._most_helpers = (workers or os.cpu_count() or 1) - 1
        self._names: list[str] = []
        self._waiting: queue.SimpleQueue[tuple[str, Figure] | None] = queue.SimpleQueue()
        """None ends a helper."""
        self._drawn: dict[str, Drawing] = {}
        self._helpers: list[threading.Thread] = []
        self._problems: list[str] = []
        self._kept: list[tuple[str, Figure]] = []
        """What cannot leave this process: a formatter that is a lambda, say."""

    def __enter__(self) -> Self:
        """Itself; nothing begins before there are figures."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the processes; what is left is not drawn."""
        while self._next() is not None:
            pass
        self._end()

    def take(self, figures: Mapping[str, Figure]) -> None:
        """Figures to be drawn. From here on they are left alone."""
        for name, figure in figures.items():
            self._names.append(name)
            self._waiting.put((name, figure))
        while len(self._helpers) < min(self._most_helpers, len(self._names) // WORTH_IT):
            self._helpers.append(threading.Thread(target=self._help, name="draws figures"))
            self._helpers[-1].start()

    def finish(self) -> dict[str, Drawing]:
        """Draws with the others what is left; all drawings, by name and in the order in which they were taken.

        Raises `RuntimeError` when a process that draws has ended before its time.
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
        # Only now: who is interrupted before tells them once more.
        self._helpers.clear()

    def _help(self) -> None:
        """A thread that hands figures to a process of its own."""
        process = _start()
        try:
            with process:
                if process.stdin and process.stdout:
                    self._hand_over(process.stdin, process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._problems.append(f"a process that draws figures ended with {process.wait()}")

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
    """In a session of its own: Ctrl-C is for this process, which then still needs its figures."""
    command = [sys.executable, "-m", "mptcplab.plots.parallel_drawing"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)


def _serve() -> None:
    """Draws what comes until no more does."""
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
    """Inside, Python looks for no garbage: a third of the time of drawing, where nearly all is still needed."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


if __name__ == "__main__":
    _serve()
