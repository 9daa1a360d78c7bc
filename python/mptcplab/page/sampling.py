"""Turns counters of a live run into samples, at the sampling interval of the scenario.

Owns the numbers of metrics, and the counters at the last sample, which rates need. The metrics are those of the
simulator (crates/lab/src/measurements.rs).
"""

from __future__ import annotations

from mptcplab import _core
from mptcplab.page.live_source import Row

SHORTEST = 0.1
"""The shortest sampling interval, seconds."""

_NUMBERS = {name: number for number, (name, _) in enumerate(_core.metrics())}


class Sampler:
    """Collects the rows of one sample after another."""

    def __init__(self, interval: float) -> None:
        """Samples every `interval` seconds, at most ten times per second."""
        self._interval = max(interval, SHORTEST)
        self._last: float | None = None
        self._span = 0.0
        self._now = 0.0
        self._before: dict[tuple[int, int, str], float] = {}
        self._rows: list[Row] = []

    def begin(self, time: float) -> bool:
        """Begins a sample at `time` seconds; returns whether one is due."""
        if self._last is not None and time - self._last < self._interval * 0.95:
            return False
        self._span = 0.0 if self._last is None else time - self._last
        self._last = self._now = time
        self._rows = []
        return True

    def value(self, flow: int, path: int, metric: str, value: float | None) -> None:
        """Adds a value; None is missing."""
        if value is not None:
            self._rows.append((self._now, flow, path, _NUMBERS[metric], float(value)))

    def rate(self, flow: int, path: int, metric: str, count: float) -> None:
        """Adds the rate of a counter of bytes since the last sample, in bit/s. A new counter has no rate yet."""
        key = (flow, path, metric)
        before = self._before.get(key)
        self._before[key] = count
        if before is not None and self._span > 0 and count >= before:
            self.value(flow, path, metric, (count - before) * 8 / self._span)

    def rows(self) -> list[Row]:
        """The rows of this sample."""
        return self._rows
