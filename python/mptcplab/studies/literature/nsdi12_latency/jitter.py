"""Experiment G2 of study G (figure 7 of NSDI 2012, as reproduced by students): the effect of more jitter on 3G.

Owns the runs, the verdicts on the students' sensitivity analysis, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.scenario.definition import Path
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.measures import median_delay
from mptcplab.studies.literature.nsdi12_latency.network import NAME, WIFI, blocks, cellular
from mptcplab.studies.verdicts import Bound, Check

JITTERS = (100, 150, 200, 250)
CURVES = {"mptcp": "MPTCP with M1 and M2", "plain": "MPTCP without"}


class Jitter(Experiment):
    """The students' figures with a jitter of 150 to 250 ms."""

    study = NAME
    name = "G2"
    title = "Delays of blocks by the jitter of 3G"
    setup = (
        "The network of G1 with a jitter of 100, 150, 200 and 250 ms on 3G. MPTCP runs with M1 and M2 (the rule of "
        "2012), and without both. Runs last for 40 s."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Jitters × with and without M1 and M2 × seeds."""
        off = {"opportunistic_retransmission": False, "penalisation": False}
        for jitter in effort.pick((100, 250), JITTERS, JITTERS):
            both: dict[str, Path] = {"wifi": WIFI, "3g": cellular(jitter)}
            for curve, words in CURVES.items():
                keys = off if curve == "plain" else {}
                scenario = blocks(f"{words}, jitter {jitter} ms", both, effort.pick(15, 40, 100), **keys)
                for seed in effort.seeds(3, 10, 30):
                    yield Point((curve, jitter), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims G-2.1 to G-2.3."""

        def growth(curve: str, bound: Bound) -> Check:
            found = measured.ratio(median_delay, (curve, 250), median_delay, (curve, 100))
            return Check("median at 250 ms / at 100 ms", found, bound)

        facts = [
            self.fact(
                "G-2.1",
                "without M1 and M2, the median delay is longer with a jitter of 250 ms than with 100 ms",
                published="the bulk moves from about 350 ms to 600-1000 ms",
                checks=[growth("plain", Bound("longer", low=1.0, strict=True))],
            ),
            self.fact(
                "G-2.2",
                "with M1 and M2, the median delay changes by at most 20% between a jitter of 100 and of 250 ms",
                published="the same peak in both figures",
                checks=[growth("mptcp", Bound("the same", 0.8, 1.2))],
            ),
            self.fact(
                "G-2.3",
                "with a jitter of 250 ms, the median delay is shorter with M1 and M2 than without",
                published="about 120 ms with, 600-1000 ms without",
                checks=[
                    Check(
                        "without / with",
                        measured.ratio(median_delay, ("plain", 250), median_delay, ("mptcp", 250)),
                        Bound("shorter", low=1.0, strict=True),
                    )
                ],
            ),
        ]
        return Outcome(facts, [self._picture(measured, effort)])

    def _picture(self, measured: Measured, effort: Effort) -> Picture:
        figure, (axes,) = figure_style.new_figure(height=3.5)
        jitters = effort.pick((100, 250), JITTERS, JITTERS)
        looks = figure_style.looks(["mptcp", "reno"])
        for look, (curve, label) in zip(looks.values(), CURVES.items(), strict=True):
            values = [measured.estimate(median_delay, curve, jitter) for jitter in jitters]
            figure_style.curve(
                axes, jitters, [value.mean for value in values], label, look,
                spread=[value.half_width for value in values],
            )  # fmt: skip
        figure_style.finish(axes, x="jitter of 3G [ms]", y="median delay of a block [ms]", legend=None)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
        caption = "Median delay of blocks of 8 KB by the jitter of 3G; whiskers are 95% intervals over the seeds."
        return Picture("g2-jitter", caption, figure)
