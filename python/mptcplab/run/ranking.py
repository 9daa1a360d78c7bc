"""Ranks the points of a sweep, and states which differences exceed chance.

Owns the order, the comparison of each point with the best one, and the sentences. Seeds are paired, because all points
run on the same networks. The p-values of one metric and flow are corrected for their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mptcplab.results.text.flow_metrics import unit
from mptcplab.stats.statistics import Paired, holm

if TYPE_CHECKING:
    from mptcplab.run.sweep_tables import SweepResults
    from mptcplab.stats.statistics import Estimate

LEVEL = 0.05
"""Differences with a smaller corrected p-value exceed chance."""
_LARGER_IS_BETTER = (
    "goodput",
    "throughput",
    "bytes_received",
    "bytes_received_total",
    "unique_bytes_arrived",
    "blocks",
)
"""Metrics of which more is better; of the others, less is better."""


@dataclass(frozen=True)
class Ranked:
    """A point in the order of one metric of one flow."""

    point: int
    estimate: Estimate
    difference: Paired | None
    """This point minus the best one, by seed; None for the best point."""
    p: float
    """The p-value of `difference`, corrected by Holm's method; NaN without a difference or with one seed."""

    @property
    def exceeds_chance(self) -> bool:
        """Whether the difference from the best point exceeds chance."""
        return self.p < LEVEL


class Ranking:
    """The points of a sweep in the order of one metric of one flow, the best first."""

    def __init__(self, found: SweepResults, flow: str, metric: str) -> None:
        """Compares the points. Points without a value of the metric are last."""
        self.flow, self.metric, self._found = flow, metric, found
        self.larger_is_better = metric in _LARGER_IS_BETTER
        sign = -1 if self.larger_is_better else 1
        estimates = {at: found.estimate(at, flow, metric) for at in range(len(found.points))}
        order = sorted(estimates, key=lambda at: sign * estimates[at].mean if estimates[at].n else math.inf)
        self.missing = [at for at in order if not estimates[at].n]
        order = [at for at in order if estimates[at].n]
        pairs = {at: found.paired(at, order[0], flow, metric) for at in order[1:]}
        corrected = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
        self.points = [Ranked(at, estimates[at], pairs.get(at), corrected.get(at, math.nan)) for at in order]

    def rows(self) -> list[list[str]]:
        """A table, one row per point in order."""
        units = unit(self.metric)[0]
        name = f"{self.metric} [{units}]" if units else self.metric
        rows = [["rank", *self._found.vary, name, "minus the best", "p (Holm)"]]
        for rank, one in enumerate(self.points, 1):
            values = self._found.points[one.point].values()
            rows.append([str(rank), *values, str(one.estimate), _text(one.difference), _probability(one.p)])
        rows += [["-", *self._found.points[at].values(), "never", "-", "-"] for at in self.missing]
        return rows

    def sentence(self) -> str:
        """Which differences from the best point exceed chance."""
        if not self.points:
            return f"{self.flow}: {self.metric} was not measured in any run"
        best, others = self._name(self.points[0].point), self.points[1:]
        word = "highest" if self.larger_is_better else "lowest"
        start = f"{self.flow}: {best} has the {word} {self.metric}"
        if not others:
            return start
        if all(math.isnan(one.p) for one in others):
            return f"{start}, but one seed cannot show whether the differences exceed chance; use more seeds"
        real = [self._name(one.point) for one in others if one.exceeds_chance]
        equal = [self._name(one.point) for one in others if not one.exceeds_chance]
        if not real:
            return f"{start}, but no difference exceeds chance (p < {LEVEL:g}, Holm)"
        end = f"; the difference from {_list(equal)} does not" if equal else ""
        return f"{start}. The difference from {_list(real)} exceeds chance (p < {LEVEL:g}, Holm){end}"

    def documents(self) -> list[dict[str, Any]]:
        """The ranking as JSON, one entry per point."""
        found = []
        for rank, one in enumerate(self.points, 1):
            entry: dict[str, Any] = {
                "flow": self.flow,
                "metric": self.metric,
                "unit": unit(self.metric)[0],
                "rank": rank,
                "point": self._found.points[one.point],
                "mean": one.estimate.mean,
                "half_width": one.estimate.half_width,
            }
            if one.difference is not None:
                interval = one.difference.difference
                entry |= {"difference": interval.mean, "low": interval.low, "high": interval.high, "p": one.p}
                entry["exceeds_chance"] = one.exceeds_chance
            found.append(entry)
        return found

    def _name(self, point: int) -> str:
        return " with ".join(self._found.points[point].values())


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _text(found: Paired | None) -> str:
    if found is None or not found.difference.n:
        return "-"
    interval = found.difference
    if interval.n < 2 or math.isnan(interval.mean):
        return f"{interval.mean:+.2f}"
    return f"{interval.mean:+.2f} ({interval.low:+.2f} to {interval.high:+.2f})"


def _probability(p: float) -> str:
    return "-" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.2g}"
