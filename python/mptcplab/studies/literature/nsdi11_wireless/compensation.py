"""Experiment K3 of study K (Wischik et al., NSDI 2011): MPTCP over two links with different rates and RTTs.

Owns the runs, the verdicts, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Path, Scenario
from mptcplab.stats.statistics import Interval, interval
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.measures import near
from mptcplab.studies.literature.nsdi11_wireless.network import NAME, multipath, rate, scenario, single
from mptcplab.studies.verdicts import Bound, Check

PACKET = 1514 * 8 / 1e6
"""A packet of 1500 bytes as a frame, in Mb."""
FIRST, FIRST_RTT = 400, 100
"""Packets per second, and RTT in ms, of the first link."""
RATES = (400, 800, 1600, 3200)
RTTS = (12, 25, 50, 100, 200, 400, 800)


def path(packets: float, rtt: float) -> Path:
    """A link of `packets` per second and an RTT in ms, with a queue of one bandwidth-delay product."""
    queue = max(5, round(packets * rtt / 1e3))
    return Path(rate=f"{packets * PACKET:.3f}Mbit", rtt=f"{rtt:g}ms", queue=f"{queue}p")


def network(packets: int, rtt: int, seconds: float) -> Scenario:
    """A multipath flow over both links, and a TCP flow on each."""
    links = {"first": path(FIRST, FIRST_RTT), "second": path(packets, rtt)}
    flows = {"multipath": multipath("lia"), "tcp-1": single("first"), "tcp-2": single("second")}
    for flow in flows.values():
        flow |= {"delayed_ack": False, "sndbuf": "32MB", "rcvbuf": "32MB"}
    return scenario(f"C2 = {packets} packets/s, RTT {rtt} ms", links, flows, seconds, seconds / 3)


def over_best(run: Run) -> float:
    """Goodput of the multipath flow over that of the better TCP flow."""
    return rate("multipath")(run) / max(rate("tcp-1")(run), rate("tcp-2")(run))


class Compensation(Experiment):
    """MPTCP gets at least what TCP gets on the better link."""

    study = NAME
    name = "K3"
    title = "Different rates and RTTs"
    setup = (
        "A multipath flow with MPTCP (LIA) uses two links, with one TCP flow on each. The first link has 400 "
        "packets/s and an RTT of 100 ms. The second has 400 to 3200 packets/s and an RTT of 12 to 800 ms. Runs last "
        "for 900 s, because TCP needs minutes to fill the longest links; the first 300 s are excluded."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Rates × RTTs × seeds."""
        for packets, rtt in grid(effort):
            one = network(packets, rtt, effort.pick(120, 900, 1800))
            for seed in effort.seeds(2, 3, 5):
                yield Point((packets, rtt), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims K-3.1 and K-3.2."""
        where = grid(effort)
        means = [measured.mean(over_best, *at) for at in where]
        by_seed = np.mean([measured.values(over_best, *at) for at in where], axis=0)
        lowest, least = min((mean, at) for mean, at in zip(means, where, strict=True))
        facts = [
            self.fact(
                "K-3.1",
                "MPTCP gets at least as much as the better TCP flow in every network",
                published="always at least the better link",
                checks=[
                    Check(
                        f"lowest of {len(where)} networks ({least[0]} packets/s, {least[1]} ms)",
                        self._lowest(measured, least),
                        Bound("at least", low=1),
                    )
                ],
                explanation="On the longest links, windows need more than 900 s to grow to thousands of segments.",
                measured=f"lowest: {lowest:.2f} at {least[0]} packets/s and {least[1]} ms; "
                f"{sum(mean >= 1 for mean in means)} of {len(where)} networks have 1 or more",
            ),
            self.fact(
                "K-3.2",
                "MPTCP gets 1.15 times as much as the better TCP flow on average (within 20%)",
                published="15% more on average",
                checks=[Check("mean over the networks", interval(list(by_seed)), near("mean", 1.15))],
            ),
        ]
        return Outcome(facts, [self._picture(measured, effort)])

    @staticmethod
    def _lowest(measured: Measured, at: tuple[int, int]) -> Interval:
        return measured.interval(over_best, *at)

    def _picture(self, measured: Measured, effort: Effort) -> Picture:
        figure, (axes,) = figure_style.new_figure()
        rates: Sequence[int] = sorted({packets for packets, _ in grid(effort)})
        rtts = sorted({rtt for _, rtt in grid(effort)})
        looks = figure_style.looks([str(packets) for packets in rates])
        for packets, look in zip(rates, looks.values(), strict=True):
            found = [measured.estimate(over_best, packets, rtt) for rtt in rtts]
            figure_style.curve(
                axes, rtts, [one.mean for one in found], f"{packets} packets/s", look,
                spread=[one.half_width for one in found],
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xticks(rtts, [str(rtt) for rtt in rtts], minor=False)
        axes.minorticks_off()
        figure_style.published_line(axes, 1.15, "published mean")
        figure_style.finish(axes, x="RTT of the second link [ms]", y="MPTCP / better TCP flow", legend=None)
        figure_style.legend_below(axes, columns=3)
        caption = "Goodput of MPTCP over that of the better TCP flow, by the second link, with 95% intervals."
        return Picture("k3-compensation", caption, figure)


def grid(effort: Effort) -> list[tuple[int, int]]:
    """Packets per second and RTT in ms of the second link."""
    rates, rtts = effort.pick(((400, 800), (25, 200)), (RATES, RTTS), (RATES, RTTS))
    return [(packets, rtt) for packets in rates for rtt in rtts]
