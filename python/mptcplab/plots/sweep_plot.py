"""The figure of a sweep: each metric over the values of a key, for `mptcplab sweep`, `compare` and `plot`.

Draws means with intervals, bars, boxes, or distributions over the seeds. `sweep_series` selects the data, and
`outer_layout` places legend and note. Widths below `COLUMN` are for a column of a paper: small letters and no title.
"""

from __future__ import annotations

import math
import textwrap
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from mptcplab.plots import figure_style
from mptcplab.plots.figure_style import COLUMN, LARGE, SMALL
from mptcplab.plots.outer_layout import place_below
from mptcplab.plots.sweep_series import Chart, Request, Series, short
from mptcplab.plots.swept_axis import LETTER, SweptAxis
from mptcplab.util.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.results.model.swept_values import SweptValues
    from mptcplab.stats.statistics import Interval

WIDTH = 6.8
"""Default width, inches."""
PANEL = 1.6
"""Minimum width of a panel, inches."""
MOST_ACROSS = 3
"""Maximum panels side by side."""
MARKS = 8
"""Approximate number of markers on a curve of a distribution."""


def picture(
    found: SweptValues, request: Request | None = None, *, width: float = WIDTH, height: float | None = None
) -> Figure:
    """One panel per metric and per value of the key of `facet`. Sizes are in inches.

    Without `height`, the figure grows by its legend and its note.
    """
    chart = Chart(found, request or Request())
    across = max(1, min(len(chart.panels), int(width // PANEL), MOST_ACROSS))
    rows = math.ceil(len(chart.panels) / across)
    panel = width / across
    size = LARGE if width >= COLUMN else SMALL
    with figure_style.house_style(), _letters(size):
        figure, grid = figure_style.new_figure(
            across, rows * len(found.metrics), width=panel, height=min(3.7, max(1.9, 0.64 * panel))
        )
        for at, metric in enumerate(found.metrics):
            places = grid[at * rows * across :][: rows * across]
            own = places[: len(chart.panels)]
            for axes, value in zip(own, chart.panels, strict=True):
                _panel(axes, chart, metric, value, panel, size)
            for axes in places[len(own) :]:
                axes.set_visible(False)
            _share(own, across, is_last=metric == found.metrics[-1], is_distribution=chart.draw == "cdf")
        if width >= COLUMN:
            figure.suptitle(_title(chart), x=0.01, ha="left", fontsize=size + 1.5)
        handles = _handles(chart) if len(chart.series) > 1 else []
        place_below(
            figure,
            handles,
            legend_title=chart.legend_title,
            note=_note(chart),
            rows=rows * len(found.metrics),
            height=height,
        )
    return figure


def write_picture(found: SweptValues, output: Path, request: Request | None = None, *, width: float = WIDTH) -> None:
    """Writes `picture` as PNG, SVG and PDF into a directory."""
    figure = picture(found, request, width=width)
    lines, dots = figure_style.both(figure)
    write_bytes(output / "sweep.png", dots)
    write_bytes(output / "sweep.svg", lines)
    write_bytes(output / "sweep.pdf", figure_style.pdf(figure))


def _letters(size: float) -> AbstractContextManager[None]:
    import matplotlib as mpl

    sizes: Any = {"font.size": size, "axes.labelsize": size, "axes.titlesize": size, "legend.title_fontsize": size}
    sizes["legend.fontsize"] = size - 0.5
    context: AbstractContextManager[None] = mpl.rc_context(sizes)
    return context


def _panel(axes: Axes, chart: Chart, metric: str, value: str | None, width: float, size: float) -> None:
    if chart.draw == "cdf":
        _distributions(axes, chart, metric, value)
    else:
        values = [one or "" for one in chart.axis_values]
        axis = SweptAxis.of(values, names=chart.draw != "lines")
        {"lines": _means, "box": _boxes, "bars": _bars}[chart.draw](axes, chart, metric, value, axis)
        label = "" if chart.x is None else short(chart.x)
        figure_style.finish(
            axes,
            x=f"{label} [{axis.unit}]" if axis.unit else label,
            y=_wrapped(chart.metric_name(metric), axes, size),
            legend=None,
        )
        # The label of the vertical axis and its ticks need about six letters and a line.
        axis.finish(axes, width - (6 * LETTER + 2) * size / 72, size)
        if chart.baseline is not None:
            axes.axhline(1.0, color="#222222", linewidth=0.8, zorder=1.5)
    if not axes.has_data():
        axes.text(0.5, 0.5, "not measured in any run", transform=axes.transAxes, ha="center", va="center")
    if value is not None:
        axes.set_title(f"{short(str(chart.facet))} {value}")


def _wrapped(label: str, axes: Axes, size: float) -> str:
    """A label that is no longer than its axis."""
    inches = axes.get_window_extent().height / axes.get_figure().dpi  # type: ignore[union-attr]
    return textwrap.fill(label, max(10, int(inches / (LETTER * size / 72))))


def _means(axes: Axes, chart: Chart, metric: str, panel: str | None, axis: SweptAxis) -> None:
    for rank, one in enumerate(chart.series):
        points = _points(chart, one, metric, panel)
        known = [at for at in axis.order if points[at].n]
        if not known:
            continue
        axes.errorbar(
            [axis.shifted(at, rank, len(chart.series)) for at in known],
            [points[at].mean for at in known],
            yerr=_errors([points[at] for at in known]),
            **_form(one, joined=axis.is_to_scale) | _nested(rank, len(chart.series)),
            capsize=2,
            elinewidth=0.9,
        )


def _bars(axes: Axes, chart: Chart, metric: str, panel: str | None, axis: SweptAxis) -> None:
    width = figure_style.bar_width(len(chart.series))
    for rank, one in enumerate(chart.series):
        points = _points(chart, one, metric, panel)
        known = [at for at, point in enumerate(points) if point.n]
        axes.bar(
            [axis.shifted(at, rank, len(chart.series)) for at in known],
            [points[at].mean for at in known],
            0.85 * width,
            yerr=_errors([points[at] for at in known]) if known else None,
            **_surface(one),
            error_kw={"elinewidth": 0.9, "capsize": min(2.0, 12 * width), "ecolor": "#222222"},
        )
    axes.grid(visible=False, axis="x")


def _boxes(axes: Axes, chart: Chart, metric: str, panel: str | None, axis: SweptAxis) -> None:
    for rank, one in enumerate(chart.series):
        samples = [chart.values(chart.cell(one, panel, value), metric) for value in chart.axis_values]
        drawn = axes.boxplot(
            samples,
            positions=[axis.shifted(at, rank, len(chart.series)) for at in range(len(samples))],
            widths=0.62 / len(chart.series),
            manage_ticks=False,
            patch_artist=True,
            medianprops={"color": "#222222", "linewidth": 0.9},
            whiskerprops={"linewidth": 0.9, "color": one.look.color},
            capprops={"linewidth": 0.9, "color": one.look.color},
            flierprops={"markersize": 2.5, "markeredgecolor": one.look.color},
        )
        for box in drawn["boxes"]:
            box.set(**_surface(one))
    axes.grid(visible=False, axis="x")


def _distributions(axes: Axes, chart: Chart, metric: str, panel: str | None) -> None:
    for rank, one in enumerate(chart.series):
        values = sorted(chart.values(chart.cell(one, panel, None), metric))
        if not values:
            continue
        shares = [100 * at / len(values) for at in range(len(values) + 1)]
        every = max(1, round(len(values) / MARKS))
        form = _form(one, joined=True) | _nested(rank, len(chart.series))
        axes.step([values[0], *values], shares, where="post", markevery=every, **form)
    figure_style.finish(axes, x=chart.metric_name(metric), y="seeds at or below [%]", legend=None, top=103)


def _points(chart: Chart, one: Series, metric: str, panel: str | None) -> list[Interval]:
    return [chart.point(chart.cell(one, panel, value), metric) for value in chart.axis_values]


def _errors(points: Sequence[Interval]) -> list[list[float]]:
    """The lengths of error bars below and above the means; 0 without an interval."""
    known = [(one.mean - one.low, one.high - one.mean) for one in points]
    return [[side if math.isfinite(side) else 0.0 for side in sides] for sides in zip(*known, strict=True)]


def _form(one: Series, *, joined: bool) -> dict[str, Any]:
    """Colour, line and marker of a curve."""
    look = one.look
    return {
        "color": look.color,
        "linestyle": look.line if joined else "none",
        "marker": look.marker,
        "markerfacecolor": look.color if look.is_filled else "white",
        "markeredgewidth": 1.0,
    }


def _nested(rank: int, count: int) -> dict[str, float]:
    """Widths of line and marker, points. Of equal curves, those drawn first are wider, so all remain visible."""
    more = 1 - (rank + 1) / count
    return {"linewidth": 1.1 + 1.3 * more, "markersize": 4 + 2.5 * more}


def _surface(one: Series) -> dict[str, Any]:
    """Colour and hatch of a bar or a box."""
    return {"facecolor": one.look.color, "hatch": one.look.hatch, "edgecolor": "white", "linewidth": 0.4}


def _handles(chart: Chart) -> list[Any]:
    """The samples of the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if chart.draw in ("bars", "box"):
        return [Patch(label=one.label, **_surface(one)) for one in chart.series]
    joined = chart.draw == "cdf" or SweptAxis.of([value or "" for value in chart.axis_values]).is_to_scale
    return [Line2D([], [], label=one.label, **_form(one, joined=joined)) for one in chart.series]


def _share(panels: Sequence[Axes], across: int, *, is_last: bool, is_distribution: bool) -> None:
    """Gives the panels of a metric one scale; labels only the outer axes."""
    top = max(axes.get_ylim()[1] for axes in panels)
    for at, axes in enumerate(panels):
        axes.set_ylim(top=top)
        if at % across:
            axes.set_ylabel("")
            axes.tick_params(axis="y", labelleft=False)
        if not is_distribution and (at + across < len(panels) or not is_last):
            axes.set_xlabel("")
    if is_distribution:
        low, high = min(axes.get_xlim()[0] for axes in panels), max(axes.get_xlim()[1] for axes in panels)
        for axes in panels:
            axes.set_xlim(max(0.0, low), high)


def _title(chart: Chart) -> str:
    """The scenario, the metrics and the keys."""
    names = [metric.removesuffix("_s").replace("_", " ") for metric in chart.found.metrics]
    keys = [short(key) for key in (chart.x, *chart.keys, chart.facet) if key is not None]
    over = f" by {_list(list(dict.fromkeys(keys)))}" if keys else ""
    scenario = "" if chart.found.name in ("", "scenario") else f"{chart.found.name}: "
    return f"{scenario}{_list(names)}{over}"


def _note(chart: Chart) -> str:
    """A sentence that defines points and error bars, and states the number of seeds."""
    low, high = chart.counts()
    seeds = f"{high} seeds" if low == high else f"{low} to {high} seeds"
    of = "" if chart.baseline is None else f", divided by {short(chart.baseline[0])} {chart.baseline[1]} seed by seed"
    how = "paired, delta method" if chart.baseline else "Student's t"
    marks = "Bars" if chart.draw == "bars" else "Points"
    text = {
        "box": f"Boxes: quartiles and median of {seeds}{of}. Whiskers: at most 1.5 interquartile ranges.",
        "cdf": f"Each curve: {seeds}{of}, one step per seed.",
    }.get(chart.draw, f"{marks}: means of {seeds}{of}. Error bars: 95% confidence intervals ({how}).")
    if high < 2:
        text = f"One seed per point{of}, so there is no interval."
    if chart.found.fixed_networks and high > 1:
        of = "" if chart.found.fixed_networks == 1 else f"At {chart.found.fixed_networks:.0%} of the points, "
        text += f" {of}seeds change only small delays of hosts: the spread is that of timing, not of networks."
    if chart.omitted > 0:
        text += f" The first {len(chart.series)} of {len(chart.series) + chart.omitted} series."
    return text


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
