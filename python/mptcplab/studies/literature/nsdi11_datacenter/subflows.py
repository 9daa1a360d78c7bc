"""Experiment L2 of study L (Wischik et al., NSDI 2011; Raiciu et al., SIGCOMM 2011): the number of subflows.

Owns the runs, the verdict, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.nsdi11_datacenter.network import NAME, host_rate, scenario
from mptcplab.studies.verdicts import Bound, Check

NUMBERS = (1, 2, 4, 8)


class Subflows(Experiment):
    """TP1 with 1 to 8 subflows per connection."""

    study = NAME
    name = "L2"
    title = "The number of subflows"
    setup = (
        "TP1 of L1 with MPTCP (LIA) and 1, 2, 4 or 8 subflows per connection, each over a different random path. The "
        "runs last for 3 s, and the second half is measured."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Numbers of subflows × seeds."""
        k, duration = effort.pick((4, 0.8), (8, 3), (8, 12))
        for number in NUMBERS:
            for seed in effort.seeds(3, 3, 3):
                one = scenario("TP1", "lia", k=k, number=seed, duration=duration, warmup=duration / 2, subflows=number)
                yield Point((number,), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims L-2.1 and L-2.2."""
        steps = [
            Check(
                f"{more} subflows / {fewer}",
                measured.ratio(host_rate, (more,), host_rate, (fewer,), paired=True),
                Bound("more", low=1, strict=True),
            )
            for fewer, more in pairwise(NUMBERS)
        ]
        found = measured.interval(host_rate, NUMBERS[-1])
        facts = [
            self.fact(
                "L-2.1",
                "the rate of the hosts rises with the number of subflows from 1 to 8",
                published="rises with each further path (SIGCOMM 2011)",
                checks=steps,
            ),
            self.fact(
                "L-2.2",
                "with 8 subflows, hosts get 90% of the rate of their links",
                published="8 subflows are enough for about 90% (SIGCOMM 2011, as other documents quote it)",
                checks=[Check("8 subflows", found, Bound("about 90%", 81, 99), "Mb/s")],
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=4.8)
        found = [measured.estimate(host_rate, number) for number in NUMBERS]
        look = figure_style.looks(["lia"])["lia"]
        figure_style.curve(
            axes, NUMBERS, [one.mean for one in found], "MPTCP (LIA)", look, spread=[one.half_width for one in found]
        )
        figure_style.finish(axes, x="subflows per connection", y="rate per host [Mb/s]", legend="lower right", top=105)
        caption = "Rate of the hosts with TP1 by the number of subflows, with 95% intervals over the seeds."
        return Picture("l2-subflows", caption, figure)
