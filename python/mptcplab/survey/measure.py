"""Policies and each path's TCP over networks.

Owns the jobs, what counts as the best path, and the ratios. Never draws a network, never prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mptcplab.batch import Job, Progress, run_jobs
from mptcplab.survey.networks import Network
from mptcplab.survey.oracle import bound

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results import Run

SEEDS = 5
"""Runs of a network in which there is chance."""
AT_ONCE = 50
"""Networks whose results are in memory together."""


@dataclass(frozen=True)
class Policy:
    """A name, and the keys of a flow that it stands for."""

    name: str
    keys: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The controller of the TCP that it is held against: its own, and Reno where it is a coupled one."""
        controller = self.keys.get("congestion")
        return "cubic" if controller == "cubic" else "reno"


@dataclass(frozen=True)
class Measured:
    """A policy on a network: goodputs in bit/s, means over the seeds; `flow` is the row of the flow in the first of
    them."""

    network: Network
    policy: Policy
    goodput: float
    alone: Sequence[float]
    flow: FlowRow

    @property
    def best(self) -> float:
        """Plain TCP over the best path, bit/s."""
        return max(*self.alone, 1.0)

    @property
    def of_best(self) -> float:
        """Goodput / plain TCP over the best path."""
        return self.goodput / self.best

    @property
    def of_sum(self) -> float:
        """Goodput / the sum of plain TCP over each path."""
        return self.goodput / max(sum(self.alone), 1.0)

    @property
    def of_oracle(self) -> float:
        """Goodput / what a sender could reach that knows the links."""
        return self.goodput / bound(self.network)


def survey(
    networks: Sequence[Network],
    policies: Sequence[Policy],
    *,
    seeds: int = SEEDS,
    workers: int | None = None,
    quiet: bool = False,
) -> Iterator[Measured]:
    """Runs all policies on all networks, in their order; plain TCP over each path runs once for each controller."""
    progress = Progress(len(networks), "networks", quiet=quiet)
    try:
        for first in range(0, len(networks), AT_ONCE):
            yield from _some(networks[first : first + AT_ONCE], policies, seeds, workers)
            progress.tick(min(first + AT_ONCE, len(networks)))
    finally:
        progress.close()


def _some(
    networks: Sequence[Network], policies: Sequence[Policy], seeds: int, workers: int | None
) -> Iterator[Measured]:
    jobs: list[Job] = []
    wanted: list[tuple[int, str]] = []
    for at, network in enumerate(networks):
        flows: dict[str, Mapping[str, Any]] = {}
        for reference in dict.fromkeys(policy.reference for policy in policies):
            for path in range(1, len(network.links) + 1):
                own = [f"path{path}"]
                flows[f"{reference} path{path}"] = {"transport": "tcp", "congestion": reference, "paths": own}
        for policy in policies:
            flows[policy.name] = {"transport": "mptcp", **policy.keys}
        for name, keys in flows.items():
            scenario = network.scenario(keys).core
            for seed in range(1, seeds + 1 if network.chance else 2):
                jobs.append(Job(scenario, seed))
                wanted.append((at, name))

    rates: dict[tuple[int, str], list[float]] = {}
    rows: dict[tuple[int, str], FlowRow] = {}

    def keep(job: int, run: Run) -> None:
        row = run.flow("flow")
        rates.setdefault(wanted[job], []).append(row["goodput"])
        if run.seed == 1:
            rows[wanted[job]] = row

    run_jobs(jobs, workers=workers, quiet=True, on_result=keep)
    for at, network in enumerate(networks):
        for policy in policies:
            alone = [_mean(rates[at, f"{policy.reference} path{path}"]) for path in range(1, len(network.links) + 1)]
            yield Measured(network, policy, _mean(rates[at, policy.name]), alone, rows[at, policy.name])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
