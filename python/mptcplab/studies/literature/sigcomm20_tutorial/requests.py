"""Experiment F2 of study F (hands-on lab of the SIGCOMM 2020 tutorial): delay of requests by scheduler.

Owns the runs, the verdicts on case 1 of the lab's second section, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Path, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.measures import near
from mptcplab.studies.literature.sigcomm20_tutorial.network import NAME, exchange, exchange_delays
from mptcplab.studies.verdicts import Bound, Check, every

PATHS = {
    "fast": Path(rate="100Mbit", rtt="40ms", queue="400p"),
    "slow": Path(rate="100Mbit", rtt="80ms", queue="800p"),
}
VARIANTS = {"minrtt": "lowest RTT first", "roundrobin": "round robin", "tcp": "TCP over the fast path"}
SIZE = 10_000


def lowest(run: Run) -> float:
    """The shortest delay of an exchange, ms."""
    return float(exchange_delays(run)[1].min())


def middle(run: Run) -> float:
    """The median delay of an exchange, ms."""
    return float(np.median(exchange_delays(run)[1]))


def highest(run: Run) -> float:
    """The longest delay of an exchange, ms."""
    return float(exchange_delays(run)[1].max())


class Requests(Experiment):
    """Case 1 of section 2 of the lab."""

    study = NAME
    name = "F2"
    title = "Delay of requests by scheduler"
    setup = (
        "Two paths of 100 Mb/s have RTTs of 40 and 80 ms. A request of 10 KB is sent every 250 ms, and a response of "
        "10 KB follows. The delay is that from the request to the end of the response. The runs last for 7 s. The "
        "first 0.5 s are excluded, in which the connections open."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Both schedulers and TCP × seeds."""
        for variant, words in VARIANTS.items():
            transport = "tcp" if variant == "tcp" else "mptcp"
            scheduler = "minrtt" if variant == "tcp" else variant
            scenario = Scenario(
                name=f"requests, {words}",
                duration="7s",
                warmup="500ms",
                paths=PATHS,
                flows=exchange(SIZE, scheduler=scheduler, transport=transport),
            )
            for seed in effort.seeds(3, 10, 40):
                yield Point((variant,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims F-2.1 to F-2.4."""
        range_ = Bound("all delays", 40.0, 50.0)
        facts = [
            self.fact(
                "F-2.1",
                "with the lowest RTT first, each delay is 40 to 50 ms",
                published="all the delays are about 40-50 ms",
                checks=[
                    every("shortest delay", measured.values(lowest, "minrtt"), range_, "ms"),
                    every("longest delay", measured.values(highest, "minrtt"), range_, "ms"),
                ],
            ),
            self.fact(
                "F-2.2",
                "with round robin, the median delay is 90 ms within 20%",
                published="around 90 ms for most responses",
                checks=[Check("median delay", measured.interval(middle, "roundrobin"), near("median", 90.0), "ms")],
                reason="The lab's value includes the processing times of an emulated host, which the simulator lacks.",
            ),
            self.fact(
                "F-2.3",
                "with round robin, no delay is below the RTT of the slow path, 80 ms",
                published="the delay of the slow path is the lower bound",
                checks=[
                    every("shortest delay", measured.values(lowest, "roundrobin"), Bound("shortest", low=80.0), "ms")
                ],
            ),
            self.fact(
                "F-2.4",
                "with the lowest RTT first, the median delay is at most 105% of that of TCP over the fast path",
                published="no statement; the baseline of one path",
                origin="ours",
                checks=[
                    Check(
                        "MPTCP / TCP", measured.ratio(middle, ("minrtt",), middle, ("tcp",)), Bound("ratio", high=1.05)
                    )
                ],
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(height=3.6)
        looks = figure_style.looks(["mptcp", "olia", "reno"])
        for look, (variant, words) in zip(looks.values(), VARIANTS.items(), strict=True):
            times, delays = exchange_delays(measured.one(variant))
            figure_style.curve(axes, times, delays, words, look, markers=30)
        figure_style.published_range(axes, 40, 50, "published, lowest RTT first")
        figure_style.published_line(axes, 90, "published, round robin")
        figure_style.finish(axes, x="time of the request [s]", y="delay [ms]", legend=None, top=110)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
        caption = "Delay from a request to the end of its response, one run per scheduler."
        return Picture("f2-requests", caption, figure)
