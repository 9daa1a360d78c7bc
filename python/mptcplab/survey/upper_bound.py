"""What a sender could reach that knows the links.

Owns the bounds and their arguments, of a rate and of the time of a file. A byte occupies the window from when it is
sent until all before it is acknowledged too. What a path brought is acknowledged at the earliest by the fastest path in
use (a DATA_ACK may come on any): after D, half the round trip of its own and half of that one's. While it is in use,
all that is sent within D must fit into the window W: the total is at most W / D, and at most the sum of the rates of
the paths in use. The best choice is one of the sets that take the paths in the order of their round trips; to change
between sets over time is a mean of what they give, and never more than the best of them.

A file is there no sooner than its paths can have brought it: the first one sends when its handshake is over, and the
others when they have joined. A join waits for the first DSS (RFC 8684 section 3.1), which is two round trips of the
first path, and whoever asked for it sends when the fourth packet of its handshake is there (section 3.2), two of its
own later. A window begins with ten segments (RFC 6928) and doubles in a round trip at most (RFC 5681 section 3.1).
"""

from __future__ import annotations

from mptcplab.survey.networks import FRAME, Link, Network

PAYLOAD = 1424
"""Stream bytes of a full frame: with the timestamps and a DSS option."""
WINDOW = 4 << 20
"""The send buffer where buffers tune themselves, bytes."""
MOST_PAYLOAD = 1448
"""Stream bytes of a full frame with the timestamps alone: a mapping may cover several segments."""
INITIAL = 10
"""Segments of a first window."""
_PRECISION = 1e-4


def bound(network: Network) -> float:
    """The most that any sender reaches, bit/s."""
    window = float(WINDOW if network.buffer is None else network.buffer)
    total = best = 0.0
    links = sorted(network.links, key=lambda link: link.rtt)
    for link in links:
        total += link.rate * (PAYLOAD / FRAME) * (1 - link.loss)
        best = max(best, min(total, window * 8 / ((link.rtt + links[0].rtt) / 2)))
    return best


def earliest(network: Network, size: int) -> float:
    """The least time in which any sender has a file of `size` bytes there, from the first SYN on, s."""
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
    """How much later data may leave on each path than on a connection of its own that opens at the same time, s."""
    first, *others = network.links
    return [0.0] + [2 * first.rtt + link.rtt for link in others]


def _brought(link: Link, since: float) -> float:
    """The most bytes that a path has brought so long after its first segment left."""
    left = since - link.rtt / 2
    if left <= 0:
        return 0.0
    rate = link.rate * (MOST_PAYLOAD / FRAME) / 8
    window, brought = float(INITIAL * MOST_PAYLOAD), 0.0
    while window < rate * link.rtt and left > link.rtt:
        brought, window, left = brought + window, 2 * window, left - link.rtt
    return brought + (rate * left if window >= rate * link.rtt else min(window, rate * left))
