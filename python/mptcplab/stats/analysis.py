"""Tables of results by interface in equal time steps, like mp-analyze of the UCL study.

Used by `mptcplab analyse`, `cdf` and the plots of saved results, which need equal steps to compare runs. For the
quantities, see the UCL MSc report "Wireless Interference and Multipath TCP" (2013), sections 3.4 and 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mptcplab.results.model.tables import ALL, LINK_METRICS, MEANS
from mptcplab.results.read.flow_times import COMPLETION, LATENCY
from mptcplab.results.read.result_reader import SavedRun
from mptcplab.stats.resampling import Floats, Kind, between, resample
from mptcplab.stats.statistics import shares
from mptcplab.util.user_input import BadResult, choose

INTERVAL = 0.5
"""Seconds between two rows, as mp-stats samples."""
TOTAL = "total"
"""The name of the total over all interfaces."""


@dataclass(frozen=True)
class Quantity:
    """A column of the tables."""

    name: str
    metric: str
    kind: Kind
    """Rates are averaged over time, states over samples; counts give the growth in each step."""
    unit: str
    scale: float
    """Units of the metric per unit of the column."""


QUANTITIES = (
    Quantity("throughput", "throughput", "rate", "Mb/s", 1e6),
    Quantity("interface_throughput", "interface_throughput", "rate", "Mb/s", 1e6),
    Quantity("interface_received", "interface_received", "rate", "Mb/s", 1e6),
    Quantity("goodput", "goodput", "rate", "Mb/s", 1e6),
    Quantity("cwnd", "cwnd", "state", "kB", 1e3),
    Quantity("ssthresh", "ssthresh", "state", "kB", 1e3),
    Quantity("srtt", "srtt", "state", "ms", 1e-3),
    Quantity("rttvar", "rttvar", "state", "ms", 1e-3),
    Quantity("latency", "latency", "state", "ms", 1e-3),
    Quantity("in_flight", "in_flight", "state", "kB", 1e3),
    Quantity("send_queue", "send_queue", "state", "kB", 1e3),
    Quantity("local_queue", "local_queue", "state", "kB", 1e3),
    Quantity("receive_window", "receive_window", "state", "kB", 1e3),
    Quantity("out_of_order", "out_of_order", "state", "kB", 1e3),
    Quantity("queue", "queue", "state", "kB", 1e3),
    Quantity("retransmits", "retransmits", "count", "segments", 1.0),
    Quantity("reinjected", "reinjected", "count", "kB", 1e3),
    Quantity("queue_drops", "queue_drops", "count", "frames", 1.0),
    Quantity("queue_marks", "queue_marks", "count", "frames", 1.0),
    Quantity("random_losses", "random_losses", "count", "frames", 1.0),
    Quantity("mac_retries", "mac_retries", "count", "frames", 1.0),
    Quantity("mac_drops", "mac_drops", "count", "frames", 1.0),
    Quantity("phy_rate", "phy_rate", "state", "Mb/s", 1e6),
)
COLUMNS = {quantity.name: quantity for quantity in QUANTITIES}
OF_FLOWS = (LATENCY, COMPLETION)
"""Metrics of flows whose distribution has a value per block or per run."""
UTILISATION = "utilisation"
"""The share of an interface in the total throughput, percent."""


def unit(column: str) -> str:
    """The unit of a column."""
    return "%" if column == UTILISATION else "s" if column == COMPLETION else COLUMNS[column].unit


def check_metric(name: str) -> str:
    """The name of a column; otherwise `BadResult` with the nearest name."""
    return choose(name, [*COLUMNS, UTILISATION], "metric")


def tables(
    run: SavedRun, interval: float = INTERVAL, *, flow: str | None = None, only: Sequence[str] = tuple(COLUMNS)
) -> dict[str, pa.Table]:
    """A table for each interface and for `TOTAL`, with one row per `interval` seconds.

    Columns are `time_s` (the end of the step), `utilisation` and those of `QUANTITIES`, in their units. Unmeasured
    values are NaN; the rate of an interface with a closed subflow is 0. In the total, bytes and rates add up, and RTTs
    are averaged. `flow` selects one flow, `only` some of `COLUMNS`, which must include `throughput`.
    """
    return {name: pa.table(found) for name, found in columns(run, interval, flow=flow, only=only).items()}


def columns(
    run: SavedRun, interval: float = INTERVAL, *, flow: str | None = None, only: Sequence[str] = tuple(COLUMNS)
) -> dict[str, dict[str, Floats]]:
    """Returns the tables of `tables` as dictionaries of arrays."""
    if flow is not None:
        choose(flow, run.flows, "flow")
    steps = _steps(run, interval)
    paths = run.paths
    found = {path: {name: _column(run, name, path, steps, interval, flow) for name in only} for path in paths}
    total = {name: _over_interfaces(run, name, found, steps, interval, flow) for name in only}
    parts = np.array([found[path]["throughput"] for path in paths])
    split = shares(parts) * 100 if len(paths) else parts
    whole = split.sum(axis=0) if len(paths) else np.full(steps.size, math.nan)
    return {
        name: {"time_s": steps, UTILISATION: used, **own}
        for name, used, own in zip((*paths, TOTAL), (*split, whole), (*found.values(), total), strict=True)
    }


def values(run: SavedRun, metric: str, path: str, *, interval: float = INTERVAL, warmup: float | None = None) -> Floats:
    """The known values of a column of an interface or `TOTAL`, by step after `warmup` (default: the scenario's)."""
    check_metric(metric)
    choose(path, [*run.paths, TOTAL], "interface", run.source or run.name)
    steps = _steps(run, interval)
    skip = run.warmup if warmup is None else warmup
    if metric == UTILISATION or path == TOTAL:
        needed = ["throughput"] if metric == UTILISATION else list(dict.fromkeys(("throughput", metric)))
        column = columns(run, interval, only=needed)[path][metric]
    else:
        column = _column(run, metric, path, steps, interval, None)
    column = column[steps > skip + 1e-9]
    return column[np.isfinite(column)]


def of_flow(run: SavedRun, metric: str, flow: str, *, warmup: float | None = None) -> Floats:
    """The latency in ms of each block of a flow that became ready after the warm-up, or the completion time in s."""
    choose(flow, run.flows, "flow", run.source or run.name)
    if metric == COMPLETION:
        return run.completion(flow)
    ready, took = run.latency(flow)
    if not ready.size:
        raise BadResult(f"{run.source or run.name}: {flow} sends no blocks, so it has no latency")
    values: Floats = took[ready >= (run.warmup if warmup is None else warmup)]
    return values / COLUMNS[LATENCY].scale


def _steps(run: SavedRun, interval: float) -> Floats:
    times = run.samples.times
    if not times.size:
        return np.zeros(0)
    usual = between(times)
    if interval < usual * (1 - 1e-6):
        raise BadResult(
            f"{run.source or run.name}: an interval of {interval:g} s is shorter than the sampling interval of "
            f"{usual:g} s; use a longer interval, or set a shorter `sample` in the scenario"
        )
    count = max(1, math.ceil(times[-1] / interval - 1e-6))
    return np.arange(1, count + 1) * interval


def _column(  # noqa: PLR0913, RUF100 - the parts of a column
    run: SavedRun, name: str, path: str, steps: Floats, interval: float, flow: str | None
) -> Floats:
    quantity = COLUMNS[name]
    whose = [ALL] if quantity.metric in LINK_METRICS else [flow] if flow else run.flows
    parts = [_one(run, quantity, one, path, steps, interval) for one in whose]
    column = _add(parts, steps, mean=name in MEANS)
    return (_filled(column) if name == "throughput" else column) / quantity.scale


def _over_interfaces(  # noqa: PLR0913, RUF100 - the parts of a table
    run: SavedRun,
    name: str,
    columns: dict[str, dict[str, Floats]],
    steps: Floats,
    interval: float,
    flow: str | None,
) -> Floats:
    """The column of the whole connection, if the metric exists for it; otherwise the total of the interfaces."""
    quantity = COLUMNS[name]
    if quantity.metric not in LINK_METRICS and name != "throughput":
        whose = [flow] if flow else run.flows
        parts = [_one(run, quantity, one, ALL, steps, interval) for one in whose]
        if any(np.isfinite(part).any() for part in parts):
            return _add(parts, steps, mean=name in MEANS) / quantity.scale
    return _add([own[name] for own in columns.values()], steps, mean=name in MEANS)


def _one(run: SavedRun, quantity: Quantity, flow: str, path: str, steps: Floats, interval: float) -> Floats:
    times, measured = run.series(quantity.metric, flow=flow, path=path)
    return resample(times, measured, steps, interval, quantity.kind)


def _add(parts: Sequence[Floats], steps: Floats, *, mean: bool) -> Floats:
    """The sum or mean of known values at each step; NaN without any."""
    if not parts:
        return np.full(steps.size, math.nan)
    stack = np.array(parts)
    known = np.isfinite(stack)
    if known.all():
        every: Floats = stack.sum(axis=0) / (len(parts) if mean else 1)
        return every
    count = known.sum(axis=0)
    total = np.where(known, stack, 0.0).sum(axis=0)
    found: Floats = np.where(count > 0, total / np.maximum(count, 1) if mean else total, math.nan)
    return found


def _filled(column: Floats) -> Floats:
    """The column with 0 where the value is unknown."""
    return column if np.isfinite(column).all() else np.nan_to_num(column)
