"""The answer of `mptcplab why` for one flow: a comparison with plain TCP, the limiting factors, and a tested fix.

Owns the sentences, and the threshold for suggesting a change of settings. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mptcplab.results.text import reasons
from mptcplab.stats.statistics import Estimate, estimate

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results.run import Run

WORTH = 1.05
"""Minimum gain of a suggested change, as a factor."""


@dataclass(frozen=True)
class Measure:
    """A measure that replaces goodput for a flow that writes blocks; less is better."""

    column: str
    """The column of the measure in the table of flows."""
    message: str
    """A clause with a placeholder for the value."""
    improved: str
    """The improvement as text, after "none of these changes"."""
    is_share: bool
    """Whether values are shares; otherwise they are seconds."""

    def shown(self, value: Estimate | None) -> str:
        """A value as text."""
        if value is None:
            return "-"
        return f"{value.mean:.1%}" if self.is_share else f"{value.mean * 1e3:.0f} ms"

    def is_better(self, value: Estimate | None, than: Estimate) -> bool:
        """Whether an improvement is large enough to suggest."""
        least = LATE if self.is_share else 0.0
        return value is not None and value.mean * WORTH <= than.mean and than.mean - value.mean >= least

    def of(self, runs: Sequence[Run], flow: str) -> list[float]:
        """The value of each run that has one."""
        rows: list[dict[str, Any]] = [{**run.flow(flow)} for run in runs]
        return [row[self.column] for row in rows if row[self.column] is not None]


MOST_LOSERS = 3
"""At most this many other flows that lose goodput are named."""
LATE = 0.01
"""Minimum improvement of the share of late blocks; a smaller share needs no change."""
LATENCY = Measure("latency_p95_s", "95% of the flow's blocks take at most {}", "shortened the latency", is_share=False)
LATENESS = Measure(
    "late", "{} of the flow's blocks arrive after their deadline", "made fewer blocks late", is_share=True
)


@dataclass(frozen=True)
class Trial:
    """A tested change and its result."""

    change: str
    goodput: Estimate
    cause: str | None = None
    """The cause that the change removes; None for changes that remove no particular cause."""
    delay: Estimate | None = None
    """The answer's `measure` with this change."""
    is_sure: bool = True
    """Whether the gain is significant: the 95% interval of the paired differences excludes zero."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The changed flow keys and their new values."""
    values: tuple[float, ...] = ()
    """The value to minimise, by seed: negative Mb/s, or the answer's `measure`."""
    note: str = ""
    """A detail for the sentence, between commas; empty without a detail."""
    losers: tuple[str, ...] = ()
    """Other flows that lose goodput, as clauses."""

    @property
    def missing(self) -> float:
        """The mean of `values`."""
        return estimate(self.values).mean


@dataclass(frozen=True)
class Answer:
    """The results of one flow. Rates are Mb/s."""

    flow: str
    runs: Sequence[Run]
    goodput: Estimate
    alone: dict[str, Estimate]
    """By path: goodput of plain TCP."""
    findings: list[reasons.Finding]
    """Limiting factors of the first run that did not fill its links, the largest first."""
    capacity: float | None = None
    """Payload that the flow's links could carry at their best, Mb/s; None if unknown."""
    measure: Measure | None = None
    """The measure that replaces goodput; None for goodput."""
    delay: Estimate | None = None
    """The value of `measure`."""
    failed: dict[str, str] = field(default_factory=dict)
    """By path: why plain TCP delivers nothing."""
    delay_alone: dict[str, Estimate | None] = field(default_factory=dict)
    """By path: the value of `measure` for plain TCP."""
    tried: list[Trial] = field(default_factory=list)
    on_linux: bool = False
    """Whether the flow uses Linux's stack, which has one scheduler."""
    chosen: Trial | None = None
    """A smaller change that suffices instead of the best one."""

    @property
    def best(self) -> str:
        """The path with the highest rate of plain TCP."""
        return max(self.alone, key=lambda path: self.alone[path].mean)

    @property
    def sum(self) -> float:
        """The sum of plain TCP's goodputs over each path, Mb/s."""
        return sum(value.mean for value in self.alone.values())

    @property
    def remedy(self) -> Trial | None:
        """The best change, or a smaller sufficient one; None if no gain is large enough."""
        if self.chosen is not None:
            return self.chosen
        good = [trial for trial in self.tried if self._is_worth(trial)]
        # A significant gain ranks before a larger one that is not.
        return min([trial for trial in good if trial.is_sure] or good, key=self._rank, default=None)

    @property
    def unsure(self) -> Trial | None:
        """A change with a higher mean gain than the remedy, but without significance."""
        remedy = self.remedy
        if remedy is None or not remedy.is_sure:
            return None
        best = min((trial for trial in self.tried if self._is_worth(trial)), key=self._rank, default=None)
        return best if best is not None and not best.is_sure and self._rank(best) < self._rank(remedy) else None

    def _is_worth(self, trial: Trial) -> bool:
        """Whether the gain is large enough, significant or not."""
        if self.delay is not None and self.measure is not None:
            return trial.goodput.mean >= self.goodput.mean / WORTH and self.measure.is_better(trial.delay, self.delay)
        return trial.goodput.mean > 0 and trial.goodput.mean >= WORTH * self.goodput.mean

    def _rank(self, trial: Trial) -> float:
        """The value to minimise."""
        if self.delay is not None and self.measure is not None:
            return trial.delay.mean if trial.delay else float("inf")
        return -trial.goodput.mean

    @property
    def is_full(self) -> bool:
        """Whether the flow filled its links in each run."""
        return all(reasons.is_healthy(run.flow(self.flow)) for run in self.runs)

    @property
    def is_healthy(self) -> bool:
        """Whether no change is needed: fewer than `LATE` of the blocks miss their deadline."""
        return self.measure is LATENESS and self.delay is not None and self.delay.mean < LATE

    def sentences(self) -> list[str]:
        """Comparison, causes and change; a flow that needs no change gets the comparison only."""
        if self.early:
            return [self._ended_early()]
        if self.is_healthy:
            return [f"{self._compared()} No change is needed, and none was tested."]
        return [" ".join([self._compared(), *self._nothing_alone()]), self._held_back(), self._changed()]

    @property
    def early(self) -> list[FlowRow]:
        """The rows of the flow in the runs in which it ended before the warm-up did."""
        return [row for row in (run.flow(self.flow) for run in self.runs) if reasons.ended_early(row)]

    def _nothing_alone(self) -> list[str]:
        """Why plain TCP delivers nothing over some paths."""
        return [f"Plain TCP over {path} alone delivers nothing: {why}." for path, why in self.failed.items()]

    def _ended_early(self) -> str:
        row = self.early[0]
        some = f" with {len(self.early)} of {len(self.runs)} seeds" if len(self.early) < len(self.runs) else ""
        return f"{self.flow}{some}: {reasons.early_end(row)}, so nothing was compared. Use a shorter warmup."

    def _compared(self) -> str:
        if not self.alone:
            return f"{self._head()}. Plain TCP over each path ended before the warm-up did."
        best, together = self.alone[self.best], listed(list(self.alone))
        if self.measure is not None and self.delay is not None:
            known = [f"{self.measure.shown(value)} over {path}" for path, value in self.delay_alone.items() if value]
            offset = f" With plain TCP: {listed(known)}." if known else ""
            message = self.measure.message.format(self.measure.shown(self.delay))
            return f"{self.flow} gets {self.goodput} Mb/s over {together}. {message}.{offset}"
        head = self._head()
        if not best.mean:
            return f"{head}. Plain TCP delivers nothing over any path."
        if len(self.alone) < 2:
            return f"{head}, and {self.goodput.mean / best.mean:.0%} of plain TCP over this path ({best} Mb/s)."
        return (
            f"{head}. That is {self.goodput.mean / best.mean:.0%} of plain TCP over {self.best} alone ({best} Mb/s), "
            f"and {self.goodput.mean / self.sum:.0%} of the total of plain TCP over all paths ({self.sum:.2f} Mb/s)."
        )

    def _head(self) -> str:
        """The flow's goodput, and the share of its links' capacity."""
        early = max(reasons.early_bytes(run.flow(self.flow)) for run in self.runs)
        much = any(reasons.waited_much(run.flow(self.flow)) for run in self.runs)
        paths = f" over {listed(list(self.alone))}" if self.alone else ""
        head = f"{self.flow} gets {self.goodput} Mb/s{paths}{self._with_handshake()}"
        if much:
            head += f", without {reasons.amount(early)} that had arrived out of order before the warm-up ended"
        if self.capacity:
            # Frames from before the measured time also arrive in it, and rates are rounded: the share may exceed 1.
            part, most = f"{min(1.0, self.goodput.mean / self.capacity):.0%}", f"{self.capacity:.2f} Mb/s"
            head += f", {part} of the {most} that its links could carry{self._at_best()}"
        return head

    def _with_handshake(self) -> str:
        """A note that the rate includes the handshake, if the handshake was long."""
        waited = [row["waited_s"] for run in self.runs for row in [run.flow(self.flow)] if reasons.waited_long(row)]
        return f", including its handshake of {max(waited):.2f} s" if waited else ""

    def _at_best(self) -> str:
        """A note that capacity refers to the links at their best, if their rate falls for a time."""
        usual = [run.flow(self.flow)["capacity"] for run in self.runs]
        fades = any(most is not None and most / 1e6 * WORTH < (self.capacity or 0.0) for most in usual)
        return " at their best" if fades else ""

    def _held_back(self) -> str:
        row = self.runs[0].flow(self.flow)
        if row["handshake_s"] is None:
            return f"The flow never connected: {reasons.unanswered(row)}."
        if not self.findings:
            if self.is_full:
                message = reasons.reached(row)
                return f"{message[0].upper()}{message[1:]}."
            return "No single cause took more than 3% of the capacity."
        message = "; ".join(str(finding) for finding in self.findings[:3])
        # For a backup path, a change that uses it is tested on Linux too.
        blamed = any(one.cause == "scheduler" and not one.is_backup for one in self.findings[:3])
        only = " Linux has no other scheduler, so none was tested." if blamed and self.on_linux else ""
        return f"{message[0].upper()}{message[1:]}.{only}"

    def _changed(self) -> str:
        remedy = self.remedy
        chance = "" if remedy is None or remedy.is_sure else f"; {self._not_told()}"
        if remedy and self.measure and remedy.delay:
            value = self.measure.message.format(self.measure.shown(remedy.delay))
            message = f"With {remedy.change}{remedy.note or ','} {value}{chance}."
            return f"{message}{self._lost(remedy)}{self._perhaps()}"
        if remedy:
            more = (
                f" ({remedy.goodput.mean / self.goodput.mean - 1:+.0%})" if self.goodput.mean else " instead of nothing"
            )
            message = f"With {remedy.change}{remedy.note or ','} the flow gets {remedy.goodput} Mb/s{more}{chance}."
            return f"{message}{self._lost(remedy)}{self._perhaps()}"
        if self.tried:
            changes = "; ".join(trial.change for trial in self.tried)
            if self.measure is LATENCY:
                # The stream gets its rate; a list of changes without effect would not help.
                return f"None of {len(self.tried)} changes {self.measure.improved} by {WORTH - 1:.0%} or more."
            what = self.measure.improved if self.measure else "raised the goodput"
            return f"None of these changes {what} by {WORTH - 1:.0%} or more: {changes}."
        if self.is_full:
            from mptcplab.results.text.summary import long_queues

            notes = [
                f"{note[0].upper()}{note[1:]}." for note in long_queues(self.runs[0], self.runs[0].flow(self.flow))
            ]
            left = (
                f"No change was tested: less than {1 - reasons.FULL:.0%} of the capacity of the flow's links is unused."
            )
            return " ".join([left, *notes])
        return "No change was tested."

    @staticmethod
    def _lost(remedy: Trial) -> str:
        """Flows that lose goodput by a change."""
        few = remedy.losers[:MOST_LOSERS]
        rest = len(remedy.losers) - len(few)
        more = f"; {rest} more {'flow loses' if rest == 1 else 'flows lose'} goodput" if rest else ""
        return f" Other flows lose goodput: {'; '.join(few)}{more}." if few else ""

    def _not_told(self) -> str:
        return (
            f"{len(self.runs)} seeds are too few to tell this gain from random variation; use --seeds "
            f"{max(10, 3 * len(self.runs))}"
        )

    def _perhaps(self) -> str:
        """A change that may be better than the remedy."""
        unsure = self.unsure
        if unsure is None:
            return ""
        value = f"the flow gets {unsure.goodput} Mb/s"
        if self.measure and unsure.delay:
            value = self.measure.message.format(self.measure.shown(unsure.delay))
        return f" With {unsure.change}, {value}, but {self._not_told()}."


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names joined in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
