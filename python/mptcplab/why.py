"""Why a flow is as fast as it is: beside plain TCP, what held it back, and what would change it.

Owns the comparison, the remedies that are tried, and three sentences. A remedy is named only after it was run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mptcplab import events, reasons
from mptcplab.batch import Job, run_jobs
from mptcplab.inputs import size
from mptcplab.statistics import Estimate, estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.results import Run
    from mptcplab.scenario import Scenario

ENOUGH = 0.97
"""Of what its paths carry added up; a flow that has so much needs no remedy."""
WORTH = 1.05
"""A remedy counts from this factor on."""

MOST_FLOWS = 10
"""Flows that are explained at once: each takes runs of its own."""

_LARGER = ("receive_window", "send_buffer", "head_of_line")
"""What a larger buffer may cure."""


@dataclass(frozen=True)
class Trial:
    """A change that was tried, and the goodput with it."""

    change: str
    goodput: Estimate


@dataclass(frozen=True)
class Answer:
    """What is known of one flow. Rates are Mb/s."""

    flow: str
    runs: Sequence[Run]
    goodput: Estimate
    alone: dict[str, Estimate]
    """Plain TCP by path."""
    findings: list[reasons.Finding]
    """What held it back in the first run, the heaviest first."""
    tried: list[Trial] = field(default_factory=list)

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
        """The best change, if it is worth it."""
        best = max(self.tried, key=lambda trial: trial.goodput.mean, default=None)
        return best if best and best.goodput.mean >= WORTH * self.goodput.mean else None

    def sentences(self) -> list[str]:
        """Beside plain TCP, the reason, the remedy."""
        return [self._compared(), self._held_back(), self._changed()]

    def _compared(self) -> str:
        best, together = self.alone[self.best], _listed(list(self.alone))
        head = f"{self.flow} gets {self.goodput} Mb/s over {together}"
        if not best.mean:
            return f"{head}, where plain TCP gets nothing over any of them."
        if len(self.alone) < 2:
            return f"{head}, {_times(self.goodput.mean / best.mean)} plain TCP over it ({best} Mb/s)."
        return (
            f"{head}: {_times(self.goodput.mean / best.mean)} plain TCP over {self.best} alone ({best} Mb/s), and "
            f"{self.goodput.mean / self.sum:.0%} of what plain TCP over each gets added up ({self.sum:.2f} Mb/s)."
        )

    def _held_back(self) -> str:
        if not self.findings:
            return "Nothing held it back: its paths carried what they could."
        said = "; ".join(str(finding) for finding in self.findings[:3])
        return f"{said[0].upper()}{said[1:]}."

    def _changed(self) -> str:
        if self.remedy:
            gained = self.remedy.goodput.mean / self.goodput.mean if self.goodput.mean else float("inf")
            return f"With {self.remedy.change} it gets {self.remedy.goodput} Mb/s ({gained - 1:+.0%})."
        if self.tried:
            changes = _listed([trial.change for trial in self.tried], "or")
            return f"It gets no faster by {WORTH - 1:.0%} with {changes}: tried."
        if self.goodput.mean >= ENOUGH * self.sum:
            return "There is nothing left to gain on these paths."
        return "No change of the connection is known that would cure this: look at the paths."


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
    alone: dict[str, dict[str, Estimate]] = {}
    for name, path, _ in singles:
        alone.setdefault(name, {})[path] = _goodput([next(rest) for _ in seeds], name)
    return [_answer(scenario, name, runs, alone[name], quiet=quiet) for name in wanted]


def _answer(scenario: Scenario, flow: str, runs: Sequence[Run], alone: dict[str, Estimate], *, quiet: bool) -> Answer:
    from mptcplab import ScenarioError

    found = reasons.findings(runs[0].flow(flow))
    answer = Answer(flow, runs, _goodput(runs, flow), alone, found)
    if answer.goodput.mean >= ENOUGH * answer.sum:
        return answer
    # Copies of a flow are one in the file, so they change together.
    tables = tomllib.loads(scenario.to_toml())["flows"]
    written = flow if flow in tables and _settable(scenario, flow) else "*"
    changes = _remedies({finding.cause for finding in found}, tables[flow])
    jobs, said = [], []
    for change in changes:
        try:
            changed = scenario.vary({f"flows.{written}.{key}": value for key, value in change.items()}).core
        except ScenarioError:
            # Larger than a scenario may have.
            continue
        jobs += [Job(changed, run.seed) for run in runs]
        said.append(", ".join(f"{key} = {_shown(value)}" for key, value in change.items()))
    done = run_jobs(jobs, quiet=quiet, label="remedies")
    each = len(runs)
    tried = [Trial(text, _goodput(done[at * each : (at + 1) * each], flow)) for at, text in enumerate(said)]
    return Answer(flow, runs, answer.goodput, alone, found, tried)


def _settable(scenario: Scenario, flow: str) -> bool:
    from mptcplab import ScenarioError

    try:
        scenario.vary({f"flows.{flow}.baselines": False})
    except ScenarioError:
        return False
    return True


def _remedies(causes: set[str], flow: dict[str, object]) -> list[dict[str, str | bool]]:
    """What may help against these causes, and is not so yet; keys of a flow."""
    found: list[dict[str, str | bool]] = []
    if causes.intersection(_LARGER):
        rcvbuf, sndbuf = (size(str(flow[key])) for key in ("rcvbuf", "sndbuf"))
        larger: dict[str, str | bool] = {"rcvbuf": f"{4 * rcvbuf}B"}
        if "send_buffer" in causes or sndbuf < 4 * rcvbuf:
            larger["sndbuf"] = f"{max(4 * sndbuf, 4 * rcvbuf)}B"
        found.append(larger)
    if flow["scheduler"] != "ontime" and causes.intersection(("scheduler", "head_of_line", "penalty")):
        found.append({"scheduler": "ontime"})
    if flow["penalisation"] and causes.intersection(("penalty", "head_of_line", "receive_window")):
        found.append({"penalisation": False})
    if flow["coupled"] == "all" and flow["congestion"] in ("lia", "olia", "balia"):
        found.append({"coupled": "shared"})
    if flow["pacing"] and "pacing" in causes:
        found.append({"pacing": False})
    if "loss" in causes or not causes.intersection((*_LARGER, "application", "never_joined")):
        found += [{"congestion": name} for name in ("cubic", "bbr") if flow["congestion"] != name]
    return found


def _goodput(runs: Sequence[Run], flow: str) -> Estimate:
    return estimate(run.flow(flow)["goodput"] / 1e6 for run in runs)


def _shown(value: str | bool) -> str:
    """A value as a scenario file has it, sizes in units for people."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value.endswith("B") and value[:-1].isdigit():
        count = int(value[:-1])
        return f'"{count / 2**20:.3g}MiB"' if count >= 2**20 else f'"{count / 2**10:.3g}KiB"'
    return f'"{value}"'


def _times(factor: float) -> str:
    if 0.995 <= factor < 1.005:
        return "as much as"
    return f"{factor:.2f} times" if factor >= 1 else f"{factor:.2f} of"


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
    bars += [("remedy", answer.remedy.goodput, "#009e73", "...")] if answer.remedy else []
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
