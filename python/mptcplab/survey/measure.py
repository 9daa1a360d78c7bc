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
FIRST, SETTLED = 2, 1.05
"""The first runs, and what Multipath TCP has to reach of the best path in each of them for a network to be settled:
the other runs are for those where it does not."""
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
    runs: int = 1

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


def again(network: Network, policy: Policy, seeds: range, *, workers: int | None = None) -> Measured:
    """The same of one network with chance, with all of these seeds."""
    runs = _Runs([network], [policy], seeds[0])
    runs.run([(0, seed) for seed in seeds], workers)
    return runs.measured(0, policy)


def _some(
    networks: Sequence[Network], policies: Sequence[Policy], seeds: int, workers: int | None
) -> Iterator[Measured]:
    runs = _Runs(networks, policies)
    everyone = range(len(networks))
    runs.run([(at, seed) for at in everyone for seed in _seeds(networks[at], 1, min(FIRST, seeds))], workers)
    unsettled = [at for at in everyone if not all(runs.settled(at, policy) for policy in policies)]
    runs.run([(at, seed) for at in unsettled for seed in _seeds(networks[at], FIRST + 1, seeds)], workers)
    for at in everyone:
        for policy in policies:
            yield runs.measured(at, policy)


def _seeds(network: Network, first: int, last: int) -> range:
    return range(first, (last if network.chance else min(last, 1)) + 1)


class _Runs:
    """The goodputs of some networks: of each policy, and of each path's TCP under the controllers that they need. What
    else is said of a flow is of the run with the seed `shown`."""

    def __init__(self, networks: Sequence[Network], policies: Sequence[Policy], shown: int = 1) -> None:
        self._networks, self._policies, self._shown = networks, policies, shown
        self._rates: dict[tuple[int, str], list[float]] = {}
        self._rows: dict[tuple[int, str], FlowRow] = {}

    def run(self, wanted: Sequence[tuple[int, int]], workers: int | None) -> None:
        """Runs everything on these networks with these seeds."""
        jobs: list[Job] = []
        names: list[tuple[int, str]] = []
        for at, seed in wanted:
            for name, keys in self._flows(self._networks[at]).items():
                jobs.append(Job(self._networks[at].scenario(keys).core, seed))
                names.append((at, name))
        # The runs end in any order; a sum of them does not depend on it.
        goodputs: list[float] = [0.0] * len(jobs)

        def keep(job: int, run: Run) -> None:
            row = run.flow("flow")
            goodputs[job] = row["goodput"]
            if run.seed == self._shown:
                self._rows[names[job]] = row

        run_jobs(jobs, workers=workers, quiet=True, on_result=keep)
        for whose, goodput in zip(names, goodputs, strict=True):
            self._rates.setdefault(whose, []).append(goodput)

    def _flows(self, network: Network) -> dict[str, Mapping[str, Any]]:
        flows: dict[str, Mapping[str, Any]] = {}
        for reference in dict.fromkeys(policy.reference for policy in self._policies):
            for path in range(1, len(network.links) + 1):
                own = [f"path{path}"]
                flows[f"{reference} path{path}"] = {"transport": "tcp", "congestion": reference, "paths": own}
        for policy in self._policies:
            flows[policy.name] = {"transport": "mptcp", **policy.keys}
        return flows

    def _alone(self, at: int, policy: Policy) -> list[list[float]]:
        paths = range(1, len(self._networks[at].links) + 1)
        return [self._rates[at, f"{policy.reference} path{path}"] for path in paths]

    def settled(self, at: int, policy: Policy) -> bool:
        """Whether no run of the policy came near its best path."""
        best = max(map(max, self._alone(at, policy)))
        return min(self._rates[at, policy.name]) >= SETTLED * best

    def measured(self, at: int, policy: Policy) -> Measured:
        """The means over the runs."""
        alone = [_mean(rates) for rates in self._alone(at, policy)]
        own = self._rates[at, policy.name]
        return Measured(self._networks[at], policy, _mean(own), alone, self._rows[at, policy.name], len(own))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
