"""Formulas of the literature that measurements are held against.

Each function names its source. Rates are in bit/s of payload, times in seconds. Nothing here looks
at a run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MSS = 1448
"""Payload bytes of a full segment with timestamps on an MTU of 1500."""
FRAME = 1514
"""Bytes of the frame that carries it: IP packet and Ethernet header."""


def line_goodput(rate: float, mss: int = MSS, frame: int = FRAME) -> float:
    """The most payload that a line of `rate` bit/s carries: frames count, payload arrives."""
    return rate * mss / frame


def window_limit(window_bytes: float, rtt: float) -> float:
    """What a window lets through: one window each round trip."""
    return window_bytes * 8 / rtt


def pftk(  # noqa: PLR0913, RUF100 - the parameters of the formula
    loss: float,
    rtt: float,
    *,
    acked: int = 1,
    timeout: float | None = None,
    mss: int = MSS,
    window: float = math.inf,
) -> float:
    """Steady-state TCP throughput under random loss (Padhye et al., SIGCOMM 1998, equation 30).

    `acked` is the number of segments that one acknowledgement covers (b), `timeout` the first
    retransmission timeout (T0), by default Linux's: the round trip plus 200 ms at least.
    """
    limit = window * 8 / rtt
    if loss <= 0:
        return limit
    first = max(0.2, rtt + 0.2) if timeout is None else timeout
    fast = rtt * math.sqrt(2 * acked * loss / 3)
    slow = first * min(1.0, 3 * math.sqrt(3 * acked * loss / 8)) * loss * (1 + 32 * loss * loss)
    return min(limit, mss * 8 / (fast + slow))


def reno_window(loss: float) -> float:
    """Segments in Reno's window at a fixed loss rate: sqrt(2/p)."""
    return math.sqrt(2 / loss)


def lia_windows(losses: Sequence[float], rtts: Sequence[float]) -> list[float]:
    """Segments in the windows of LIA (RFC 6356) on paths of fixed loss and round trip.

    The fixed point of increase = decrease on each path, by damped iteration. In it the total rate
    equals Reno's on the best path.
    """
    windows = [reno_window(loss) for loss in losses]
    for _ in range(20_000):
        rates = [window / rtt for window, rtt in zip(windows, rtts, strict=True)]
        aggressiveness = max(w / r**2 for w, r in zip(windows, rtts, strict=True)) / sum(rates) ** 2
        change = 0.0
        for path, (window, loss) in enumerate(zip(windows, losses, strict=True)):
            balance = 2 * min(aggressiveness, 1 / window) / loss
            following = max(0.9 * window + 0.1 * balance, 1e-3)
            change = max(change, abs(following - window) / window)
            windows[path] = following
        if change < 1e-10:
            break
    return windows


def lia_rates(losses: Sequence[float], rtts: Sequence[float], mss: int = MSS) -> list[float]:
    """Bit/s of LIA on each path; see `lia_windows`."""
    windows = lia_windows(losses, rtts)
    return [window / rtt * mss * 8 for window, rtt in zip(windows, rtts, strict=True)]
