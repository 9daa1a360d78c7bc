"""The style of all figures.

Owns the form of axes, bars and published values; `looks` owns colours, lines and markers. Selects no data.
matplotlib is loaded when something is drawn, because most commands draw nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mptcplab.plots.looks import LOOKS, Look, looks
from mptcplab.plots.rendering import both, house_style, pdf, png, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = [
    "COLUMN",
    "LARGE",
    "LOOKS",
    "PUBLISHED",
    "SMALL",
    "LegendPlace",
    "Look",
    "accepted_range",
    "bar_places",
    "bar_width",
    "both",
    "curve",
    "finish",
    "grouped_bars",
    "house_style",
    "legend_below",
    "looks",
    "new_figure",
    "pdf",
    "png",
    "published_line",
    "published_points",
    "published_range",
    "reduce_letters",
    "svg",
]


LegendPlace = Literal["best", "upper right", "lower right", "upper left", "lower left"]


PUBLISHED = "#b8860b"
"""The colour of published values."""


def new_figure(
    columns: int = 1, rows: int = 1, *, width: float = 6.4, height: float = 3.7, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure and its axes, row by row; with `share_y`, the panels of a row share their vertical axis."""
    from mptcplab.plots.notebook_figure import Picture

    figure = Picture(figsize=(width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey="row" if share_y else False)
    return figure, [axes for row in grid for axes in row]


def curve(
    axes: Axes,
    x: Sequence[float] | NDArray[np.float64],
    y: Sequence[float] | NDArray[np.float64],
    label: str,
    look: Look,
    *,
    spread: Sequence[float] | None = None,
    markers: int = 12,
) -> None:
    """A line with about `markers` markers; `spread` has the half widths of the confidence intervals."""
    every = max(1, round(len(x) / markers))
    axes.plot(x, y, color=look.color, linestyle=look.line, marker=look.marker, markevery=every, label=label)
    if spread is not None and any(width > 0 for width in spread):
        axes.errorbar(x, y, yerr=spread, fmt="none", ecolor=look.color, elinewidth=1, capsize=2.5)


def published_range(
    axes: Axes,
    low: float,
    high: float,
    label: str | None = "published",
    *,
    over: tuple[float, float] | None = None,
) -> None:
    """A published range, as a band across the figure, or across the part `over` of the x axis."""
    drawn: Any = {"facecolor": "#f2c94c", "alpha": 0.28, "edgecolor": "#b8860b", "linewidth": 0.6, "label": label}
    if over is None:
        axes.axhspan(low, high, **drawn)
    else:
        axes.fill_between(over, low, high, **drawn)


def accepted_range(
    axes: Axes,
    low: float,
    high: float,
    label: str | None = "accepted",
    *,
    over: tuple[float, float] | None = None,
) -> None:
    """The range in which a claim holds, hatched in grey, because the range is not published."""
    drawn: Any = {"facecolor": "none", "edgecolor": "#aaaaaa", "hatch": "..", "linewidth": 0.6, "label": label}
    if over is None:
        axes.axhspan(low, high, **drawn)
    else:
        axes.fill_between(over, low, high, **drawn)


def published_line(axes: Axes, value: float, label: str | None = "published") -> None:
    """A published value as a line."""
    axes.axhline(value, color=PUBLISHED, linestyle=(0, (6, 2)), linewidth=1.1, label=label)


def published_points(axes: Axes, xs: Sequence[float], ys: Sequence[float], label: str) -> None:
    """Published values as stars."""
    axes.plot(xs, ys, linestyle="none", marker="*", markersize=11, color=PUBLISHED, label=label, zorder=4)


def finish(
    axes: Axes,
    *,
    x: str,
    y: str,
    title: str | None = None,
    legend: LegendPlace | None = "best",
    top: float | None = None,
) -> None:
    """Sets labels, legend, and a y axis from 0 to `top`. Axes that share a scale need a `top`."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title)
    axes.set_ylim(0, top)
    highest = axes.dataLim.y1
    if top is None and 0 < highest < np.inf:
        # Leave space above nearly constant values.
        axes.set_ylim(0, max(axes.get_ylim()[1], 1.04 * highest))
    axes.margins(x=0.02)
    if legend:
        axes.legend(loc=legend)


COLUMN = 4.5
"""Narrower figures, in inches, are for a column of a paper."""
LARGE, SMALL = 9.5, 7.5
"""Size of letters in other figures, and in those for a column, points."""


def reduce_letters(figure: Figure) -> None:
    """Reduces all letters of a finished figure from the default size to that for a column."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_fontsize(float(text.get_fontsize()) * SMALL / LARGE)


def legend_below(axes: Axes, *, columns: int = 1, size: float = 8) -> None:
    """Places the legend below the axes and their labels, at any size of the figure."""
    from matplotlib.transforms import ScaledTranslation

    figure = axes.get_figure(root=True)
    if figure is None:
        return
    below = axes.transAxes + ScaledTranslation(0, LABELS, figure.dpi_scale_trans)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, ncols=columns, fontsize=size)


LABELS = -0.42
"""Height of the labels and ticks of a horizontal axis, downwards in inches."""


def bar_width(series: int) -> float:
    """The width of one bar in a group of `series` bars, including gaps; groups are 1 apart."""
    return 0.8 / series


def bar_places(groups: int, at: int, series: int) -> list[float]:
    """The positions of the bars of series number `at`, for this number of groups and series."""
    return [group - 0.4 + bar_width(series) * (at + 0.5) for group in range(groups)]


def grouped_bars(
    axes: Axes, groups: Sequence[str], series: Mapping[str, tuple[Look, Sequence[tuple[float, float]]]]
) -> None:
    """Bars side by side: for each series, its look, and the height and half interval in each group."""
    width = bar_width(len(series))
    for at, (name, (look, values)) in enumerate(series.items()):
        axes.bar(
            bar_places(len(groups), at, len(series)),
            [height for height, _ in values],
            width * 0.92,
            yerr=[spread for _, spread in values],
            label=name,
            color=look.color,
            alpha=0.85,
            hatch=look.hatch,
            edgecolor="white",
            linewidth=0.4,
            error_kw={"elinewidth": 1, "capsize": 2.5, "ecolor": "#222222"},
        )
    axes.set_xticks(range(len(groups)), list(groups))
    axes.grid(visible=False, axis="x")
