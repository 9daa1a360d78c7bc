"""Verdicts: what intervals over the seeds say of bounds, and how several readings of one network become one word.

Owns the five verdicts and the rules by which they are given. Knows no study, runs nothing, and gives none by hand: a
verdict follows from intervals and bounds, or, where two sentences exclude each other, from both of them quoted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mptcplab.stats.statistics import Interval, interval

Verdict = Literal["holds", "fails", "undecided", "depends", "contradicted"]
VERDICTS: tuple[Verdict, ...] = ("fails", "undecided", "depends", "contradicted", "holds")
"""The weak spots first."""
Origin = Literal["published", "ours", "by construction"]
ORIGINS: tuple[Origin, ...] = ("published", "ours", "by construction")


def replicated(whole: Verdict, blocks: Sequence[Verdict]) -> tuple[Verdict, str]:
    """The verdict on all seeds if each block of them alone gives the same; else undecided, and the words for why."""
    if all(block == whole for block in blocks):
        return whole, ""
    return "undecided", f"Blocks of seeds disagree: {', '.join(blocks)}; all together: {whole}."


def replicated_shorter(whole: Verdict, blocks: Sequence[Verdict]) -> tuple[Verdict, str]:
    """The verdict on long runs if blocks of shorter ones agree with each other; where these say another, it says so.

    That the blocks say another is then the length's doing, and the study's own length decides.
    """
    short = set(blocks)
    if len(short) > 1:
        return "undecided", f"Blocks of seeds, shorter runs, disagree: {', '.join(blocks)}; longer runs: {whole}."
    return whole, "" if short <= {whole} else f"Blocks of shorter runs agree on: {blocks[0]}."


class HasVerdict(Protocol):
    """Whatever was judged."""

    @property
    def verdict(self) -> Verdict:
        """What came out."""


@dataclass(frozen=True)
class Bound:
    """What a fact demands of a value: at least `low`, at most `high`. The name is that of studies/agreed.json.

    `strict` where the fact says more than, less than, rises or falls: the ends themselves are outside then.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    def judge(self, found: Interval) -> Verdict:
        """Whether an interval lies inside, outside, or straddles."""
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
        """For "never" and "always": `span` is from the least to the largest of the runs, and one outside fails."""
        said = self.judge(span)
        return "fails" if said == "undecided" and span.n > 1 and not math.isnan(span.mean) else said

    def within(self, other: Bound) -> bool:
        """Whether this one is no wider than another."""
        return self.low >= other.low and self.high <= other.high


@dataclass(frozen=True)
class Check:
    """A value with its interval against a bound; or, for "never" and "always", with what its runs span."""

    what: str
    found: Interval
    bound: Bound
    unit: str = ""
    every: bool = False
    """Whether `found` goes from the least to the largest run, and one run outside fails; see `every`."""

    @property
    def verdict(self) -> Verdict:
        """What the interval says."""
        return self.bound.judge_every(self.found) if self.every else self.bound.judge(self.found)

    def __str__(self) -> str:
        """In words."""
        words = str(self.found)
        if self.every and self.found.low < self.found.high:
            words = words.replace("(", "(each run ", 1)
        return " ".join(part for part in (self.what, words, self.unit) if part)


def every(what: str, values: Sequence[float], bound: Bound, unit: str = "") -> Check:
    """A claim about every run: holds where all lie inside, fails where one does not. One run alone decides nothing."""
    if len(values) < 2:
        return Check(what, interval(values), bound, unit)
    span = Interval(math.fsum(values) / len(values), min(values), max(values), len(values))
    return Check(what, span, bound, unit, every=True)


@dataclass(frozen=True)
class Quote:
    """A sentence of a source, and which source that is."""

    source: str
    sentence: str


@dataclass(frozen=True)
class Exclusion:
    """Two sentences of sources that no network can meet together: the one way to `contradicted`."""

    first: Quote
    second: Quote
    why: str

    def __post_init__(self) -> None:
        """Refuses an exclusion without both sentences."""
        if not all((self.first.sentence, self.second.sentence, self.why)):
            raise ValueError("a contradiction needs both sentences, quoted, and why no network meets them together")


def all_of(checks: Sequence[Check]) -> Verdict:
    """Holds where all hold, fails where one fails."""
    verdicts = {check.verdict for check in checks}
    if not checks:
        return "undecided"
    if "fails" in verdicts:
        return "fails"
    return "holds" if verdicts == {"holds"} else "undecided"


def over_readings(readings: Mapping[str, Verdict], main: str | None, why: str) -> tuple[Verdict, str]:
    """One verdict over several readings of what a source leaves open.

    With a `main` reading, the study's one network, that one decides and the others stand beside it. Without, the source
    is silent about something that decides: what all readings say, or `depends`.
    """
    said: dict[Verdict, list[str]] = {}
    for name, verdict in readings.items():
        said.setdefault(verdict, []).append(name)
    if main is not None:
        others = {verdict: [name for name in names if name != main] for verdict, names in said.items()}
        return readings[main], _sentence(f"Judged with {main}: {why}.", others, "Beside it: ")
    if len(said) == 1:
        return next(iter(said)), ""
    if "holds" in said and "fails" in said:
        return "depends", _sentence(f"The source does not say {why}.", said, "")
    return "undecided", _sentence(f"The source does not say {why}.", said, "")


def _sentence(start: str, said: Mapping[Verdict, Sequence[str]], lead: str) -> str:
    parts = [f"{verdict} with {' and '.join(names)}" for verdict, names in said.items() if names]
    if not parts:
        return start
    words = "; ".join(parts)
    return f"{start} {lead}{words if lead else words[0].upper() + words[1:]}."


def counted(facts: Sequence[HasVerdict]) -> str:
    """How many of each verdict, the weak spots first."""
    number = {verdict: sum(fact.verdict == verdict for fact in facts) for verdict in VERDICTS}
    words = {"holds": "hold", "fails": "fail", "depends": "depend"}
    return ", ".join(f"{count} {words.get(verdict, verdict)}" for verdict, count in number.items() if count)
