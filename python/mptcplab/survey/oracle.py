"""What a sender could reach that knows the links.

Owns the bound and its argument. A byte occupies the window from when it is sent until all before it is acknowledged
too. What a path brought is acknowledged at the earliest by the fastest path in use (a DATA_ACK may come on any): after
D, half the round trip of its own and half of that one's. While it is in use, all that is sent within D must fit into
the window W: the total is at most W / D, and at most the sum of the rates of the paths in use. The best choice is one
of the sets that take the paths in the order of their round trips; to change between sets over time is a mean of what
they give, and never more than the best of them.
"""

from __future__ import annotations

from mptcplab.survey.networks import FRAME, Network

PAYLOAD = 1424
"""Stream bytes of a full frame: with the timestamps and a DSS option."""
WINDOW = 4 << 20
"""The send buffer where buffers tune themselves, bytes."""


def bound(network: Network) -> float:
    """The most that any sender reaches, bit/s."""
    window = float(WINDOW if network.buffer is None else network.buffer)
    total = best = 0.0
    links = sorted(network.links, key=lambda link: link.rtt)
    for link in links:
        total += link.rate * (PAYLOAD / FRAME) * (1 - link.loss)
        best = max(best, min(total, window * 8 / ((link.rtt + links[0].rtt) / 2)))
    return best
