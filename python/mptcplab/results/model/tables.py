"""Names and units of the metrics and columns of results, for tables, figures and options.

Knows neither runs nor Arrow; `arrow_tables` has the tables.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from mptcplab import _core

ALL = "*"
"""Stands for all flows or paths in the columns `flow` and `path` of the samples."""

LINK_METRICS = frozenset(
    {
        "interface_throughput",
        "interface_received",
        "queue",
        "queue_drops",
        "queue_marks",
        "random_losses",
        "mac_retries",
        "mac_drops",
        "phy_rate",
    }
)
"""Metrics of links; flows do not have them."""

MEANS = frozenset({"srtt", "rttvar", "phy_rate", "latency"})
"""Metrics that are averaged, not summed, over flows and interfaces."""

LINK_COUNTS = ("queue_marks", "duplicated", "corrupted")
"""Link counters that only networks with ECN, duplication or bit errors have."""

_FIRST_METRICS = 21
"""Metrics that every table of samples lists, with or without samples."""

SAMPLE_COLUMNS = ("run", "seed", "variant", "time_s", "flow", "path", "metric", "value", "unit")


FLOW_NUMBERS = (
    "multipath", "fell_back", "fell_back_at_s", "bytes_received", "bytes_received_total",
    "unique_bytes_arrived", "measured_s", "goodput", "throughput", "intact",
    "completion_s", "handshake_s", "reinjected", "opportunistic", "penalties", "duplicates",
    "blocks", "latency_p50_s", "latency_p95_s", "latency_p99_s", "late", "datagram_loss", "jitter_s",
    "longest_silence_s", "capacity", "best_capacity",
)  # fmt: skip
"""Columns of flows that are numbers or flags, without the shares of limiting factors."""


@functools.cache
def metric_names() -> list[str]:
    """Names of the metrics in the samples."""
    return [name for name, _ in _core.metrics()]


@functools.cache
def units() -> tuple[list[str], NDArray[np.uint8]]:
    """The distinct units, and for each metric the index of its unit."""
    of_metrics = [unit for _, unit in _core.metrics()]
    distinct = list(dict.fromkeys(of_metrics))
    return distinct, np.array([distinct.index(unit) for unit in of_metrics], dtype=np.uint8)


def metrics_of(indices: NDArray[np.uint8]) -> list[str]:
    """The metric names of a column. Omits later names that are unused, so that older tables stay the same."""
    names = metric_names()
    return names[: max(_FIRST_METRICS, int(indices.max(initial=0)) + 1)]
