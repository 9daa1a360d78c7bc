"""The shares of MPTCP and TCP on the shared link of study D (Ro and Nguyen Van, IJCCE 2016): throughput, ratio and
fairness.

Experiments D1 to D5 share these values and checks. They judge each claim with one queue at the bottleneck and with one
per port, because the paper does not specify the queue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mptcplab.results.run import Run
from mptcplab.stats.statistics import Estimate, Interval, difference, interval, jain
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Point
from mptcplab.studies.ro_bottleneck.network import FIRST, VARIANTS, WARMUP, scenario, seeds
from mptcplab.studies.verdicts import Bound, Check, all_of

READINGS = {"one queue": "LIA", "ports in turn": "LIA, ports in turn"}
"""By interpretation of the unspecified queue: the judged variant."""
CONTROLS = {"one queue": "no coupling", "ports in turn": "no coupling, ports in turn"}
"""By interpretation of the unspecified queue: the uncoupled variant, for comparison."""
WHY = "how the bottleneck serves its ports"


@dataclass(frozen=True)
class Contest:
    """One variant, by the varied value: RTT in ms, loss rate, or queue in packets."""

    mptcp: Mapping[float, Estimate]
    """Goodput at the server, Mb/s."""
    tcp: Mapping[float, Estimate]
    ratio: Mapping[float, Interval]
    """Mean goodput of MPTCP relative to that of TCP."""
    fairness: Mapping[float, Estimate]
    """Jain's index of the mean goodputs of MPTCP and TCP; claims use this index."""
    by_second: Mapping[float, Estimate]
    """Jain's index of each second, mean of a run."""
    first: Mapping[float, Estimate]
    """Share of the first subflow in MPTCP's data."""
    runs: Mapping[float, list[Run]]

    def each(self, value: Callable[[Run], float], at: float) -> Interval:
        """Mean and interval of a value over the seeds."""
        return interval(value(run) for run in self.runs[at])

    def steps(self, value: Callable[[Run], float], at: Sequence[float], label: Label, bound: Bound) -> list[Check]:
        """Each value minus the previous one; for a fall, the interval of the difference must be below zero."""
        return [
            Check(
                f"{label(after)} minus {label(before)}",
                difference([value(r) for r in self.runs[after]], [value(r) for r in self.runs[before]], paired=False),
                bound,
            )
            for before, after in pairwise(at)
        ]


Label = Callable[[float], str]
Contests = Mapping[str, Contest]
Checks = Callable[[Contest], list[Check]]


def points(effort: Effort, values: Iterable[float], *, delay: bool, one_sided: bool) -> Iterator[Point]:
    """Variants × values × seeds."""
    for name, variant in VARIANTS.items():
        for value in values:
            rtt, loss = (value, 0.0) if delay else (0.0, value)
            one = scenario(variant, effort, rtt=rtt, loss=loss, one_sided=one_sided)
            for seed in seeds(effort, control=name in CONTROLS.values(), chance=not delay):
                yield Point((name, value), one, seed)


def contests(measured: Measured, values: Sequence[float]) -> dict[str, Contest]:
    """The curves of all variants."""
    return {name: contest(measured, (name,), values) for name in VARIANTS}


def contest(measured: Measured, where: tuple[str | float, ...], values: Sequence[float]) -> Contest:
    """The curves of the runs whose keys are `where` and a value."""

    def over(value: Callable[[Run], float]) -> dict[float, Estimate]:
        return {at: measured.estimate(value, *where, at) for at in values}

    ratios = {at: measured.ratio(mptcp, (*where, at), tcp, (*where, at)) for at in values}
    runs = {at: measured.runs(*where, at) for at in values}
    return Contest(over(mptcp), over(tcp), ratios, over(fairness), over(fairness_by_second), over(first_share), runs)


def mptcp(run: Run) -> float:
    """Mb/s of the MPTCP flow."""
    return run.flow("mptcp")["goodput"] / 1e6


def tcp(run: Run) -> float:
    """Mb/s of the TCP flow."""
    return run.flow("tcp")["goodput"] / 1e6


def ratio(run: Run) -> float:
    """Goodput of MPTCP relative to TCP; TCP counts as at least one byte per second."""
    return mptcp(run) / max(tcp(run), 8e-6)


def fairness(run: Run) -> float:
    """Jain's index of the goodputs of MPTCP and TCP."""
    return jain([mptcp(run), tcp(run)])


def fairness_by_second(run: Run) -> float:
    """Mean over the seconds after the warm-up of Jain's index; excludes seconds without data."""
    times, ours = run.series("goodput", flow="mptcp")
    _, theirs = run.series("goodput", flow="tcp")
    indices = [jain(pair) for at, *pair in zip(times, ours, theirs, strict=True) if at > WARMUP and any(pair)]
    return sum(indices) / len(indices) if indices else math.nan


def first_share(run: Run) -> float:
    """Share of the first subflow in the bytes that MPTCP sent."""
    sent = {row["path"]: row["bytes_sent"] for row in run.flow("mptcp")["paths"]}
    return sent.get(FIRST, 0) / max(1, sum(sent.values()))


FALLS = Bound("step", high=0, strict=True)
MORE, LESS = Bound("ratio", low=1, strict=True), Bound("ratio", high=1, strict=True)


def listed(curve: Mapping[float, object], label: Label) -> str:
    """A curve as text."""
    return ", ".join(f"{label(at)} {value}" for at, value in curve.items())


def indices(one: Contest, label: Label) -> str:
    """Jain's index of means and per second as text: the paper only says "from the throughput trajectories"."""
    means = listed({at: f"{value.mean:.3f}" for at, value in one.fairness.items()}, label)
    seconds = listed({at: f"{value.mean:.3f}" for at, value in one.by_second.items()}, label)
    return f"Jain's index {means}; computed per second {seconds}"


def ratios_fall(one: Contest, label: Label) -> list[Check]:
    """Each ratio divided by the previous one; for a fall, the interval must be below one."""
    pairs = pairwise(one.ratio)
    return [
        Check(
            f"{label(after)} / {label(before)}",
            ratio_of_ratios(one.runs[after], one.runs[before]),
            LESS,
        )
        for before, after in pairs
    ]


def ratio_of_ratios(after: Sequence[Run], before: Sequence[Run]) -> Interval:
    """The factor by which the ratio of MPTCP to TCP changes; the interval is from a logarithmic scale."""
    logs = [[math.log(max(ratio(run), 1e-6)) for run in runs] for runs in (after, before)]
    found = difference(*logs, paired=False)
    ends = [math.exp(end) if math.isfinite(end) else end for end in (found.low, found.high)]
    return Interval(math.exp(found.mean), ends[0], ends[1], found.n)


def fact(  # noqa: PLR0913, RUF100 - what a fact consists of
    experiment: Experiment,
    number: str,
    statement: str,
    published: str,
    all_contests: Contests,
    check: Checks,
    words: Callable[[Contest], str],
    *,
    explanation: str = "",
) -> Fact:
    """A claim judged on one queue and on ports in turn; its reason has the verdicts without coupling."""
    controls = ", ".join(
        f"{all_of(check(all_contests[variant]))} with {reading}" for reading, variant in CONTROLS.items()
    )
    return experiment.fact(
        number,
        statement,
        published=published,
        checks={reading: check(all_contests[variant]) for reading, variant in READINGS.items()},
        why=WHY,
        measured={name: words(one) for name, one in all_contests.items()},
        reason=f"Verdicts on the control, MPTCP without coupling: {controls}.",
        explanation=explanation,
    )
