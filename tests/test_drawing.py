"""Figures look the same however many processes draw them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import pytest
from matplotlib.figure import Figure

from mptcplab import drawing, plots
from mptcplab.drawing import draw


def _figures(count: int) -> dict[str, Figure]:
    found = {}
    with plots.house_style():
        for at in range(count):
            figure, (axes,) = plots.new_figure()
            plots.curve(axes, [0, 1, 2], [at, 2, 1], "a curve", plots.LOOKS["mptcp"])
            plots.finish(axes, x="time [s]", y="goodput [Mb/s]", title=f"figure {at}")
            found[f"figure-{at}"] = figure
    return found


def test_two_processes_draw_what_one_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "WORTH_IT", 2)
    started = []
    start = drawing._start

    def counted(part: Mapping[str, Figure]) -> subprocess.Popen[bytes]:
        started.append(list(part))
        return start(part)

    monkeypatch.setattr(drawing, "_start", counted)
    count = 4
    together = draw(_figures(count), workers=2)
    assert list(together) == [f"figure-{at}" for at in range(count)]
    assert started == [["figure-1", "figure-3"]], "a process of its own has half of them"
    assert together == draw(_figures(count), workers=1)
    assert len(started) == 1


def test_few_figures_and_none() -> None:
    assert draw({}) == {}
    assert list(draw(_figures(1))) == ["figure-0"]
