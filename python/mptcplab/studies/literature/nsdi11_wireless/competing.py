"""Experiment K2 of study K (Wischik et al., NSDI 2011): a multipath flow next to one TCP flow on WiFi and one on 3G.

Owns the runs, the verdicts on the table of the paper, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.measures import near
from mptcplab.studies.literature.nsdi11_wireless.network import (
    CONTROLLERS,
    NAME,
    cellular,
    multipath,
    rate,
    scenario,
    single,
    wifi,
)
from mptcplab.studies.verdicts import Bound, Check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOWS = {"multipath": "multipath", "tcp-wifi": "TCP on WiFi", "tcp-3g": "TCP on 3G"}
PUBLISHED = {"ewtcp": (1.66, 3.11, 1.20), "coupled": (1.41, 3.49, 0.97), "lia": (2.21, 2.56, 0.65)}
"""Mb/s of the three flows by controller, means over five minutes."""
QUEUES = ("300ms", "1s", "2s")
READINGS = {f"a queue of {queue}": queue for queue in QUEUES}
WHY = "the queue of 3G"
CAPACITY = {"wifi": 3.7, "3g": 2.1}


class Competing(Experiment):
    """A multipath flow and two TCP flows."""

    study = NAME
    name = "K2"
    title = "WiFi and 3G with competing flows"
    setup = (
        "A multipath flow with EWTCP, COUPLED or MPTCP (LIA) uses WiFi and 3G. One TCP flow uses WiFi, and one uses "
        "3G. As in the source, runs last for five minutes; the first minute is excluded. The queue of 3G holds 300 ms, "
        "1 s or 2 s."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Queues × controllers × seeds."""
        seconds = effort.pick(100, 300, 300)
        for queue in QUEUES:
            links = {"wifi": wifi(CAPACITY["wifi"]), "3g": cellular(CAPACITY["3g"], queue)}
            for controller, title in CONTROLLERS.items():
                flows = {"multipath": multipath(controller), "tcp-wifi": single("wifi"), "tcp-3g": single("3g")}
                one = scenario(f"{title} next to TCP, queue of {queue} on 3G", links, flows, seconds, seconds / 5)
                for seed in effort.seeds(3, 10, 30):
                    yield Point((controller, queue), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims K-2.1 to K-2.5."""
        tables = [self._table(f"K-2.{at}", controller, measured) for at, controller in enumerate(PUBLISHED, start=1)]
        more = self.fact(
            "K-2.4",
            "the multipath flow gets more with MPTCP than with EWTCP and COUPLED",
            published="2.21, 1.66 and 1.41 Mb/s",
            checks={
                words: [
                    Check(
                        f"MPTCP / {CONTROLLERS[other]}",
                        measured.ratio(rate("multipath"), ("lia", queue), rate("multipath"), (other, queue)),
                        Bound("more", low=1, strict=True),
                    )
                    for other in ("ewtcp", "coupled")
                ]
                for words, queue in READINGS.items()
            },
            why=WHY,
        )
        fair = self.fact(
            "K-2.5",
            "with MPTCP, the multipath flow gets 0.86 times the rate of TCP on WiFi (within 20%)",
            published="2.21 and 2.56 Mb/s",
            checks={
                words: [
                    Check(
                        "multipath / TCP on WiFi",
                        measured.ratio(rate("multipath"), ("lia", queue), rate("tcp-wifi"), ("lia", queue)),
                        near("share", 0.86),
                    )
                ]
                for words, queue in READINGS.items()
            },
            why=WHY,
        )
        return Outcome([*tables, more, fair], [self._picture(measured)])

    def _table(self, fact: str, controller: str, measured: Measured) -> Fact:
        values = dict(zip(FLOWS, PUBLISHED[controller], strict=True))
        listed = ", ".join(f"{value:g} ({FLOWS[flow]})" for flow, value in values.items())
        return self.fact(
            fact,
            f"with {CONTROLLERS[controller]}, the flows get {listed} Mb/s (within 20%)",
            published=listed,
            checks={
                words: [
                    Check(FLOWS[flow], measured.interval(rate(flow), controller, queue), near(flow, value), "Mb/s")
                    for flow, value in values.items()
                ]
                for words, queue in READINGS.items()
            },
            why=WHY,
        )

    def _picture(self, measured: Measured) -> Picture:
        figure, panels = figure_style.new_figure(len(QUEUES), width=3.4, height=3.4, share_y=True)
        for axes, queue in zip(panels, QUEUES, strict=True):
            self._panel(axes, measured, queue)
        figure_style.legend_below(panels[1], columns=4)
        caption = "Goodput of a multipath flow and of two TCP flows, with 95% intervals, and the published values."
        return Picture("k2-competing", caption, figure)

    @staticmethod
    def _panel(axes: Axes, measured: Measured, queue: str) -> None:
        looks = figure_style.looks(list(FLOWS))
        series = {}
        for (flow, look), title in zip(looks.items(), FLOWS.values(), strict=True):
            found = [measured.estimate(rate(flow), controller, queue) for controller in CONTROLLERS]
            series[title] = (look, [(one.mean, one.half_width) for one in found])
        figure_style.grouped_bars(axes, list(CONTROLLERS.values()), series)
        for at in range(len(FLOWS)):
            xs = figure_style.bar_places(len(CONTROLLERS), at, len(FLOWS))
            ys = [PUBLISHED[controller][at] for controller in CONTROLLERS]
            figure_style.published_points(axes, xs, ys, "published" if not at else "_")
        label = "goodput [Mb/s]" if queue == QUEUES[0] else ""
        figure_style.finish(axes, x="", y=label, title=f"queue of {queue} on 3G", legend=None, top=4.5)
