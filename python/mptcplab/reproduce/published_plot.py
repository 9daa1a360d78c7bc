"""The figure of `mptcplab plot --published`: your results and the published values of the same experiment.

Owns the grouping into curves: the runs of a curve differ only in the seed and the value on the x axis.
`published_values` turns a run into one point. `mptcplab.studies` has the published values.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mptcplab.plots import figure_style
from mptcplab.plots.swept_axis import AS_WRITTEN, number
from mptcplab.reproduce.published_values import QUANTITIES, Measured, measured
from mptcplab.results.read.result_reader import SavedRun
from mptcplab.stats import analysis
from mptcplab.stats.statistics import Estimate, estimate
from mptcplab.studies.published import TIME, Published, mark
from mptcplab.util.user_input import BadResult, choose, readable, size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.studies.base import Experiment

MOST_CURVES = 10
"""Maximum curves in a panel; further curves are omitted."""


def experiment_of(runs: Sequence[SavedRun], known: Mapping[str, Experiment], wanted: str) -> Experiment:
    """The experiment `wanted`; if empty, the one that the scenario names.

    Raises `BadResult` if the experiment is unknown, or if the publication gives no number.
    """
    have = sorted(name for name, experiment in known.items() if experiment.published)
    if wanted:
        name = choose(readable(wanted), known, "experiment")
    else:
        marks = {mark(str(run.scenario.get("description", ""))) for run in runs}
        name = str(next(iter(marks))) if len(marks) == 1 else ""
        if name not in known:
            raise BadResult(
                f"{runs[0].source}: the scenario names no published experiment; pass --published "
                f"STUDY/EXPERIMENT (one of {', '.join(have)})"
            )
    if not known[name].published:
        raise BadResult(f"{name}: the source gives no numbers to draw; experiments with numbers: {', '.join(have)}")
    return known[name]


def plot_published(runs: Sequence[SavedRun], experiment: Experiment) -> Figure:
    """One panel per published quantity; a point is the mean over the seeds."""
    panels: dict[tuple[str, str], list[Published]] = {}
    for one in experiment.published:
        panels.setdefault((one.of, one.over), []).append(one)
    with figure_style.house_style():
        figure, axes = figure_style.new_figure(1, len(panels), width=7.4, height=4.2)
        for panel, ((of, over), published) in zip(axes, panels.items(), strict=True):
            if over == TIME:
                _course(panel, runs, of, published)
            else:
                _curves(panel, measured(runs), of, over, published)
            figure_style.legend_below(panel, columns=2, size=8.5)
        axes[0].set_title(f"your runs and the published values: {experiment.study}/{experiment.name}")
    return figure


def _course(axes: Axes, runs: Sequence[SavedRun], metric: str, published: Sequence[Published]) -> None:
    """A metric of the first run over time, one line per flow and interface; the axis names the run."""
    run, quantity = runs[0], analysis.COLUMNS[metric]
    drawn: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    if metric in run.metrics:
        every = ((flow, path) for flow in run.flows for path in run.paths)
        series = ((f"{flow}, {path}", run.series(metric, flow=flow, path=path)) for flow, path in every)
        drawn = dict(itertools.islice(((name, both) for name, both in series if both[0].size), MOST_CURVES))
    if not drawn:
        raise BadResult(f"{run.source}: {metric} was not measured here")
    for name, look in figure_style.looks(list(drawn)).items():
        times, values = drawn[name]
        figure_style.curve(axes, times, values / quantity.scale, name, look, markers=8)
    for one in published:
        one.draw(axes)
    which = f"seed {run.seed}" + (f", the first of {len(runs)} runs" if len(runs) > 1 else "")
    figure_style.finish(axes, x=f"time [s] ({which})", y=f"{metric.replace('_', ' ')} [{quantity.unit}]", legend=None)


@dataclass
class _Curve:
    """Runs that differ only in the value on the x axis and the seed; each seed counts once per value."""

    flow: str
    runs: list[SavedRun] = field(default_factory=list)
    at: dict[str, dict[int, float]] = field(default_factory=dict)
    """Measured values by value on the x axis, then by seed."""

    def add(self, run: SavedRun, where: str, value: float) -> None:
        """Adds the value of a run. Of runs with the same seed and position on the axis, only the first counts."""
        self.runs.append(run)
        self.at.setdefault(where, {}).setdefault(run.seed, value)


def _curves(axes: Axes, found: Sequence[Measured], of: str, over: str, published: Sequence[Published]) -> None:
    value = QUANTITIES[of]
    curves: dict[tuple[str, str], _Curve] = {}
    for one in found:
        axis = _Axis(one.run, over)
        for flow, got in value.of(one).items():
            curves.setdefault((axis.rest, flow), _Curve(flow)).add(one.run, axis.value(flow), got)
    if not curves:
        raise BadResult(f"{found[0].run.source}: no transfer ended, so there is no {value.name.split(' [')[0]}")
    texts = list(dict.fromkeys([*(where for curve in curves.values() for where in curve.at), *_places(published)]))
    places: dict[str, float] = {}
    if over:
        unit = _number_all(texts, over, places, _places(published))
    else:
        unit, places = "", {"your runs": 0.0}
    shown = list(curves.values())[:MOST_CURVES]
    looks = figure_style.looks([f"curve {at}" for at in range(len(shown))])
    several = len({flow for _, flow in curves}) > 1
    for label, curve, look in zip(_labels(shown, over, several=several), shown, looks.values(), strict=True):
        points: list[tuple[float, Estimate]] = sorted(
            ((places[where], estimate(seeds.values())) for where, seeds in curve.at.items()), key=lambda point: point[0]
        )
        xs, means = [x for x, _ in points], [of_it.mean for _, of_it in points]
        spread = [of_it.half_width for _, of_it in points]
        figure_style.curve(axes, xs, means, label, look, spread=spread, markers=20)
    for one_published in published:
        one_published.draw(axes, places.__getitem__)
    if value.of_transfers:
        _say_unfinished(axes, found)
    name = over.rsplit(".", 1)[-1]
    figure_style.finish(axes, x=f"{name} [{unit}]" if unit else name, y=value.name, legend=None)
    if not over:
        axes.set_xticks([])


def _say_unfinished(axes: Axes, found: Sequence[Measured]) -> None:
    """Adds the number of transfers that are not in the figure to the legend."""
    every = sum(len(one.flows) for one in found)
    missing = every - sum(len(one.ended) for one in found)
    if missing:
        axes.plot([], [], linestyle="none", label=f"excluded: {missing} of {every} transfers, which did not end")


def _places(published: Sequence[Published]) -> list[str]:
    return [place for one in published for place in one.places]


def _number_all(texts: Sequence[str], over: str, places: dict[str, float], published: Sequence[str]) -> str:
    """Fills `places` with the position of each value on the axis, in the unit of the publication; returns the unit."""
    if published and all(text.endswith("KB") for text in published):
        # A saved scenario writes 125KB (1024 bytes each) as 128kB (1000 bytes each). Both get the same position.
        places |= {text: size(text) / 1024 for text in texts}
        return AS_WRITTEN["KB"]
    units = set()
    for text in texts:
        of_it = number(text)
        if of_it is None:
            raise BadResult(f"{over} = {text}: is not a number with a unit, so it has no position on the axis")
        places[text], unit = of_it
        units.add(unit)
    if len(units) > 1:
        raise BadResult(f"{over}: the values have different units ({', '.join(sorted(units))})")
    return str(units.pop()) if units else ""


class _Axis:
    """The value of a run's scenario on the x axis, and the rest of the scenario."""

    def __init__(self, run: SavedRun, over: str) -> None:
        """`over` is a pattern of scenario keys, or empty if all runs share one position."""
        self._over = over
        settings = dict(run.settings())
        self._found = {key: str(value) for key, value in settings.items() if over and fnmatchcase(key, over)}
        if over and not self._found:
            raise BadResult(
                f"{run.source}: the scenario has no key {over}, which is the x axis of the published values"
            )
        left_out = {"name", "description", *self._found}
        # A sndbuf that equals the rcvbuf on the axis varies with the axis, so it does not separate curves.
        buffers = (key for key in self._found if key.endswith(".rcvbuf"))
        left_out |= {f"{key[:-6]}sndbuf" for key in buffers if settings.get(f"{key[:-6]}sndbuf") == settings[key]}
        self.rest = repr(sorted((key, repr(value)) for key, value in settings.items() if key not in left_out))

    def value(self, flow: str) -> str:
        """The value on the x axis for a flow: that of its own key if there is one, otherwise the first match."""
        if not self._over:
            return "your runs"
        return self._found.get(self._over.replace("*", flow, 1), next(iter(self._found.values())))


def _labels(curves: Sequence[_Curve], over: str, *, several: bool) -> list[str]:
    """The label of each curve: the common part of its variants or names, and its flow if there are `several`."""
    found: dict[str, None] = {}
    leaf = over.rsplit(".", 1)[-1]
    for curve in curves:
        variants = {
            ", ".join(part for part in run.variant.split(", ") if part and not (leaf and leaf in part))
            for run in curve.runs
        }
        words = [variants.pop() if len(variants) == 1 else "", curve.flow if several else ""]
        common = _without(_common([run.name for run in curve.runs]), curve.at)
        label = f"your runs: {', '.join(word for word in words if word) or common or curve.flow or 'measured'}"
        while label in found:
            label += "'"
        found[label] = None
    return list(found)


def _without(name: str, values: Collection[str]) -> str:
    """A scenario's name without the values on the axis."""
    if len(values) < 2:
        return name
    same = {value.replace(" ", "").lower() for value in values}
    return ", ".join(part for part in name.split(", ") if part.replace(" ", "").lower() not in same)


def _common(names: Sequence[str]) -> str:
    """The common first words of all names, without a trailing number."""
    first = names[0]
    same = next(
        (at for at in range(len(first)) if any(name[: at + 1] != first[: at + 1] for name in names)), len(first)
    )
    return first[:same].rstrip(" ,;:-=(0123456789.")
