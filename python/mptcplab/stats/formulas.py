"""Formulas of the literature with which studies compare measurements.

Each function names its source. Rates are in bit/s of payload, times in seconds. Nothing here uses a run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MSS = 1448
"""Payload bytes of a full segment with timestamps on an MTU of 1500."""
FRAME = 1514
"""Bytes of the frame with such a segment: IP packet and Ethernet header."""


def line_goodput(rate: float, mss: int = MSS, frame: int = FRAME) -> float:
    """The maximum payload rate of a link of `rate` bit/s, after frame overhead."""
    return rate * mss / frame


def window_limit(window_bytes: float, rtt: float) -> float:
    """The rate of one window per RTT."""
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

    `acked` is the number of segments per acknowledgement (b), `timeout` the first retransmission timeout (T0; default:
    Linux's, the RTT plus at least 200 ms).
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
    """Segments in the windows of LIA (RFC 6356) on paths of fixed loss and RTT.

    The fixed point of increase = decrease on each path, by damped iteration. At this point, the total rate equals
    Reno's on the best path.
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
    """Rates of LIA on each path, bit/s; see `lia_windows`."""
    windows = lia_windows(losses, rtts)
    return [window / rtt * mss * 8 for window, rtt in zip(windows, rtts, strict=True)]


def random_loss_law(loss: float, rtt: float, *, acked: int = 1, mss: int = MSS) -> float:
    """Rate of Reno with random segment losses and rare timeouts, bit/s.

    1.31 segments over the root of the loss rate (Ott, Kemperman and Mathis, "The stationary behavior of ideal TCP
    congestion avoidance", 1996). `acked` is the number of segments per acknowledgement, if windows grow by
    acknowledgements.
    """
    return 1.31 / math.sqrt(acked * loss) * mss * 8 / rtt


SHORT_SLOT, DIFS, PREAMBLE, SIGNAL_EXTENSION, SIFS = 9e-6, 28e-6, 20e-6, 6e-6, 10e-6
"""802.11g with short slots, seconds (IEEE 802.11-2016, tables 17-21 and 18-5)."""
_SYMBOL, _SERVICE_AND_TAIL = 4e-6, 22
_MAC, _CCMP, _ACK = 36, 16, 14
"""Bytes: MAC header, LLC/SNAP and check sequence; encryption; an acknowledgement."""


def ofdm(size: int, mbps: int) -> float:
    """Transmission time of a frame of `size` bytes at an OFDM rate of 2.4 GHz, seconds."""
    symbols = math.ceil((_SERVICE_AND_TAIL + 8 * size) / (4 * mbps))
    return PREAMBLE + _SYMBOL * symbols + SIGNAL_EXTENSION


def backoff_fixed_point(stations: int, *, window: int = 16, doublings: int = 6) -> tuple[float, float]:
    """The probability that a saturated station sends in a slot, and that a transmission collides.

    Bianchi (2000), equations 7 and 9, for windows of `window` slots that double `doublings` times.
    """
    low, high = 0.0, 1.0

    def sends(collides: float) -> float:
        grown = math.fsum((2 * collides) ** stage for stage in range(doublings))
        return 2 / (1 + window + collides * window * grown)

    for _ in range(60):
        middle = (low + high) / 2
        if 1 - (1 - sends(middle)) ** (stations - 1) > middle:
            low = middle
        else:
            high = middle
    return sends(low), low


def saturated_cell(
    stations: int, *, packet: int = 1500, wpa2: bool = False, protection: bool = False
) -> tuple[float, float]:
    """IP packets per second of all saturated stations of an 802.11g cell at 54 Mb/s, and the share of collisions.

    Bianchi's fixed point with counters that freeze while the medium is busy. A station that has just sent may draw zero
    and send again first. A collision costs EIFS. `protection` adds a CTS-to-self at 11 Mb/s with a long preamble before
    each frame. The share is that of transmissions that collide.
    """
    sends, collides = backoff_fixed_point(stations)
    idle = (1 - sends) ** stations
    one = stations * sends * (1 - sends) ** (stations - 1)
    before = (192e-6 + 8 * _ACK / 11e6 + SIFS) if protection else 0.0
    data = before + ofdm(packet + _MAC + (_CCMP if wpa2 else 0), 54)
    again = 16 / 15
    success = (data + SIFS + ofdm(_ACK, 24) + DIFS) * again + SHORT_SLOT
    collision = data + SIFS + ofdm(_ACK, 6) + DIFS + SHORT_SLOT
    mean = idle * SHORT_SLOT + one * success + (1 - idle - one) * collision
    return one * again / mean, collides / (1 + (1 - collides) * (again - 1))
