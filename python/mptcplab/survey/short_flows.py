"""Short flows over generated networks: completion times of files and latencies of blocks, compared with plain TCP.

A load is a file, or blocks that are written at a rate; a policy is a set of flow keys. The reference of a file is TCP
over the path that the connection starts on. TCP over the best path is the reference of blocks, and a second one of long
files. Owns the jobs, the times and their ratios. Never generates a network, never prints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.run.batch import Progress, run_jobs
from mptcplab.run.jobs import Job
from mptcplab.survey.measure import Policy
from mptcplab.survey.networks import Network
from mptcplab.survey.upper_bound import earliest, joins

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mptcplab.results.run import Run

LONG = 10
"""A file is long if it exceeds this multiple of the bandwidth-delay product of every path."""
BLOCK = 8 * 1024
"""Bytes of a block."""
CARRIES = 0.8
"""Blocks run on networks whose best link rate times this share is at least their rate."""
OPENING_S = 5.0
"""Seconds after the first block that are excluded, because not all paths have joined."""
MISSING = 0.01
"""Maximum share of missing blocks; above it, there is no 99th percentile."""
_DUE_S, _BLOCKS_S = 25.0, 30.0
"""Blocks count if they are due before the first time, s, and may arrive until the second, the end of the run."""
LATE = 1.05
"""A load that takes more than this multiple of TCP's time is late."""
DOUBT = 1.15
"""More seeds run if the ratio of mean times on a random network is at least `LATE` divided by this factor."""
ERRORS = 2.0
"""More seeds also run if the ratio is less than this many standard errors below `LATE`."""
AGAIN = 4
"""More seeds are this multiple of the first number; all of them count."""
_AT_ONCE = 20
"""Networks whose runs form one batch."""


@dataclass(frozen=True)
class Load:
    """A load: a file of a size, or blocks at a rate in bit/s."""

    file: int | None = None
    rate: float | None = None

    @property
    def keys(self) -> dict[str, Any]:
        """Keys of a flow."""
        if self.file is not None:
            return {"bytes": f"{self.file}B"}
        return {"blocks": f"{BLOCK}B", "rate": f"{self.rate:.0f}bit"}

    def __str__(self) -> str:
        """The load as text."""
        if self.file is None:
            return f"blocks at {(self.rate or 0) / 1e6:g} Mb/s"
        return f"{self.file / 1e6:g} MB" if self.file >= 1_000_000 else f"{self.file / 1e3:g} kB"

    def fits(self, network: Network) -> bool:
        """Whether the best path carries the load."""
        return self.rate is None or self.rate <= CARRIES * max(link.rate for link in network.links)

    def is_long(self, network: Network) -> bool:
        """Whether the load is compared with the best path."""
        return self.file is None or self.file > LONG * max(link.bdp for link in network.links)

    def duration(self, network: Network) -> float:
        """Length of a run, s: for a file, long enough for any path with the losses of these networks."""
        if self.file is None:
            return _BLOCKS_S
        return 60 + max(8 * self.file / link.rate + self.file / 1448 * link.rtt for link in network.links)

    def time(self, run: Run, begins: float = 0) -> float:
        """Seconds until the file is complete, or the 99th percentile of block latencies after the excluded start.

        Infinite for an incomplete file, or without a percentile (`MISSING`). The flow starts at `begins`, s. A missing
        block counts as if it arrived at the end of the run.
        """
        if self.file is not None:
            took = run.flow("flow")["completion_s"]
            return math.inf if took is None else took
        written, times = run.block_columns(run.flow_names.index("flow"))
        if not len(written):
            return math.inf
        # Blocks arrive in order, and the first is due when the connection opens.
        interval = 8 * BLOCK / float(f"{self.rate:.0f}")
        due = np.arange(float(written[0]), begins + _DUE_S, interval)
        came = min(len(written), len(due))
        took_s = np.concatenate((times[:came], begins + _BLOCKS_S - due[came:]))
        counts = due >= due[0] + OPENING_S
        settled, missing = took_s[counts], int(counts[came:].sum())
        if not len(settled) or missing > MISSING * len(settled):
            return math.inf
        return float(np.percentile(settled, 99))


@dataclass(frozen=True)
class Timed:
    """A policy on a network with a load: mean times over `runs` seeds, s.

    `alone` are the times of TCP on each path, the path of the initial subflow first.
    """

    network: Network
    policy: Policy
    load: Load
    time: float
    alone: Sequence[float]
    runs: int = 1
    errors: Sequence[float] = ()
    """Relative standard errors of these means: of `time`, then of each of `alone`; empty if unknown."""

    with_options: Sequence[float] = ()
    """For late files: times of MPTCP on each path alone, with TCP's controller, to show the cost of options; s."""

    @property
    def is_late(self) -> bool:
        """Whether the load is late, compared with any of its references."""
        first = self.load.file is not None and self.of_first > LATE
        return first or (self.load.is_long(self.network) and self.of_best > LATE)

    @property
    def is_doubtful(self) -> bool:
        """Whether a load on a random network is late, or could be with other seeds."""
        offset = [0] if self.load.file is not None else []
        offset += [int(np.argmin(self.alone))] if self.load.is_long(self.network) else []
        return self.network.chance and any(self._may_be_late(path) for path in offset)

    def _may_be_late(self, path: int) -> bool:
        ratio = _over(self.time, self.alone[path])
        if not 0 < ratio < math.inf:
            return False
        relative = math.hypot(self.errors[0], self.errors[1 + path]) if self.errors else 0.0
        doubt = max(DOUBT, 1 + ERRORS * relative)
        return ratio >= LATE / doubt

    @property
    def of_first(self) -> float:
        """Time relative to plain TCP over the path of the initial subflow; NaN if neither has a time."""
        return _over(self.time, self.alone[0])

    @property
    def of_best(self) -> float:
        """Time relative to plain TCP over the best path; NaN if neither has a time."""
        return _over(self.time, min(self.alone))

    @property
    def least(self) -> float:
        """The minimum time of any sender for a file whose connection starts on the first path, s; zero for blocks."""
        return earliest(self.network, self.load.file) if self.load.file is not None else 0.0

    @property
    def joined(self) -> float:
        """The time of plain TCP for a file on the best path, starting when MPTCP may use that path, s; zero for
        blocks.
        """
        if self.load.file is None:
            return 0.0
        return min(time + join for time, join in zip(self.alone, joins(self.network), strict=True))


def _error(found: Sequence[float]) -> float:
    """The relative standard error of a mean; zero for one value or none."""
    mean = float(np.mean(found))
    if len(found) < 2 or not 0 < mean < math.inf:
        return 0.0
    return float(np.std(found, ddof=1)) / math.sqrt(len(found)) / mean


def _over(time: float, other: float) -> float:
    # If neither delivers, there is no comparison.
    return math.nan if math.isinf(time) and math.isinf(other) else time / other


def short(
    networks: Sequence[Network],
    policies: Sequence[Policy],
    loads: Sequence[Load],
    *,
    seeds: int,
    workers: int | None = None,
    executor: Executor | None = None,
    quiet: bool = False,
) -> Iterator[Timed]:
    """Runs all policies with all loads on the networks that can carry them, in order, and TCP over each path.

    Random networks get `seeds` seeds, or `AGAIN` times as many if a ratio is above `LATE` or near it.
    """
    progress = Progress(len(networks), "networks", quiet=quiet)
    try:
        for first in range(0, len(networks), _AT_ONCE):
            yield from _some(networks[first : first + _AT_ONCE], policies, loads, seeds, workers, executor)
            progress.tick(min(first + _AT_ONCE, len(networks)))
    finally:
        progress.close()


def _some(
    networks: Sequence[Network],
    policies: Sequence[Policy],
    loads: Sequence[Load],
    seeds: int,
    workers: int | None,
    executor: Executor | None,
) -> Iterator[Timed]:
    cells = [(network, load) for network, load in itertools.product(networks, loads) if load.fits(network)]
    times: list[dict[str, list[float]]] = [{} for _ in cells]

    def run(which: Iterable[int], first: int, last: int, flows: _FlowsOf = _flows) -> None:
        jobs: list[Job] = []
        names: list[tuple[int, str]] = []
        for at in which:
            network, load = cells[at]
            for name, keys in flows(network, policies).items():
                scenario = network.scenario({**keys, **load.keys}, duration=load.duration(network), warmup=0).core
                for seed in range(first, last + 1) if network.chance else (1,):
                    jobs.append(Job(scenario, seed))
                    names.append((at, name))
        found = [0.0] * len(jobs)

        def keep(job: int, run: Run) -> None:
            network, load = cells[names[job][0]]
            found[job] = load.time(run, network.begins)

        run_jobs(jobs, workers=workers, executor=executor, quiet=True, on_result=keep)
        for (at, name), time in zip(names, found, strict=True):
            times[at].setdefault(name, []).append(time)

    def timed(at: int) -> Iterator[Timed]:
        network, load = cells[at]
        mean = {name: sum(found) / len(found) for name, found in times[at].items()}
        for policy in policies:
            names = [policy.name, *(_alone(policy, path) for path in range(1, len(network.links) + 1))]
            own, *alone = (mean[name] for name in names)
            errors = [_error(times[at][name]) for name in names]
            with_options = [mean[name] for name in _with_options(network, [policy]) if name in mean]
            yield Timed(network, policy, load, own, alone, len(times[at][policy.name]), errors, with_options)

    run(range(len(cells)), 1, seeds)
    run([at for at in range(len(cells)) if any(one.is_doubtful for one in timed(at))], seeds + 1, AGAIN * seeds)
    late = {at: one.runs for at in range(len(cells)) for one in timed(at) if one.is_late}
    for runs in sorted(set(late.values())):
        run([at for at in late if late[at] == runs], 1, runs, _with_options)
    for at in range(len(cells)):
        yield from timed(at)


def _alone(policy: Policy, path: int) -> str:
    return f"{policy.reference} path{path}"


_FlowsOf = Callable[[Network, Sequence[Policy]], Mapping[str, Mapping[str, Any]]]


def _with_options(network: Network, policies: Sequence[Policy]) -> dict[str, Mapping[str, Any]]:
    alone = {_alone(policy, path): policy for policy in policies for path in range(1, len(network.links) + 1)}
    flows = _flows(network, policies)
    return {f"{name}, with_options": {**flows[name], "transport": "mptcp"} for name in alone}


def _flows(network: Network, policies: Sequence[Policy]) -> dict[str, Mapping[str, Any]]:
    flows: dict[str, Mapping[str, Any]] = {}
    for policy in policies:
        for path in range(1, len(network.links) + 1):
            own = {"transport": "tcp", "congestion": policy.reference, "paths": [f"path{path}"]}
            flows[_alone(policy, path)] = own
        flows[policy.name] = {"transport": "mptcp", **policy.keys}
    return flows
