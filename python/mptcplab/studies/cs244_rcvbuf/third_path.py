"""Experiment C4: a third, very slow path."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab import plots
from mptcplab.scenario import Path
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.cs244_rcvbuf.network import NAME, READINGS, judge, mptcp, paths

SIZES = (50, 100, 200, 300, 400, 500, 1000)
THIRD = Path(rate="50kbit", rtt="150ms", queue="2s")
SETS = ("none", "M1+M2")


class ThirdPath(Experiment):
    """What a slow path does to the fast ones."""

    study = NAME
    name = "C4"
    title = "A third path of 50 kb/s"
    setup = (
        "As C1, and a third path of 50 kb/s with a round trip of 150 ms and a queue of 2 s. With and without it, "
        "and each without mechanisms and with M1 and M2. The study argues this case and does not measure it."
    )

    def points(self, effort: Effort) -> Iterator[Point]:  # noqa: ARG002
        """Readings × mechanisms × windows × with and without the third path; nothing is random."""
        for reading in READINGS:
            two = paths(reading)
            for count, over in ((2, two), (3, two | {"slow": THIRD})):
                for mechanisms in SETS:
                    for size in SIZES:
                        yield Point((reading, mechanisms, count, size), mptcp(over, mechanisms, size))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Facts C-4.1 and C-4.2."""
        change = {
            (reading, mechanisms): {
                size: measured.mean(goodput, reading, mechanisms, 3, size)
                / measured.mean(goodput, reading, mechanisms, 2, size)
                for size in SIZES
            }
            for reading in READINGS
            for mechanisms in SETS
        }
        least = {where: min(ratios.values()) for where, ratios in change.items()}
        statements = [
            ("C-4.1", "without mechanisms a third path of 50 kb/s costs more than 5 % at some window",
             "the slowest subflow becomes a bottleneck; more paths compound the problem (argued, not measured)",
             "none", {reading: least[reading, "none"] < 0.95 for reading in READINGS}),
            ("C-4.2", "with M1 and M2 it costs less than without, at the window where it costs most",
             "the mechanisms mitigate the loss of efficiency (argued, not measured)",
             "M1+M2", {reading: least[reading, "M1+M2"] > least[reading, "none"] for reading in READINGS}),
        ]  # fmt: skip
        facts = []
        for fact, statement, published, mechanisms, held in statements:
            verdict, reason = judge(held)
            text = "; ".join(
                f"[{reading}] "
                + ", ".join(f"{size} KB × {ratio:.2f}" for size, ratio in change[reading, mechanisms].items())
                for reading in READINGS
            )
            facts.append(self.fact(fact, statement, published=published, measured=text, verdict=verdict, reason=reason))
        return Outcome(facts, [_picture(measured)])


def _picture(measured: Measured) -> Picture:
    figure, both = plots.new_figure(2, width=5.0, height=3.9, share_y=True)
    for axes, reading in zip(both, READINGS, strict=True):
        for mechanisms, look in (("none", plots.LOOKS["wifi"]), ("M1+M2", plots.LOOKS["mptcp"])):
            for count in (2, 3):
                rates = [measured.mean(goodput, reading, mechanisms, count, size) for size in SIZES]
                label = f"{count} paths, {'no mechanism' if mechanisms == 'none' else 'M1 and M2'}"
                drawn = plots.Look(look.color, "-" if count == 2 else ":", "o" if count == 2 else "x")
                plots.curve(axes, SIZES, rates, label, drawn, markers=20)
        first = reading == next(iter(READINGS))
        plots.finish(
            axes,
            x="receive window [KB]",
            y="goodput [Mb/s]" if first else "",
            title=f"queues of {reading}",
            legend=None if first else "lower right",
            top=10.5,
        )
    return Picture("c4-third-path", "Goodput with and without a third path of 50 kb/s.", figure)
