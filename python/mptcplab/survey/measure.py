"""Measures policies, and plain TCP over each path, on generated networks.

A survey looks for networks where MPTCP is slower than plain TCP over the best path: the path with the highest goodput
of plain TCP. A policy is a set of flow keys. Owns the jobs and the ratios. Never generates a network, never prints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mptcplab.run.batch import Progress, run_jobs
from mptcplab.run.jobs import Job
from mptcplab.survey.networks import SAMPLE_S, Network
from mptcplab.survey.upper_bound import bound

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mptcplab._core import FlowRow
    from mptcplab.results.run import Run

SEEDS = 5
"""Maximum runs of a network with random events."""
FIRST, SETTLED = 2, 1.05
"""A random network first gets `FIRST` runs. It gets more, up to `SEEDS`, unless each run reaches `SETTLED` times the
goodput of the best path.
"""
AFTER_S = 10.0
"""Seconds after a change that are measured separately."""
SILENCE_S, BACK_S = 2.0, 3.0
"""Longer silences, and longer idle times of a recovered path, are reported, s."""
AT_ONCE = 50
"""Networks in one batch; memory holds the results of one batch."""


@dataclass(frozen=True)
class Policy:
    """A set of flow keys with a name, such as a controller and a scheduler."""

    name: str
    keys: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The controller of the plain TCP to compare with: CUBIC for CUBIC, otherwise Reno."""
        controller = self.keys.get("congestion")
        return "cubic" if controller == "cubic" else "reno"


@dataclass(frozen=True)
class Measured:
    """A policy on a network: mean goodputs over the seeds, bit/s.

    `alone` is plain TCP over each path; `flow` is the table row of MPTCP in the first run.
    """

    network: Network
    policy: Policy
    goodput: float
    alone: Sequence[float]
    flow: FlowRow
    runs: int = 1
    after: Sequence[float] = ()
    """By change: goodput in the next `AFTER_S`, relative to plain TCP over the best path of that time."""
    silence: float = 0.0
    """The longest silence in any run, s."""
    back: float = 0.0
    """The longest idle time of a recovered path in any run, s."""

    @property
    def best(self) -> float:
        """Plain TCP over the best path, bit/s."""
        return max(*self.alone, 1.0)

    @property
    def of_best(self) -> float:
        """Goodput relative to plain TCP over the best path."""
        return self.goodput / self.best

    @property
    def least(self) -> float:
        """The minimum of `of_best` and of the ratios after each change."""
        return min((self.of_best, *self.after))

    @property
    def of_sum(self) -> float:
        """Goodput relative to the total of plain TCP over each path."""
        return self.goodput / max(sum(self.alone), 1.0)

    @property
    def of_oracle(self) -> float:
        """Goodput relative to the upper bound."""
        return self.goodput / bound(self.network)


def survey(
    networks: Sequence[Network],
    policies: Sequence[Policy],
    *,
    seeds: int = SEEDS,
    workers: int | None = None,
    executor: Executor | None = None,
    quiet: bool = False,
) -> Iterator[Measured]:
    """Runs all policies on all networks in order; plain TCP over each path runs once per controller."""
    progress = Progress(len(networks), "networks", quiet=quiet)
    try:
        for first in range(0, len(networks), AT_ONCE):
            yield from _some(networks[first : first + AT_ONCE], policies, seeds, workers, executor)
            progress.tick(min(first + AT_ONCE, len(networks)))
    finally:
        progress.close()


def remeasure(
    network: Network,
    policy: Policy,
    seeds: range,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Measured:
    """Measures one network with random events, with all of these seeds."""
    runs = _Runs([network], [policy], workers, executor, shown=seeds[0])
    runs.run([(0, seed) for seed in seeds])
    return runs.measured(0, policy)


def _some(
    networks: Sequence[Network],
    policies: Sequence[Policy],
    seeds: int,
    workers: int | None,
    executor: Executor | None,
) -> Iterator[Measured]:
    runs = _Runs(networks, policies, workers, executor)
    everyone = range(len(networks))
    runs.run([(at, seed) for at in everyone for seed in _seeds(networks[at], 1, min(FIRST, seeds))])
    unsettled = [at for at in everyone if not all(runs.settled(at, policy) for policy in policies)]
    runs.run([(at, seed) for at in unsettled for seed in _seeds(networks[at], FIRST + 1, seeds)])
    for at in everyone:
        for policy in policies:
            yield runs.measured(at, policy)


def _seeds(network: Network, first: int, last: int) -> range:
    return range(first, (last if network.chance else min(last, 1)) + 1)


@dataclass(frozen=True)
class _Seen:
    """The results of a run: goodput in bit/s in total and after each change; `silence` and `back` as in `Measured`."""

    goodput: float
    after: tuple[float, ...] = ()
    silence: float = 0.0
    back: float = 0.0


def _seen(network: Network, run: Run) -> _Seen:
    row = run.flow("flow")
    if not network.changes:
        return _Seen(row["goodput"])
    times, rates = run.series("goodput", flow="flow")
    after = tuple(
        float(rates[(times > begin + 1e-9) & (times <= begin + AFTER_S + 1e-9)].mean())
        for begin in (network.begins + change for change in network.changes)
    )
    back = 0.0
    for at, link in enumerate(network.links, 1):
        for low, high in itertools.pairwise(link.changes):
            if high.rate > low.rate and run.path(f"path{at}", "flow") is not None:
                times, rates = run.series("throughput", flow="flow", path=f"path{at}")
                since = times - network.begins - high.at
                carries = since[(since > 1e-9) & (rates > 0)]
                back = max(back, float(carries[0]) - SAMPLE_S if len(carries) else math.inf)
    return _Seen(row["goodput"], after, row["longest_silence_s"], back)


class _Runs:
    """Results on some networks, of each policy and of TCP on each path; seed `shown` provides the flow row."""

    def __init__(
        self,
        networks: Sequence[Network],
        policies: Sequence[Policy],
        workers: int | None,
        executor: Executor | None,
        shown: int = 1,
    ) -> None:
        self._networks, self._policies, self._shown = networks, policies, shown
        self._workers, self._executor = workers, executor
        self._seen: dict[tuple[int, str], list[_Seen]] = {}
        self._rows: dict[tuple[int, str], FlowRow] = {}

    def run(self, wanted: Sequence[tuple[int, int]]) -> None:
        """Runs all policies and plain TCP on each `wanted` pair of network index and seed."""
        jobs: list[Job] = []
        names: list[tuple[int, str]] = []
        for at, seed in wanted:
            for name, keys in self._flows(self._networks[at]).items():
                jobs.append(Job(self._networks[at].scenario(keys).core, seed))
                names.append((at, name))
        # The sum must not depend on the order in which runs end.
        found: list[_Seen] = [_Seen(0.0)] * len(jobs)

        def keep(job: int, run: Run) -> None:
            found[job] = _seen(self._networks[names[job][0]], run)
            if run.seed == self._shown:
                self._rows[names[job]] = run.flow("flow")

        run_jobs(jobs, workers=self._workers, executor=self._executor, quiet=True, on_result=keep)
        for whose, seen in zip(names, found, strict=True):
            self._seen.setdefault(whose, []).append(seen)

    def _flows(self, network: Network) -> dict[str, Mapping[str, Any]]:
        flows: dict[str, Mapping[str, Any]] = {}
        for reference in dict.fromkeys(policy.reference for policy in self._policies):
            for path in range(1, len(network.links) + 1):
                own = [f"path{path}"]
                flows[f"{reference} path{path}"] = {"transport": "tcp", "congestion": reference, "paths": own}
        for policy in self._policies:
            flows[policy.name] = {"transport": "mptcp", **policy.keys}
        return flows

    def _alone(self, at: int, policy: Policy) -> list[list[_Seen]]:
        paths = range(1, len(self._networks[at].links) + 1)
        return [self._seen[at, f"{policy.reference} path{path}"] for path in paths]

    def settled(self, at: int, policy: Policy) -> bool:
        """Whether each run of the policy reached `SETTLED` times the best run of plain TCP."""
        best = max(seen.goodput for runs in self._alone(at, policy) for seen in runs)
        return min(seen.goodput for seen in self._seen[at, policy.name]) >= SETTLED * best

    def measured(self, at: int, policy: Policy) -> Measured:
        """The means over the runs."""
        own, alone = self._seen[at, policy.name], self._alone(at, policy)
        after = tuple(
            _mean([seen.after[change] for seen in own])
            / max(*(_mean([seen.after[change] for seen in runs]) for runs in alone), 1.0)
            for change in range(len(self._networks[at].changes))
        )
        return Measured(
            self._networks[at],
            policy,
            _mean([seen.goodput for seen in own]),
            [_mean([seen.goodput for seen in runs]) for runs in alone],
            self._rows[at, policy.name],
            len(own),
            after,
            max(seen.silence for seen in own),
            max(seen.back for seen in own),
        )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
