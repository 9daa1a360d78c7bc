"""Experiment J1 of study J (Khalili et al., CoNEXT 2012): scenario A, an upgrade that gives no benefit.

Owns the runs, the verdicts on the problems that the abstract names, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.scenario.definition import Scenario
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.conext12_olia.network import (
    CONTROLLERS,
    NAME,
    RTT,
    bottleneck,
    equilibrium_a,
    of_group,
    scenario,
    users,
    wire,
)
from mptcplab.studies.literature.measures import near
from mptcplab.studies.verdicts import Bound, Check

SECOND = 10
"""Number of TCP users."""
FIRST = (10, 20, 30)
"""Numbers of users that upgrade."""
RATIOS = (0.75, 1.0, 1.5)
"""Capacity of the server per user of the first group, over that of the access point per TCP user."""
CAPACITY = 2.0
"""Capacity of the access point per TCP user, Mb/s."""
BOUND = 0.15


def network(first: int, ratio: float, congestion: str | None, seconds: float) -> Scenario:
    """A server limits the first group. Its users have an access point of their own, and share that of the TCP users."""
    links = {
        "own": wire(("u", "r")),
        "shared": wire(("u", "x")),
        "server": bottleneck(("r", "o"), first * ratio * CAPACITY),
        "to-first": wire(("o", "s"), RTT / 2),
        "access": bottleneck(("x", "r"), SECOND * CAPACITY),
        "second": wire(("v", "x")),
        "to-second": wire(("r", "t"), RTT / 2),
    }
    single = {} if congestion else {"paths": ["own"]}
    flows = {"first": users("u", "s", first, congestion) | single, "second": users("v", "t", SECOND, None)}
    return scenario(f"A: {first} users, ratio {ratio:g}, {congestion or 'TCP'}", links, flows, seconds)


class ScenarioA(Experiment):
    """Users who upgrade take capacity of others, and gain nothing."""

    study = NAME
    name = "J1"
    title = "Scenario A: an upgrade without a benefit"
    setup = (
        "A server limits a first group of 10 to 30 users. They have an access point of their own without a limit, and "
        "share a second access point with 10 TCP users. They use TCP over their own access point, and then MPTCP over "
        "both. Runs last for 80 s, of which the last 40 s are measured."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Numbers of users and ratios of capacities × (TCP, LIA, OLIA) × seeds."""
        for first, ratio in settings(effort):
            for congestion in (None, *CONTROLLERS):
                one = network(first, ratio, congestion, effort.pick(30, 80, 200))
                for seed in effort.seeds(3, 5, 20):
                    yield Point((congestion or "tcp", first, ratio), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims J-1.1 to J-1.4."""
        own, other = of_group("first"), of_group("second")
        where = settings(effort)

        def change(controller: str, value: str, at: tuple[int, float], bound: Bound) -> Check:
            group = own if value == "upgraded" else other
            found = measured.ratio(group, (controller, *at), group, ("tcp", *at))
            return Check(f"{value} users, {words(at)}", found, bound)

        facts = [
            self.fact(
                "J-1.1",
                "with LIA, users who upgrade get at most 5% more, and TCP users get less than before",
                published="upgrading can reduce the throughput of others without any benefit to the upgraded users",
                checks=[
                    check
                    for at in where
                    for check in (
                        change("lia", "upgraded", at, Bound("no benefit", high=1.05)),
                        change("lia", "TCP", at, Bound("reduced", high=1, strict=True)),
                    )
                ],
            ),
            self._equilibrium(measured, where),
            self.fact(
                "J-1.3",
                "TCP users get more next to OLIA than next to LIA",
                published="OLIA solves this problem of LIA",
                checks=[
                    Check(
                        f"OLIA / LIA, {words(at)}",
                        measured.ratio(other, ("olia", *at), other, ("lia", *at)),
                        Bound("more", low=1, strict=True),
                    )
                    for at in where
                ],
            ),
            self.fact(
                "J-1.4",
                "next to OLIA, TCP users get at least 90% of the rest after one packet per RTT and upgraded user",
                published="a window of one packet per path is the cost of probing (from the definition of OLIA)",
                origin="ours",
                checks=[self._probing(measured, at) for at in where],
                explanation="After a loss, the window has at least two packets (RFC 5681, section 3.1).",
            ),
        ]
        return Outcome(facts, [self._picture(measured, effort)])

    def _equilibrium(self, measured: Measured, where: list[tuple[int, float]]) -> Fact:
        checks = []
        for first, ratio in where:
            share = equilibrium_a(ratio, first / SECOND)
            found = measured.interval(
                lambda run, share=share: of_group("second")(run) / CAPACITY / share,  # type: ignore[misc]
                "lia", first, ratio,
            )  # fmt: skip
            checks.append(Check(f"{words((first, ratio))}, over {share:.2f}", found, near("share", 1, BOUND)))
        return self.fact(
            "J-1.2",
            "next to LIA, TCP users get the share of the fair rate that RFC 6356 gives at equilibrium (within 15%)",
            published="from the formula of RFC 6356",
            origin="ours",
            checks=checks,
        )

    def _probing(self, measured: Measured, at: tuple[int, float]) -> Check:
        left = CAPACITY - at[0] / SECOND * 1500 * 8 / (RTT / 1e3) / 1e6
        found = measured.interval(lambda run: of_group("second")(run) / left, "olia", *at)
        return Check(f"{words(at)}, of {left:.2f} Mb/s", found, Bound("almost all", low=0.9))

    def _picture(self, measured: Measured, effort: Effort) -> Picture:
        figure, (axes,) = figure_style.new_figure()
        where = settings(effort)
        looks = figure_style.looks(["tcp", *CONTROLLERS])
        series = {}
        for (key, look), label in zip(looks.items(), ("all use TCP", *CONTROLLERS.values()), strict=True):
            found = [measured.estimate(of_group("second"), key, *at) for at in where]
            series[label] = (look, [(one.mean, one.half_width) for one in found])
        figure_style.grouped_bars(axes, [f"{first} users\nratio {ratio:g}" for first, ratio in where], series)
        xs = figure_style.bar_places(len(where), 1, 3)
        ys = [CAPACITY * equilibrium_a(ratio, first / SECOND) for first, ratio in where]
        figure_style.published_points(axes, xs, ys, "RFC 6356")
        figure_style.finish(axes, x="", y="rate of a TCP user [Mb/s]", legend=None)
        figure_style.legend_below(axes, columns=4)
        caption = (
            "Rate of the TCP users in scenario A, with 95% intervals, and the equilibrium of LIA as stars. The x axis "
            "has the number of users who upgrade to MPTCP, and the ratio of the capacities per user."
        )
        return Picture("j1-scenario-a", caption, figure)


def settings(effort: Effort) -> list[tuple[int, float]]:
    """Pairs of the number of upgraded users and the ratio of capacities."""
    every = [(first, 1.0) for first in FIRST] + [(FIRST[0], ratio) for ratio in RATIOS if ratio != 1]
    return effort.pick([(10, 1.0), (30, 1.0)], every, every)


def words(at: tuple[int, float]) -> str:
    """A setting as text."""
    return f"{at[0]} users, ratio {at[1]:g}"
