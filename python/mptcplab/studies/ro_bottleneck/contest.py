"""How MPTCP and TCP shared the line: curves of throughput, ratio and fairness, and verdicts on them.

Owns the words in which the facts of this study are judged. Knows neither delays nor losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mptcplab.results import Run
from mptcplab.statistics import Estimate, estimate, jain
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Point, Verdict, assume
from mptcplab.studies.ro_bottleneck.network import FIRST, VARIANTS, scenario, seeds

MAIN = "LIA"
"""What the study says it ran."""

THEORY = (
    "LIA is made to take what one TCP flow takes on its best path (RFC 6356, goal 2), so on one queue it excludes two "
    "shares for MPTCP."
)
TIMERS = (
    "At 30 % loss the timers decide: the model of Padhye et al. (ToN 2000, equation 30) gives a flow there little more "
    "than a packet for each timeout, and RFC 9293 gives each subflow its own timer, as RFC 8684 makes it a TCP of its "
    "own. Two subflows then get two flows' part, whatever their windows, coupled or not. That excludes one share. "
    "Explanation: in Mb/s the difference is below 0.5, which a reader of figure 7 could not see."
)
EXPLANATION = (
    "Explanation: two shares can arise where each subflow is served as a flow of its own: without coupling, or where "
    "the bottleneck serves its ports by turns and drops nothing, so that windows, and with them LIA, decide nothing. "
    "Round trips and losses that windows cannot fill put the windows, and LIA, in charge again. "
    "The variant with ports in turn was fitted after the fact (see D1): it can explain the study, it does not prove it."
)


@dataclass(frozen=True)
class Contest:
    """One variant over what is varied."""

    mptcp: Mapping[float, Estimate]
    """Mb/s in order at the server."""
    tcp: Mapping[float, Estimate]
    ratio: Mapping[float, Estimate]
    """MPTCP to TCP, seed by seed."""
    fairness: Mapping[float, Estimate]
    """Jain's index of the two connections, seed by seed."""
    first: Mapping[float, Estimate]
    """Share of the first subflow in what MPTCP put on the paths."""


Contests = Mapping[str, Contest]
Check = Callable[[Contest], tuple[bool, str]]


def points(effort: Effort, values: Iterable[float], *, delay: bool, one_sided: bool) -> Iterator[Point]:
    """Variants × values × seeds."""
    for name, variant in VARIANTS.items():
        for value in values:
            rtt, loss = (value, 0.0) if delay else (0.0, value)
            one = scenario(variant, effort, rtt=rtt, loss=loss, one_sided=one_sided)
            for seed in seeds(effort):
                yield Point((name, value), one, seed)


def contests(measured: Measured, values: Sequence[float]) -> dict[str, Contest]:
    """The curves of all variants."""
    return {name: contest(measured, (name,), values) for name in VARIANTS}


def contest(measured: Measured, where: tuple[str | float, ...], values: Sequence[float]) -> Contest:
    """The curves of the runs whose keys are `where` and a value."""

    def over(value: Callable[[Run], float]) -> dict[float, Estimate]:
        return {at: measured.estimate(value, *where, at) for at in values}

    def pooled(at: float) -> float:
        """Ratio of the means: of what little goes through a very lossy line, one seed's can be anything."""
        return measured.mean(mptcp, *where, at) / measured.mean(tcp, *where, at)

    ratios = {}
    for at in values:
        each = [ratio(run) for run in measured.runs(*where, at)]
        spread = estimate(each)
        ratios[at] = Estimate(pooled(at), spread.half_width, spread.n)
    return Contest(over(mptcp), over(tcp), ratios, over(fairness), over(first_share))


def mptcp(run: Run) -> float:
    """Mb/s of the MPTCP flow."""
    return run.flow("mptcp")["goodput"] / 1e6


def tcp(run: Run) -> float:
    """Mb/s of the TCP flow."""
    return run.flow("tcp")["goodput"] / 1e6


def ratio(run: Run) -> float:
    """MPTCP to TCP; TCP counts as one byte a second at least."""
    return mptcp(run) / max(tcp(run), 8e-6)


def fairness(run: Run) -> float:
    """Jain's index of both."""
    return jain([mptcp(run), tcp(run)])


def first_share(run: Run) -> float:
    """Share of the first subflow."""
    sent = {row["path"]: row["bytes_sent"] for row in run.flow("mptcp")["paths"]}
    return sent.get(FIRST, 0) / max(1, sum(sent.values()))


def falls(curve: Mapping[float, Estimate]) -> bool:
    """Whether no value lies above an earlier one by more than both intervals, and the last below the first by that."""
    rows = list(curve.values())
    rises = any(
        after.mean - before.mean > after.half_width + before.half_width
        for at, before in enumerate(rows)
        for after in rows[at + 1 :]
    )
    return not rises and rows[-1].high < rows[0].low


def above(value: Estimate, level: float) -> bool:
    """Whether the interval lies above a level."""
    return value.low > level


def listed(curve: Mapping[float, Estimate], label: Callable[[float], str]) -> str:
    """A curve in words."""
    return ", ".join(f"{label(at)} {value}" for at, value in curve.items())


def judge(held: Mapping[str, bool], theory: str, law: str = "") -> tuple[Verdict, str]:
    """One verdict over the variants.

    That of LIA, which the study names. Where `theory` excludes the fact for LIA and another variant meets it, or
    a `law` excludes it for every variant and none meets it, the paper and the theory contradict each other.
    """
    words = f"{theory} {EXPLANATION}" if theory else ""
    verdict, reason = assume(held, MAIN, "the controller that the study names, on one queue of 100 packets")
    met = [name for name, holds in held.items() if holds]
    if verdict == "fails" and theory and met:
        missed = [name for name in held if name not in met]
        return "contradicted", f"Met with: {'; '.join(met)}. Not met with: {'; '.join(missed)}. {words}"
    if verdict == "fails" and law and not met:
        return "contradicted", f"Not met with {'; '.join(held)}. {law}"
    return verdict, reason


def fact(  # noqa: PLR0913, RUF100 - the columns of facts.json
    experiment: Experiment,
    number: str,
    statement: str,
    published: str,
    all_contests: Contests,
    check: Check,
    *,
    theory: str = "",
    law: str = "",
    explanation: str = "",
) -> Fact:
    """A fact judged on every variant."""
    found = {name: check(one) for name, one in all_contests.items()}
    verdict, reason = judge({name: holds for name, (holds, _) in found.items()}, theory, law)
    return experiment.fact(
        number,
        statement,
        published=published,
        measured="; ".join(f"[{name}] {text}" for name, (_, text) in found.items()),
        verdict=verdict,
        reason=reason,
        explanation=explanation,
    )
