"""Metrics of flows by name for options such as `sweep --metric`, and the unit in which each is printed."""

from __future__ import annotations

from mptcplab.results.model.tables import FLOW_NUMBERS
from mptcplab.results.text.summary import LIMITS
from mptcplab.util.user_input import choose

_ALIASES = {"latency": "latency_p95_s", "jitter": "jitter_s", "completion": "completion_s"}
"""Short names, and the columns that they stand for."""
_UNITS = {
    "bytes_received": ("MB", 1e6),
    "late": ("%", 0.01),
    "datagram_loss": ("%", 0.01),
    **dict.fromkeys(("goodput", "throughput", "capacity", "best_capacity"), ("Mb/s", 1e6)),
}


def metrics(text: str) -> list[str]:
    """Parses metric names, separated by commas; for an unknown name, `BadResult` suggests the nearest one."""
    known = [*FLOW_NUMBERS, *(f"limit_{name}" for name in LIMITS)]
    names = [choose(_ALIASES.get(name.strip(), name.strip()), known, "metric") for name in text.split(",")]
    return list(dict.fromkeys(names))


def unit(metric: str) -> tuple[str, float]:
    """The unit in which a metric is printed, and the size of this unit in base units."""
    if metric.startswith("latency_") or metric == "jitter_s":
        return "ms", 1e-3
    if metric.endswith("_s"):
        return "s", 1.0
    if metric.startswith("limit_"):
        return "% of the time", 0.01
    return _UNITS.get(metric, ("", 1.0))
