"""Scenarios with one planted cause, and whether it is named: the test of `mptcplab.reasons`.

Owns the draw, and what counts as planted: a cause that costs the flow something, against the same scenario without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.batch import Job, run_jobs
from mptcplab.events import REASONS
from mptcplab.reasons import findings
from mptcplab.scenario import NO_JITTER, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab._core import FlowRow

COSTS = 0.1
"""A planted cause takes at least this part of the goodput; else another is drawn."""
DURATION = "15s"
QUEUES = (0.7, 3.0)
"""Queues of scenarios with a cause, BDP."""
ANY_QUEUE = (0.35, 8.0)
"""Queues of scenarios without a cause, BDP: from small ones to bloated ones."""


@dataclass(frozen=True)
class Planted:
    """A scenario with a cause, and the same without; `cause` is None where there is none."""

    number: int
    cause: str | None
    path: str | None
    scenario: Scenario
    without: Scenario


@dataclass(frozen=True)
class Verdict:
    """What was found in a planted scenario."""

    planted: Planted
    named: tuple[str, str | None] | None
    share: float
    cost: float

    @property
    def right(self) -> bool:
        """Whether the first finding is the cause, on its path; for none, that there is no finding."""
        return self.named == (None if self.planted.cause is None else (self.planted.cause, self.planted.path))


class _Draw:
    def __init__(self, *seed: int) -> None:
        self.chance = np.random.default_rng(seed)

    def between(self, least: float, most: float) -> float:
        return float(math.exp(self.chance.uniform(math.log(least), math.log(most))))

    def network(self, queues: tuple[float, float] = QUEUES) -> dict[str, dict[str, Any]]:
        """Two paths: 4-40 Mb/s, round trips of 10-100 ms, queues of so many BDP."""
        return {name: self.line((4e6, 40e6), (10e-3, 100e-3), queues) for name in ("wifi", "lte")}

    def line(
        self, rates: tuple[float, float], trips: tuple[float, float], queues: tuple[float, float] = QUEUES
    ) -> dict[str, Any]:
        """One path, its queue by its own rate and round trip."""
        rate, rtt = self.between(*rates), self.between(*trips)
        queue = max(12, round(self.between(*queues) * rate * rtt / 8 / 1514))
        return {"rate": f"{rate / 1e3:.0f}kbit", "rtt": f"{rtt * 1e6:.0f}us", "queue": f"{queue}p"}

    def path(self) -> str:
        return str(self.chance.choice(["wifi", "lte"]))


def _scenario(paths: dict[str, Any], flow: dict[str, Any], **more: Any) -> Scenario:
    large = {"rcvbuf": "16MB", "sndbuf": "16MB", "congestion": "lia"}
    return Scenario(
        name="planted",
        jitter=NO_JITTER,
        duration=DURATION,
        warmup="1s",
        sample="1s",
        paths=paths,
        flows={"flow": large | flow},
        **more,
    )


def _rates(paths: dict[str, Any]) -> list[float]:
    return [float(path["rate"].removesuffix("kbit")) * 1e3 for path in paths.values()]


def _trips(paths: dict[str, Any]) -> list[float]:
    return [float(path["rtt"].removesuffix("us")) / 1e6 for path in paths.values()]


def _loss(draw: _Draw, number: int) -> Planted:
    paths, at = draw.network(), draw.path()
    bad = {
        name: path | ({"loss": f"{draw.between(0.5, 5):.2f}%"} if name == at else {}) for name, path in paths.items()
    }
    return Planted(number, "loss", at, _scenario(bad, {}), _scenario(paths, {}))


def _receive_window(draw: _Draw, number: int) -> Planted:
    paths = draw.network()
    flow = {"transport": "tcp", "paths": ["wifi"], "congestion": "cubic"}
    need = _rates(paths)[0] * _trips(paths)[0] / 8
    small = {"rcvbuf": f"{max(6000, need * draw.between(0.2, 0.7)):.0f}B"}
    return Planted(number, "receive_window", None, _scenario(paths, flow | small), _scenario(paths, flow))


def _send_buffer(draw: _Draw, number: int) -> Planted:
    paths = draw.network()
    flow = {"transport": "tcp", "paths": ["wifi"], "congestion": "cubic"}
    need = _rates(paths)[0] * _trips(paths)[0] / 8
    small = {"sndbuf": f"{max(6000, need * draw.between(0.2, 0.7)):.0f}B"}
    return Planted(number, "send_buffer", None, _scenario(paths, flow | small), _scenario(paths, flow))


def _head_of_line(draw: _Draw, number: int) -> Planted:
    paths, slow = draw.network(), draw.path()
    fast = "lte" if slow == "wifi" else "wifi"
    rtt, rate = draw.between(0.2, 0.5), draw.between(1e6, 4e6)
    paths[fast] |= {"rate": f"{draw.between(10e6, 40e6) / 1e3:.0f}kbit", "rtt": f"{draw.between(10, 40) * 1e3:.0f}us"}
    paths[slow] |= {"rate": f"{rate / 1e3:.0f}kbit", "rtt": f"{rtt * 1e6:.0f}us", "queue": "100p"}
    flow = {"scheduler": "minrtt", "opportunistic_retransmission": False, "penalisation": False}
    flow |= {"rcvbuf": f"{draw.between(100, 500):.0f}kB"}
    # The same buffer is enough for the fast path alone.
    return Planted(number, "head_of_line", slow, _scenario(paths, flow), _scenario(paths, flow | {"paths": [fast]}))


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
        "opportunistic": "original",
        "rcvbuf": f"{draw.between(300, 900):.0f}kB",
    }
    with_it = {"penalisation": True, "penalty": "original"}
    return Planted(
        number, "penalty", slow, _scenario(paths, flow | with_it), _scenario(paths, flow | {"penalisation": False})
    )


def _never_joined(draw: _Draw, number: int) -> Planted:
    paths, at = draw.network(), draw.path()
    first = "lte" if at == "wifi" else "wifi"
    flow = {"paths": [first, at]}
    bad = {name: path | ({"loss": "100%"} if name == at else {}) for name, path in paths.items()}
    return Planted(number, "never_joined", at, _scenario(bad, flow), _scenario(paths, flow))


def _none(draw: _Draw, number: int) -> Planted:
    scenario = _scenario(draw.network(ANY_QUEUE), {})
    return Planted(number, None, None, scenario, scenario)


KINDS: dict[str, Callable[[_Draw, int], Planted]] = {
    "loss": _loss,
    "receive_window": _receive_window,
    "send_buffer": _send_buffer,
    "head_of_line": _head_of_line,
    "scheduler": _scheduler,
    "application": _application,
    "penalty": _penalty,
    "never_joined": _never_joined,
}


def judge(seed: int, causes: int, none: int, *, workers: int | None = None) -> list[Verdict]:
    """Draws so many scenarios with a cause, and so many without, runs them and says what was found."""
    verdicts: list[Verdict] = []
    number = 0
    while len(verdicts) < causes:
        drawn = []
        for _ in range(causes - len(verdicts)):
            draw = _Draw(seed, number)
            kind = list(KINDS)[int(draw.chance.integers(len(KINDS)))]
            drawn.append(KINDS[kind](draw, number))
            number += 1
        judged = _judge(drawn, seed, workers)
        # What costs nothing is no cause.
        verdicts += [verdict for verdict in judged if verdict.cost >= COSTS]
    nothing = [_none(_Draw(seed, 10**6 + at), at) for at in range(none)]
    return verdicts + _judge(nothing, seed, workers)


def _struck(row: FlowRow, without: FlowRow) -> str | None:
    """The path that lost most by the cause: M2 halves who is slower just then, whichever was drawn as slower."""
    carried, before = ({path["path"]: path["bytes_acked"] for path in one["paths"]} for one in (row, without))
    return max(before, key=lambda name: before[name] - carried.get(name, 0), default=None)


def _judge(drawn: list[Planted], seed: int, workers: int | None) -> list[Verdict]:
    jobs = [Job(one.scenario.core, seed, trace=REASONS) for one in drawn]
    jobs += [Job(one.without.core, seed) for one in drawn]
    runs = run_jobs(jobs, workers=workers, label="planted")
    verdicts = []
    for at, planted in enumerate(drawn):
        row, without = runs[at].flow(), runs[len(drawn) + at].flow()
        struck = _struck(row, without) if planted.cause == "penalty" else None
        one = replace(planted, path=struck) if struck else planted
        found = findings(row)
        named = (found[0].cause, found[0].path) if found else None
        cost = 1 - row["goodput"] / max(without["goodput"], 1.0)
        verdicts.append(Verdict(one, named, found[0].share if found else 0.0, cost))
    return verdicts
