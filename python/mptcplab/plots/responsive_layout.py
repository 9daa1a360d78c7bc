"""Fits figures of events to small sizes, such as a telephone or a column of a paper.

Owns the wrapping of titles, names and legends, whose text keeps its size. `event_plots` draws the figures.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

TITLE, TICK, ENTRY = 0.092, 0.078, 0.085
"""Width of a letter in inches: in a title, next to an axis, in a legend."""
BESIDE = 0.33
"""Maximum share of the figure's width for names next to an axis."""
LANE = 0.16
"""Height of a name next to an axis, inches."""
SAMPLE = 0.45
"""Width of a legend entry without its text, inches."""


def fit(figure: Figure, width: float, height: float) -> None:
    """Sets the size of a figure, inches; if it is narrower than before, wraps titles, names and legends."""
    narrower = width < figure.get_figwidth()
    figure.set_size_inches(width, height)
    if not narrower:
        return
    for axes in figure.axes:
        offset = _names(axes, width, height)
        title = axes.get_title(loc="left")
        if title:
            axes.set_title(textwrap.fill(title, max(12, int((width - offset) / TITLE))), loc="left")
        _legend(figure, axes, width)
    for legend in list(figure.legends):
        _below(figure, legend, width)


def _names(axes: Axes, width: float, height: float) -> float:
    """Wraps the names next to the vertical axis; returns their width in inches."""
    names = [text.get_text() for text in axes.get_yticklabels()]
    most = max(8, int(BESIDE * width / TICK))
    if axes.axison and LANE * len(names) > height / 2:
        axes.tick_params(axis="y", labelsize=6.5)
    if not axes.axison or max(map(len, names), default=0) <= most:
        return 0.5
    broken = [textwrap.fill(name, most) for name in names]
    axes.set_yticks(axes.get_yticks(), broken)
    return TICK * max(len(line) for name in broken for line in name.split("\n"))


def _legend(figure: Figure, axes: Axes, width: float) -> None:
    """Moves a legend below the axes if it is wider than half of the figure."""
    legend = axes.get_legend()
    if legend is None or not axes.axison:
        return
    widest = max((len(text.get_text()) for text in legend.get_texts()), default=0)
    if SAMPLE + ENTRY * widest > width / 2:
        _below(figure, legend, width)


def _below(figure: Figure, legend: Legend, width: float) -> None:
    handles = legend.legend_handles
    labels = [textwrap.fill(text.get_text(), int((width - SAMPLE) / ENTRY)) for text in legend.get_texts()]
    legend.remove()
    widest = SAMPLE + ENTRY * max((len(line) for label in labels for line in label.split("\n")), default=0)
    columns = max(1, min(3, int(width / widest)))
    figure.legend(handles=handles, labels=labels, loc="outside lower center", ncols=columns)
