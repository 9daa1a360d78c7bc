"""Verdicts: the results of testing the claims of a study, by rules on intervals and bounds.

Owns the rules, also over several *readings*: interpretations of a setting that a publication does not specify. Knows no
study and runs nothing. A verdict always follows from intervals and bounds, or from two quoted statements that exclude
each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mptcplab.stats.statistics import Interval, interval

Verdict = Literal["holds", "fails", "undecided", "depends", "contradicted"]
VERDICTS: tuple[Verdict, ...] = ("fails", "undecided", "depends", "contradicted", "holds")
"""Claims that do not hold come first."""
Origin = Literal["published", "ours", "by construction"]
ORIGINS: tuple[Origin, ...] = ("published", "ours", "by construction")


def replicated(whole: Verdict, blocks: Sequence[Verdict]) -> tuple[Verdict, str]:
    """The verdict on all seeds if each block gives the same; otherwise undecided, with the reason."""
    if all(block == whole for block in blocks):
        return whole, ""
    return "undecided", f"Blocks of seeds disagree: {', '.join(blocks)}; all seeds together: {whole}."


def replicated_shorter(whole: Verdict, blocks: Sequence[Verdict]) -> tuple[Verdict, str]:
    """The verdict on long runs, if blocks of shorter runs agree with each other; otherwise undecided.

    The text mentions another verdict of the blocks. Then the length of the runs matters, and the study's length counts.
    """
    short = set(blocks)
    if len(short) > 1:
        return "undecided", f"Blocks of seeds with shorter runs disagree: {', '.join(blocks)}; longer runs: {whole}."
    return whole, "" if short <= {whole} else f"With shorter runs, all blocks of seeds agree on: {blocks[0]}."


class HasVerdict(Protocol):
    """Anything that was judged."""

    @property
    def verdict(self) -> Verdict:
        """Its verdict."""


@dataclass(frozen=True)
class Bound:
    """The bound of a claim: at least `low`, at most `high`. The name is that of studies/agreed.json.

    With `strict`, for claims such as more than, less than or rises, the ends themselves are outside.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    def judge(self, found: Interval) -> Verdict:
        """Holds if the interval is inside the bound, fails if it is outside; otherwise undecided."""
        if math.isnan(found.mean):
            return "undecided"
        if self.strict:
            if self.low < found.low and found.high < self.high:
                return "holds"
            return "fails" if found.high <= self.low or found.low >= self.high else "undecided"
        if self.low <= found.low and found.high <= self.high:
            return "holds"
        return "fails" if found.high < self.low or found.low > self.high else "undecided"

    def judge_every(self, span: Interval) -> Verdict:
        """For "never" and "always": `span` is from the minimum to the maximum of the runs; one run outside fails."""
        message = self.judge(span)
        return "fails" if message == "undecided" and span.n > 1 and not math.isnan(span.mean) else message

    def within(self, other: Bound) -> bool:
        """Whether this bound is no wider than another."""
        return self.low >= other.low and self.high <= other.high


@dataclass(frozen=True)
class Check:
    """A value with its interval and a bound; for "never" and "always", the interval is the range of the runs."""

    what: str
    found: Interval
    bound: Bound
    unit: str = ""
    every: bool = False
    """Whether `found` is the range of the runs, so that one run outside fails; see `every`."""

    @property
    def verdict(self) -> Verdict:
        """The verdict of the interval."""
        return self.bound.judge_every(self.found) if self.every else self.bound.judge(self.found)

    def __str__(self) -> str:
        """The check as text."""
        words = str(self.found)
        if self.every and self.found.low < self.found.high:
            words = words.replace("(", "(each run ", 1)
        return " ".join(part for part in (self.what, words, self.unit) if part)


def every(what: str, values: Sequence[float], bound: Bound, unit: str = "") -> Check:
    """A claim about every run: holds if all are inside, fails if one is outside. One run alone decides nothing."""
    if len(values) < 2:
        return Check(what, interval(values), bound, unit)
    span = Interval(math.fsum(values) / len(values), min(values), max(values), len(values))
    return Check(what, span, bound, unit, every=True)


@dataclass(frozen=True)
class Quote:
    """A statement of a source, and the source."""

    source: str
    sentence: str


@dataclass(frozen=True)
class Exclusion:
    """Two statements of sources that no network can satisfy together: the only way to `contradicted`."""

    first: Quote
    second: Quote
    why: str

    def __post_init__(self) -> None:
        """Rejects an exclusion without both statements."""
        if not all((self.first.sentence, self.second.sentence, self.why)):
            raise ValueError(
                "a contradiction requires both quoted statements, and why no network satisfies them together"
            )


def all_of(checks: Sequence[Check]) -> Verdict:
    """Holds if all hold, fails if one fails."""
    verdicts = {check.verdict for check in checks}
    if not checks:
        return "undecided"
    if "fails" in verdicts:
        return "fails"
    return "holds" if verdicts == {"holds"} else "undecided"


def over_readings(readings: Mapping[str, Verdict], main: str | None, why: str) -> tuple[Verdict, str]:
    """One verdict over several interpretations of an unspecified setting.

    A `main` interpretation decides, and the text lists the others. Otherwise the verdict is the common one, `depends`
    if some hold and some fail, or undecided. `why` names the setting.
    """
    message: dict[Verdict, list[str]] = {}
    for name, verdict in readings.items():
        message.setdefault(verdict, []).append(name)
    if main is not None:
        others = {verdict: [name for name in names if name != main] for verdict, names in message.items()}
        return readings[main], _sentence(f"The verdict uses {main}: {why}.", others, "Other interpretations: ")
    if len(message) == 1:
        return next(iter(message)), ""
    if "holds" in message and "fails" in message:
        return "depends", _sentence(f"The source does not specify {why}.", message, "")
    return "undecided", _sentence(f"The source does not specify {why}.", message, "")


def _sentence(start: str, message: Mapping[Verdict, Sequence[str]], lead: str) -> str:
    parts = [f"{verdict} with {' and '.join(names)}" for verdict, names in message.items() if names]
    if not parts:
        return start
    words = "; ".join(parts)
    return f"{start} {lead}{words if lead else words[0].upper() + words[1:]}."


def counted(facts: Sequence[HasVerdict]) -> str:
    """The number of each verdict, claims that do not hold first."""
    number = {verdict: sum(fact.verdict == verdict for fact in facts) for verdict in VERDICTS}
    words = {"holds": "hold", "fails": "fail", "depends": "depend"}
    return ", ".join(f"{count} {words.get(verdict, verdict)}" for verdict, count in number.items() if count)
