"""Scenarios with one planted cause of low goodput, such as a small queue, to test `mptcplab why`.

`why` names the limiting factors of a flow; here it must name the planted one first. The tests and `tools/planted` use
it. Owns the generation, and the rule that the scenario must be faster without the planted cause.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.scenario.definition import NO_JITTER, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable


COSTS = 0.1
"""Minimum share of the goodput that a planted cause costs; otherwise another scenario is generated."""
DURATION = "15s"
QUEUES = (0.7, 3.0)
"""Range of queues in bandwidth-delay products, unless the queue is the cause."""


@dataclass(frozen=True)
class Planted:
    """A scenario with a planted cause, and the same scenario without it.

    `cause` is None for a scenario without a cause, `path` for a cause that concerns the whole connection.
    """

    number: int
    cause: str | None
    path: str | None
    scenario: Scenario
    without: Scenario

    @property
    def kind(self) -> str:
        """The planted cause as text."""
        return "nothing" if self.cause is None else list(KINDS)[self.number % len(KINDS)]


@dataclass(frozen=True)
class Verdict:
    """The first finding of `why` (None without one), its share of capacity, and the real cost in goodput."""

    planted: Planted
    named: tuple[str, str | None] | None
    share: float
    cost: float

    @property
    def right(self) -> bool:
        """Whether the first finding is the cause on its path; without a cause, whether there is no finding."""
        if self.planted.cause is None or self.named is None:
            return self.planted.cause is None and self.named is None
        cause, path = self.named
        # `why` may name a setting of the connection as such, or on the path that lost most.
        return cause == self.planted.cause and (path == self.planted.path or cause in WHOLE)


class _Draw:
    def __init__(self, *seed: int) -> None:
        self.chance = np.random.default_rng(seed)

    def between(self, least: float, most: float) -> float:
        return float(math.exp(self.chance.uniform(math.log(least), math.log(most))))

    def network(self, queues: tuple[float, float] = QUEUES) -> dict[str, dict[str, Any]]:
        """Two paths of 4-40 Mb/s, 10-100 ms, and queues in this range of BDP."""
        return {name: self.line((4e6, 40e6), (10e-3, 100e-3), queues) for name in ("wifi", "lte")}

    def line(
        self, rates: tuple[float, float], trips: tuple[float, float], queues: tuple[float, float] = QUEUES
    ) -> dict[str, Any]:
        """One path with values from these ranges: bit/s, s, and the queue in BDP of the path."""
        rate, rtt = self.between(*rates), self.between(*trips)
        queue = max(12, round(self.between(*queues) * rate * rtt / 8 / 1514))
        return {"rate": f"{rate / 1e3:.0f}kbit", "rtt": f"{rtt * 1e6:.0f}us", "queue": f"{queue}p"}

    def path(self) -> str:
        return str(self.chance.choice(["wifi", "lte"]))


def _scenario(
    paths: dict[str, Any], flow: dict[str, Any], *, more_flows: dict[str, Any] | None = None, **more: Any
) -> Scenario:
    large = {"rcvbuf": "16MB", "sndbuf": "16MB", "congestion": "lia"}
    return Scenario(
        name="planted",
        jitter=NO_JITTER,
        duration=DURATION,
        warmup="1s",
        sample="1s",
        paths=paths,
        flows={"flow": large | flow} | (more_flows or {}),
        **more,
    )


def _rates(paths: dict[str, Any]) -> list[float]:
    return [float(path["rate"].removesuffix("kbit")) * 1e3 for path in paths.values()]


def _trips(paths: dict[str, Any]) -> list[float]:
    return [float(path["rtt"].removesuffix("us")) / 1e6 for path in paths.values()]


def _loss(draw: _Draw, number: int) -> Planted:
    """Random loss, with up to 20 ms of jitter."""
    paths, at = draw.network(), draw.path()
    paths[at] = draw.line((10e6, 60e6), (20e-3, 80e-3)) | {"jitter": f"{draw.chance.uniform(0, 20) * 1e3:.0f}us"}
    bad = {name: dict(path) for name, path in paths.items()}
    bad[at]["loss"] = f"{draw.between(0.3, 5):.2f}%"
    return Planted(number, "loss", at, _scenario(bad, {}), _scenario(paths, {}))


def _delay_step(draw: _Draw, number: int) -> Planted:
    """Random loss, and a lasting change of the delay."""
    paths, at = draw.network(), draw.path()
    rtt = _trips(paths)[list(paths).index(at)]
    to = max(1e-3, rtt / 2 * draw.between(1.05, 3))
    events = [{"at": f"{draw.chance.uniform(3, 8):.2f}s", "path": at, "set": {"delay": f"{to * 1e6:.0f}us"}}]
    bad = {name: dict(path) for name, path in paths.items()}
    bad[at]["loss"] = f"{draw.between(0.5, 5):.2f}%"
    return Planted(number, "loss", at, _scenario(bad, {}, events=events), _scenario(paths, {}, events=events))


def _small_queue(draw: _Draw, number: int) -> Planted:
    """A queue of a few packets before a long link."""
    paths, at = draw.network(), draw.path()
    deep = draw.line((20e6, 60e6), (60e-3, 150e-3))
    shallow = deep | {"queue": f"{draw.chance.integers(3, 9)}p"}
    return Planted(
        number, "queue_overflow", at, _scenario(paths | {at: shallow}, {}), _scenario(paths | {at: deep}, {})
    )


def _bufferbloat(draw: _Draw, number: int) -> Planted:
    """A queue of seconds; it costs latency, not throughput."""
    paths, at = draw.network((0.7, 2.0)), draw.path()
    rate = _rates(paths)[list(paths).index(at)]
    queue = f"{max(60, rate * draw.between(0.8, 3) / 8 / 1514):.0f}p"
    bloated = paths | {at: paths[at] | {"queue": queue}}
    return Planted(number, "bufferbloat", at, _scenario(bloated, {}), _scenario(paths, {}))


def _redundant(draw: _Draw, number: int) -> Planted:
    """A scheduler that sends everything on every path."""
    paths = draw.network()
    return Planted(number, "scheduler", None, _scenario(paths, {"scheduler": "redundant"}), _scenario(paths, {}))


def _coupling(draw: _Draw, number: int) -> Planted:
    """Coupled growth on four paths without a shared bottleneck: each of four equal windows grows at 1/16 of Reno."""
    names = ("wifi", "lte", "dsl", "satellite")
    paths = {name: draw.line((15e6, 40e6), (60e-3, 150e-3), (0.2, 0.5)) for name in names}
    flow = {"congestion": str(draw.chance.choice(["lia", "olia", "balia"])), "coupling_scope": "all"}
    return Planted(number, "coupling", None, _scenario(paths, flow), _scenario(paths, {"congestion": "reno"}))


def _cross_traffic(draw: _Draw, number: int) -> Planted:
    """Another flow on one of the paths."""
    paths, at = draw.network(), draw.path()
    rate = _rates(paths)[list(paths).index(at)]
    other: dict[str, Any] = {"transport": "tcp", "congestion": "cubic", "rcvbuf": "16MB", "sndbuf": "16MB"}
    if draw.chance.random() < 0.5:
        other = {"transport": "udp", "datagram": "1000B", "rate": f"{rate * draw.between(0.4, 0.9) / 1e3:.0f}kbit"}
    with_it = _scenario(paths, {}, more_flows={"other": other | {"paths": [at]}})
    return Planted(number, "cross_traffic", at, with_it, _scenario(paths, {}))


def _down(draw: _Draw, number: int) -> Planted:
    """A path that is down for a time."""
    paths, at = draw.network(), draw.path()
    begin = draw.chance.uniform(2, 5)
    end = min(14.0, begin + draw.between(3, 9))
    events = [{"at": f"{when:.2f}s", "path": at, "set": {"up": up}} for when, up in ((begin, False), (end, True))]
    return Planted(number, "down", at, _scenario(paths, {}, events=events), _scenario(paths, {}))


def _fading(draw: _Draw, number: int) -> Planted:
    """A link whose rate falls and recovers."""
    paths, at = draw.network(), draw.path()
    rate = _rates(paths)[list(paths).index(at)]
    begin = draw.chance.uniform(2, 5)
    end = min(14.0, begin + draw.between(3, 9))
    low = max(64e3, rate / draw.between(2, 250))
    rates = ((begin, low), (end, rate))
    events = [{"at": f"{when:.2f}s", "path": at, "set": {"rate": f"{to / 1e3:.0f}kbit"}} for when, to in rates]
    return Planted(number, "lower_rate", at, _scenario(paths, {}, events=events), _scenario(paths, {}))


def _buffer(draw: _Draw, number: int, cause: str, key: str) -> Planted:
    """A buffer below the bandwidth-delay product of these paths."""
    paths = draw.network()
    need = sum(_rates(paths)) * max(_trips(paths)) / 8
    small = {key: f"{max(12000, need * draw.between(0.15, 0.5)):.0f}B"}
    return Planted(number, cause, None, _scenario(paths, small), _scenario(paths, {}))


def _receive_window(draw: _Draw, number: int) -> Planted:
    return _buffer(draw, number, "receive_window", "rcvbuf")


def _send_buffer(draw: _Draw, number: int) -> Planted:
    return _buffer(draw, number, "send_buffer", "sndbuf")


def _scheduler(draw: _Draw, number: int) -> Planted:
    paths, at = draw.network(), draw.path()
    return Planted(number, "scheduler", at, _scenario(paths, {"backup": [at]}), _scenario(paths, {}))


def _application(draw: _Draw, number: int) -> Planted:
    paths = draw.network()
    rate = sum(_rates(paths)) * draw.between(0.05, 0.6)
    flow = {"blocks": "8kB", "rate": f"{rate / 1e3:.0f}kbit"}
    return Planted(number, "application", None, _scenario(paths, flow), _scenario(paths, {}))


def _penalty(draw: _Draw, number: int) -> Planted:
    paths, slow = draw.network(), draw.path()
    fast = "lte" if slow == "wifi" else "wifi"
    paths[fast] = draw.line((10e6, 40e6), (10e-3, 30e-3))
    paths[slow] = draw.line((8e6, 20e6), (80e-3, 200e-3))
    flow = {
        "scheduler": "minrtt",
        "opportunistic_retransmission": True,
        "opportunistic_rule": "original",
        "rcvbuf": f"{draw.between(300, 900):.0f}kB",
    }
    with_it = {"penalisation": True, "penalty_rule": "original"}
    return Planted(
        number, "penalty", slow, _scenario(paths, flow | with_it), _scenario(paths, flow | {"penalisation": False})
    )


def _never_joined(draw: _Draw, number: int) -> Planted:
    paths, at = draw.network(), draw.path()
    first = "lte" if at == "wifi" else "wifi"
    flow = {"paths": [first, at]}
    bad = {name: path | ({"loss": "100%"} if name == at else {}) for name, path in paths.items()}
    return Planted(number, "never_joined", at, _scenario(bad, flow), _scenario(paths, flow))


def _upload_beside(draw: _Draw, number: int) -> Planted:
    """An upload that fills the queue of a download's acknowledgements."""
    paths, at = draw.network(), draw.path()
    rate = _rates(paths)[list(paths).index(at)]
    back = {"rate": f"{rate * draw.between(0.1, 0.5) / 1e3:.0f}kbit", "queue": f"{draw.chance.integers(50, 300)}p"}
    asymmetric = paths | {at: paths[at] | {"forward": back}}
    flow = {"direction": "download"}
    upload = {"transport": "tcp", "direction": "upload", "congestion": "cubic", "rcvbuf": "16MB", "sndbuf": "16MB"}
    with_it = _scenario(asymmetric, flow, more_flows={"upload": upload | {"paths": [at]}})
    return Planted(number, "ack_queue", at, with_it, _scenario(asymmetric, flow))


def _none(draw: _Draw, number: int) -> Planted:
    scenario = _scenario(draw.network(), {})
    return Planted(number, None, None, scenario, scenario)


KINDS: dict[str, Callable[[_Draw, int], Planted]] = {
    "random loss and jitter": _loss,
    "random loss and a step of the delay": _delay_step,
    "receive buffer": _receive_window,
    "send buffer": _send_buffer,
    "shallow queue": _small_queue,
    "bufferbloat": _bufferbloat,
    "backup path": _scheduler,
    "redundant scheduler": _redundant,
    "coupling": _coupling,
    "penalised path": _penalty,
    "cross traffic": _cross_traffic,
    "application": _application,
    "path down": _down,
    "fading rate": _fading,
    "path that never joins": _never_joined,
    "acknowledgements behind an upload": _upload_beside,
}
WHOLE = ("scheduler", "penalty", "coupling")
"""Causes that are settings of the connection, and appear on any path."""
MOST_ROUNDS = 40
"""Rounds of generation; scenarios whose cause costs too little are replaced in the next one."""
FREE = ("bufferbloat",)
"""Causes that need not cost throughput."""


def judge(seed: int, causes: int, none: int, *, workers: int | None = None) -> list[Verdict]:
    """Runs `why` on `causes` generated scenarios, equally many of each cause, and on `none` without a cause."""
    share, more = divmod(causes, len(KINDS))
    missing = {kind: share + (at < more) for at, kind in enumerate(KINDS)}
    # By type: numbers of scenarios, which select the type (`Planted.kind`).
    numbers = {kind: itertools.count(at, len(KINDS)) for at, kind in enumerate(KINDS)}
    verdicts: list[Verdict] = []
    for _ in range(MOST_ROUNDS):
        wanted = [kind for kind, count in missing.items() for _ in range(count)]
        drawn = [
            (kind, KINDS[kind](_Draw(seed, number), number)) for kind in wanted for number in [next(numbers[kind])]
        ]
        if not drawn:
            break
        # A cause without cost does not count.
        costs = _costs([one for _, one in drawn], seed, workers)
        kept = [(kind, one, cost) for (kind, one), cost in zip(drawn, costs, strict=True) if _counts(one, cost)]
        for kind, _, _ in kept:
            missing[kind] -= 1
        verdicts += _judge([(one, cost) for _, one, cost in kept], seed)
    nothing = [_none(_Draw(seed, 10**6 + at), at) for at in range(none)]
    return verdicts + _judge([(one, 0.0) for one in nothing], seed)


def _counts(planted: Planted, cost: float) -> bool:
    return cost >= COSTS or planted.cause in FREE


def _costs(drawn: list[Planted], seed: int, workers: int | None) -> list[float]:
    """By scenario: the share of the goodput without the cause that the cause costs."""
    runs = run_jobs([Job(one.scenario.core, seed) for one in drawn], workers=workers, label="planted")
    without = run_jobs([Job(one.without.core, seed) for one in drawn], workers=workers, label="without the cause")
    rates = [
        (run.flow("flow")["goodput"], free.flow("flow")["goodput"]) for run, free in zip(runs, without, strict=True)
    ]
    return [1 - rate / max(free, 1.0) for rate, free in rates]


def _judge(drawn: list[tuple[Planted, float]], seed: int) -> list[Verdict]:
    from mptcplab.why.explain import explain

    verdicts = []
    for planted, cost in drawn:
        [answer] = explain(planted.scenario, flow="flow", seeds=[seed])
        found = answer.findings
        named = (found[0].cause, found[0].path) if found else None
        verdicts.append(Verdict(planted, named, found[0].share if found else 0.0, cost))
    return verdicts
