"""The networks of study J (Khalili et al., CoNEXT 2012): scenarios A, B and C, and LIA's equilibrium in A and C.

Groups of users send over shared links. A user of the first group has two paths, a user of the second group one. All
links except the named ones are unlimited. Rates are given per user, in Mb/s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, Scenario
from mptcplab.studies.base import LINUX_2013

NAME = "conext12-olia"

RTT = 100.0
"""Propagation delay of all paths, both directions, ms."""
CONTROLLERS = {"lia": "MPTCP with LIA", "olia": "MPTCP with OLIA"}
PAYLOAD = 1428
"""Bytes of payload in a packet of 1500 bytes (headers of IPv4 and TCP, timestamps, and a DSS option of 20 bytes)."""

Link = dict[str, Any]


def bottleneck(ends: tuple[str, str], rate: float) -> Link:
    """A shared link of `rate` Mb/s with RED. Its queue holds two bandwidth-delay products; RED marks none of them by
    ECN, and its average queue stays below half a product.
    """
    product = rate * 1e6 / 8 * RTT / 1e3
    queue = {"kind": "red", "limit": f"{2 * product:.0f}B", "probability": "10%"}
    return {"ends": list(ends), "rate": f"{rate:g}Mbit", "queue": queue}


def wire(ends: tuple[str, str], delay: float = 0.0) -> Link:
    """An unlimited link; `delay` in ms, one way."""
    return {"ends": list(ends), "rate": "unlimited", "delay": f"{delay:g}ms"}


def users(source: str, to: str, count: int, congestion: str | None) -> dict[str, Any]:
    """Bulk flows of `count` users over all interfaces of `source`; TCP without a controller."""
    kind = {"transport": "tcp", "congestion": "reno"} if congestion is None else {"congestion": congestion}
    return {"from": source, "to": to, "count": count, "sndbuf": "1MB", "rcvbuf": "1MB"} | kind | LINUX_2013


def scenario(name: str, links: dict[str, Link], flows: dict[str, Any], seconds: float, **more: Any) -> Scenario:
    """A scenario of which the second half is measured."""
    return Scenario(
        defaults=AS_STUDIED,
        name=name,
        duration=f"{seconds:g}s",
        warmup=f"{seconds / 2:g}s",
        sample=f"{seconds / 4:g}s",
        links=links,
        flows=flows,
        **more,
    )


def of_group(group: str) -> Callable[[Run], float]:
    """The mean goodput of the users of a group, in Mb/s of packets with headers."""

    def value(run: Run) -> float:
        rates: list[float] = [
            row["goodput"]
            for row in run.flows.select(["flow", "goodput"]).to_pylist()
            if row["flow"].rpartition("-")[0] == group
        ]
        return sum(rates) / len(rates) / 1e6 * 1500 / PAYLOAD

    return value


def solve(rises: Callable[[float], float], target: float) -> float:
    """The z from 0 to 10 at which a rising function of z has a value."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) < target else (low, middle)
    return low


def equilibrium_a(ratio: float, users: float) -> float:
    """The rate of a TCP user of scenario A over the fair rate, with LIA at equilibrium.

    `ratio` is the capacity per MPTCP user over that per TCP user, `users` the number of MPTCP users over that of TCP
    users. RFC 6356 gives windows in proportion to the inverse loss rate of a path, and in total the rate of TCP on the
    better path. Let z² be the loss rate at the server over that at the access point. Then TCP gets z times the rate of
    an MPTCP user. An MPTCP user sends z² / (1 + 2 z²) of its rate over the access point.
    """
    z = solve(lambda z: z + users * z**2 / (1 + 2 * z**2), 1 / ratio)
    return z * ratio


def equilibrium_c(ratio: float, users: float) -> float:
    """The rate of a TCP user of scenario C over the fair rate, with LIA at equilibrium.

    The own access point of the MPTCP users has the lower loss rate.

    Let z² be the loss rate at the own over that at the shared access point. An MPTCP user sends z² times as much over
    the shared access point as over its own. TCP gets z times the total rate of an MPTCP user.
    """
    z = solve(lambda z: users * z**2 + z * (1 + z**2), 1 / ratio)
    return z * (1 + z**2) * ratio
