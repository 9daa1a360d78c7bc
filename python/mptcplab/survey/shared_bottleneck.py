"""Bottlenecks shared with other flows: whether a policy is fair to TCP, by RFC 6356's three goals.

A policy is a set of flow keys, such as a controller and a scheduler. The share is MPTCP's goodput relative to the mean
of the competing TCP flows. Owns the generated bottlenecks, the jobs, and the ratios. Never prints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.run.batch import Progress, run_jobs
from mptcplab.run.jobs import Job
from mptcplab.scenario.definition import Scenario
from mptcplab.survey.measure import Policy
from mptcplab.survey.networks import BESIDE_OTHERS

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mptcplab.results.run import Run

WARMUP_S, DURATION_S = 20, 80
"""Length of a run and of its excluded start, in which start times still matter, seconds."""
_ACCESS = {"rate": "1Gbit", "delay": "500us", "queue": "9999p"}


@dataclass(frozen=True)
class Bottleneck:
    """A shared queue: rate in bit/s, RTT in s without the queue, queue in packets, and competing TCP flows."""

    name: str
    rate: float
    rtt: float
    queue: int
    others: int

    def __str__(self) -> str:
        """The bottleneck in one line."""
        return (
            f"{self.rate / 1e6:.3g} Mb/s, RTT {self.rtt * 1e3:.3g} ms, queue of {self.queue} packets, {self.others} "
            "competing flows"
        )

    def shared(self, flow: Mapping[str, Any], controller: str) -> Scenario:
        """Two paths of a client through one bottleneck, and competing flows with this controller."""
        links = {"neck": self._link("r", "server")}
        links |= {
            name: {"ends": [host, "r"], **_ACCESS} for name, host in (("a", "client"), ("b", "client"), ("c", "c"))
        }
        return self._scenario(links, {"others": self._others("c", controller, self.others)}, flow)

    def apart(self, flow: Mapping[str, Any], controller: str) -> Scenario:
        """A bottleneck per path: `full` with all competing flows, and `free` with one."""
        links, flows = {}, {}
        for name, count in (("full", self.others), ("free", 1)):
            links[name] = {"ends": ["client", f"r{name}"], **_ACCESS}
            links[f"own{name}"] = {"ends": [f"c{name}", f"r{name}"], **_ACCESS}
            links[f"neck{name}"] = self._link(f"r{name}", "server")
            flows[f"others{name}"] = self._others(f"c{name}", controller, count)
        return self._scenario(links, flows, flow)

    def _link(self, *ends: str) -> dict[str, Any]:
        delay, rate = max(self.rtt / 2 - 0.5e-3, 0), f"{self.rate / 1e3:.0f}kbit"
        return {"ends": list(ends), "rate": rate, "delay": f"{delay * 1e6:.0f}us", "queue": f"{self.queue}p"}

    def _others(self, host: str, controller: str, count: int) -> dict[str, Any]:
        own = {"from": host, "to": "server", "transport": "tcp", "congestion": controller, "autotuning": True}
        return own | {"count": count, "stagger": "137ms"}

    def _scenario(self, links: dict[str, Any], others: dict[str, Any], flow: Mapping[str, Any]) -> Scenario:
        own = {"from": "client", "to": "server", "start": "1s", "autotuning": True}
        return Scenario(
            jitter=BESIDE_OTHERS,
            name=self.name,
            duration=f"{DURATION_S}s",
            warmup=f"{WARMUP_S}s",
            sample="1s",
            links=links,
            flows={"flow": own | dict(flow), **others},
        )


@dataclass(frozen=True)
class Share:
    """A policy behind a bottleneck, as means over the seeds.

    `own` and `others` are the goodputs of the MPTCP flow and of each competing flow, bit/s; `in_place` and
    `others_in_place` are the same with TCP instead of MPTCP. `on_free` is the third goal: the share of MPTCP's bytes on
    the less congested of two bottlenecks, which has one competing flow.
    """

    bottleneck: Bottleneck
    policy: Policy
    own: float
    others: float
    in_place: float
    others_in_place: float
    on_free: float

    @property
    def share(self) -> float:
        """Goodput relative to the mean of the competing flows."""
        return self.own / self.others

    @property
    def of_tcp(self) -> float:
        """RFC 6356's first goal: goodput relative to TCP in MPTCP's place, at least 1."""
        return self.own / self.in_place

    @property
    def to_others(self) -> float:
        """The second goal: goodput of competing flows, relative to that with TCP in MPTCP's place, at least 1."""
        return self.others / self.others_in_place


def draw(seed: int, number: int) -> Bottleneck:
    """Bottleneck `number` of a seed: 10-50 Mb/s, 20-100 ms and 30-200 packets, log-uniform, with 1 to 10 competing
    flows.
    """
    chance = np.random.default_rng([seed, number, 1 << 20])

    def between(least: float, most: float) -> float:
        return float(math.exp(chance.uniform(math.log(least), math.log(most))))

    rate, rtt, queue = between(10e6, 50e6), between(20e-3, 100e-3), round(between(30, 200))
    return Bottleneck(f"shared-{seed}-{number}", rate, rtt, queue, 1 + number % 10)


def shares(
    bottlenecks: Sequence[Bottleneck],
    policies: Sequence[Policy],
    *,
    seeds: int,
    workers: int | None = None,
    executor: Executor | None = None,
    quiet: bool = False,
) -> Iterator[Share]:
    """Runs all policies behind all bottlenecks in order, and the reference TCP once per controller."""
    progress = Progress(len(bottlenecks), "bottlenecks", quiet=quiet)
    try:
        for done, bottleneck in enumerate(bottlenecks, 1):
            yield from _behind(bottleneck, policies, seeds, workers, executor)
            progress.tick(done)
    finally:
        progress.close()


def _behind(
    bottleneck: Bottleneck,
    policies: Sequence[Policy],
    seeds: int,
    workers: int | None,
    executor: Executor | None,
) -> Iterator[Share]:
    scenarios: dict[str, Scenario] = {}
    for controller in dict.fromkeys(policy.reference for policy in policies):
        tcp = {"transport": "tcp", "congestion": controller, "paths": ["a"]}
        scenarios[f"tcp {controller}"] = bottleneck.shared(tcp, controller)
    for policy in policies:
        flow = {"transport": "mptcp", **policy.keys}
        scenarios[f"shared {policy.name}"] = bottleneck.shared(flow, policy.reference)
        scenarios[f"apart {policy.name}"] = bottleneck.apart(flow, policy.reference)
    names = [name for name in scenarios for _ in range(seeds)]
    jobs = [Job(scenario.core, seed) for scenario in scenarios.values() for seed in range(1, seeds + 1)]
    rows: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * len(jobs)

    def keep(job: int, run: Run) -> None:
        own = run.flow("flow")
        others = [run.flow(name)["goodput"] for name in run.flow_names if name != "flow"]
        acked = {row["path"]: row["bytes_acked"] for row in own["paths"]}
        rows[job] = (own["goodput"], sum(others) / len(others), acked.get("free", 0) / max(sum(acked.values()), 1))

    run_jobs(jobs, workers=workers, executor=executor, quiet=True, on_result=keep)
    mean = {
        name: np.mean([row for row, whose in zip(rows, names, strict=True) if whose == name], axis=0)
        for name in scenarios
    }
    for policy in policies:
        (own, others, _), (alone, offset, _) = mean[f"shared {policy.name}"], mean[f"tcp {policy.reference}"]
        on_free = mean[f"apart {policy.name}"][2]
        yield Share(bottleneck, policy, *(float(one) for one in (own, others, alone, offset, on_free)))
