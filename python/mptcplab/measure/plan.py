"""The measurement of one link: which echoes and trains are sent, within a budget of seconds and bytes.

Owns the order and the shares of the phases. Echoes cross the idle link, and then a train fills it in each direction.
Last, trains at a low rate use both directions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mptcplab.measure import estimates
from mptcplab.measure.client import CannotMeasure, Client, FillWatch
from mptcplab.measure.estimates import Delay, Direction
from mptcplab.measure.trains import TrainLog, frame_bytes

SECONDS = 10.0
"""Default duration for one link."""
LEAST_SECONDS = 3.0
BYTES = 60_000_000
"""Default bytes for one link, in both directions together."""
LEAST_BYTES = 200_000
_ECHOES, _FLOOD, _STEADY, _LEAST_STEADY = 0.15, 0.2, 0.25, 0.15
"""Shares of the duration: echoes, a train that fills one direction, trains at a low rate, and their minimum."""
_ECHO_INTERVAL = 0.02
_FLOOD_BYTES, _STEADY_BYTES = 0.4, 0.1
"""Shares of the bytes."""
_BURST = 40
"""Packets that are sent at once for the first estimate of the rate."""
_BURST_RATE = 2e9
_OVERLOAD = 2.0
"""A train that fills the link has this multiple of the estimated rate."""
_SLOW_OVERLOAD, _FAST = 3.0, 30e6
"""The same on links below this rate, in bit/s, whose queues take longer to fill."""
_ROUNDS = 5
"""Trains until one is fast enough."""
_LARGE = 1452
"""UDP payload of packets that fill a link."""
_SMALL = (64, 300)
"""Range of the UDP payload of packets at a low rate."""
_FEW_PACKETS = 500
"""Packets per second that are aimed at on slow links, with smaller packets."""
_LOW_SHARE, _LOW_PACKETS = 0.3, 1_000
"""A low rate: share of the link rate, and packets per second at most."""
_SLOWEST, _FASTEST = 64e3, 1e9
_CALM = 0.005
"""Seconds above the minimum RTT at which a queue counts as empty."""
_PATIENCE = 3.0


@dataclass(frozen=True)
class Measured:
    """A measured link."""

    name: str
    where: str
    """The interface or the address of this host."""
    peer: str
    delay: Delay
    up: Direction
    """From this host to the peer."""
    down: Direction
    seconds: float
    sent_bytes: int
    received_bytes: int


def measure(
    client: Client,
    version: int,
    name: str,
    where: str,
    peer: str,
    *,
    seconds: float = SECONDS,
    most_bytes: int = BYTES,
    progress: Callable[[str], None] = lambda _: None,
) -> Measured:
    """Measures one link with an open session. Raises `CannotMeasure`."""
    began = time.monotonic()
    pings, lost = client.pings(max(10, round(_ECHOES * seconds / _ECHO_INTERVAL)), _ECHO_INTERVAL)
    if not pings:
        raise CannotMeasure("all echoes were lost")
    idle = estimates.delay(pings, lost)
    large = frame_bytes(_LARGE, version)
    logs = {}
    for label, run in (("up", client.upload), ("down", client.download)):
        progress(f"{name}: filling the {label}link")
        # The server sends only one of the two trains.
        count = int(_FLOOD_BYTES * min(most_bytes, 2 * client.granted) / large)
        logs[label] = _flood(run, count, _FLOOD * seconds)
        _settle(client, idle.minimum)
    slowest = _LOW_SHARE * min(rate for _, _, rate in logs.values())
    small = round(min(max(slowest / 8 / _FEW_PACKETS - frame_bytes(0, version), _SMALL[0]), _SMALL[1]))
    rates = [min(_LOW_SHARE * rate, _LOW_PACKETS * 8 * frame_bytes(small, version)) for _, _, rate in logs.values()]
    # The rest of the time, but enough for some losses.
    left = max(_LEAST_STEADY * seconds, min(_STEADY * seconds, began + seconds - time.monotonic() - 1.0))
    share = min(1.0, _STEADY_BYTES * most_bytes * 8 / max(1.0, sum(rates) * left))
    progress(f"{name}: losses and jitter at a low rate")
    low_up, low_down = client.both(small, (share * rates[0], share * rates[1]), left)
    one_way = ([one.up for one in pings], [one.down for one in pings])
    directions = [
        estimates.direction(flood, low, delays, slow=slow, fallback=rate)
        for (flood, slow, rate), low, delays in zip(logs.values(), (low_up, low_down), one_way, strict=True)
    ]
    return Measured(
        name=name,
        where=where,
        peer=peer,
        delay=idle,
        up=directions[0],
        down=directions[1],
        seconds=time.monotonic() - began,
        sent_bytes=client.sent_bytes,
        received_bytes=client.received_bytes,
    )


def _flood(run: Callable[..., tuple[TrainLog, bool]], count: int, seconds: float) -> tuple[TrainLog, bool, float]:
    """A train that fills a direction, whether it was too slow to do so, and an estimate of the rate."""
    burst, _ = run(_LARGE, _BURST_RATE, min(_BURST, max(5, count // 10)), 1.0)
    count -= burst.sent
    rate = estimates.dispersion(burst) or 1e6
    log, slow = burst, True
    for _ in range(_ROUNDS):
        at = min(max((_OVERLOAD if rate > _FAST else _SLOW_OVERLOAD) * rate, _SLOWEST), _FASTEST)
        if count < _BURST:
            break
        log, slow = run(_LARGE, at, count, seconds, FillWatch(min(1.0, seconds)))
        count -= log.sent
        found = estimates.steady_rate(log)
        rate = rate if found is None else found.value
        if not slow or at >= _FASTEST:
            break
        rate = max(rate, at)
    return log, slow, rate


def _settle(client: Client, minimum: float) -> None:
    """Waits until the queues are empty again."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        pings, _ = client.pings(3, 0.01)
        if pings and min(one.rtt for one in pings) / 1e9 < minimum * 1.2 + _CALM:
            return
