"""Experiment K1 of study K (Wischik et al., NSDI 2011): a laptop with WiFi and 3G, without competing flows.

Owns the runs, the verdicts, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.literature.measures import near
from mptcplab.studies.literature.nsdi11_wireless.network import NAME, cellular, multipath, scenario, single, wifi
from mptcplab.studies.verdicts import Bound, Check

PUBLISHED = {"wifi": 14.4, "3g": 2.1, "mptcp": 17.3}
"""Mb/s of TCP over WiFi, TCP over 3G, and MPTCP over both."""
TITLES = {"wifi": "TCP over WiFi", "3g": "TCP over 3G", "mptcp": "MPTCP over both"}


class Alone(Experiment):
    """One flow at a time."""

    study = NAME
    name = "K1"
    title = "WiFi and 3G without competing flows"
    setup = (
        "A laptop downloads over WiFi, over 3G, and with MPTCP (LIA) over both. As in the source, runs last for 20 s; "
        "the first 5 s are excluded."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """TCP over each link and MPTCP × seeds."""
        links = {"wifi": wifi(PUBLISHED["wifi"]), "3g": cellular(PUBLISHED["3g"])}
        for key in PUBLISHED:
            flow = multipath("lia") if key == "mptcp" else single(key)
            one = scenario(TITLES[key], links, {"flow": flow}, 20, 5)
            for seed in effort.seeds(3, 10, 30):
                yield Point((key,), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims K-1.1 and K-1.2."""
        facts = [
            self.fact(
                "K-1.1",
                "MPTCP gets 17.3 Mb/s (within 20%)",
                published="14.4 Mb/s (TCP over WiFi), 2.1 Mb/s (TCP over 3G), 17.3 Mb/s (MPTCP)",
                checks=[Check("MPTCP", measured.interval(goodput, "mptcp"), near("both", PUBLISHED["mptcp"]), "Mb/s")],
            ),
            self.fact(
                "K-1.2",
                "MPTCP gets more than TCP over WiFi",
                published="17.3 and 14.4 Mb/s",
                checks=[
                    Check(
                        "MPTCP / TCP over WiFi",
                        measured.ratio(goodput, ("mptcp",), goodput, ("wifi",)),
                        Bound("more", low=1, strict=True),
                    )
                ],
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=4.8)
        look = figure_style.looks(["mptcp"])["mptcp"]
        found = [measured.estimate(goodput, key) for key in PUBLISHED]
        figure_style.grouped_bars(
            axes, list(TITLES.values()), {"simulated": (look, [(one.mean, one.half_width) for one in found])}
        )
        figure_style.published_points(axes, range(len(PUBLISHED)), list(PUBLISHED.values()), "published")
        figure_style.finish(axes, x="", y="goodput [Mb/s]", legend="upper left", top=20)
        caption = "Goodput without competing flows, with 95% intervals, and the published values."
        return Picture("k1-alone", caption, figure)
