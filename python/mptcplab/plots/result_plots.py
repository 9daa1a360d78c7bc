"""Figures of saved results for `mptcplab plot` and `cdf`: metrics over time by interface, and distributions.

Owns the panels, and the scale from 0 to 100 of the UCL study (see `stats.analysis`, which computes the values). The
style is that of `figure_style`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.plots.event_marks import mark_events
from mptcplab.stats import analysis
from mptcplab.stats.statistics import distribution
from mptcplab.util.user_input import BadResult, choose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from mptcplab.results.read.result_reader import SavedRun

ENTRY = 0.17
"""Height of a legend entry, inches; panels with many entries are higher, so that their axes keep their height."""


def plot_metrics(  # noqa: PLR0913, RUF100 - the options of `plot`
    run: SavedRun,
    metrics: Sequence[str],
    *,
    flow: str | None = None,
    path: str | None = None,
    interval: float = analysis.INTERVAL,
    scale: bool = False,
    title: str = "",
) -> Figure:
    """Metrics over time, with one column of panels per interface.

    Each metric has a panel with its unit. With `scale`, one panel has all metrics, from 0 to 100 (see `scaled`).
    Metrics of the whole connection, such as the latency, have one panel, or with `scale` a dotted line in each column.
    With `flow`, only the interfaces of that flow are drawn. `title` names the run if several runs are drawn.
    """
    for metric in metrics:
        analysis.check_metric(metric)
    found = analysis.tables(run, interval, flow=flow)
    columns = [path_ for path_ in found if path_ != analysis.TOTAL] or [analysis.TOTAL]
    if flow is not None:
        columns = [column for column in columns if _used(found[column])] or columns
    if path is not None:
        columns = [choose(path, found, "interface", run.source or run.name)]
    curves = {(metric, column): _values(found, metric, column) for metric in metrics for column in columns}
    _check_measured(run, metrics, curves)
    once = {metric for metric in metrics if all(curves[metric, column][1] for column in columns)}
    if len(once) == len(metrics):
        columns = columns[:1]
    with figure_style.house_style():
        rows = 1 if scale else len(metrics)
        height = 3.6 if scale else 2.5
        figure, axes = figure_style.new_figure(len(columns), rows, width=max(4.2, 7.5 / len(columns)), height=height)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        looks = figure_style.looks(metrics)
        for at, column in enumerate(columns):
            times = found[column]["time_s"].to_numpy()
            shown = [metric for metric in metrics if scale or not at or metric not in once]
            for metric in shown:
                panel = axes[at if scale else metrics.index(metric) * len(columns) + at]
                values, whole = curves[metric, column]
                look = looks[metric] if scale else figure_style.LOOKS["mptcp"]
                look = figure_style.Look(look.color, ":" if whole else look.line, look.marker)
                label = f"{_name(metric)}{', all paths' if whole else ''} [{analysis.unit(metric)}]"
                if scale:
                    values, label = scaled(metric, values, label)
                figure_style.curve(panel, times, values, label, look, markers=8)
                panel.set_xlim(0, times[-1] * 1.01)
                if not scale:
                    whose = _whose(column, whole=whole, once=metric in once)
                    mark_events(panel, run.scenario, column if whose in run.paths else None)
                    figure_style.finish(
                        panel,
                        x="time [s]" if metric == shown[-1] else "",
                        y=f"{_name(metric)} [{analysis.unit(metric)}]" if at == 0 else "",
                        title=whose,
                        legend=None,
                    )
            if scale:
                whose = _whose(column, whole=False, once=once == set(metrics))
                y = "scaled value" if at == 0 else ""
                figure_style.finish(axes[at], x="time [s]", y=y, title=whose, legend=None, top=100)
                figure_style.legend_below(axes[at])
        for panel in axes:
            panel.set_visible(panel.has_data())
        _share_height(axes, len(columns))
    return figure


def _whose(column: str, *, whole: bool, once: bool) -> str:
    """The title of a panel: an interface, or the whole connection."""
    if once:
        return "all paths"
    return f"{column}, all paths" if whole else column


def _check_measured(run: SavedRun, metrics: Sequence[str], curves: Mapping[tuple[str, str], Any]) -> None:
    for metric in metrics:
        if not any(np.isfinite(values).any() for (name, _), (values, _) in curves.items() if name == metric):
            raise BadResult(f"{run.source or run.name}: {metric} was not measured here")


def _share_height(axes: Sequence[Axes], across: int) -> None:
    """Gives the panels of a row the same y axis, so that interfaces can be compared."""
    for first in range(0, len(axes), across):
        row = axes[first : first + across]
        top = max(panel.get_ylim()[1] for panel in row)
        for panel in row:
            panel.set_ylim(top=top)


def scaled(metric: str, values: NDArray[np.float64], label: str) -> tuple[NDArray[np.float64], str]:
    """Values between 0 and 100, with a label that names the scale.

    As in the UCL study (section 3.5), utilisation is drawn from 80 (0%) to 100 (100%). Other values keep their unit;
    above 100, they are divided by a power of ten.
    """
    if metric == analysis.UTILISATION:
        return 80 + values / 5, f"{label}, drawn from 80 to 100"
    known = values[np.isfinite(values)]
    most = float(known.max()) if known.size else 0.0
    if most <= 100:
        return values, label
    factor = 10 ** math.ceil(math.log10(most / 100))
    return values / factor, f"{label} / {factor:g}"


def plot_distributions(
    groups: Mapping[str, Mapping[str, NDArray[np.float64]]], metric: str, *, title: str = ""
) -> Figure:
    """Empirical distribution functions: one panel per group, one curve per member."""
    unit = analysis.unit(metric)
    everything = [values for members in groups.values() for values in members.values() if values.size]
    low = min(float(values.min()) for values in everything)
    high = max(float(values.max()) for values in everything)
    with figure_style.house_style():
        across = min(len(groups), 3)
        rows = math.ceil(len(groups) / across)
        entries = max(len(members) for members in groups.values())
        height = 3.8 + ENTRY * max(0, entries - 3)
        figure, panels = figure_style.new_figure(across, rows, width=6.4 if across == 1 else 4.6, height=height)
        for panel, (group, members) in zip(panels, groups.items(), strict=False):
            for (name, values), look in zip(
                members.items(), figure_style.looks(_numbered(members)).values(), strict=True
            ):
                ordered, below = distribution(values)
                x = np.concatenate(([ordered[0]], ordered))
                y = 100 * np.concatenate(([0.0], below))
                panel.step(
                    x, y, where="post", color=look.color, linestyle=look.line, marker=look.marker,
                    markevery=max(1, x.size // 8), label=f"{name} (n = {values.size})",
                )  # fmt: skip
            margin = 0.03 * (high - low) or 1.0
            panel.set_xlim(max(0.0, low - margin) if low >= 0 else low - margin, high + margin)
            figure_style.finish(
                panel,
                x=f"{_name(metric)} [{unit}]",
                y="samples at or below [%]",
                title=group or title or None,
                legend=None,
                top=103,
            )
            figure_style.legend_below(panel)
        for panel in panels[len(groups) :]:
            panel.set_visible(False)
    return figure


def _used(table: Any) -> bool:
    """Whether this interface ever had a subflow or a datagram."""
    return any(np.nansum(table[name].to_numpy()) > 0 for name in ("cwnd", "throughput"))


def _values(found: Mapping[str, Any], metric: str, column: str) -> tuple[NDArray[np.float64], bool]:
    """The values of an interface; if it has none, those of the whole connection, and True."""
    own: NDArray[np.float64] = found[column][metric].to_numpy()
    if column == analysis.TOTAL or np.isfinite(own).any():
        return own, False
    total: NDArray[np.float64] = found[analysis.TOTAL][metric].to_numpy()
    return total, True


def _numbered(members: Mapping[str, object]) -> list[str]:
    """Neutral names: `figure_style` gives some names a fixed style, and two curves could then look alike."""
    return [f"curve {at}" for at in range(len(members))]


def _name(metric: str) -> str:
    return metric.replace("_", " ")
