"""Many figures at once: each core draws its part, in processes of its own (`python -m mptcplab.drawing`).

Owns the way of figures to those processes and back. What a figure looks like is the business of `plots`; the bytes do
not depend on how many processes there are.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORTH_IT = 4
"""Figures below which a further process costs more than it saves: it takes a second to begin."""


@dataclass(frozen=True)
class Drawing:
    """A figure in both forms."""

    svg: bytes
    png: bytes


def draw(figures: Mapping[str, Figure], *, workers: int | None = None) -> dict[str, Drawing]:
    """Draws all figures, by name and in their order."""
    names = list(figures)
    workers = min(workers or os.cpu_count() or 1, max(1, len(names) // WORTH_IT))
    parts = [{name: figures[name] for name in names[at::workers]} for at in range(workers)]
    helpers = [_start(part) for part in parts[1:]]
    drawn = _draw(parts[0])
    for helper in helpers:
        drawn |= _finish(helper)
    return {name: drawn[name] for name in names}


def _draw(figures: Mapping[str, Figure]) -> dict[str, Drawing]:
    with uncollected():
        return {name: Drawing(*plots.both(figure)) for name, figure in figures.items()}


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


def _start(part: Mapping[str, Figure]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mptcplab.drawing"]
    helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if helper.stdin:
        helper.stdin.write(pickle.dumps(part))
        helper.stdin.close()
        helper.stdin = None
    return helper


def _finish(helper: subprocess.Popen[bytes]) -> dict[str, Drawing]:
    answer, _ = helper.communicate()
    if helper.returncode != 0:
        raise RuntimeError(f"a process that draws figures ended with {helper.returncode}")
    drawn: dict[str, Drawing] = pickle.loads(answer)  # noqa: S301 - from our own child, over its own pipe
    return drawn


def _serve() -> None:
    from mptcplab.drawing import _draw

    part: Mapping[str, Figure] = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - from our own parent
    sys.stdout.buffer.write(pickle.dumps(_draw(part)))


if __name__ == "__main__":
    _serve()
