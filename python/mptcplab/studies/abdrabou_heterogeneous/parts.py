"""Throughput of a pair over each network of study B (Abdrabou and Prakash, UAE University), by standard, interpretation
and one varied value.

Owns the tables of figures 5 and 6 for experiments B3 and B4, their drawing and their text. Judges nothing. A *reading*
is an interpretation of a setting that the study does not specify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Estimate, difference, interval
from mptcplab.studies.abdrabou_heterogeneous.network import (
    MAIN,
    READINGS,
    STANDARDS,
    WHY,
    Reading,
    Setup,
    Standard,
    dedicated,
    seeds,
    share,
    shorter,
    total,
    wifi,
)
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Picture, Point
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.verdicts import Bound, Check, Origin

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Parts:
    """A curve: Mb/s of a pair and shares in %, by the varied value."""

    total: Mapping[int, Estimate]
    wifi: Mapping[int, Estimate]
    dedicated: Mapping[int, Estimate]
    share: Mapping[int, Estimate]
    runs: Mapping[str, Mapping[int, list[float]]]
    """The values of each run, by name of the field and varied value."""

    def each(self, name: str, bound: Bound, *, who: str = "", at: Iterable[int] | None = None) -> list[Check]:
        """A check of each value, or of those `at` some; `who` precedes the label."""
        row = self.runs[name]
        return [
            Check(_label(who, f"at {value}"), interval(row[value]), bound, UNITS[name])
            for value in (row if at is None else at)
        ]

    def steps(self, name: str, bound: Bound, *, who: str = "") -> list[Check]:
        """A check of each value minus the previous one."""
        row = self.runs[name]
        return [
            Check(
                _label(who, f"value at {after} minus value at {before}"),
                difference(row[after], row[before], paired=False),
                bound,
            )
            for before, after in pairwise(row)
        ]


UNITS = {"total": "Mb/s", "wifi": "Mb/s", "dedicated": "Mb/s", "share": "%"}
RISES, FALLS = Bound("step", low=0, strict=True), Bound("step", high=0, strict=True)
Table = Mapping[Reading, Mapping[Standard, Parts]]
Checks = Callable[[Mapping[Standard, Parts]], list[Check]]
Words = Callable[[Mapping[Standard, Parts]], str]


def points(effort: Effort, values: Sequence[int], setup: Callable[[Standard, Reading, int], Setup]) -> Iterator[Point]:
    """Standards × interpretations × values × seeds."""
    for standard in STANDARDS:
        for reading in READINGS:
            for value in values:
                scenario = shorter(setup(standard, reading, value), effort).scenario()
                for seed in seeds(effort, comparison=reading != MAIN):
                    yield Point((standard, reading, value), scenario, seed)


def table(measured: Measured, values: Sequence[int]) -> Table:
    """All curves, by interpretation and standard."""
    return {
        reading: {standard: curve(measured, (standard, reading), values) for standard in STANDARDS}
        for reading in READINGS
    }


def curve(measured: Measured, where: tuple[str | float, ...], values: Sequence[int]) -> Parts:
    """The curve of the runs whose keys are `where` and a value."""

    def over(value: Callable[[Run], float]) -> dict[int, Estimate]:
        return {at: measured.estimate(value, *where, at) for at in values}

    named = {"total": total, "wifi": wifi, "dedicated": dedicated, "share": share}
    runs = {name: {at: measured.values(value, *where, at) for at in values} for name, value in named.items()}
    return Parts(over(total), over(wifi), over(dedicated), over(share), runs)


def fact(  # noqa: PLR0913, RUF100 - the parts of a claim
    experiment: Experiment,
    number: str,
    statement: str,
    published: str,
    curves: Table,
    check: Checks,
    words: Words,
    *,
    note: str = "",
    origin: Origin = "published",
) -> Fact:
    """A claim checked with both interpretations and judged by `MAIN`."""
    return experiment.fact(
        number,
        statement,
        published=published,
        checks={reading: check(curves[reading]) for reading in READINGS},
        main=MAIN,
        why=WHY,
        measured={reading: words(curves[reading]) for reading in READINGS},
        reason=note,
        origin=origin,
    )


def compared(first: Parts, second: Parts, name: str, bound: Bound) -> list[Check]:
    """A field of one curve minus that of another, at each value."""
    return [
        Check(f"difference at {at}", difference(values, second.runs[name][at], paired=False), bound, UNITS[name])
        for at, values in first.runs[name].items()
    ]


def _label(who: str, what: object) -> str:
    return f"{who} {what}".strip()


def listed(row: Mapping[int, Estimate], digits: int = 2) -> str:
    """The means of a curve, followed by the widest interval."""
    widest = max((one.half_width for one in row.values()), default=0.0)
    return ", ".join(f"{one.mean:.{digits}f}" for one in row.values()) + f" (± {widest:.{digits}f} at most)"


def picture(  # noqa: PLR0913, RUF100 - the differences between the figures
    name: str,
    caption: str,
    measured: Measured,
    curves: Table,
    *,
    x: str,
    published: Callable[[Axes, Standard, Parts], None],
) -> Picture:
    """One column per standard, one row per interpretation; values are drawn at equal distances."""
    columns = len(STANDARDS)
    figure, axes = figure_style.new_figure(columns, len(READINGS), width=3.6, height=3.0)
    for row, reading in enumerate(READINGS):
        for column, standard in enumerate(STANDARDS):
            panel, parts = axes[row * columns + column], curves[reading][standard]
            places = list(range(len(parts.total)))
            for values, label, look in (
                (parts.total, "both networks", "mptcp"),
                (parts.dedicated, "dedicated link", "3g"),
                (parts.wifi, "WiFi", "wifi"),
            ):
                means, spread = [one.mean for one in values.values()], [one.half_width for one in values.values()]
                figure_style.curve(panel, places, means, label, figure_style.LOOKS[look], spread=spread)
            published(panel, standard, parts)
            panel.set_xticks(places, [str(value) for value in parts.total])
            figure_style.finish(
                panel,
                x=x if row else "",
                y="" if column else f"{reading}:\nthroughput of a pair [Mb/s]",
                title=None if row else standard,
                legend=None,
                top=14,
            )
    found: dict[str, Artist] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=5)
    unit = x.partition("[")[2].rstrip("]")
    held = {
        axes[row * columns + column]: [
            of_keys(
                measured, f"{standard}, {reading}", {value: (standard, reading, value) for value in parts.total},
                say=unit, places=range(len(parts.total)),
            )
        ]
        for row, reading in enumerate(READINGS)
        for column, (standard, parts) in enumerate(curves[reading].items())
    }  # fmt: skip
    return Picture(name, caption, figure, explain(figure, held))
