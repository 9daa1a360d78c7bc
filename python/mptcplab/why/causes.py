"""The causes in an answer of `mptcplab why`, in an order that the tested changes support.

A measured limiting factor need not be the cause of a low goodput; its removal shows that. Owns when a successful change
proves the cause that it removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mptcplab.results.text import reasons
from mptcplab.why.answer import Answer

HEALED = 0.5
"""A change that proves the cause that it removes has at least this share of the best gain."""
MISSING = 0.4
"""It also regains at least this share of the missing capacity."""


def proven(answer: Answer) -> list[reasons.Finding]:
    """The findings, first those whose removal regained enough of the missing capacity (`HEALED`, `MISSING`)."""
    if answer.measure is not None:
        return _by_delay(answer)
    if answer.capacity is None:
        return answer.findings
    gains = [(trial.goodput.mean - answer.goodput.mean, trial.cause) for trial in answer.tried]
    best = max((gain for gain, _ in gains), default=0.0)
    least = max(HEALED * best, MISSING * (answer.capacity - answer.goodput.mean))
    causes = {cause: gain for gain, cause in sorted(gains, key=lambda one: one[0]) if cause and gain >= least}
    # The link measurements decide between causes whose removal helps equally.
    # A full buffer stays the cause, even if the other buffer must grow too.
    both = reasons.BUFFERS if "both_buffers" in causes else ()
    known = [finding for finding in answer.findings if finding.cause in causes or finding.cause in both]
    rest = [finding for finding in answer.findings if finding not in known]
    if known:
        return known + rest
    # If one buffer is full, increasing both also helps.
    named = {finding.cause for finding in answer.findings} | {"both_buffers"}
    new = {cause: gain for gain, cause in sorted(gains, key=lambda one: one[0]) if cause and cause not in named}
    shown = [
        reasons.Finding(cause, None, gain / answer.capacity, gain * 1e6)
        for cause, gain in new.items()
        if gain >= reasons.LEAST * answer.capacity
    ]
    proven = [finding for finding in shown if finding.cause in causes]
    others = [*rest, *(one for one in shown if one not in proven)]
    by_cost = [*sorted(proven, key=lambda one: -one.cost), *sorted(others, key=lambda one: -one.cost)]
    kept = _no_more_than(answer.capacity - answer.goodput.mean, by_cost)
    if kept and answer.findings and not any(finding in kept for finding in answer.findings):
        kept[0] = _seen(kept[0], answer.findings[0])
    return kept


def _seen(cause: reasons.Finding, first: reasons.Finding) -> reasons.Finding:
    """A proven cause; its detail states the first measured finding, which it replaces."""
    shown = replace(first, detail="") if first.cause in reasons.BUFFERS else first
    return replace(cause, detail=f"in a run without changes, {shown}")


def _by_delay(answer: Answer) -> list[reasons.Finding]:
    """The findings, with Nagle's algorithm if blocks are on time, or earlier, without it. No link can measure that.

    Nagle's algorithm comes first for blocks with a deadline. For a stream without a deadline, it is second.
    """
    measure, delay = answer.measure, answer.delay
    if measure is None or delay is None:
        return answer.findings
    without = next((trial for trial in answer.tried if trial.cause == "nagle"), None)
    if without is None or without.delay is None or not without.is_sure or not measure.is_better(without.delay, delay):
        return answer.findings
    best = min(trial.delay.mean for trial in answer.tried if trial.delay is not None)
    least = max(HEALED * (delay.mean - best), MISSING * delay.mean if measure.is_share else 0.0)
    if delay.mean - without.delay.mean < least:
        return answer.findings
    detail = f"without this algorithm: {measure.shown(without.delay)}; TCP_NODELAY turns it off"
    nagle, first = reasons.Finding("nagle", None, 0.0, 0.0, detail), 0 if measure.is_share else 1
    return [*answer.findings[:first], nagle, *answer.findings[first:]]


def _no_more_than(missing: float, found: Sequence[reasons.Finding]) -> list[reasons.Finding]:
    """The first findings whose total cost does not exceed the missing rate, Mb/s."""
    kept: list[reasons.Finding] = []
    for finding in found:
        if not kept or finding.cost / 1e6 <= missing:
            kept.append(finding)
            missing -= finding.cost / 1e6
    return kept
