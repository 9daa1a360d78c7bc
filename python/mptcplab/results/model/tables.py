"""Columns of the tables of results: their names and units.

Knows no run, and no Arrow: the tables are the business of `arrow_tables`.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from mptcplab import _core

ALL = "*"
"""In the columns `flow` and `path` of the samples: over all of them."""

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
"""Metrics of links; no flow has them."""

MEANS = frozenset({"srtt", "rttvar", "phy_rate", "latency"})
"""Metrics that do not add up over flows and interfaces: the mean is taken."""

LINK_COUNTS = ("queue_marks", "duplicated", "corrupted")
"""Further counts of links, of networks that have any."""

_FIRST_METRICS = 21
"""Those that every table of samples knows, whether it has them or not."""

SAMPLE_COLUMNS = ("run", "seed", "variant", "time_s", "flow", "path", "metric", "value", "unit")


FLOW_NUMBERS = (
    "multipath", "fell_back", "fell_back_at_s", "bytes_received", "bytes_received_total",
    "unique_bytes_arrived", "measured_s", "goodput", "throughput", "intact",
    "completion_s", "handshake_s", "reinjected", "opportunistic", "penalties", "duplicates",
    "blocks", "latency_p50_s", "latency_p95_s", "latency_p99_s", "late", "datagram_loss", "jitter_s",
    "longest_silence_s", "capacity", "best_capacity",
)  # fmt: skip
"""Columns of flows that are numbers or flags, without the shares of limits."""


@functools.cache
def metric_names() -> list[str]:
    """Names of the metrics in the samples."""
    return [name for name, _ in _core.metrics()]


@functools.cache
def units() -> tuple[list[str], NDArray[np.uint8]]:
    """Units, and by metric the place of its own among them."""
    of_metrics = [unit for _, unit in _core.metrics()]
    distinct = list(dict.fromkeys(of_metrics))
    return distinct, np.array([distinct.index(unit) for unit in of_metrics], dtype=np.uint8)


def metrics_of(indices: NDArray[np.uint8]) -> list[str]:
    """The names that a column of metrics counts into, without later ones that it lacks: tables stay what they were."""
    names = metric_names()
    return names[: max(_FIRST_METRICS, int(indices.max(initial=0)) + 1)]
