"""Pictures of events made as small as a telephone or a column of a paper: letters keep their size, words are broken.

Owns what gives way where a picture is narrower than it was drawn for. What is drawn is `event_plots`'.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

TITLE, TICK, ENTRY = 0.092, 0.078, 0.085
"""Inches that a letter takes: of a title, beside an axis, in a legend."""
BESIDE = 0.33
"""The part of the width that names beside an axis may take."""
LANE = 0.16
"""Inches of height that a name beside an axis needs."""
SAMPLE = 0.45
"""Inches of an entry of a legend before its words."""


def fit(figure: Figure, width: float, height: float) -> None:
    """Makes a picture so large, in inches; where that is narrower than before, titles, names and legends are broken."""
    narrower = width < figure.get_figwidth()
    figure.set_size_inches(width, height)
    if not narrower:
        return
    for axes in figure.axes:
        beside = _names(axes, width, height)
        title = axes.get_title(loc="left")
        if title:
            axes.set_title(textwrap.fill(title, max(12, int((width - beside) / TITLE))), loc="left")
        _legend(figure, axes, width)
    for legend in list(figure.legends):
        _below(figure, legend, width)


def _names(axes: Axes, width: float, height: float) -> float:
    """Breaks the names of lanes; how wide they are then."""
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
    """A legend that would hide a good part of the curves stands below them."""
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
