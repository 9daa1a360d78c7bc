"""Figures look the same however many processes draw them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from matplotlib.figure import Figure

from mptcplab.plots import figure_style, parallel_drawing
from mptcplab.plots.parallel_drawing import DrawingPool, draw


def _figures(count: int) -> dict[str, Figure]:
    found = {}
    with figure_style.house_style():
        for at in range(count):
            figure, (axes,) = figure_style.new_figure()
            figure_style.curve(axes, [0, 1, 2], [at, 2, 1], "a curve", figure_style.LOOKS["mptcp"])
            figure_style.finish(axes, x="time [s]", y="goodput [Mb/s]", title=f"figure {at}")
            found[f"figure-{at}"] = figure
    return found


def test_two_processes_draw_what_one_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_drawing, "WORTH_IT", 2)
    started = []
    start = parallel_drawing._start

    def counted() -> subprocess.Popen[bytes]:
        started.append(start())
        return started[-1]

    monkeypatch.setattr(parallel_drawing, "_start", counted)
    names = [f"figure-{at}" for at in range(6)]
    alone = draw(_figures(6), workers=1)
    assert (list(alone), started) == (names, [])
    with DrawingPool(workers=2) as studio:
        for name, figure in _figures(6).items():
            studio.take({name: figure})
        # The other process draws some of them, before anybody waits for it.
        while not studio._drawn and not studio._problems:
            time.sleep(0.01)
        assert studio.finish() == alone
    assert [process.returncode for process in started] == [0]


def test_what_is_given_up_is_not_drawn_and_a_process_that_dies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_drawing, "WORTH_IT", 1)
    with DrawingPool(workers=2) as studio:
        studio.take(_figures(2))
    assert len(studio._drawn) < 2
    dead = [sys.executable, "-c", "import sys; sys.exit(3)"]
    monkeypatch.setattr(
        parallel_drawing, "_start", lambda: subprocess.Popen(dead, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    )
    with DrawingPool(workers=2) as studio:
        studio.take(_figures(1))
        studio._helpers[0].join()
        with pytest.raises(RuntimeError, match="a drawing process ended with exit code 3"):
            studio.finish()


def test_what_cannot_leave_this_process_is_drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_drawing, "WORTH_IT", 1)
    figures = _figures(2)
    for figure in figures.values():
        figure.axes[0].xaxis.set_major_formatter(lambda value, _: f"{value:g} s")
    with DrawingPool(workers=2) as studio:
        studio.take(figures)
        while studio._waiting.qsize():
            time.sleep(0.01)
        assert list(studio.finish()) == list(figures)


def test_who_interrupts_the_end_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_drawing, "WORTH_IT", 1)
    threads = []

    def interrupted(self: threading.Thread) -> None:
        monkeypatch.undo()
        threads.append(self)
        raise KeyboardInterrupt

    def end() -> None:
        with DrawingPool(workers=2) as studio:
            studio.take(_figures(2))
            monkeypatch.setattr(threading.Thread, "join", interrupted)
            studio.finish()

    with pytest.raises(KeyboardInterrupt):
        end()
    assert [thread.is_alive() for thread in threads] == [False]


def test_few_figures_and_none() -> None:
    assert draw({}) == {}
    assert list(draw(_figures(1))) == ["figure-0"]
