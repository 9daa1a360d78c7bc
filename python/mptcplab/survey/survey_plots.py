"""Figures of a survey: the distribution over networks of MPTCP's goodput, times and shares relative to plain TCP.

The axis of networks is logarithmic, so that one network in ten thousand is visible as well as the median. The command
`survey` writes these figures. Never runs anything.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.survey.measure import Measured
from mptcplab.survey.report import compared, is_unconstrained
from mptcplab.survey.shared_bottleneck import Share
from mptcplab.survey.short_flows import LATE, Timed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

PROMISE = 0.95
"""The first threshold that `survey` counts, as a share of the best path."""
_STEPS = 400
"""Maximum points of a curve, evenly spaced."""
_TAIL = 100
"""Additional points of a curve: all of the rarest networks, up to this number."""


def goodputs(measured: Sequence[Measured]) -> Figure:
    """Distribution of the goodput of each policy relative to plain TCP over the best path and to the upper bound.

    Networks without other limits also have a panel relative to the aggregate of all paths.
    """
    roomy = [one for one in measured if is_unconstrained(one)]
    parts: list[tuple[str, Sequence[Measured], Callable[[Measured], float]]] = [
        ("plain TCP over the best path", measured, lambda one: one.of_best),
        ("upper bound", measured, lambda one: one.of_oracle),
    ]
    if roomy:
        parts.append(("aggregate of all paths (unconstrained networks)", roomy, lambda one: one.of_sum))
    looks = figure_style.looks(list(dict.fromkeys(one.policy.name for one in measured)))
    with figure_style.house_style():
        figure, panels = figure_style.new_figure(len(parts), width=4.4, height=3.7, share_y=True)
        for axes, (what, every, of) in zip(panels, parts, strict=True):
            curves = {name: [of(one) for one in every if one.policy.name == name] for name in looks}
            _distribution(axes, curves, looks, at_most=True)
            axes.set_xlabel(f"goodput / {what}")
        _down_to_one(panels[0], max(sum(one.policy.name == name for one in measured) for name in looks))
        panels[0].axvline(
            PROMISE, color="#777777", linestyle=(0, (6, 2)), linewidth=1.1, label=f"{PROMISE:.0%} of the best path"
        )
        panels[0].set_ylabel("networks at or below this ratio [%]")
        panels[0].legend(loc="lower right")
    return figure


def times(timed: Sequence[Timed]) -> Figure:
    """Distribution of times, with one line per load, and one panel per policy and reference.

    Files are compared with the path that the connection starts on. Long files are also compared with the best path,
    from its join on. Blocks are compared with the best path. Raises `ValueError` if nothing was measured.
    """
    curves: dict[str, dict[str, dict[str, list[float]]]] = {}
    for (policy, load, reference), known in compared(timed).items():
        own = curves.setdefault(policy, {})
        own.setdefault(f"the {reference}", {})[load] = [ratio for ratio, *_ in known]
        if reference == "best path":
            joined = [one.time / max(one.joined, one.least) for *_, one in known if one.joined]
            own.setdefault("the best path, from its join on", {})[load] = joined
    columns = {reference: None for own in curves.values() for reference, lines in own.items() if any(lines.values())}
    if not columns:
        raise ValueError("no network carries the requested load")
    looks = figure_style.looks(list(dict.fromkeys(str(one.load) for one in timed)))
    with figure_style.house_style():
        figure, panels = figure_style.new_figure(len(columns), len(curves), width=4.4, height=3.7, share_y=True)
        for axes, (policy, reference) in zip(panels, itertools.product(curves, columns), strict=True):
            _distribution(axes, curves[policy][reference], looks, at_most=False)
            axes.axvline(LATE, color="#777777", linestyle=(0, (6, 2)), linewidth=1.1, label=f"{LATE:g} times as long")
            axes.set_xlabel(f"time / time of plain TCP over {reference}")
            axes.set_title(policy)
        _down_to_one(panels[0], max(len(known) for known in compared(timed).values()))
        for axes in panels[:: len(columns)]:
            axes.set_ylabel("networks above this ratio [%]")
        panels[0].legend(loc="lower left")
    return figure


def shares(found: Sequence[Share]) -> Figure:
    """The share of each policy behind each bottleneck, relative to the mean of the competing TCP flows."""
    looks = figure_style.looks(list(dict.fromkeys(one.policy.name for one in found)))
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure()
        axes.axhline(1, color="#222222", linewidth=0.9)
        for at, (name, look) in enumerate(looks.items()):
            own = [one for one in found if one.policy.name == name]
            reference = 0.16 * (at - (len(looks) - 1) / 2)
            places = [one.bottleneck.others + reference for one in own]
            axes.plot(places, [one.share for one in own], look.marker, color=look.color, alpha=0.8, label=name)
        axes.set_xticks(range(1, 1 + max(one.bottleneck.others for one in found)))
        figure_style.finish(axes, x="competing TCP flows", y="MPTCP / mean of competing TCP flows")
    return figure


def _distribution(
    axes: Axes, curves: Mapping[str, Sequence[float]], looks: Mapping[str, figure_style.Look], *, at_most: bool
) -> None:
    """The share of values up to each value, or above it, on logarithmic axes."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    every = [value for values in curves.values() for value in values if 0 < value < math.inf]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axvline(1, color="#222222", linewidth=0.9)
    for name, values in curves.items():
        if values:
            x, y = _corners(np.array(values), at_most=at_most)
            axes.plot(x, y, color=looks[name].color, linestyle=looks[name].line, label=name, drawstyle="steps-post")
    # Rare or single networks should not set the scale.
    axes.set_xlim(max(min([0.7, *every]) / 1.05, 0.1), min(max([1.2, *every]) * 1.05, 10))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _down_to_one(axes: Axes, networks: int) -> None:
    """Gives all panels one axis of at least two powers of ten that includes the share of a single network."""
    axes.set_ylim(min(0.6 / networks, 0.01), 1.2)


def _corners(values: NDArray[np.float64], *, at_most: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points of a step curve, for `steps-post`: `_STEPS` evenly spaced ones and the rarest, none infinite."""
    x = np.sort(values)
    count = len(x)
    upto = np.arange(1, count + 1) / count
    few = np.arange(min(_TAIL, count))
    some = np.linspace(0, count - 1, min(_STEPS, count)).round().astype(int)
    kept = np.unique(np.concatenate((few if at_most else count - 1 - few, some)))
    y = upto if at_most else 1 - upto
    # Before the first value the share is zero, which a logarithmic axis cannot show.
    before = (x[0], 1e-9) if at_most else (1e-9, 1.0)
    x, y = np.concatenate(([before[0]], x[kept])), np.concatenate(([before[1]], y[kept]))
    there = np.isfinite(x)
    return x[there], y[there]
