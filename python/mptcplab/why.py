"""Why a flow is as fast as it is: compared with its links and with plain TCP, its causes, and what changes it.

Owns the comparison, the changes that are tried, and three sentences. A change is suggested only after it was run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab import events, reasons
from mptcplab.batch import Job, run_jobs
from mptcplab.inputs import size, size_text
from mptcplab.statistics import Estimate, Paired, estimate, paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab._core import FlowRow
    from mptcplab.results import Run
    from mptcplab.scenario import Scenario

WORTH = 1.05
"""A change is suggested from this factor on."""
HEALED = 0.5
"""A change that gains this part of what the best one gains shows the cause that it removes, ..."""
MISSING = 0.4
"""... if it also wins back this part of the missing capacity."""

BUFFERS = ("rcvbuf", "sndbuf")
FIRST = 4
"""Buffers of so many times the size are tried first; ..."""
LADDER = ((2, 8), (16,), (32,))
"""... where that is the best change, so many times the size too, for as long as the largest is the best, ..."""
ERRORS = 2.0
"""... and the smallest is suggested that is worse than the best of them by at most so many standard errors, ..."""
EQUAL = 0.01
"""... or by this part of it."""

MOST_FLOWS = 10
"""Flows that are explained at once: each takes runs of its own."""

COUPLED = ("lia", "olia", "balia", "wvegas")
"""Controllers that couple the windows of several paths."""
_STREAM = 0.97
"""A stream of blocks that gets this part of its rate lacks no throughput; its latency is compared instead."""


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
    delay_alone: dict[str, Estimate | None] = field(default_factory=dict)
    """... of plain TCP by path."""
    tried: list[Trial] = field(default_factory=list)
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
        if self.delay is not None and self.measure is not None:
            kept = [
                one for one in self.tried if one.goodput.mean >= self.goodput.mean / WORTH and one.delay is not None
            ]
            least = min(kept, key=lambda one: one.delay.mean if one.delay else 0.0, default=None)
            better = least is not None and self.measure.is_better(least.delay, self.delay)
            return least if better else None
        best = max(self.tried, key=lambda trial: trial.goodput.mean, default=None)
        return best if best and best.goodput.mean > 0 and best.goodput.mean >= WORTH * self.goodput.mean else None

    @property
    def is_full(self) -> bool:
        """Whether it carried what its links could, in each run."""
        return all(reasons.is_healthy(run.flow(self.flow)) for run in self.runs)

    def sentences(self) -> list[str]:
        """The comparison, the causes, the change."""
        if self.early:
            return [self._ended_early()]
        return [self._compared(), self._held_back(), self._changed()]

    @property
    def early(self) -> list[FlowRow]:
        """The flow in the runs in which it ended before the warm-up did."""
        return [row for row in (run.flow(self.flow) for run in self.runs) if reasons.ended_early(row)]

    def _ended_early(self) -> str:
        row = self.early[0]
        some = f" with {len(self.early)} of {len(self.runs)} seeds" if len(self.early) < len(self.runs) else ""
        return f"{self.flow}{some}: {reasons.early_end(row)}, and nothing was compared. A shorter warmup allows it."

    def _compared(self) -> str:
        if not self.alone:
            return f"{self._head()}. Plain TCP over each path ended before the warm-up did."
        best, together = self.alone[self.best], _listed(list(self.alone))
        if self.measure is not None and self.delay is not None:
            known = [f"{self.measure.shown(value)} over {path}" for path, value in self.delay_alone.items() if value]
            beside = f" With plain TCP: {_listed(known)}." if known else ""
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
        paths = f" over {_listed(list(self.alone))}" if self.alone else ""
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
        return f"{said[0].upper()}{said[1:]}."

    def _changed(self) -> str:
        remedy = self.remedy
        chance = "" if remedy is None or remedy.is_sure else f"; {len(self.runs)} seeds do not tell this from chance"
        if remedy and self.measure and remedy.delay:
            return f"With {remedy.change}{remedy.note}: {self.measure.shown(remedy.delay)}{chance}."
        if remedy:
            more = (
                f" ({remedy.goodput.mean / self.goodput.mean - 1:+.0%})" if self.goodput.mean else " instead of nothing"
            )
            return f"With {remedy.change}{remedy.note} it gets {remedy.goodput} Mb/s{more}{chance}."
        if self.tried:
            changes = "; ".join(trial.change for trial in self.tried)
            what = self.measure.improved if self.measure else "raised goodput"
            return f"None of these {what} by {WORTH - 1:.0%} or more: {changes}."
        if self.is_full:
            from mptcplab.summary import long_queues

            notes = [
                f"{note[0].upper()}{note[1:]}." for note in long_queues(self.runs[0], self.runs[0].flow(self.flow))
            ]
            left = f"Nothing was tried: less than {1 - reasons.FULL:.0%} of the capacity of its links is left."
            return " ".join([left, *notes])
        return "Nothing was tried."


def explain(
    scenario: Scenario, *, flow: str | None = None, seeds: Sequence[int] = (1, 2, 3), quiet: bool = True
) -> list[Answer]:
    """An answer for each Multipath TCP flow, up to `MOST_FLOWS`, or for one.

    Raises `ValueError` where there is none.
    """
    compared = scenario.vary({"flows.*.baselines": True})
    singles = compared.baselines()
    names = list(dict.fromkeys(name for name, _, _ in singles))
    if flow is not None and flow not in names:
        raise ValueError(f"there is no flow {flow!r} of Multipath TCP; there are: {', '.join(names) or 'none'}")
    if not names:
        raise ValueError("there is no flow of Multipath TCP to explain")
    wanted = [flow] if flow is not None else names[:MOST_FLOWS]
    singles = [single for single in singles if single[0] in wanted]
    jobs = [Job(scenario.core, seed, trace=events.REASONS) for seed in seeds]
    jobs += [Job(alone.core, seed, f"TCP over {path}") for _, path, alone in singles for seed in seeds]
    done = run_jobs(jobs, quiet=quiet, label="why")
    runs, rest = done[: len(seeds)], iter(done[len(seeds) :])
    alone: dict[str, dict[str, list[Run]]] = {}
    for name, path, _ in singles:
        alone.setdefault(name, {})[path] = [next(rest) for _ in seeds]
    return [_answer(scenario, name, runs, alone[name], quiet=quiet) for name in wanted]


def _answer(scenario: Scenario, flow: str, runs: Sequence[Run], alone: dict[str, list[Run]], *, quiet: bool) -> Answer:
    from mptcplab import ScenarioError

    rows = [run.flow(flow) for run in runs]
    # A path on which plain TCP ended before the warm-up did is compared with no more than one that was not run.
    alone = {path: own for path, own in alone.items() if not any(reasons.ended_early(run.flow(flow)) for run in own)}
    most = reasons.capacity(rows[0])
    singles = {path: _goodput(own, flow) for path, own in alone.items()}
    answer = Answer(
        flow, runs, _goodput(runs, flow), singles, reasons.mean_findings(rows), most / 1e6 if most else None
    )
    if answer.early:
        return answer
    # Copies of a flow are one in the file, so they change together.
    tables = tomllib.loads(scenario.to_toml())["flows"]
    written = flow if flow in tables and _settable(scenario, flow) else "*"
    measure = _measure(tables[flow], answer.goodput)
    if measure is not None:
        delays = {path: _estimated(measure.of(own, flow)) for path, own in alone.items()}
        answer = replace(answer, measure=measure, delay=_estimated(measure.of(runs, flow)), delay_alone=delays)
    elif answer.is_full:
        return answer

    def tested(changes: Sequence[tuple[str | None, dict[str, Any]]]) -> list[Trial]:
        jobs, tried = [], []
        for cause, change in changes:
            try:
                changed = scenario.vary({f"flows.{written}.{key}": value for key, value in change.items()}).core
            except ScenarioError:
                # Larger than a scenario may have, or not of this transport.
                continue
            jobs += [Job(changed, run.seed) for run in runs]
            tried.append((cause, change))
        done, each = run_jobs(jobs, quiet=quiet, label="changes"), len(runs)
        of = [done[at * each : (at + 1) * each] for at in range(len(tried))]
        return [_trial(change, cause, answer, own) for (cause, change), own in zip(tried, of, strict=True)]

    answer = replace(answer, tried=tested(_changes(tables[flow])))
    answer = replace(answer, findings=_proven(answer))
    best = answer.remedy
    if best is None or not set(best.settings) <= set(BUFFERS):
        return answer
    larger = [trial for trial in answer.tried if set(trial.settings) <= set(best.settings) and _suffices(trial, best)]
    keys = list(min(larger, key=lambda trial: len(trial.settings)).settings)
    sizes = {key: size(str(tables[flow][key])) for key in keys}
    rungs = [trial for trial in answer.tried if list(trial.settings) == keys]
    for several in LADDER:
        changes = [{key: size_text(count * times) for key, count in sizes.items()} for times in several]
        rungs = sorted([*rungs, *tested([(None, change) for change in changes])], key=_size)
        if min(rungs, key=lambda trial: trial.missing) is not rungs[-1]:
            break
    return replace(answer, chosen=_smallest(answer, rungs))


def _size(trial: Trial) -> int:
    """What the buffers of a change hold, bytes."""
    return sum(size(text) for text in trial.settings.values())


def _smallest(answer: Answer, rungs: Sequence[Trial]) -> Trial | None:
    """The smallest of some buffers that is as good as the best of them; `rungs` begin with the smallest."""
    rungs = [trial for trial in rungs if len(trial.values) == len(answer.runs)]
    if len(rungs) < 2:
        return None
    best = min(rungs, key=lambda trial: trial.missing)
    good = [trial for trial in rungs if _suffices(trial, best) and _is_worth(answer, trial)]
    if not good:
        return None
    sizes = [" and ".join(trial.settings.values()) for trial in rungs]
    what = _listed(sizes) if len(best.settings) == 1 else _listed([f"({text})" for text in sizes])
    return replace(good[0], note=f", the smallest that suffices of {what},")


def _is_worth(answer: Answer, trial: Trial) -> bool:
    return answer.measure is not None or trial.goodput.mean >= WORTH * answer.goodput.mean


def _suffices(trial: Trial, best: Trial) -> bool:
    """Whether a change is as good as another one, as far as the seeds tell."""
    if len(trial.values) != len(best.values):
        return False
    lacks = [own - most for own, most in zip(trial.values, best.values, strict=True)]
    error = float(np.std(lacks, ddof=1)) / len(lacks) ** 0.5 if len(lacks) > 1 else 0.0
    lack = trial.missing - best.missing
    return lack <= max(ERRORS * error, EQUAL * abs(best.missing))


def _trial(settings: dict[str, Any], cause: str | None, answer: Answer, own: Sequence[Run]) -> Trial:
    """What a change gave, and whether that is more than chance."""
    flow, measure = answer.flow, answer.measure
    delays = measure.of(own, flow) if measure else []
    before = measure.of(answer.runs, flow) if measure else []
    if measure is None:
        gain: Paired | None = paired(_rates_of(own, flow), _rates_of(answer.runs, flow))
    else:
        gain = paired(before, delays) if len(before) == len(delays) else None
    is_sure = len(own) < 2 or (gain is not None and gain.difference.low > 0)
    values = delays if measure else [-rate for rate in _rates_of(own, flow)]
    text = " with ".join(f"{key} = {_shown(value)}" for key, value in settings.items())
    return Trial(text, _goodput(own, flow), cause, _estimated(delays), is_sure, settings, tuple(values))


def _measure(flow: dict[str, Any], goodput: Estimate) -> Measure | None:
    """What counts in place of goodput: lateness where blocks have a deadline, latency where a stream gets its rate."""
    if "blocks" not in flow:
        return None
    if flow.get("deadline"):
        return LATENESS
    from mptcplab.inputs import rate

    if flow.get("rate") and goodput.mean * 1e6 >= _STREAM * rate(str(flow["rate"])):
        return LATENCY
    return None


def _estimated(values: Sequence[float]) -> Estimate | None:
    return estimate(values) if values else None


def _proven(answer: Answer) -> list[reasons.Finding]:
    """The findings, with that cause first whose removal won back most of the missing capacity."""
    if answer.capacity is None or answer.measure is not None:
        return answer.findings
    gains = [(trial.goodput.mean - answer.goodput.mean, trial.cause) for trial in answer.tried]
    best = max((gain for gain, _ in gains), default=0.0)
    least = max(HEALED * best, MISSING * (answer.capacity - answer.goodput.mean))
    causes = {cause: gain for gain, cause in sorted(gains, key=lambda one: one[0]) if cause and gain >= least}
    # What the links saw decides between causes whose removal helps alike.
    known = [finding for finding in answer.findings if finding.cause in causes]
    rest = [finding for finding in answer.findings if finding not in known]
    if known:
        return known + rest
    named = {finding.cause for finding in answer.findings}
    new = {cause: gain for gain, cause in sorted(gains, key=lambda one: one[0]) if cause and cause not in named}
    shown = [
        reasons.Finding(cause, None, gain / answer.capacity, gain * 1e6)
        for cause, gain in new.items()
        if gain >= reasons.LEAST * answer.capacity
    ]
    proven = [finding for finding in shown if finding.cause in causes]
    others = [*rest, *(one for one in shown if one not in proven)]
    by_cost = [*sorted(proven, key=lambda one: -one.cost), *sorted(others, key=lambda one: -one.cost)]
    return _no_more_than(answer.capacity - answer.goodput.mean, by_cost)


def _no_more_than(missing: float, found: Sequence[reasons.Finding]) -> list[reasons.Finding]:
    """The first findings that cost no more than is missing, Mb/s: changes that win back the same are one cause."""
    kept: list[reasons.Finding] = []
    for finding in found:
        if not kept or finding.cost / 1e6 <= missing:
            kept.append(finding)
            missing -= finding.cost / 1e6
    return kept


def _settable(scenario: Scenario, flow: str) -> bool:
    from mptcplab import ScenarioError

    try:
        scenario.vary({f"flows.{flow}.baselines": False})
    except ScenarioError:
        return False
    return True


def _changes(flow: dict[str, Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """Changes of a flow's keys, each with the cause that it removes; those that the flow has already are left out."""
    rcvbuf, sndbuf = (size(str(flow[key])) for key in ("rcvbuf", "sndbuf"))
    receive, send = {"rcvbuf": size_text(FIRST * rcvbuf)}, {"sndbuf": size_text(FIRST * sndbuf)}
    found: list[tuple[str | None, dict[str, Any]]] = [
        ("receive_window", receive),
        ("send_buffer", send),
        (None, receive | send),
    ]
    found += [("scheduler", {"scheduler": name}) for name in ("ontime", "minrtt") if flow["scheduler"] != name]
    if flow.get("backup"):
        found.append(("scheduler", {"backup": []}))
    if flow["penalisation"]:
        found.append(("penalty", {"penalisation": False}))
    found.append(
        (None, {"opportunistic_retransmission": True})
        if not flow["opportunistic_retransmission"]
        else ("copies", {"opportunistic_retransmission": False})
    )
    if flow["congestion"] in COUPLED:
        if flow["coupled"] == "all":
            found.append(("coupling", {"coupled": "shared"}))
        found.append(("coupling", {"congestion": "reno"}))
    if flow["pacing"]:
        found.append(("pacing", {"pacing": False}))
    found += [(None, {"congestion": name}) for name in ("cubic", "bbr") if flow["congestion"] != name]
    paths = list(flow["paths"])
    if len(paths) > 1:
        found.append((None, {"paths": paths[::-1]}))
        found += [(None, {"paths": [name]}) for name in paths]
    return found


def _goodput(runs: Sequence[Run], flow: str) -> Estimate:
    return estimate(_rates_of(runs, flow))


def _rates_of(runs: Sequence[Run], flow: str) -> list[float]:
    """Goodput in each run, Mb/s; with the handshake where that was long, for another first path may shorten it."""
    return [reasons.comparable_rate(run.flow(flow)) / 1e6 for run in runs]


def _shown(value: str | bool | list[str]) -> str:
    """A value as a scenario file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_shown(name) for name in value)}]"
    return f'"{value}"'


def _listed(names: Sequence[str], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def picture(answer: Answer) -> Figure:
    """The goodput beside plain TCP, and what held each path back."""
    from mptcplab import plots

    with plots.house_style():
        figure, (rates, held) = plots.new_figure(2, width=4.6, height=3.6)
        _rates(rates, answer)
        _held(held, answer)
    return figure


def _rates(axes: Axes, answer: Answer) -> None:
    from mptcplab import plots

    bars = [("all paths", answer.goodput, "#0b5394", "")]
    bars += [(f"TCP, {path}", value, "#bbbbbb", "///") for path, value in answer.alone.items()]
    bars += [(answer.remedy.change, answer.remedy.goodput, "#009e73", "...")] if answer.remedy else []
    for at, (_, value, color, hatch) in enumerate(bars):
        spread = value.half_width if value.n > 1 and value.half_width > 0 else None
        axes.bar(at, value.mean, 0.66, yerr=spread, color=color, hatch=hatch, edgecolor="#333333", linewidth=0.5)
        axes.annotate(
            f"{value.mean:.2f}",
            (at, value.mean + (spread or 0)),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
        )
    if len(answer.alone) > 1:
        plots.published_line(axes, answer.sum, "plain TCP, added up")
    axes.set_xticks(range(len(bars)), [name for name, _, _, _ in bars], rotation=20 if len(bars) > 3 else 0)
    axes.grid(visible=False, axis="x")
    high = max([answer.sum, *(value.mean + value.half_width for _, value, _, _ in bars)])
    plots.finish(axes, x="", y="goodput [Mb/s]", title=answer.flow, legend=None, top=1.25 * high or 1.0)
    if len(answer.alone) > 1:
        axes.legend(loc="upper right")


def _held(axes: Axes, answer: Answer) -> None:
    from mptcplab.event_plots import LIMIT_LOOKS

    rows = [row for row in answer.runs[0].flow(answer.flow)["paths"] if row.get("limits")]
    used: dict[str, None] = {}
    for at, row in enumerate(rows):
        left = 0.0
        for name, share in sorted(row["limits"].items(), key=lambda item: -item[1]):
            if share >= 0.01:
                color, hatch = LIMIT_LOOKS[name]
                label = reasons.WORDS.get(name, name) if name not in used else None
                axes.barh(at, 100 * share, 0.6, left=left, color=color, hatch=hatch, edgecolor="#333333",
                          linewidth=0.4, label=label)  # fmt: skip
                used[name] = None
                left += 100 * share
    axes.set_yticks(np.arange(len(rows)), [row["path"] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(visible=False)
    axes.set_xlabel("share of the time [%]")
    axes.set_title("what held each path back")
    if used:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)
