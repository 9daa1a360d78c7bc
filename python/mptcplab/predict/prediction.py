"""Runs the loads of `mptcplab predict` for each candidate: TCP over each link, and MPTCP of Linux and of mptcplab.

Owns the candidates, the number of seeds, and the search for the highest video quality. `report` prints the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mptcplab.predict.links import Link
from mptcplab.predict.traffic import LADDER, Keys, Load, Metric, loads, video
from mptcplab.results.run import Run
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.stats.statistics import Estimate, estimate

LINUX: Keys = {"stack": "linux", "autotuning": True}
"""Linux with its default congestion control, CUBIC, and buffers that grow to the limits of tcp_rmem and tcp_wmem."""
STACKS: Mapping[str, Keys] = {"linux": LINUX, "mptcplab": {}}
"""MPTCP by operating system."""
TITLES = {"linux": "Linux", "mptcplab": "mptcplab"}
SEEDS, MIN_SEEDS = 10, 3
"""Default number of seeds, and its minimum on fast links."""
SEED_RATE = 100e6
"""Rate of all links in bit/s above which there are fewer seeds by default, because runs take longer."""


@dataclass(frozen=True)
class Candidate:
    """A way to use the links."""

    name: str
    """The name in tables, such as `TCP, dsl`."""
    policy: Keys
    """Keys of each flow."""
    link: str | None = None
    """The only link, for TCP."""
    stack: str | None = None
    """The stack, for MPTCP."""


@dataclass
class Result:
    """The values of a candidate, one for each seed; None for a transfer that did not end."""

    candidate: Candidate
    values: dict[Metric, list[float | None]] = field(default_factory=dict)
    rungs: list[int] = field(default_factory=list)
    """By seed: the position in `LADDER` of the highest video quality without stalls; -1 if all stall."""

    def of(self, metric: Metric) -> Estimate | None:
        """Mean and interval of a metric; None if it was not measured, or if a transfer did not end."""
        values = self.values.get(metric, [])
        known = [value for value in values if value is not None]
        return estimate(known) if known and len(known) == len(values) else None


def candidates(links: Sequence[Link], stacks: Sequence[str], buffers: Keys) -> list[Candidate]:
    """TCP over each link, then MPTCP of each stack, with these sizes of buffers."""
    single = [
        Candidate(f"TCP, {link.name}", {**LINUX, **buffers, "transport": "tcp", "paths": [link.name]}, link=link.name)
        for link in links
    ]
    names = [link.name for link in links]
    multiple = [
        Candidate(f"MPTCP, {TITLES[stack]}", {**STACKS[stack], **buffers, "paths": names}, stack=stack)
        for stack in stacks
    ]
    return single + multiple


def default_seeds(links: Sequence[Link]) -> int:
    """The number of seeds for a prediction in about 20 s: fewer on fast links."""
    rate = sum(link.down + link.up for link in links) / 2
    return round(max(MIN_SEEDS, min(SEEDS, SEEDS * SEED_RATE / rate)))


def predict(
    links: Sequence[Link],
    choices: Sequence[Candidate],
    traffic: Sequence[str],
    seeds: Sequence[int],
    **options: Any,
) -> list[Result]:
    """A result for each candidate. `options` are those of `run_jobs`."""
    results = measure(links, choices, loads(traffic, links), seeds, **options)
    if "video" in traffic:
        _qualities(links, results, seeds, **options)
    return results


def measure(
    links: Sequence[Link], choices: Sequence[Candidate], wanted: Sequence[Load], seeds: Sequence[int], **options: Any
) -> list[Result]:
    """Runs the loads for each candidate, all in one batch."""
    jobs: list[Job] = []
    for choice in choices:
        for load in wanted:
            stages = [scenario.core for scenario in load.scenarios(links, choice.policy)]
            jobs += [Job(stage, seed) for seed in seeds for stage in stages]
    runs = iter(run_jobs(jobs, label="predict", **options))
    results = []
    for choice in choices:
        result = Result(choice)
        for load in wanted:
            each = [load.values(_next(runs, len(load.stages))) for _ in seeds]
            for at, metric in enumerate(load.metrics):
                result.values[metric] = [values[at] for values in each]
        results.append(result)
    return results


def _next(runs: Any, count: int) -> list[Run]:
    return [next(runs) for _ in range(count)]


def _qualities(links: Sequence[Link], results: Sequence[Result], seeds: Sequence[int], **options: Any) -> None:
    """Finds the highest video quality without late segments of each candidate and seed, from the best one down."""
    at: dict[tuple[int, int], int] = {}
    for index, result in enumerate(results):
        own = [link for link in links if result.candidate.link in (None, link.name)]
        most = sum(link.down for link in own)
        # A video above the link rate always stalls.
        rung = max((at for at, (rate, _) in enumerate(LADDER) if rate * 1e6 < most), default=-1)
        at |= {(index, seed): rung for seed in seeds}
    pending = [key for key, rung in at.items() if rung >= 0]
    while pending:
        jobs = []
        for index, seed in pending:
            [scenario] = video(LADDER[at[index, seed]][0]).scenarios(links, results[index].candidate.policy)
            jobs.append(Job(scenario.core, seed))
        stalls = [run.flow("flow")["late"] != 0 for run in run_jobs(jobs, label="video", **options)]
        for key, stalled in zip(pending, stalls, strict=True):
            at[key] -= stalled
        pending = [key for key, stalled in zip(pending, stalls, strict=True) if stalled and at[key] >= 0]
    for index, result in enumerate(results):
        result.rungs = [at[index, seed] for seed in seeds]
