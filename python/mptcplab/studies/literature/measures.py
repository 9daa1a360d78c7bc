"""Bounds and block delays that several literature studies share.

Owns the tolerance of a published number that a secondary source quotes, and the delays of blocks per run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mptcplab.results.run import Run
from mptcplab.studies.verdicts import Bound

TOLERANCE = 0.2
"""The accepted deviation from a single published number, as a share of the number."""


def near(name: str, value: float, share: float = TOLERANCE) -> Bound:
    """The bound around a published value, in the unit of the value."""
    return Bound(name, value * (1 - share), value * (1 + share))


def block_delays(run: Run, flow: str | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Writing time in s and delay in ms of each block of a flow (by default the first), after the warm-up."""
    at = run.flow_names.index(flow) if flow else 0
    written, latency = run.block_columns(at)
    kept = written >= run.scenario.warmup
    return written[kept], 1e3 * latency[kept]


def mean_delay(run: Run) -> float:
    """Mean delay of the blocks of the first flow, ms."""
    return float(block_delays(run)[1].mean())


def median_delay(run: Run) -> float:
    """Median delay of the blocks of the first flow, ms."""
    return float(np.median(block_delays(run)[1]))
