"""Short flows over networks: how long files of some sizes take, and blocks at some rates, beside plain TCP.

Owns the jobs, the times and their ratios. A file is held against TCP over the path that its connection was opened on,
and where it is long enough against the best path; a block against the best path. Never draws a network, never prints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.run.batch import Job, Progress, run_jobs
from mptcplab.survey.measure import Policy
from mptcplab.survey.networks import Network
from mptcplab.survey.upper_bound import earliest, joins

if TYPE_CHECKING:
    from mptcplab.results.run import Run

LONG = 10
"""A file is long when it has more bytes than so many products of rate and round trip of every path."""
BLOCK = 8 * 1024
"""Bytes of a block."""
CARRIES = 0.8
"""The best path carries a rate of blocks if that is no more than this share of its own."""
OPENING_S = 5.0
"""Seconds from the first block on that are left out: what was written before all paths were there tells of that."""
MISSING = 0.01
"""Of more missing blocks the 99th percentile is not known."""
_DUE_S, _BLOCKS_S = 25.0, 30.0
"""Blocks that are due until then count, and have until then to come: those under way at the end are not missing."""
LATE = 1.05
"""Longer than TCP's time by so much is late."""
DOUBT = 1.15
"""Where there is chance and the mean is above `LATE` over this factor, there are more seeds, also where it is late: a
few seeds may have the same error by chance;"""
ERRORS = 2.0
"""or within so many standard errors below it:"""
AGAIN = 4
"""so many times as many as at first, all of which count."""
_AT_ONCE = 20
"""Networks whose runs are one batch."""


@dataclass(frozen=True)
class Load:
    """What an application has to send: a file of so many bytes, or blocks at so many bit/s."""

    file: int | None = None
    rate: float | None = None

    @property
    def keys(self) -> dict[str, Any]:
        """Of a flow."""
        if self.file is not None:
            return {"bytes": f"{self.file}B"}
        return {"blocks": f"{BLOCK}B", "rate": f"{self.rate:.0f}bit"}

    def __str__(self) -> str:
        """In words."""
        if self.file is None:
            return f"blocks at {(self.rate or 0) / 1e6:g} Mb/s"
        return f"{self.file / 1e6:g} MB" if self.file >= 1_000_000 else f"{self.file / 1e3:g} kB"

    def fits(self, network: Network) -> bool:
        """Whether the best path carries it."""
        return self.rate is None or self.rate <= CARRIES * max(link.rate for link in network.links)

    def is_long(self, network: Network) -> bool:
        """Whether the best path is what it is held against."""
        return self.file is None or self.file > LONG * max(link.bdp for link in network.links)

    def duration(self, network: Network) -> float:
        """Longer than any path takes, with the losses that networks have; seconds."""
        if self.file is None:
            return _BLOCKS_S
        return 60 + max(8 * self.file / link.rate + self.file / 1448 * link.rtt for link in network.links)

    def time(self, run: Run, begins: float = 0) -> float:
        """Seconds to the completion of the file, or the 99th percentile of the times of the blocks after the opening;
        infinite where there is none. The flow was started at `begins`, s.

        A block that did not come took at least until the end; of more than `MISSING` there is no percentile.
        """
        if self.file is not None:
            took = run.flow("flow")["completion_s"]
            return math.inf if took is None else took
        written, times = run.block_columns(run.flow_names.index("flow"))
        if not len(written):
            return math.inf
        # Blocks come in their order, and the first is due when the connection opens.
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
    """A policy on a network with a load: mean times over `runs` seeds, in s; `alone` are those of TCP on each path, the
    one that connections are opened on first."""

    network: Network
    policy: Policy
    load: Load
    time: float
    alone: Sequence[float]
    runs: int = 1
    errors: Sequence[float] = ()
    """Standard errors of these means, as parts of them: of `time`, then of each of `alone`; empty where not known."""

    with_options: Sequence[float] = ()
    """Of the late ones: times of Multipath TCP on each path alone, with TCP's controller: what the options cost; s."""

    @property
    def is_late(self) -> bool:
        """Of what the load is held against."""
        first = self.load.file is not None and self.of_first > LATE
        return first or (self.load.is_long(self.network) and self.of_best > LATE)

    @property
    def is_doubtful(self) -> bool:
        """Whether it is late by these seeds or may be by others, of what the load is held against."""
        beside = [0] if self.load.file is not None else []
        beside += [int(np.argmin(self.alone))] if self.load.is_long(self.network) else []
        return self.network.chance and any(self._may_be_late(path) for path in beside)

    def _may_be_late(self, path: int) -> bool:
        ratio = _over(self.time, self.alone[path])
        if not 0 < ratio < math.inf:
            return False
        relative = math.hypot(self.errors[0], self.errors[1 + path]) if self.errors else 0.0
        doubt = max(DOUBT, 1 + ERRORS * relative)
        return ratio >= LATE / doubt

    @property
    def of_first(self) -> float:
        """Time / plain TCP over the path that the connection is opened on; not a number where neither has a time."""
        return _over(self.time, self.alone[0])

    @property
    def of_best(self) -> float:
        """Time / plain TCP over the path that is best for it; not a number where neither has a time."""
        return _over(self.time, min(self.alone))

    @property
    def least(self) -> float:
        """The least time that any sender takes for a file, as its connection is opened on the first path, s; zero for
        blocks, of which nothing is known."""
        return earliest(self.network, self.load.file) if self.load.file is not None else 0.0

    @property
    def joined(self) -> float:
        """What plain TCP takes for a file on the path that is best where it begins when Multipath TCP may, s: on the
        first at once, on any other when that has been joined. Zero for blocks."""
        if self.load.file is None:
            return 0.0
        return min(time + join for time, join in zip(self.alone, joins(self.network), strict=True))


def _error(found: Sequence[float]) -> float:
    """The standard error of a mean, as a part of it; zero where there is one or none."""
    mean = float(np.mean(found))
    if len(found) < 2 or not 0 < mean < math.inf:
        return 0.0
    return float(np.std(found, ddof=1)) / math.sqrt(len(found)) / mean


def _over(time: float, other: float) -> float:
    # What neither carries says nothing about either.
    return math.nan if math.isinf(time) and math.isinf(other) else time / other


def short(
    networks: Sequence[Network],
    policies: Sequence[Policy],
    loads: Sequence[Load],
    *,
    seeds: int,
    workers: int | None = None,
    quiet: bool = False,
) -> Iterator[Timed]:
    """Runs all policies with all loads on the networks that carry them, in their order, and TCP over each path.

    Where there is chance with `seeds` seeds, and with `AGAIN` times as many where a mean is above `LATE`, or near it,
    or may be by its standard error.
    """
    progress = Progress(len(networks), "networks", quiet=quiet)
    try:
        for first in range(0, len(networks), _AT_ONCE):
            yield from _some(networks[first : first + _AT_ONCE], policies, loads, seeds, workers)
            progress.tick(min(first + _AT_ONCE, len(networks)))
    finally:
        progress.close()


def _some(
    networks: Sequence[Network], policies: Sequence[Policy], loads: Sequence[Load], seeds: int, workers: int | None
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

        run_jobs(jobs, workers=workers, quiet=True, on_result=keep)
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
