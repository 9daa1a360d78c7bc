"""The picture of a sweep: each metric over the first key, a line for each of the rest.

Owns the axis: numbers with one unit stand to scale, names stand side by side and are not joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mptcplab import plots
from mptcplab.sweep_tables import unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.statistics import Estimate
    from mptcplab.sweep_tables import Found

MOST_LINES = 12
"""Lines in a panel; of more, the first."""
_NUMBER = re.compile(r"([0-9.]+(?:e-?[0-9]+)?)([a-zA-Z%]*)")
_BASE = {
    "ns": ("ms", 1e-6), "us": ("ms", 1e-3), "ms": ("ms", 1.0), "s": ("ms", 1e3),
    "bit": ("Mb/s", 1e-6), "kbit": ("Mb/s", 1e-3), "mbit": ("Mb/s", 1.0), "gbit": ("Mb/s", 1e3),
    "b": ("kB", 1e-3), "kb": ("kB", 1.024), "kib": ("kB", 1.024), "mb": ("kB", 1e3), "mib": ("kB", 1048.576),
    "%": ("%", 1.0), "p": ("packets", 1.0), "m": ("m", 1.0), "": ("", 1.0),
}  # fmt: skip
"""Units of scenario files in what an axis is drawn in. KB is 1024 bytes there, kB 1000."""


def number(value: str) -> tuple[float, str] | None:
    """A value as a number in the unit of its axis; None where it is none."""
    matched = _NUMBER.fullmatch(value)
    base = matched and (("kB", 1.0) if matched[2] == "kB" else _BASE.get(matched[2].lower()))
    return (float(matched[1]) * base[1], base[0]) if matched and base else None


def scale(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Values as numbers of one unit; None where one is no number, or units are of several kinds."""
    numbers, units = list[float](), set[str]()
    for value in values:
        found = number(value)
        if found is None:
            return None
        units.add(found[1])
        numbers.append(found[0])
    return (numbers, units.pop()) if len(units) == 1 and len(set(numbers)) == len(numbers) else None


def picture(found: Found, title: str) -> Figure:
    """A panel for each metric."""
    first = next(iter(found.vary))
    axis = scale(found.vary[first])
    with plots.house_style():
        figure, panels = plots.new_figure(1, len(found.metrics), width=6.8, height=3.9)
        for axes, metric in zip(panels, found.metrics, strict=True):
            lines = _lines(found, first, metric)
            more = len(lines) - MOST_LINES
            lines = dict(list(lines.items())[:MOST_LINES])
            places = axis[0] if axis else [float(at) for at in range(len(found.vary[first]))]
            order = sorted(range(len(places)), key=places.__getitem__)
            looks = plots.looks(list(lines))
            for at, (label, values) in enumerate(lines.items()):
                # Side by side where they would hide each other.
                beside = 0.0 if axis else 0.12 * (at - (len(lines) - 1) / 2)
                means = [values[place].mean for place in order]
                spread = [values[place].half_width for place in order]
                xs = [places[place] + beside for place in order]
                if axis:
                    plots.curve(axes, xs, means, label, looks[label], spread=spread)
                else:
                    look = looks[label]
                    axes.errorbar(xs, means, yerr=spread, fmt=look.marker, color=look.color, capsize=3, label=label)
            name = first.rsplit(".", 1)[-1].strip("{}").replace(",", " and ")
            if not axis:
                axes.set_xticks(range(len(places)), found.vary[first], rotation=20 if len(places) > 6 else 0)
                axes.set_xlim(-0.6, len(places) - 0.4)
            elif min(places) > 0 and max(places) / min(places) > 50:
                axes.set_xscale("log")
            x = f"{name} [{axis[1]}]" if axis and axis[1] else name
            units = unit(metric)[0]
            y = f"{metric.replace('_', ' ')} [{units}]" if units else metric.replace("_", " ")
            beside_title = f" (the first {MOST_LINES} of {MOST_LINES + more} lines)" if more > 0 else ""
            plots.finish(axes, x=x, y=y, title=f"{title}{beside_title}", legend=None)
            if len(lines) > 1:
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _lines(found: Found, first: str, metric: str) -> dict[str, list[Estimate]]:
    lines: dict[str, list[Estimate]] = {}
    for at, point in enumerate(found.points):
        rest = ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in point.items() if key != first)
        for flow in found.flows:
            label = ", ".join(part for part in (flow if len(found.flows) > 1 else "", rest) if part) or flow
            lines.setdefault(label, []).append(found.estimate(at, flow, metric))
    return lines
