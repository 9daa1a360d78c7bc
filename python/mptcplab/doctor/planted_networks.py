"""Networks and causes of captures with a planted cause: random paths, a bulk flow, and one change for each cause.

Owns the ranges of all random values, the change that plants each cause, and the captures that show the cause.
`planted_captures` runs the results.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from mptcplab.scenario.definition import Scenario

Item = TypeVar("Item")
Summary = Mapping[str, Any]
"""The summary of a flow after a run."""

RATES, TRIPS, QUEUES = (2e6, 60e6), (8e-3, 150e-3), (0.7, 3.0)
"""Ranges of link rates in bit/s, RTTs in seconds, and queues in bandwidth-delay products."""
MAX_QUEUE_DELAY = 0.2
"""Delay of a full queue in seconds, so that only the cause `bufferbloat` has queues of 0.5 s."""
DURATIONS = (6.0, 15.0)
NAMES = ("wifi", "lte", "dsl")
MIN_SHARE = 0.15
"""Minimum share of a path in the rate of all paths; otherwise a cause on this path costs too little."""
CAPTURED_BYTES = 24e6
"""Data above which a run is shortened, down to the minimum duration. It limits the size of captures."""
FRAME = 1514
"""Bytes of a full frame, to convert queues from bytes to packets."""
CONTROLLERS = ("cubic", "reno", "lia", "olia", "balia")
BOTH = ("client", "server", "both")
"""Hosts whose captures are given to the doctor."""


class Draw:
    """Random values from one seed."""

    def __init__(self, *seed: int) -> None:
        """The seed is a sequence of numbers, such as the seed of the user and the number of the case."""
        self.random = np.random.default_rng(seed)

    def between(self, lowest: float, highest: float) -> float:
        """A value with a log-uniform distribution."""
        return float(math.exp(self.random.uniform(math.log(lowest), math.log(highest))))

    def uniform(self, lowest: float, highest: float) -> float:
        """A value with a uniform distribution."""
        return float(self.random.uniform(lowest, highest))

    def whole(self, lowest: int, highest: int) -> int:
        """An integer with a uniform distribution, from `lowest` to `highest`."""
        return int(self.random.integers(lowest, highest + 1))

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[int(self.random.integers(len(items)))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return float(self.random.random()) < probability


@dataclass
class Line:
    """One path: its rate in bit/s, RTT in seconds, queue in bandwidth-delay products, and other keys of a scenario."""

    rate: float
    rtt: float
    queue: float
    more: dict[str, Any] = field(default_factory=dict)

    def table(self) -> dict[str, Any]:
        """The keys of the path in a scenario."""
        packets = max(12, round(self.queue * self.rate * self.rtt / 8 / FRAME))
        return {"rate": bits(self.rate), "rtt": f"{self.rtt * 1e6:.0f}us", "queue": f"{packets}p"} | self.more


@dataclass
class Plan:
    """A network and its flow, before they become a scenario. Causes change it."""

    lines: dict[str, Line]
    flow: dict[str, Any]
    duration: float
    events: list[dict[str, Any]] = field(default_factory=list)
    middleboxes: dict[str, dict[str, Any]] = field(default_factory=dict)
    server_addresses: bool = False
    """Whether the server has one address for each path, and the client one interface for all paths."""

    @property
    def rate(self) -> float:
        """The rate of all paths in bit/s."""
        return sum(line.rate for line in self.lines.values())

    @property
    def is_download(self) -> bool:
        """Whether the server sends the data."""
        return bool(self.flow["direction"] == "download")

    @property
    def is_linux(self) -> bool:
        """Whether both hosts behave like Linux."""
        return self.flow.get("stack") == "linux"

    def copy(self) -> Plan:
        """An independent copy."""
        return copy.deepcopy(self)

    def scenario(self) -> Scenario:
        """The scenario."""
        tables: dict[str, Any] = {name: line.table() for name, line in self.lines.items()}
        flows = {"flow": dict(self.flow)}
        network: dict[str, Any] = {"paths": tables}
        if self.server_addresses:
            # A host that opens a connection has one address for each link.
            flows["other"] = {"from": "server", "to": "client", "transport": "tcp", "bytes": "1B", "start": "100ms"}
            links = {name: {"ends": ["router", "server"]} | table for name, table in tables.items()}
            access = {"ends": ["client", "router"], "rate": bits(4 * self.rate), "rtt": "1ms", "queue": "1000p"}
            network = {"links": {"access": access} | links}
            del flows["flow"]["paths"]
        return Scenario(
            name="planted",
            duration=f"{self.duration:.2f}s",
            flows=flows,
            events=self.events,
            middleboxes=self.middleboxes,
            **network,
        )


@dataclass(frozen=True)
class Cause:
    """A planted cause, as the change of a plan that has no cause."""

    verdict: str
    subject: str | None
    """The path, or None for the whole connection."""
    apply: Callable[[Plan], None]
    hosts: tuple[str, ...] = BOTH
    """Hosts whose captures show the cause."""
    must_cost: bool = True
    """Whether the cause must reduce the goodput."""
    shows: Callable[[Summary], bool] = lambda _: True
    """Whether the run has the effect of the cause, according to the simulator."""
    also: Callable[[Summary], frozenset[str]] = lambda _: frozenset()
    """Other verdicts that are right too, because the cause has two effects of similar size."""


@dataclass
class Site:
    """The place of a cause, before it is planted."""

    draw: Draw
    plan: Plan
    """The plan without a cause. A cause may need other values in it."""
    path: str
    """The path of the cause, which is never the first one."""


Planter = Callable[[Site], Cause]
"""Prepares the plan for a cause at this site, and returns the cause."""


def bits(rate: float) -> str:
    """A rate in bit/s as a value of a scenario."""
    return f"{rate / 1e3:.0f}kbit"


def size(amount: float) -> str:
    """A number of bytes as a value of a scenario, at least 12 kB."""
    return f"{max(12e3, amount):.0f}B"


def line(
    draw: Draw,
    rates: tuple[float, float] = RATES,
    trips: tuple[float, float] = TRIPS,
    queues: tuple[float, float] = QUEUES,
) -> Line:
    """A path with values from these ranges. Its queue delays packets by at most `MAX_QUEUE_DELAY` or 0.7 RTT."""
    rate, rtt = draw.between(*rates), draw.between(*trips)
    return Line(rate, rtt, min(draw.between(*queues), max(0.7, MAX_QUEUE_DELAY / rtt)))


def plan(draw: Draw, *, count: int | None = None) -> Plan:
    """A network without a cause: 2 or 3 paths, each with a share of at least `MIN_SHARE`, and a bulk flow."""
    count = count or (3 if draw.chance(0.2) else 2)
    names = [str(name) for name in draw.random.permutation(NAMES)[:count]]
    lines = {name: line(draw) for name in names}
    while min(one.rate for one in lines.values()) < MIN_SHARE * sum(one.rate for one in lines.values()):
        lines = {name: line(draw) for name in names}
    flow: dict[str, Any] = {
        "direction": draw.choice(("download", "upload")),
        "congestion": draw.choice(CONTROLLERS),
        "paths": names,
        "rcvbuf": "16MB",
        "sndbuf": "16MB",
    }
    if draw.chance(0.5):
        flow |= {"stack": "linux", "autotuning": True}
        if draw.chance(0.5):
            flow["congestion"] = "cubic"
    longest = CAPTURED_BYTES * 8 / sum(one.rate for one in lines.values())
    return Plan(lines, flow, max(DURATIONS[0], min(draw.uniform(*DURATIONS), longest)))


def need(made: Plan) -> float:
    """Bytes that all paths need in flight: the rate of all paths times the maximum RTT."""
    return made.rate * max(one.rtt for one in made.lines.values()) / 8


def limit(flow: Summary, name: str) -> float:
    """Share of time for which the connection had this limit."""
    return float(flow["limits"].get(name, 0.0))


def path_of(flow: Summary, name: str) -> Mapping[str, Any]:
    """The summary of a path, with zeros for a path without a subflow."""
    empty: dict[str, Any] = {"bytes_acked": 0, "mean_srtt_s": 0.0, "timeouts": 0, "limits": {}, "base_rtt_s": 0.0}
    return next((one for one in flow["paths"] if one["path"] == name), empty)


def path_limit(flow: Summary, path: str, name: str) -> float:
    """Share of time for which the path had this limit."""
    return float((path_of(flow, path)["limits"] or {}).get(name, 0.0))


def similar_trips(draw: Draw, made: Plan) -> None:
    """Gives all paths nearly the same RTT, so that data arrives nearly in order."""
    rtt = draw.between(15e-3, 100e-3)
    for one in made.lines.values():
        one.rtt = rtt * draw.uniform(0.85, 1.2)
