"""Experiment F1 of study F (hands-on lab of the SIGCOMM 2020 tutorial): bandwidth aggregation over two equal paths.

Owns the runs, the verdicts on the lab's first section, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Flow, Path, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.literature.measures import near
from mptcplab.studies.literature.sigcomm20_tutorial.network import CONTROLLER, NAME, STACK
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

PATH = Path(rate="20Mbit", rtt="40ms", queue="80p")
PUBLISHED = Published("published for TCP: about 19 to 20 Mb/s", "goodput", band=(19.0, 20.0))


def later(run: Run) -> float:
    """Goodput without the first second, Mb/s."""
    times, values = run.series("goodput")
    return float(values[times > 1 + 1e-9].mean()) / 1e6


class Aggregation(Experiment):
    """Section 1 of the lab."""

    study = NAME
    name = "F1"
    title = "Bandwidth aggregation over two equal paths"
    published = (PUBLISHED,)
    setup = (
        "Two paths of 20 Mb/s have an RTT of 40 ms and queues of 80 packets. One flow sends for 10 s, as iperf does. "
        "TCP uses the first path. MPTCP uses both paths with OLIA and the scheduler with the lowest RTT first."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """TCP and MPTCP × seeds."""
        for transport in ("tcp", "mptcp"):
            controller = CONTROLLER if transport == "mptcp" else "reno"
            scenario = Scenario(
                name=f"{transport}, two equal paths",
                duration="10s",
                sample="1s",
                paths={"first": PATH, "second": PATH},
                flows={"iperf": Flow(more=STACK | {"transport": transport, "congestion": controller})},
            )
            for seed in effort.seeds(3, 10, 40):
                yield Point((transport,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims F-1.1 and F-1.2."""
        double = measured.ratio(goodput, ("mptcp",), goodput, ("tcp",))
        facts = [
            self.fact(
                "F-1.1",
                "TCP gets a goodput of 19 to 20 Mb/s",
                published="about 19-20 Mb/s",
                checks=[Check("TCP", measured.interval(goodput, "tcp"), Bound("rate", 19.0, 20.0), "Mb/s")],
                reason=(
                    "The link rate counts frames of 1514 bytes for 1448 bytes of payload. At most 19.1 Mb/s of payload "
                    f"fit. From 1 s on, the goodput is {measured.mean(later, 'tcp'):.2f} Mb/s. The mean over 10 s "
                    "includes slow start."
                ),
            ),
            self.fact(
                "F-1.2",
                "MPTCP gets twice the goodput of TCP, within 20%",
                published="twice that of TCP",
                checks=[Check("MPTCP / TCP", double, near("double", 2.0))],
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(height=3.4)
        looks = figure_style.looks(["reno", "mptcp"])
        for look, key, label in (("reno", "tcp", "TCP"), ("mptcp", "mptcp", "MPTCP")):
            times, values = measured.one(key).series("goodput")
            figure_style.curve(axes, times, values / 1e6, label, looks[look])
        PUBLISHED.draw(axes)
        figure_style.finish(axes, x="time [s]", y="goodput [Mb/s]", legend=None)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)
        caption = "Goodput of TCP over one path and of MPTCP over two equal paths, in bins of 1 s, one run each."
        return Picture("f1-aggregation", caption, figure)
