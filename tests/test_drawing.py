"""Figures look the same however many processes draw them."""

from __future__ import annotations

from matplotlib.figure import Figure

from mptcplab import plots
from mptcplab.drawing import WORTH_IT, draw


def _figures(count: int) -> dict[str, Figure]:
    found = {}
    with plots.house_style():
        for at in range(count):
            figure, (axes,) = plots.new_figure()
            plots.curve(axes, [0, 1, 2], [at, 2, 1], "a curve", plots.LOOKS["mptcp"])
            plots.finish(axes, x="time [s]", y="goodput [Mb/s]", title=f"figure {at}")
            found[f"figure-{at}"] = figure
    return found


def test_two_processes_draw_what_one_draws() -> None:
    count = 2 * WORTH_IT
    together = draw(_figures(count), workers=2)
    assert list(together) == [f"figure-{at}" for at in range(count)]
    assert together == draw(_figures(count), workers=1)


def test_few_figures_and_none() -> None:
    assert draw({}) == {}
    assert list(draw(_figures(1))) == ["figure-0"]
