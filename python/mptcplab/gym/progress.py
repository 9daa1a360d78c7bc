"""One step of a reinforcement learning environment: the simulation between two decisions, and its measurements.

Owns the simulation and the difference between two states. `Step` is the argument of a reward function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mptcplab import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mptcplab.scenario.definition import Scenario

FEATURES = ("exists", "srtt", "base_rtt", "window", "used_window", "rate", "retransmitted")
"""Features of a path in an observation, each from 0 to 1."""


@dataclass(frozen=True)
class Subflow:
    """A subflow during one step; rates are means of the step."""

    number: int
    """Number in the connection, in the order of creation."""
    slot: int
    """Index for congestion controllers, which a later subflow may reuse."""
    path: str
    srtt: float
    """Smoothed RTT at the end of the step, seconds; 0 before the first sample."""
    base_rtt: float
    """Minimum RTT, seconds."""
    cwnd: float
    """Congestion window at the end of the step, bytes."""
    in_flight: float
    mss: float
    rate: float
    """Acknowledged bytes per second."""
    retransmitted: float
    """Retransmitted segments, as a fraction of the sent segments."""

    def features(self) -> NDArray[np.float32]:
        """The values of `FEATURES`: times from 1 ms to 10 s and amounts on logarithmic scales."""
        values = (
            1.0,
            _log(self.srtt, 1e-3, 10),
            _log(self.base_rtt, 1e-3, 10),
            _log(self.cwnd, 1e3, 1e8),
            min(1.0, self.in_flight / max(self.cwnd, 1.0)),
            _log(self.rate, 1e3, 1e9),
            min(1.0, self.retransmitted),
        )
        return np.array(values, dtype=np.float32)


@dataclass(frozen=True)
class Step:
    """A step: the argument of a reward function."""

    length: float
    """Virtual time, seconds."""
    received: int
    """Bytes that the receiving application has read."""
    latencies: list[float]
    """Latencies of the blocks that arrived in the step, seconds."""
    send_queue: int
    """Bytes written and not acknowledged at the end of the step."""
    is_finished: bool
    """Whether the flow has delivered everything."""
    subflows: list[Subflow] = field(default_factory=list)

    @property
    def goodput(self) -> float:
        """Bit/s that the receiving application has read."""
        return 8 * self.received / self.length

    @property
    def latency(self) -> float:
        """Mean latency of the blocks in seconds. Without a block, the length of the step if data waits, else 0."""
        if self.latencies:
            return float(np.mean(self.latencies))
        return self.length if self.send_queue else 0.0


Reward = Callable[[Step], float]
REWARDS: dict[str, Reward] = {
    "goodput": lambda step: step.goodput / 1e6,
    "latency": lambda step: -step.latency,
}
"""`goodput`: goodput in Mb/s. `latency`: the negative mean latency of blocks, in seconds."""


def reward_of(reward: str | Reward) -> Reward:
    """The reward function of this name, or the function itself."""
    if callable(reward):
        return reward
    if reward not in REWARDS:
        raise ValueError(f"reward = {reward!r}: must be a function of a Step, or one of {', '.join(REWARDS)}")
    return REWARDS[reward]


class Progress:
    """A simulation that advances by steps, and the counters at the end of the last step."""

    def __init__(self, scenario: Scenario, seed: int, interval: float, flow: int = 0) -> None:
        """Prepares a run at time 0; `interval` is the length of a step in seconds."""
        self._simulation = _core.Simulation(scenario.core, seed)
        self._interval, self._flow = interval, flow
        self._steps, self._received, self._blocks = 0, 0, 0
        self._sent: dict[int, tuple[int, int, int]] = {}
        self.is_running = True

    def advance(self) -> Step:
        """Runs for one interval, or until the end of the scenario."""
        start = self._simulation.now
        self._steps += 1
        self.is_running = self._simulation.advance(self._steps * self._interval)
        length = max(self._simulation.now - start, 1e-9)
        row = self._simulation.flow(self._flow, self._blocks)
        subflows = [self._subflow(subflow, length) for subflow in row["subflows"]]
        step = Step(
            length,
            row["received"] - self._received,
            row["latencies"],
            row["send_queue"],
            row["is_finished"],
            subflows,
        )
        self._received, self._blocks = row["received"], row["blocks"]
        return step

    def _subflow(self, row: _core.SubflowRow, length: float) -> Subflow:
        number, counts = row["id"], (row["bytes_acked"], row["retransmits"], row["bytes_sent"])
        acked, retransmits, sent = (a - b for a, b in zip(counts, self._sent.get(number, (0, 0, 0)), strict=True))
        self._sent[number] = counts
        segments = max(1.0, sent / row["mss"])
        return Subflow(
            number,
            row["slot"],
            row["path"],
            row["srtt"],
            row["base_rtt"],
            float(row["cwnd"]),
            float(row["in_flight"]),
            float(row["mss"]),
            acked / length,
            retransmits / segments,
        )


def _log(value: float, low: float, high: float) -> float:
    """The position of a value on a logarithmic scale from `low` (0) to `high` (1)."""
    return float(np.clip(np.log(max(value, low) / low) / np.log(high / low), 0.0, 1.0))
