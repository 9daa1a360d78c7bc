"""The tables that `mptcplab sweep` prints: means with intervals by point and flow, and comparisons paired by seed.

A point is one combination of the varied values. Never runs or draws.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mptcplab.results.model.tables import FLOW_NUMBERS
from mptcplab.results.text.flow_metrics import unit
from mptcplab.results.text.reasons import LONG, ended_early
from mptcplab.stats.statistics import Estimate, Paired, estimate, holm, paired
from mptcplab.util.user_input import BadResult, choose

if TYPE_CHECKING:
    from mptcplab.run.sweep_plan import SweepPlan

MOST_FLOWS = 10
"""Flows in a table; more are omitted."""
LEAST_P = 0.001
"""Smaller p-values are printed as "<", because a few seeds cannot resolve them."""
SAME = 0.005
"""Means within this relative difference count as equal."""
OBSERVED = ("capacity", "best_capacity")
"""Metrics that only observed runs have."""
_RATES = ("goodput", "throughput")
_MOMENTS = ("completion_s", "handshake_s", "fell_back_at_s")
"""Times of events that happen once or never."""


class SweepResults:
    """The values of a sweep by point, flow and metric, one per seed."""

    def __init__(self, sweep: SweepPlan, wanted: Sequence[str]) -> None:
        """Starts empty; `take` adds values."""
        self.vary, self.seeds, self.metrics = sweep.vary, sweep.seeds, list(wanted)
        self.points = [point.values for point in sweep.points]
        self._at = {point.variant: number for number, point in enumerate(sweep.points)}
        self.flows: list[str] = []
        self._warmup = [point.scenario.warmup for point in sweep.points]
        # By flow: the number of runs with a long handshake, and the longest one.
        self._waited: dict[str, tuple[int, float]] = {}
        # Metrics that at least one run has.
        self._measured: dict[str, None] = {}
        # By flow: the number of runs in which it ended before the end of the warm-up.
        self._early: dict[str, int] = {}
        # Eight bytes per value, for sweeps of 100,000 runs.
        self._values: dict[tuple[int, str, str], array[float]] = {}

    def take(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Adds rows of the table of flows."""
        for row in rows:
            if row["flow"] not in self.flows:
                if len(self.flows) == MOST_FLOWS:
                    continue
                self.flows.append(row["flow"])
            self._note_handshake(row)
            self._measured |= {name: None for name in FLOW_NUMBERS if row.get(name) is not None}
            early = ended_early(row)
            if early:
                self._early[row["flow"]] = self._early.get(row["flow"], 0) + 1
            for metric in self.metrics:
                value = None if early and metric in _RATES else row.get(metric)
                number = math.nan if value is None else float(value) / unit(metric)[1]
                self._values.setdefault((self._at[row["variant"]], row["flow"], metric), array("d")).append(number)

    def _note_handshake(self, row: Mapping[str, Any]) -> None:
        took, warmup = row["handshake_s"], self._warmup[self._at[row["variant"]]]
        if took is not None and took - warmup > LONG * row["measured_s"] and not ended_early(row):
            count, longest = self._waited.get(row["flow"], (0, 0.0))
            self._waited[row["flow"]] = (count + 1, max(longest, took))

    def notes(self) -> list[str]:
        """Notes on the rates, such as long handshakes that they exclude."""
        empty = [metric for metric in self.metrics if not any(self._has(metric))]
        known = ", ".join(name for name in FLOW_NUMBERS if name in self._measured)
        absent = [f"{name} was not measured in any run; these runs have {known}" for name in empty]
        rates = [metric for metric in self.metrics if metric in _RATES]
        if not rates:
            return absent
        runs = len(self.points) * len(self.seeds)
        waited = [
            f"{' and '.join(rates)} of {flow} counts from the end of the handshake, which took up to {longest:.2f} s "
            f"in {count} of {runs} runs; bytes_received has what arrived in the whole time"
            for flow, (count, longest) in self._waited.items()
        ]
        over = [
            f"{flow} ended before the warm-up was over in {count} of {runs} runs, "
            f"which have no {' and no '.join(rates)}"
            for flow, count in self._early.items()
        ]
        return [*absent, *waited, *over]

    def _has(self, metric: str) -> Iterator[bool]:
        """Whether each run has a value of a metric."""
        for (_, _, name), values in self._values.items():
            if name == metric:
                yield from (not math.isnan(value) for value in values)

    @staticmethod
    def check_reference(vary: Mapping[str, Sequence[str]], text: str) -> tuple[str, str]:
        """The key and the value of the reference points."""
        key, _, value = text.partition("=")
        choose(key, vary, "key of --vary", "--compare")
        return key, choose(value, vary[key], f"value of {key}", "--compare")

    def estimate(self, point: int, flow: str, metric: str) -> Estimate:
        """Mean and interval over the seeds that have the metric."""
        return estimate(self.values(point, flow, metric))

    def values(self, point: int, flow: str, metric: str) -> list[float]:
        """The values of the seeds that have the metric."""
        return [value for value in self._values.get((point, flow, metric), []) if not math.isnan(value)]

    def missing(self, point: int, flow: str, metric: str) -> int:
        """The number of runs without the metric."""
        return sum(math.isnan(value) for value in self._values.get((point, flow, metric), []))

    def table(self) -> list[list[str]]:
        """One row per point."""
        columns = [(flow, metric) for flow in self.flows for metric in self.metrics]
        rows = [[*self.vary, *(self._title(flow, metric) for flow, metric in columns)]]
        for at, point in enumerate(self.points):
            rows.append([*point.values(), *(self._cell(at, flow, metric) for flow, metric in columns)])
        return rows

    def compared(self, text: str) -> list[list[str]]:
        """The differences from the points with KEY=VALUE (`text`), one row per point, flow and metric."""
        rows = [[*self.vary, "flow", "metric", "difference", "p (Holm)", "d_z"]]
        for at, flow, metric, found in self._pairs(text):
            units = unit(metric)[0]
            name = f"{metric} [{units}]" if units else metric
            p = "-" if math.isnan(found.p) else "< 0.001" if found.p < LEAST_P else f"{found.p:.2g}"
            effect = "-" if math.isnan(found.effect) else f"{found.effect:+.2f}"
            rows.append([*self.points[at].values(), flow, name, _signed(found), p, effect])
        if len(rows) == 1:
            raise BadResult(f"--compare {text}: there is no other point to compare")
        return rows

    def without_effect(self) -> list[str]:
        """Keys whose values changed no mean by `SAME` or more, for any values of the other keys."""
        if all(math.isnan(value) for values in self._values.values() for value in values):
            return []
        return [key for key in self.vary if len(self.vary[key]) > 1 and not self._has_effect(key)]

    def _has_effect(self, key: str) -> bool:
        groups: dict[tuple[Any, ...], list[int]] = {}
        for at, point in enumerate(self.points):
            groups.setdefault(tuple(value for name, value in point.items() if name != key), []).append(at)
        for members in groups.values():
            for flow in self.flows:
                for metric in self.metrics:
                    found = [self.estimate(at, flow, metric) for at in members]
                    means = [one.mean for one in found if one.n]
                    if len(means) not in (0, len(found)):
                        return True
                    if means and max(means) - min(means) > SAME * max(map(abs, means)):
                        return True
        return False

    def documents(self, compare: str | None) -> list[dict[str, Any]]:
        """The results as JSON: one entry per point."""
        found = []
        for at, point in enumerate(self.points):
            entry: dict[str, Any] = {"point": point, "seeds": len(self.seeds)}
            for metric in self.metrics:
                name = "goodput_mbps" if metric == "goodput" else metric
                entry[name] = {}
                for flow in self.flows:
                    of = self.estimate(at, flow, metric)
                    entry[name][flow] = {"mean": of.mean, "half_width": of.half_width}
            found.append(entry)
        for at, flow, metric, pair in self._pairs(compare) if compare else []:
            own = found[at].setdefault("compared", {}).setdefault(metric, {})
            own[flow] = {
                "difference": pair.difference.mean,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "p": pair.p,
                "effect": pair.effect,
            }
        return found

    def _pairs(self, text: str) -> list[tuple[int, str, str, Paired]]:
        """The pairs of `compared`, with p-values that are corrected for their number."""
        key, value = self.check_reference(self.vary, text)
        pairs = []
        for at, point in enumerate(self.points):
            if point[key] == value:
                continue
            other = self.points.index(point | {key: value})
            for flow in self.flows:
                pairs += [(at, flow, metric, self.paired(at, other, flow, metric)) for metric in self.metrics]
        corrected = holm([pair.p for *_, pair in pairs])
        return [
            (at, flow, metric, replace(pair, p=p)) for (at, flow, metric, pair), p in zip(pairs, corrected, strict=True)
        ]

    def paired(self, point: int, other: int, flow: str, metric: str) -> Paired:
        """The values of a point minus those of another one, by seed; seeds without both values are omitted."""
        both = zip(self._values[point, flow, metric], self._values[other, flow, metric], strict=True)
        known = [pair for pair in both if not math.isnan(sum(pair))]
        return paired([pair[0] for pair in known], [pair[1] for pair in known])

    def _title(self, flow: str, metric: str) -> str:
        units = unit(metric)[0]
        short = metric.removesuffix("_s") if units else metric
        name = flow if metric == "goodput" else f"{flow} {short}"
        return f"{name} [{units}]" if units else name

    def _cell(self, at: int, flow: str, metric: str) -> str:
        missing = self.missing(at, flow, metric)
        found = self.estimate(at, flow, metric)
        if not found.n:
            return "never" if metric in _MOMENTS else "-"
        return f"{found} ({missing} never)" if missing else str(found)


def _signed(found: Paired) -> str:
    interval = found.difference
    if not interval.n:
        return "-"
    if interval.n < 2 or math.isnan(interval.mean):
        return f"{interval.mean:+.2f}"
    return f"{interval.mean:+.2f} ({interval.low:+.2f} to {interval.high:+.2f})"
