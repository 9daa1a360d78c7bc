"""Experiment J2 of study J (Khalili et al., CoNEXT 2012): scenario B, an upgrade that costs all users.

Owns the runs, the verdicts, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Scenario
from mptcplab.stats.statistics import difference, interval
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.conext12_olia.network import (
    CONTROLLERS,
    NAME,
    RTT,
    bottleneck,
    of_group,
    scenario,
    users,
    wire,
)
from mptcplab.studies.verdicts import Bound, Check

USERS = 15
X, T = 27.0, 36.0
"""Capacities of the two shared links, Mb/s."""


def network(congestion: str, upgraded: bool, seconds: float) -> Scenario:
    """Blue users have a path over each link. Red users have one over T, and after their upgrade one over X and T."""
    links = {
        "blue-x": wire(("blue", "x")),
        "blue-t": wire(("blue", "t")),
        "red-t": wire(("red", "t")),
        "red-x": wire(("red", "x")),
        "x-link": bottleneck(("x", "y"), X),
        "t-link": bottleneck(("t", "z"), T),
        "y-out": wire(("y", "o")),
        "z-out": wire(("z", "o")),
        # One hop longer than T, so that no other path leads over it.
        "y-w": wire(("y", "w")),
        "w-t": wire(("w", "t")),
        "out-blue": wire(("o", "s"), RTT / 2),
        "z-red": wire(("z", "d"), RTT / 2),
    }
    long_way = ["red-x", "x-link", "y-w", "w-t", "t-link", "z-red"]
    routes: list[dict[str, Any]] = []
    red = users("red", "d", USERS, congestion if upgraded else None)
    if upgraded:
        routes = [
            {"from": "red", "to": "d", "flows": ["red"], "links": long_way},
            {"from": "d", "to": "red", "flows": ["red"], "links": long_way[::-1]},
        ]
    else:
        red["paths"] = ["red-t"]
    flows = {"blue": users("blue", "s", USERS, congestion), "red": red}
    name = f"B: {congestion}, {'both groups' if upgraded else 'blue'} with MPTCP"
    return scenario(name, links, flows, seconds, routes=routes)


def total(run: Run) -> float:
    """Mb/s of packets that all users deliver."""
    return USERS * (of_group("blue")(run) + of_group("red")(run))


class ScenarioB(Experiment):
    """The upgrade of one group costs both groups."""

    study = NAME
    name = "J2"
    title = "Scenario B: an upgrade that costs all users"
    setup = (
        "15 blue users have MPTCP over two links of 27 and 36 Mb/s. 15 red users have TCP over the second link. They "
        "upgrade to MPTCP, with a second path that crosses both links. Runs last for 80 s, of which the last 40 s are "
        "measured."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Controllers × (before, after) × seeds."""
        for congestion in CONTROLLERS:
            for upgraded in (False, True):
                one = network(congestion, upgraded, effort.pick(30, 80, 200))
                for seed in effort.seeds(3, 5, 20):
                    yield Point((congestion, "after" if upgraded else "before"), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims J-2.1 and J-2.2."""

        def change(congestion: str) -> list[float]:
            keys = [(congestion, "after"), (congestion, "before")]
            after, before = (measured.values(total, *key) for key in keys)
            return [1 - one / other for one, other in zip(after, before, strict=True)]

        after, before = ("lia", "after"), ("lia", "before")
        groups = [
            Check(f"{group} users", measured.ratio(of_group(group), after, of_group(group), before), bound)
            for group, bound in (("blue", Bound("blue", high=1, strict=True)), ("red", Bound("red", high=1.05)))
        ]
        costs = {name: interval(change(name)) for name in CONTROLLERS}
        facts = [
            self.fact(
                "J-2.1",
                "with LIA, the upgrade of the red users costs the blue users, and does not help the red users",
                published="upgrading can reduce the throughput of others without any benefit to the upgraded users",
                checks=groups,
            ),
            self.fact(
                "J-2.2",
                "the upgrade costs less of the total rate with OLIA than with LIA",
                published="OLIA solves this problem of LIA",
                checks=[
                    Check(
                        "cost with LIA minus cost with OLIA",
                        difference(change("lia"), change("olia"), paired=False),
                        Bound("less", low=0, strict=True),
                    )
                ],
                measured=", ".join(f"{words}: {100 * costs[name].mean:.1f}%" for name, words in CONTROLLERS.items()),
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure()
        looks = figure_style.looks(["before", "after"])
        series = {}
        for (when, look), label in zip(looks.items(), ("red users with TCP", "red users with MPTCP"), strict=True):
            found = [
                measured.estimate(of_group(group), name, when) for name in CONTROLLERS for group in ("blue", "red")
            ]
            series[label] = (look, [(one.mean, one.half_width) for one in found])
        groups = [f"{group} users,\n{name.upper()}" for name in CONTROLLERS for group in ("blue", "red")]
        figure_style.grouped_bars(axes, groups, series)
        figure_style.finish(axes, x="", y="rate of a user [Mb/s]", legend=None)
        figure_style.legend_below(axes, columns=2)
        caption = "Rate of the users of both groups in scenario B, before and after the upgrade, with 95% intervals."
        return Picture("j2-scenario-b", caption, figure)
