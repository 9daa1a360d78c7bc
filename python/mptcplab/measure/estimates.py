"""Estimates of a link's rate, delay, queue, loss and jitter from echoes and trains.

Owns the formulas. Each estimate has its spread or interval, so that a reader sees how sure it is. Nothing here sends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.measure.client import Ping
from mptcplab.measure.trains import TrainLog

_BIN = 0.1
"""Seconds of the intervals whose rates give the spread."""
_MOST_BINS = 1_000
"""Trains last 30 s at most."""
_SKIP = 0.25
"""Share of a train that the rate ignores, in which the queue fills or a token bucket empties."""
_FULL_LOSS = 0.15
"""Smallest share of lost packets from which a queue counts as full."""
_OF_EXPECTED = 0.6
"""The same, as a share of the loss that the rate of the train causes in a full queue."""
_RUN = 60
"""Packets over which the loss of a full queue is counted."""
_Z = 1.959964
"""Quantile of the normal distribution for 95%."""
_POLICED = 0.003
"""A queue shorter than this, in seconds, that loses packets looks like a policer."""
_FEWEST = 5
_GROUP = 8
"""Packets whose arrivals give the rate of a burst."""
_FASTER = 1.8
"""A burst through a policer arrives faster than this multiple of the mean rate."""


@dataclass(frozen=True)
class Range:
    """A value with its 10th and 90th percentiles, or with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Policer:
    """A token bucket that drops excess packets."""

    burst_bytes: int
    peak: float
    """Bit/s at which bursts arrived, a lower bound of the link rate."""


@dataclass(frozen=True)
class Direction:
    """Estimates of one direction of a link."""

    rate: Range
    """Bit/s of frames; the spread is that of intervals of 100 ms."""
    is_rate_bound: bool
    """Whether the link may be faster, because no train filled it."""
    queue_s: Range | None
    """The delay of a full queue, seconds: the 90th percentile, the 10th one and the maximum. None if unknown."""
    queue_packets: int | None
    """Packets in the queue and in service, of full size."""
    is_queue_bound: bool
    """Whether the queue may be longer, because it was not seen to drop packets."""
    policer: Policer | None
    """A token bucket that drops packets, if the arrivals look like one."""
    loss: Range
    """Probability of loss at a low rate, with its interval."""
    loss_sent: int
    loss_lost: int
    jitter_s: float
    """Half the range of the one-way delay of echoes, seconds: from the 5th to 95th percentiles, for a uniform
    distribution.
    """
    overtaken: int
    """Packets at a low rate that overtook another one."""
    own_queue: int
    """How often the queue of the sending host was full."""


@dataclass(frozen=True)
class Delay:
    """The RTT without load, seconds."""

    minimum: float
    median: float
    high: float
    """95th percentile."""
    count: int
    lost: int


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def wilson(lost: int, count: int) -> Range:
    """A probability with its 95% interval (Wilson 1927)."""
    if count == 0:
        return Range(0.0, 0.0, 1.0)
    share, square = lost / count, _Z * _Z
    middle = (share + square / 2 / count) / (1 + square / count)
    half = _Z / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / 4 / count / count)
    return Range(share, max(0.0, middle - half) if lost else 0.0, min(1.0, middle + half))


def delay(pings: Sequence[Ping], lost: int) -> Delay:
    """The RTT of echoes; needs at least one."""
    trips = [one.rtt / 1e9 for one in pings]
    return Delay(min(trips), percentile(trips, 0.5), percentile(trips, 0.95), len(trips) + lost, lost)


def dispersion(log: TrainLog) -> float | None:
    """The rate at which the packets of a burst arrived, bit/s; None for too few arrivals."""
    arrivals = sorted(log.arrivals)
    if len(arrivals) < _FEWEST or arrivals[-1] == arrivals[0]:
        return None
    return (len(arrivals) - 1) * log.frame * 8e9 / (arrivals[-1] - arrivals[0])


def steady_rate(log: TrainLog) -> Range | None:
    """The rate at which packets arrived after the start of a train; None for too few arrivals."""
    arrivals = sorted(log.arrivals)
    if len(arrivals) < 2 * _FEWEST:
        return None
    begin = arrivals[0] + round(_SKIP * (arrivals[-1] - arrivals[0]))
    late = [one for one in arrivals if one >= begin]
    if len(late) < _FEWEST or late[-1] == late[0]:
        return None
    mean = (len(late) - 1) * log.frame * 8e9 / (late[-1] - late[0])
    bins = min(_MOST_BINS, max(1, int((late[-1] - late[0]) / 1e9 / _BIN)))
    width = (late[-1] - late[0]) / bins
    counts = [0] * bins
    for one in late[1:]:
        counts[min(bins - 1, int((one - late[0]) / width))] += 1
    rates = [count * log.frame * 8e9 / width for count in counts]
    return Range(mean, percentile(rates, 0.1), percentile(rates, 0.9))


def full_queue(log: TrainLog, jitter: float = 0.0) -> tuple[Range | None, bool]:
    """The delay of packets behind a full queue, and whether the queue was seen to drop packets.

    The delay of a packet is its one-way delay above the smallest one of the train, whose jitter was negative. The
    queue is full from the first `_RUN` packets with most of the losses that the rate of the train causes. The value is
    the 90th percentile, because the queue is not always full if the sender pauses.
    """
    if len(log.numbers) < _FEWEST:
        return None, False
    least = min(log.delays) + jitter * 1e9
    extra = {number: (one - least) / 1e9 for number, one in zip(log.numbers, log.delays, strict=True)}
    start = _first_full(log, sorted(extra))
    if start is None:
        return Range(max(extra.values()), max(extra.values()), max(extra.values())), False
    # The first packets of the run may have arrived before the queue was full.
    found = [one for number, one in extra.items() if number >= start + _RUN // 2]
    if len(found) < _FEWEST:
        return None, True
    return Range(percentile(found, 0.9), percentile(found, 0.1), max(found)), True


def _first_full(log: TrainLog, numbers: list[int]) -> int | None:
    """The first packet of the first run with the losses of a full queue; `numbers` are those that arrived."""
    rate = steady_rate(log)
    offered = (numbers[-1] - numbers[0]) * log.frame * 8e9 / max(1, max(log.departures) - min(log.departures))
    expected = 0.0 if rate is None else max(0.0, 1 - rate.value / max(offered, 1.0))
    least = max(_FULL_LOSS, _OF_EXPECTED * expected) * _RUN
    there = bytearray(numbers[-1] + 1)
    for number in numbers:
        there[number] = 1
    lost = _RUN - sum(there[:_RUN])
    for first in range(len(there) - _RUN + 1):
        if lost >= least:
            return first
        if first + _RUN < len(there):
            lost += there[first] - there[first + _RUN]
    return None


def token_bucket(log: TrainLog, rate: float) -> Policer | None:
    """The token bucket that drops packets of a train; None if packets never arrived faster than `rate`.

    The burst is the largest excess of the arrived bytes over the bytes at `rate`.
    """
    arrivals = sorted(log.arrivals)
    if len(arrivals) <= _GROUP:
        return None
    gaps = [later - first for first, later in zip(arrivals, arrivals[_GROUP:], strict=False)]
    peak = _GROUP * log.frame * 8e9 / max(1, min(gaps))
    if peak < _FASTER * rate:
        return None
    most, least = 0.0, math.inf
    for number, at in enumerate(arrivals):
        level = number * log.frame - rate * (at - arrivals[0]) / 8e9
        least = min(least, level)
        most = max(most, level - least + log.frame)
    return Policer(round(most), peak)


def _scaled(values: Range, factor: float) -> Range:
    return Range(values.value * factor, values.low * factor, values.high * factor)


def direction(flood: TrainLog, steady: TrainLog, one_way: Sequence[int], *, slow: bool, fallback: float) -> Direction:
    """The estimates of one direction.

    `flood` is a train that should fill the link, `steady` one at a low rate. `one_way` are the one-way delays of
    echoes, in nanoseconds with an unknown constant. `slow` states that `flood` was too slow for the link. `fallback`
    is the rate of an earlier estimate, if `flood` has too few arrivals.
    """
    found = steady_rate(flood)
    lost = max(0, steady.lost)
    loss = wilson(lost, steady.sent)
    # Packets that are lost at random have passed the link.
    rate = _scaled(Range(fallback, fallback, fallback) if found is None else found, 1 / max(0.5, 1 - loss.value))
    # A link that keeps the order hides the jitter of packets that follow each other closely, unlike echoes.
    delays = [one / 1e9 for one in one_way]
    jitter = (percentile(delays, 0.95) - percentile(delays, 0.05)) / 1.8 if len(delays) >= 2 * _FEWEST else 0.0
    queue, seen = full_queue(flood, jitter)
    packets = None if queue is None else max(1, round(queue.value * rate.value / 8 / flood.frame) + 1)
    policed = seen and queue is not None and queue.value < _POLICED and not slow
    bucket = token_bucket(flood, rate.value) if policed else None
    return Direction(
        rate=rate,
        # Without a loss and without a queue, the train ended before it filled the link.
        is_rate_bound=slow or (not seen and (queue is None or queue.value < _POLICED)),
        queue_s=queue,
        queue_packets=packets,
        is_queue_bound=not seen,
        policer=bucket,
        loss=loss,
        loss_sent=steady.sent,
        loss_lost=lost,
        jitter_s=jitter,
        overtaken=steady.overtaken(),
        own_queue=flood.full_at_sender,
    )
