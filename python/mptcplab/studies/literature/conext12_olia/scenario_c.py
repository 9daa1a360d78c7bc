"""Experiment J3 of study J (Khalili et al., CoNEXT 2012): scenario C, MPTCP next to TCP at an access point.

Owns the runs, the verdicts, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.scenario.definition import Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.conext12_olia.network import (
    CONTROLLERS,
    NAME,
    RTT,
    bottleneck,
    equilibrium_c,
    of_group,
    scenario,
    users,
    wire,
)
from mptcplab.studies.literature.measures import near
from mptcplab.studies.verdicts import Bound, Check

USERS = 10
CAPACITY = 2.0
"""Capacity of the shared access point per TCP user, Mb/s."""
RATIOS = (1.5, 2.0, 3.0)
"""Capacity of the own access point per MPTCP user, over `CAPACITY`."""
BOUND = 0.15


def network(ratio: float, congestion: str, seconds: float) -> Scenario:
    """MPTCP users have an access point of their own, and share that of the TCP users."""
    links = {
        "own": wire(("u", "x1")),
        "shared": wire(("u", "x2")),
        "second": wire(("v", "x2")),
        "access-1": bottleneck(("x1", "r"), USERS * ratio * CAPACITY),
        "access-2": bottleneck(("x2", "r"), USERS * CAPACITY),
        "to-first": wire(("r", "s"), RTT / 2),
        "to-second": wire(("r", "t"), RTT / 2),
    }
    flows = {"first": users("u", "s", USERS, congestion), "second": users("v", "t", USERS, None)}
    return scenario(f"C: ratio {ratio:g}, {congestion}", links, flows, seconds)


class ScenarioC(Experiment):
    """MPTCP users with a better access point take capacity of TCP users."""

    study = NAME
    name = "J3"
    title = "Scenario C: MPTCP next to TCP at an access point"
    setup = (
        "10 MPTCP users have an access point of 1.5 to 3 times the capacity of a second one, which they share with 10 "
        "TCP users. If all users get what is fair, MPTCP does not use the second access point. Runs last for 80 s, of "
        "which the last 40 s are measured."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Ratios of capacities × controllers × seeds."""
        for ratio in effort.pick((2.0,), RATIOS, RATIOS):
            for congestion in CONTROLLERS:
                one = network(ratio, congestion, effort.pick(30, 80, 200))
                for seed in effort.seeds(3, 5, 20):
                    yield Point((congestion, ratio), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims J-3.1 to J-3.3."""
        ratios = effort.pick((2.0,), RATIOS, RATIOS)
        other = of_group("second")

        def share(congestion: str, ratio: float, bound: Bound, over: float = 1) -> Check:
            found = measured.interval(lambda run: other(run) / CAPACITY / over, congestion, ratio)
            return Check(f"ratio {ratio:g}{'' if over == 1 else f', over {over:.2f}'}", found, bound)

        expected = {ratio: equilibrium_c(ratio, 1) for ratio in ratios}
        facts = [
            self.fact(
                "J-3.1",
                "next to LIA, TCP users get less than 90% of the fair rate",
                published="MPTCP users could be excessively aggressive towards TCP users",
                checks=[share("lia", ratio, Bound("less", high=0.9)) for ratio in ratios],
            ),
            self.fact(
                "J-3.2",
                "next to LIA, TCP users get the share of the fair rate that RFC 6356 gives at equilibrium (within 15%)",
                published="from the formula of RFC 6356",
                origin="ours",
                checks=[share("lia", ratio, near("share", 1, BOUND), one) for ratio, one in expected.items()],
            ),
            self.fact(
                "J-3.3",
                "TCP users get more next to OLIA than next to LIA",
                published="OLIA solves this problem of LIA",
                checks=[
                    Check(
                        f"OLIA / LIA, ratio {ratio:g}",
                        measured.ratio(other, ("olia", ratio), other, ("lia", ratio)),
                        Bound("more", low=1, strict=True),
                    )
                    for ratio in ratios
                ],
            ),
        ]
        return Outcome(facts, [self._picture(measured, ratios)])

    def _picture(self, measured: Measured, ratios: tuple[float, ...]) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=5.2)
        looks = figure_style.looks(list(CONTROLLERS))
        series = {}
        for (key, look), label in zip(looks.items(), CONTROLLERS.values(), strict=True):
            found = [measured.estimate(of_group("second"), key, ratio) for ratio in ratios]
            series[label] = (look, [(one.mean, one.half_width) for one in found])
        figure_style.grouped_bars(axes, [f"{ratio:g}" for ratio in ratios], series)
        xs = figure_style.bar_places(len(ratios), 0, 2)
        ys = [CAPACITY * equilibrium_c(ratio, 1) for ratio in ratios]
        figure_style.published_points(axes, xs, ys, "RFC 6356")
        figure_style.finish(
            axes, x="capacity of the own over the shared access point", y="rate of a TCP user [Mb/s]", legend=None
        )
        figure_style.legend_below(axes, columns=3)
        caption = "Rate of the TCP users in scenario C, with 95% intervals, and the equilibrium of LIA as stars."
        return Picture("j3-scenario-c", caption, figure)
