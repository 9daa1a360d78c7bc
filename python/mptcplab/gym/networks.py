"""Random networks for training and evaluation.

Owns the distribution: two paths with independent rates, RTTs, losses and queues, and an application that writes blocks.
Different ranges of seeds give different networks, so networks of the evaluation are unseen in training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mptcplab.scenario.definition import Flow, Path, Scenario

if TYPE_CHECKING:
    import numpy as np

RATES = (2e6, 30e6)
"""Bit/s, log-uniform."""
RTTS = (0.010, 0.100)
"""Seconds, log-uniform."""
MOST_LOSS = 0.001
QUEUES = (0.5, 2.0)
"""Bandwidth-delay products, log-uniform; at least 10 packets."""
LOADS = (0.2, 0.7)
"""Rate of the application, as a fraction of the rate of the faster path."""
PACKET = 1500


def random_network(rng: np.random.Generator, *, duration: float = 10.0, paths: int = 2) -> Scenario:
    """A scenario with `paths` paths `p0`, `p1`, … and the flow `flow`, which writes blocks of 8 kB."""

    def log_uniform(low: float, high: float) -> float:
        return float(low * (high / low) ** rng.random())

    found, rates = {}, []
    for index in range(paths):
        rate, rtt = log_uniform(*RATES), log_uniform(*RTTS)
        queue = max(10, round(log_uniform(*QUEUES) * rate * rtt / 8 / PACKET))
        loss = MOST_LOSS * float(rng.random())
        found[f"p{index}"] = Path(
            rate=f"{round(rate)}bit", rtt=f"{1e3 * rtt:.3f}ms", loss=f"{100 * loss:.3f}%", queue=f"{queue}p"
        )
        rates.append(rate)
    load = (LOADS[0] + (LOADS[1] - LOADS[0]) * float(rng.random())) * max(rates)
    flow = Flow(blocks="8KB", rate=f"{round(load)}bit")
    return Scenario(
        name="random-network",
        duration=f"{duration:g}s",
        paths=found,
        flows={"flow": flow},
        defaults={"baselines": False, "opportunistic_retransmission": False},
    )
