"""The series of a figure over the values of a key, their looks and labels, and the statistics of their points.

Owns the roles of keys: one on the axis, one by colour, one by panel; the others distinguish series. Never draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab.plots.looks import HATCHES, Look, looks, related_looks
from mptcplab.results.text.flow_metrics import unit
from mptcplab.stats.statistics import Interval, interval, ratio
from mptcplab.util.user_input import BadResult, choose

if TYPE_CHECKING:
    from mptcplab.results.model.swept_values import Cell, SweptValues

MOST_SERIES = 40
"""Maximum series in a panel; further ones are omitted, and the note states their number."""


@dataclass(frozen=True)
class Request:
    """The options of a figure: keys, type and baseline; None selects the default."""

    x: str | None = None
    hue: str | None = None
    facet: str | None = None
    draw: str = "lines"
    """`lines`, `box`, `cdf` or `bars`."""
    normalise: str | None = None
    """KEY=VALUE of the baseline: values are divided by it, seed by seed."""


@dataclass(frozen=True)
class Series:
    """A curve, or the bars or boxes of one colour."""

    label: str
    look: Look
    fixed: Mapping[str, str]
    """The values of the keys that are not on the axis, without the key of the panels."""


class Chart:
    """The data of a figure: axis, panels, series and points."""

    def __init__(self, found: SweptValues, request: Request) -> None:
        """Selects the roles. Raises `BadResult` for an unknown key, or a key with two roles."""
        self.found, self.draw = found, request.draw
        asked = {name: key for name in ("x", "hue", "facet") if (key := getattr(request, name)) is not None}
        if asked and not found.keys:
            raise BadResult(f"--{next(iter(asked))}: all runs of this result have the same values; draw a sweep")
        roles = {name: choose(key, found.keys, "varied key", f"--{name}") for name, key in asked.items()}
        for one, other in itertools.combinations(roles, 2):
            if roles[one] == roles[other]:
                raise BadResult(f"--{one} and --{other} are both {roles[one]}; they must differ")
        self.facet, self.hue = roles.get("facet"), roles.get("hue")
        free = [key for key in found.keys if key not in (self.facet, self.hue)]
        self.x = roles.get("x") or next((key for key in free if len(found.keys[key]) > 1), free[0] if free else None)
        self.panels = [None] if self.facet is None else found.keys[self.facet]
        self.baseline = None if request.normalise is None else self._baseline(request.normalise)
        in_curves = self.x is not None and self.draw == "cdf"
        skipped = {self.facet, None if in_curves else self.x}
        self.keys = [key for key in found.keys if key not in skipped and len(found.keys[key]) > 1]
        self.series = self._series()
        self.omitted = math.prod(len(found.keys[key]) for key in self.keys) - len(self.series)

    def _baseline(self, text: str) -> tuple[str, str]:
        key, _, value = text.partition("=")
        choose(key, self.found.keys, "varied key", "--normalise")
        return key, choose(value, self.found.keys[key], f"value of {key}", "--normalise")

    def _series(self) -> list[Series]:
        values = self.found.keys
        every = [
            dict(zip(self.keys, its, strict=True)) for its in itertools.product(*(values[key] for key in self.keys))
        ]
        labels = [", ".join(fixed.values()) for fixed in every]
        others = [key for key in self.keys if key != self.hue]
        if self.hue in self.keys and others:
            count = math.prod(len(values[key]) for key in others)
            if count > len(HATCHES):
                raise BadResult(
                    f"--hue {self.hue}: the other keys ({', '.join(others)}) have {count} combinations, above the "
                    f"maximum of {len(HATCHES)} line styles; use --x or --facet for one of them"
                )
            rest = [", ".join(its) for its in itertools.product(*(values[key] for key in others))]
            pairs = related_looks(values[self.hue], rest)
            found = [pairs[fixed[self.hue], ", ".join(fixed[key] for key in others)] for fixed in every]
        else:
            found = list(looks(labels).values())
        return [Series(label, look, fixed) for label, look, fixed in zip(labels, found, every, strict=True)]

    @property
    def legend_title(self) -> str:
        """The keys that distinguish series."""
        return ", ".join(map(short, self.keys))

    def cell(self, series: Series, panel: str | None, value: str | None) -> Cell:
        """The cell of a series in a panel, with this value on the axis."""
        fixed = {key: values[0] for key, values in self.found.keys.items()} | dict(series.fixed)
        if self.facet is not None and panel is not None:
            fixed[self.facet] = panel
        if self.x is not None and value is not None:
            fixed[self.x] = value
        return tuple(fixed[key] for key in self.found.keys)

    def values(self, cell: Cell, metric: str) -> list[float]:
        """The values of the runs; with a baseline, their ratios to its runs with the same seeds."""
        own = self.found.of(cell, metric)
        if self.baseline is None:
            return list(own.values())
        base = self.found.of(self.found.replaced(cell, *self.baseline), metric)
        return [value / base[run] for run, value in own.items() if base.get(run)]

    def point(self, cell: Cell, metric: str) -> Interval:
        """The mean with its 95% interval; with a baseline, the ratio of the means, paired by seed."""
        own = self.found.of(cell, metric)
        if self.baseline is None:
            return interval(own.values())
        base = self.found.of(self.found.replaced(cell, *self.baseline), metric)
        both = [run for run in own if run in base]
        return ratio([own[run] for run in both], [base[run] for run in both], paired=True)

    def counts(self) -> tuple[int, int]:
        """The smallest and the largest number of runs of a drawn point, without points that have none."""
        cells = (
            self.cell(series, panel, value)
            for series in self.series
            for panel in self.panels
            for value in self.axis_values
        )
        numbers = [len(self.values(cell, metric)) for cell in cells for metric in self.found.metrics]
        measured = [number for number in numbers if number]
        return min(measured, default=0), max(measured, default=0)

    @property
    def axis_values(self) -> Sequence[str | None]:
        """The values on the axis; one None without a key, or if the axis has the metric."""
        return [None] if self.x is None or self.draw == "cdf" else self.found.keys[self.x]

    def metric_name(self, metric: str) -> str:
        """The name of a metric for an axis, with its unit or its baseline."""
        units = unit(metric)[0]
        name = (metric.removesuffix("_s") if units else metric).replace("_", " ")
        if self.baseline is not None:
            return f"{name} relative to {self.baseline[1]}"
        return f"{name} [{units}]" if units else name


def short(key: str) -> str:
    """The last part of a key, for people."""
    return key.rsplit(".", 1)[-1].strip("{}").replace(",", " and ").replace("_", " ")
