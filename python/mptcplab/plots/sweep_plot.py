"""The figure of `mptcplab sweep`, which runs a scenario with several values of some keys.

Draws each metric over the first key, with one line per combination of the other keys. Owns the axis: numbers of one
unit are drawn to scale, names are placed side by side without lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.results.text.flow_metrics import unit
from mptcplab.util.files import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.run.sweep_tables import SweepResults

MOST_LINES = 12
"""Maximum lines in a panel; further lines are omitted."""
_NUMBER = re.compile(r"([0-9.]+(?:e-?[0-9]+)?)([a-zA-Z%]*)")
_BASE = {
    "ns": ("ms", 1e-6), "us": ("ms", 1e-3), "ms": ("ms", 1.0), "s": ("ms", 1e3),
    "bit": ("Mb/s", 1e-6), "kbit": ("Mb/s", 1e-3), "mbit": ("Mb/s", 1.0), "gbit": ("Mb/s", 1e3),
    "b": ("kB", 1e-3), "kb": ("kB", 1.024), "kib": ("kB", 1.024), "mb": ("kB", 1e3), "mib": ("kB", 1048.576),
    "%": ("%", 1.0), "p": ("packets", 1.0), "m": ("m", 1.0), "": ("", 1.0),
}  # fmt: skip
"""By lower-case unit of scenario files: unit of the axis, and factor. KB is 1024 bytes, kB 1000."""


AS_WRITTEN = {"KB": "KB = 1024 B", "KiB": "KiB", "MiB": "MiB", "MB": "MB"}
"""Units that an axis keeps if all values have the same one of them, and their labels."""


def number(value: str) -> tuple[float, str] | None:
    """A value as a number in the unit of its axis; None if it is not a number."""
    matched = _NUMBER.fullmatch(value)
    base = matched and (("kB", 1.0) if matched[2] == "kB" else _BASE.get(matched[2].lower()))
    return (float(matched[1]) * base[1], base[0]) if matched and base else None


def scale(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Values as numbers, and their unit; None if a value is not a number, units differ in type, or values repeat.

    A unit of `AS_WRITTEN` that all values have is kept: 50KB is drawn at 50.
    """
    written = [_NUMBER.fullmatch(value) for value in values]
    as_written = {one[2] for one in written if one}
    if all(written) and as_written in ({"KB"}, {"KiB"}, {"MiB"}, {"MB"}):
        own = [float(one[1]) for one in written if one]
        return (own, AS_WRITTEN[as_written.pop()]) if len(set(own)) == len(own) else None
    numbers, units = list[float](), set[str]()
    for value in values:
        found = number(value)
        if found is None:
            return None
        units.add(found[1])
        numbers.append(found[0])
    return (numbers, units.pop()) if len(units) == 1 and len(set(numbers)) == len(numbers) else None


def picture(
    found: SweepResults, title: str, *, x: str | None = None, facet: str | None = None, draw: str = "lines"
) -> Figure:
    """One panel per metric and per value of `facet`.

    `x` is the key on the axis (default: the first key other than `facet`); the other keys are lines. `draw` is `lines`
    for means with intervals, `box` for all seeds of each point, or `cdf` for the distribution over the seeds.
    """
    first = x or next((key for key in found.vary if key != facet), next(iter(found.vary)))
    parts = [None] if facet is None else found.vary[facet]
    with figure_style.house_style():
        figure, panels = figure_style.new_figure(
            len(parts), len(found.metrics), width=6.8, height=3.9, share_y=draw != "cdf"
        )
        places = iter(panels)
        for metric in found.metrics:
            for value in parts:
                axes = next(places)
                lines = _lines(found, first, None if value is None else (str(facet), value))
                more = len(lines) - MOST_LINES
                lines = dict(list(lines.items())[:MOST_LINES])
                {"lines": _means, "box": _boxes, "cdf": _distributions}[draw](axes, found, first, metric, lines)
                cut = f" (the first {MOST_LINES} of {MOST_LINES + more} lines)" if more > 0 else ""
                of = "" if value is None else f", {_short(str(facet))} {value}"
                x_name, y_name = _names(found, first, metric, draw)
                figure_style.finish(axes, x=x_name, y=y_name, title=f"{title}{of}{cut}", legend=None)
                if len(lines) > 1 and value == parts[-1]:
                    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


Lines = dict[str, list[tuple[int, str]]]
"""By label of a line: number of the sweep point and flow at each value of the axis."""


def write_picture(
    found: SweepResults,
    output: Path,
    title: str,
    *,
    x: str | None = None,
    facet: str | None = None,
    draw: str = "lines",
) -> None:
    """Writes `picture` as PNG, SVG and PDF into a directory."""
    figure = picture(found, title, x=x, facet=facet, draw=draw)
    lines, dots = figure_style.both(figure)
    write_bytes(output / "sweep.png", dots)
    write_bytes(output / "sweep.svg", lines)
    write_bytes(output / "sweep.pdf", figure_style.pdf(figure))


def _means(axes: Axes, found: SweepResults, first: str, metric: str, lines: Lines) -> None:
    axis = scale(found.vary[first])
    places = axis[0] if axis else [float(at) for at in range(len(found.vary[first]))]
    order = sorted(range(len(places)), key=places.__getitem__)
    looks = figure_style.looks(list(lines))
    for at, (label, its) in enumerate(lines.items()):
        values = [found.estimate(point, flow, metric) for point, flow in its]
        means = [values[place].mean for place in order]
        spread = [values[place].half_width for place in order]
        # If the axis has names, the points of different lines are side by side around each name.
        xs = [places[place] + (0.0 if axis else _aside(at, len(lines))) for place in order]
        look = looks[label]
        if axis:
            figure_style.curve(axes, xs, means, label, look, spread=spread)
        else:
            axes.errorbar(xs, means, yerr=spread, fmt=look.marker, color=look.color, capsize=3, label=label)
    _ticks(axes, found.vary[first], axis)


def _boxes(axes: Axes, found: SweepResults, first: str, metric: str, lines: Lines) -> None:
    looks = figure_style.looks(list(lines))
    width = 0.7 / len(lines)
    for at, (label, its) in enumerate(lines.items()):
        color = looks[label].color
        drawn = axes.boxplot(
            [found.values(point, flow, metric) for point, flow in its],
            positions=[place + _aside(at, len(lines)) for place in range(len(its))],
            widths=0.9 * width,
            manage_ticks=False,
            patch_artist=True,
            medianprops={"color": "black"},
            flierprops={"markersize": 3, "markeredgecolor": color},
        )
        for box in drawn["boxes"]:
            box.set(facecolor=color, alpha=0.6, edgecolor=color)
        axes.plot([], [], "s", color=color, alpha=0.6, label=label)
    _ticks(axes, found.vary[first], None)


def _distributions(axes: Axes, found: SweepResults, first: str, metric: str, lines: Lines) -> None:
    curves = {
        ", ".join(filter(None, [f"{_short(first)} {value}", label if len(lines) > 1 else ""])): its[at]
        for label, its in lines.items()
        for at, value in enumerate(found.vary[first])
    }
    looks = figure_style.looks(list(curves))
    for label, (point, flow) in list(curves.items())[:MOST_LINES]:
        values = sorted(found.values(point, flow, metric))
        shares = [100 * (at + 1) / len(values) for at in range(len(values))]
        look = looks[label]
        axes.step(values, shares, where="post", color=look.color, linestyle=look.line, label=label)
    axes.set_ylim(0, 100)
    if len(lines) == 1 and len(curves) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _aside(at: int, lines: int) -> float:
    return 0.7 / lines * (at - (lines - 1) / 2)


def _ticks(axes: Axes, values: Sequence[str], axis: tuple[list[float], str] | None) -> None:
    if not axis:
        axes.set_xticks(range(len(values)), values, rotation=20 if len(values) > 6 else 0)
        axes.set_xlim(-0.6, len(values) - 0.4)
    elif min(axis[0]) > 0 and max(axis[0]) / min(axis[0]) > 50:
        axes.set_xscale("log")


def _names(found: SweepResults, first: str, metric: str, draw: str) -> tuple[str, str]:
    units = unit(metric)[0]
    short = (metric.removesuffix("_s") if units else metric).replace("_", " ")
    name = f"{short} [{units}]" if units else short
    if draw == "cdf":
        return name, "seeds at or below this value [%]"
    axis = scale(found.vary[first]) if draw == "lines" else None
    return f"{_short(first)} [{axis[1]}]" if axis and axis[1] else _short(first), name


def _short(key: str) -> str:
    return key.rsplit(".", 1)[-1].strip("{}").replace(",", " and ")


def _lines(found: SweepResults, first: str, only: tuple[str, str] | None) -> Lines:
    lines: Lines = {}
    for at, point in enumerate(found.points):
        if only is not None and point[only[0]] != only[1]:
            continue
        left_out = {first, only[0] if only else first}
        rest = ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in point.items() if key not in left_out)
        for flow in found.flows:
            label = ", ".join(part for part in (flow if len(found.flows) > 1 else "", rest) if part) or flow
            lines.setdefault(label, []).append((at, flow))
    return lines
