"""The figure of `Run.plot`: a metric of a run over time.

Owns the selection of curves. Few flows have a curve per path, many flows one sum or mean per path. If these are too
many curves, only whole flows are drawn. The style is that of `figure_style`.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import numpy as np

from mptcplab import _core
from mptcplab.plots import figure_style
from mptcplab.plots.event_marks import mark_events
from mptcplab.results.model.tables import ALL, LINK_METRICS, MEANS, metric_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from mptcplab.results.model.measured_run import MeasuredRun

MOST_FLOWS = 3
"""Maximum flows with their own curves; more flows are drawn as their sum or mean."""
MOST_CURVES = 60
"""Maximum curves in one figure; more cannot be told apart."""
BESIDE, INSIDE = 24, 6
"""Maximum number of curves for a legend next to the figure, and inside it."""

_RECEIVED = "throughput at the receiver"
_NAMES = {"throughput": "throughput into the sender's queue"}
"""Metrics whose name on the axis differs from the name of the column."""

Line = tuple[str, str, "NDArray[np.float64]", "NDArray[np.float64]"]
"""Label, path, times, values."""


def plot_run(run: MeasuredRun, metric: str | None = None, flow: str | None = None) -> Figure:
    """One curve per path, and their sum if it was measured; for more than three flows, the sum or mean over flows.

    The default metric is the throughput at the receiver. It never exceeds the link rate, unlike `throughput`, which is
    counted at the sender's queue.
    """
    units = dict(_core.metrics())
    if metric is None:
        return _plot(run, "goodput", flow, _RECEIVED)
    if metric not in units:
        raise ValueError(f"unknown metric {metric!r}; choose from: {', '.join(units)}")
    return _plot(run, metric, flow, _NAMES.get(metric, metric.replace("_", " ")))


def _plot(run: MeasuredRun, metric: str, flow: str | None, name: str) -> Figure:
    unit = dict(_core.metrics())[metric]
    scale, unit = (1e6, "Mb/s") if unit == "bit/s" else (1e3, "kB") if unit == "B" else (1.0, unit)
    together = flow is None and len(run.flow_names) > MOST_FLOWS and metric not in LINK_METRICS
    lines = _together(run, metric) if together else _each(run, metric, flow)
    if name == _RECEIVED:
        lines = _arrivals(lines)
    if len(lines) > MOST_CURVES:
        # For a fabric, whole flows are clearer than hundreds of subflows.
        lines = [line for line in lines if line[1] == ALL] or lines
    alone = sum(line[1] == ALL for line in lines) == 1
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure()
        drawn = figure_style.looks([line[0] for line in lines])
        for label, path, times, values in lines:
            look = figure_style.LOOKS["sum"] if path == ALL and alone else drawn[label]
            figure_style.curve(axes, times, values / scale, label, look, markers=10)
        how = "mean" if metric in MEANS else "sum"
        title = f"{run.name}, {how} of {len(run.flow_names)} flows" if together else run.name
        figure_style.finish(axes, x="time [s]", y=f"{name} [{unit}]", title=title, legend=None)
        mark_events(axes, tomllib.loads(run.scenario.to_toml()))
        _legend(axes, len(lines))
    return figure


def _arrivals(lines: list[Line]) -> list[Line]:
    """Replaces the rate of in-order data at the application, which has bursts after gaps, by the sum of all paths."""
    found, parts = list[Line](), list[Line]()
    for line in lines:
        label, path, times, values = line
        if path != ALL:
            parts.append(line)
            found.append(line)
            continue
        whole = np.zeros_like(values)
        for _, _, own, part in parts:
            # A path that joined late has no earlier samples.
            whole[np.searchsorted(times, own)] += part
        found.append((label, path, times, whole if parts else values))
        parts = []
    return found


def _legend(axes: Axes, lines: int) -> None:
    if lines <= INSIDE:
        axes.legend(loc="best")
    elif lines <= BESIDE:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _each(run: MeasuredRun, metric: str, flow: str | None) -> list[Line]:
    names = [ALL] if metric in LINK_METRICS else [flow] if flow else run.flow_names
    found = []
    for name in names:
        for path, label in [*((path, path) for path in run.path_names), (ALL, "all paths")]:
            times, values = run.series(metric, flow=name, path=path, missing_ok=True)
            if times.size:
                found.append((f"{name} {label}" if len(names) > 1 else label, path, times, values))
    return found


def _together(run: MeasuredRun, metric: str) -> list[Line]:
    """The sum or mean of all flows on each path, in one pass over the samples."""
    columns = run.columns
    rows = columns["metric"] == metric_names().index(metric)
    times, at = np.unique(columns["time_s"][rows], return_inverse=True)
    paths, values = columns["path"][rows], columns["value"][rows]
    found: list[Line] = []
    for number, name in enumerate([*run.path_names, ALL]):
        own = paths == number
        if own.any():
            count = np.bincount(at[own], minlength=times.size)
            total = np.bincount(at[own], weights=np.nan_to_num(values[own]), minlength=times.size)
            known = count > 0
            line: NDArray[np.float64] = total[known] / (count[known] if metric in MEANS else 1)
            found.append(("all paths" if name == ALL else name, name, times[known], line))
    return found
