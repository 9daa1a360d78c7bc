"""Upper bounds for any sender that knows the links: of the goodput, and of the speed of a file transfer.

Surveys use them to tell a bad decision of MPTCP from a network on which no sender is faster.

Rate: a byte occupies the send window W until it and all earlier bytes are acknowledged. A DATA_ACK may return over any
path. So data on the path with the longest RTT in use is acknowledged after at least D, half of that RTT plus half of
the shortest one. All data sent within D must fit into W: the rate is at most W / D, and at most the sum of the rates in
use. The best set takes paths in the order of their RTTs. Switching between sets only averages their rates.

File: the first path sends after its handshake, the others after their joins. A join waits for the first DSS (RFC 8684
section 3.1), which takes two RTTs of the first path. The client sends on the new path two RTTs of that path later, when
the fourth packet of the join handshake arrives (section 3.2). A congestion window starts with ten segments (RFC 6928)
and at most doubles per RTT (RFC 5681 section 3.1).
"""

from __future__ import annotations

from mptcplab.survey.networks import FRAME, Link, Network

PAYLOAD = 1424
"""Stream bytes of a full frame with timestamps and a DSS option."""
WINDOW = 4 << 20
"""The send buffer with automatic tuning, bytes."""
MOST_PAYLOAD = 1448
"""Stream bytes of a full frame without a DSS option, because a mapping may cover several segments."""
INITIAL = 10
"""Segments of an initial window."""
_PRECISION = 1e-4


def bound(network: Network) -> float:
    """The maximum rate of any sender, bit/s."""
    window = float(WINDOW if network.buffer is None else network.buffer)
    total = best = 0.0
    links = sorted(network.links, key=lambda link: link.rtt)
    for link in links:
        total += link.rate * (PAYLOAD / FRAME) * (1 - link.loss)
        best = max(best, min(total, window * 8 / ((link.rtt + links[0].rtt) / 2)))
    return best


def earliest(network: Network, size: int) -> float:
    """The minimum completion time of a file of `size` bytes for any sender, from the first SYN, s."""
    starts = [(link, link.rtt + join) for link, join in zip(network.links, joins(network), strict=True)]
    low, high = 0.0, network.links[0].rtt
    while sum(_brought(link, high - start) for link, start in starts) < size:
        low, high = high, 2 * high
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        enough = sum(_brought(link, middle - start) for link, start in starts) >= size
        low, high = (low, middle) if enough else (middle, high)
    return low


def joins(network: Network) -> list[float]:
    """The delay of the first data on each path, compared with a separate connection that opens at the same time, s."""
    first, *others = network.links
    return [0.0] + [2 * first.rtt + link.rtt for link in others]


def _brought(link: Link, since: float) -> float:
    """The maximum bytes that a path delivers within `since` seconds after its first segment was sent."""
    left = since - link.rtt / 2
    if left <= 0:
        return 0.0
    rate = link.rate * (MOST_PAYLOAD / FRAME) / 8
    window, brought = float(INITIAL * MOST_PAYLOAD), 0.0
    while window < rate * link.rtt and left > link.rtt:
        brought, window, left = brought + window, 2 * window, left - link.rtt
    return brought + (rate * left if window >= rate * link.rtt else min(window, rate * left))
