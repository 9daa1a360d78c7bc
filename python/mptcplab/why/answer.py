"""What is known of a flow, and three sentences about it: the comparison, the causes, the change.

Owns the words of `why`, and when a change is worth a sentence. Runs nothing.
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
"""A change is suggested from this factor on."""


@dataclass(frozen=True)
class Measure:
    """What counts in place of goodput; less is better."""

    column: str
    """Of the table of flows."""
    said: str
    """A sentence with its value."""
    improved: str
    is_share: bool

    def shown(self, value: Estimate | None) -> str:
        """A value for people."""
        if value is None:
            return "-"
        return f"{value.mean:.1%}" if self.is_share else f"{value.mean * 1e3:.0f} ms"

    def is_better(self, value: Estimate | None, than: Estimate) -> bool:
        """Whether a value is worth a change."""
        least = LATE if self.is_share else 0.0
        return value is not None and value.mean * WORTH <= than.mean and than.mean - value.mean >= least

    def of(self, runs: Sequence[Run], flow: str) -> list[float]:
        """Its value in each run that has one."""
        rows: list[dict[str, Any]] = [{**run.flow(flow)} for run in runs]
        return [row[self.column] for row in rows if row[self.column] is not None]


MOST_LOSERS = 3
"""Flows that lose by a change and are named."""
LATE = 0.01
"""Shares of late blocks that differ by less are equal."""
LATENCY = Measure("latency_p95_s", "95% of its blocks take at most {}", "shortened the latency", is_share=False)
LATENESS = Measure("late", "{} of its blocks come after their deadline", "made fewer blocks late", is_share=True)


@dataclass(frozen=True)
class Trial:
    """A change that was tried, and what it gave."""

    change: str
    goodput: Estimate
    cause: str | None = None
    """The cause that it removes, if it removes one."""
    delay: Estimate | None = None
    """What the answer's `measure` has with it."""
    is_sure: bool = True
    """Whether the seeds tell it from chance: the 95% interval of the paired differences excludes none."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The keys of the flow that it changes."""
    values: tuple[float, ...] = ()
    """What counts by seed, less is better: Mb/s with a minus, or what the answer's `measure` has."""
    note: str = ""
    """More about it, for its sentence."""
    losers: tuple[str, ...] = ()
    """Other flows that lose goodput by it, as clauses."""

    @property
    def missing(self) -> float:
        """The mean of `values`."""
        return estimate(self.values).mean


@dataclass(frozen=True)
class Answer:
    """What is known of one flow. Rates are Mb/s."""

    flow: str
    runs: Sequence[Run]
    goodput: Estimate
    alone: dict[str, Estimate]
    """Plain TCP by path."""
    findings: list[reasons.Finding]
    """What held it back in the first run that did not fill its links, the most costly first."""
    capacity: float | None = None
    """Payload that its links could carry at their best, Mb/s; None where that is not known."""
    measure: Measure | None = None
    """What counts in place of goodput, if something does."""
    delay: Estimate | None = None
    """What it is."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why plain TCP gets nothing over some paths."""
    delay_alone: dict[str, Estimate | None] = field(default_factory=dict)
    """... of plain TCP by path."""
    tried: list[Trial] = field(default_factory=list)
    on_linux: bool = False
    """The flow is on Linux's stack, which has one scheduler."""
    chosen: Trial | None = None
    """A smaller change that suffices, in place of the best one."""

    @property
    def best(self) -> str:
        """The path on which plain TCP is fastest."""
        return max(self.alone, key=lambda path: self.alone[path].mean)

    @property
    def sum(self) -> float:
        """What plain TCP over each path carries, added up."""
        return sum(value.mean for value in self.alone.values())

    @property
    def remedy(self) -> Trial | None:
        """The best change, or a smaller one that suffices, if it is worth it."""
        if self.chosen is not None:
            return self.chosen
        good = [trial for trial in self.tried if self._is_worth(trial)]
        # What the seeds tell from chance comes before what may be more.
        return min([trial for trial in good if trial.is_sure] or good, key=self._rank, default=None)

    @property
    def unsure(self) -> Trial | None:
        """A change that was better than the remedy in the mean, but that the seeds do not tell from chance."""
        remedy = self.remedy
        if remedy is None or not remedy.is_sure:
            return None
        best = min((trial for trial in self.tried if self._is_worth(trial)), key=self._rank, default=None)
        return best if best is not None and not best.is_sure and self._rank(best) < self._rank(remedy) else None

    def _is_worth(self, trial: Trial) -> bool:
        """Whether a change is worth a sentence, if it is more than chance."""
        if self.delay is not None and self.measure is not None:
            return trial.goodput.mean >= self.goodput.mean / WORTH and self.measure.is_better(trial.delay, self.delay)
        return trial.goodput.mean > 0 and trial.goodput.mean >= WORTH * self.goodput.mean

    def _rank(self, trial: Trial) -> float:
        """Less is better."""
        if self.delay is not None and self.measure is not None:
            return trial.delay.mean if trial.delay else float("inf")
        return -trial.goodput.mean

    @property
    def is_full(self) -> bool:
        """Whether it carried what its links could, in each run."""
        return all(reasons.is_healthy(run.flow(self.flow)) for run in self.runs)

    @property
    def is_healthy(self) -> bool:
        """Whether what counts in place of goodput needs no change: none of its blocks is late, or hardly one."""
        return self.measure is LATENESS and self.delay is not None and self.delay.mean < LATE

    def sentences(self) -> list[str]:
        """The comparison, the causes, the change; of a flow that needs no change the first alone."""
        if self.early:
            return [self._ended_early()]
        if self.is_healthy:
            return [f"{self._compared()} It needs no change, and none was tried."]
        return [" ".join([self._compared(), *self._nothing_alone()]), self._held_back(), self._changed()]

    @property
    def early(self) -> list[FlowRow]:
        """The flow in the runs in which it ended before the warm-up did."""
        return [row for row in (run.flow(self.flow) for run in self.runs) if reasons.ended_early(row)]

    def _nothing_alone(self) -> list[str]:
        """Why plain TCP gets nothing over some paths."""
        return [f"Plain TCP over {path} alone gets nothing: {why}." for path, why in self.failed.items()]

    def _ended_early(self) -> str:
        row = self.early[0]
        some = f" with {len(self.early)} of {len(self.runs)} seeds" if len(self.early) < len(self.runs) else ""
        return f"{self.flow}{some}: {reasons.early_end(row)}, and nothing was compared. A shorter warmup allows it."

    def _compared(self) -> str:
        if not self.alone:
            return f"{self._head()}. Plain TCP over each path ended before the warm-up did."
        best, together = self.alone[self.best], listed(list(self.alone))
        if self.measure is not None and self.delay is not None:
            known = [f"{self.measure.shown(value)} over {path}" for path, value in self.delay_alone.items() if value]
            beside = f" With plain TCP: {listed(known)}." if known else ""
            said = self.measure.said.format(self.measure.shown(self.delay))
            return f"{self.flow} gets {self.goodput} Mb/s over {together}. {said}.{beside}"
        head = self._head()
        if not best.mean:
            return f"{head}. Plain TCP gets nothing over any of them."
        if len(self.alone) < 2:
            return f"{head}, and {self.goodput.mean / best.mean:.0%} of plain TCP over it ({best} Mb/s)."
        return (
            f"{head}. That is {self.goodput.mean / best.mean:.0%} of plain TCP over {self.best} alone ({best} Mb/s), "
            f"and {self.goodput.mean / self.sum:.0%} of plain TCP over each added up ({self.sum:.2f} Mb/s)."
        )

    def _head(self) -> str:
        """What it gets, and the part of what its links could carry."""
        early = max(reasons.early_bytes(run.flow(self.flow)) for run in self.runs)
        much = any(reasons.waited_much(run.flow(self.flow)) for run in self.runs)
        paths = f" over {listed(list(self.alone))}" if self.alone else ""
        head = f"{self.flow} gets {self.goodput} Mb/s{paths}{self._with_handshake()}"
        if much:
            head += f", without {reasons.amount(early)} that had arrived out of order before the warm-up ended"
        if self.capacity:
            # Links carry frames of before the measured time in it, and round off.
            part, most = f"{min(1.0, self.goodput.mean / self.capacity):.0%}", f"{self.capacity:.2f} Mb/s"
            head += f", {part} of the {most} that its links could carry{self._at_best()}"
        return head

    def _with_handshake(self) -> str:
        """Says that its handshake counts, where it was long."""
        waited = [row["waited_s"] for run in self.runs for row in [run.flow(self.flow)] if reasons.waited_long(row)]
        return f", with its handshake of {max(waited):.2f} s" if waited else ""

    def _at_best(self) -> str:
        """Says that capacity is what links have at their best, where they have less for a time."""
        usual = [run.flow(self.flow)["capacity"] for run in self.runs]
        fades = any(most is not None and most / 1e6 * WORTH < (self.capacity or 0.0) for most in usual)
        return " at their best" if fades else ""

    def _held_back(self) -> str:
        row = self.runs[0].flow(self.flow)
        if row["handshake_s"] is None:
            return f"It never connected: {reasons.unanswered(row)}."
        if not self.findings:
            if self.is_full:
                said = reasons.reached(row)
                return f"{said[0].upper()}{said[1:]}."
            return "No single cause took more than 3% of capacity."
        said = "; ".join(str(finding) for finding in self.findings[:3])
        # A backup is tried in use.
        blamed = any(one.cause == "scheduler" and not one.is_backup for one in self.findings[:3])
        only = " Linux has no other scheduler, and none was tried." if blamed and self.on_linux else ""
        return f"{said[0].upper()}{said[1:]}.{only}"

    def _changed(self) -> str:
        remedy = self.remedy
        chance = "" if remedy is None or remedy.is_sure else f"; {self._not_told()}"
        if remedy and self.measure and remedy.delay:
            said = f"With {remedy.change}{remedy.note}: {self.measure.shown(remedy.delay)}{chance}."
            return f"{said}{self._lost(remedy)}{self._perhaps()}"
        if remedy:
            more = (
                f" ({remedy.goodput.mean / self.goodput.mean - 1:+.0%})" if self.goodput.mean else " instead of nothing"
            )
            said = f"With {remedy.change}{remedy.note} it gets {remedy.goodput} Mb/s{more}{chance}."
            return f"{said}{self._lost(remedy)}{self._perhaps()}"
        if self.tried:
            changes = "; ".join(trial.change for trial in self.tried)
            if self.measure is LATENCY:
                # It gets its rate: what it lacks is named above, and a list of what does not help is none of that.
                return f"None of {len(self.tried)} changes {self.measure.improved} by {WORTH - 1:.0%} or more."
            what = self.measure.improved if self.measure else "raised goodput"
            return f"None of these {what} by {WORTH - 1:.0%} or more: {changes}."
        if self.is_full:
            from mptcplab.results.text.summary import long_queues

            notes = [
                f"{note[0].upper()}{note[1:]}." for note in long_queues(self.runs[0], self.runs[0].flow(self.flow))
            ]
            left = f"Nothing was tried: less than {1 - reasons.FULL:.0%} of the capacity of its links is left."
            return " ".join([left, *notes])
        return "Nothing was tried."

    @staticmethod
    def _lost(remedy: Trial) -> str:
        """Names flows that pay for a change."""
        few = remedy.losers[:MOST_LOSERS]
        rest = len(remedy.losers) - len(few)
        more = f"; {rest} more of them {'loses' if rest == 1 else 'lose'} goodput" if rest else ""
        return f" It takes this from other flows: {'; '.join(few)}{more}." if few else ""

    def _not_told(self) -> str:
        return f"{len(self.runs)} seeds do not tell this from chance, --seeds {max(10, 3 * len(self.runs))} may"

    def _perhaps(self) -> str:
        """A change that may be better than the remedy."""
        unsure = self.unsure
        if unsure is None:
            return ""
        value = self.measure.shown(unsure.delay) if self.measure and unsure.delay else f"{unsure.goodput} Mb/s"
        return f" With {unsure.change}: {value}, but {self._not_told()}."


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
