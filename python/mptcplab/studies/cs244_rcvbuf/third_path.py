"""Experiment C4 of study C (the CS244 report of 2014 on receive buffers): a third path of 50 kb/s.

Tests an argument that the report did not measure: M1 (opportunistic retransmission) and M2 (penalisation) reduce the
cost of such a path. A *reading* is an interpretation of a setting that the study does not specify.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.scenario.definition import Path
from mptcplab.stats.statistics import difference
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.cs244_rcvbuf.network import JITTER, MAIN, NAME, READINGS, WHY, mptcp, paths
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.verdicts import Bound, Check

SIZES = (50, 100, 200, 300, 400, 500, 1000)
THIRD = Path(rate="50kbit", rtt="150ms", queue="2s", jitter=JITTER)
SETS = ("none", "M1+M2")


class ThirdPath(Experiment):
    """The effect of the third path on the total."""

    study = NAME
    name = "C4"
    title = "A third path of 50 kb/s"
    setup = (
        "WiFi of 8 Mb/s and 3G of 2 Mb/s as in experiment C1, and a third path of 50 kb/s with an RTT of 150 ms and a "
        "queue of 2 s. MPTCP runs with and without the third path, and with and without opportunistic retransmission "
        "(M1) and penalisation (M2). The study discusses this case without measurements."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Interpretations × mechanisms × windows × with and without the third path × seeds."""
        for reading in READINGS:
            two = paths(reading)
            for count, over in ((2, two), (3, two | {"slow": THIRD})):
                for mechanisms in SETS:
                    for size in SIZES:
                        for seed in effort.seeds(2, 20, 20):
                            yield Point((reading, mechanisms, count, size), mptcp(over, mechanisms, size), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims C-4.1 and C-4.2."""
        change = {
            (reading, mechanisms, size): measured.ratio(
                goodput, (reading, mechanisms, 3, size), goodput, (reading, mechanisms, 2, size)
            )
            for reading in READINGS
            for mechanisms in SETS
            for size in SIZES
        }

        def worst(reading: str, mechanisms: str) -> int:
            return min(SIZES, key=lambda size: change[reading, mechanisms, size].mean)

        def costs(reading: str) -> list[Check]:
            at = worst(reading, "none")
            return [
                Check(
                    f"goodput with three paths / with two, at {at} KB",
                    change[reading, "none", at],
                    Bound("cost", high=0.95, strict=True),
                )
            ]

        def less(reading: str) -> list[Check]:
            here, there = worst(reading, "M1+M2"), worst(reading, "none")
            with_it, without = (
                [
                    math.log(three / two)
                    for three, two in zip(
                        measured.values(goodput, reading, name, 3, size),
                        measured.values(goodput, reading, name, 2, size),
                        strict=True,
                    )
                ]
                for name, size in (("M1+M2", here), ("none", there))
            )
            found = difference(with_it, without, paired=False)
            return [
                Check(
                    f"log (goodput with three paths / two): with M1 and M2 at {here} KB, minus without at {there} KB",
                    found,
                    Bound("costs less", low=0, strict=True),
                )
            ]

        def words(reading: str, mechanisms: str) -> str:
            return "goodput with three paths / with two: " + ", ".join(
                f"{size} KB {change[reading, mechanisms, size]}" for size in SIZES
            )

        facts = [
            self.fact(
                "C-4.1",
                "without M1 and M2, a third path of 50 kb/s costs more than 5% of the goodput at some window",
                published="the slowest subflow becomes a bottleneck; more paths compound the problem (argued, not "
                "measured)",
                checks={reading: costs(reading) for reading in READINGS},
                main=MAIN,
                why=WHY,
                origin="ours",
                measured={reading: words(reading, "none") for reading in READINGS},
            ),
            self.fact(
                "C-4.2",
                "the largest cost of the third path over all windows is smaller with M1 and M2 than without them",
                published="the mechanisms mitigate the loss of efficiency (argued, not measured)",
                checks={reading: less(reading) for reading in READINGS},
                main=MAIN,
                why=WHY,
                origin="ours",
                measured={reading: words(reading, "M1+M2") for reading in READINGS},
            ),
        ]
        return Outcome(facts, [_picture(measured)])


def _picture(measured: Measured) -> Picture:
    figure, both = figure_style.new_figure(2, width=5.0, height=3.9, share_y=True)
    for axes, reading in zip(both, READINGS, strict=True):
        for mechanisms, look in (("none", figure_style.LOOKS["wifi"]), ("M1+M2", figure_style.LOOKS["mptcp"])):
            for count in (2, 3):
                over_seeds = [measured.interval(goodput, reading, mechanisms, count, size) for size in SIZES]
                rates = [found.mean for found in over_seeds]
                spread = [(found.high - found.low) / 2 if found.n > 1 else 0.0 for found in over_seeds]
                drawn = figure_style.Look(look.color, "-" if count == 2 else ":", "o" if count == 2 else "x")
                figure_style.curve(axes, SIZES, rates, _words(count, mechanisms), drawn, spread=spread, markers=20)
        first = reading == next(iter(READINGS))
        figure_style.finish(
            axes,
            x="receive window [KB]",
            y="goodput [Mb/s]" if first else "",
            title=f"queues of {reading}",
            legend=None if first else "lower right",
            top=10.5,
        )
    held = {
        axes: [
            of_keys(
                measured, f"{_words(count, mechanisms)}, queues of {reading}",
                {size: (reading, mechanisms, count, size) for size in SIZES}, say="KB",
            )
            for mechanisms in SETS
            for count in (2, 3)
        ]
        for axes, reading in zip(both, READINGS, strict=True)
    }  # fmt: skip
    caption = "Goodput by the receive window, with and without a third path of 50 kb/s; bars are 95% intervals."
    return Picture("c4-third-path", caption, figure, explain(figure, held))


def _words(count: int, mechanisms: str) -> str:
    return f"{count} paths, {'no mechanism' if mechanisms == 'none' else 'M1 and M2'}"
