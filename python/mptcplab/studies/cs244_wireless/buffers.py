"""Experiment A2 of study A (Lim and Valdez, CS244 at Stanford, 2013): throughput against buffer size (its figure 3,
which reproduces figure 9 of NSDI 2012).

Owns the runs, the verdicts on the report's claims, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mptcplab.plots import figure_style
from mptcplab.scenario.definition import Path
from mptcplab.stats.statistics import ratio
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point, on_interfaces
from mptcplab.studies.cs244_wireless.network import CELLULAR, CONTROLLER, NAME, WIFI, bulk
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

SIZES = (50, 100, 200, 500)
CONTROLLERS = ("cubic", "reno", "lia")

PUBLISHED = (
    Published(
        "published for MPTCP: 2.0 Mb/s at 50 KB, 2.5 Mb/s at 500 KB", "interface_throughput", "flows.*.rcvbuf",
        points=(("50KB", 2.0), ("500KB", 2.5)),
    ),
    Published("published for 3G: about 0.5 Mb/s", "interface_throughput", "flows.*.rcvbuf", level=0.5, line="dotted"),
)  # fmt: skip


class Buffers(Experiment):
    """Figure 3, with random loss."""

    study = NAME
    name = "A2"
    title = "Throughput against buffer size"
    published = PUBLISHED
    setup = (
        "WiFi has 2 Mb/s, an RTT of 12 ms and 3% loss; 3G has 2 Mb/s, 152 ms and 2% loss. Both directions lose "
        "packets. Send and receive buffers have 50 to 500 KB (TCP over 3G also 1000 KB). Values are the throughput of "
        "the sender's interfaces over 30 s after a warm-up of 10 s, as in the study. Figures show "
        "the mean over the seeds with its 95% interval. The study does not name the congestion control. MPTCP runs "
        "with CUBIC and Reno on each path, and with LIA. Plain TCP runs with CUBIC, the default of the study's Ubuntu."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Buffers × (WiFi, 3G, MPTCP with each controller) × seeds."""
        both = {"wifi": WIFI, "3g": CELLULAR}
        curves: list[tuple[str, dict[str, Path], str, str, tuple[int, ...]]] = [
            ("wifi", {"wifi": WIFI}, "tcp", CONTROLLER, SIZES),
            ("3g", {"3g": CELLULAR}, "tcp", CONTROLLER, (*SIZES, 1000)),
            *((controller, both, "mptcp", controller, SIZES) for controller in CONTROLLERS),
        ]
        for curve, paths, transport, controller, sizes in curves:
            for size in sizes:
                scenario = bulk(
                    f"{transport} {curve}, {size} KB",
                    paths,
                    rcvbuf=f"{size}KB",
                    transport=transport,
                    congestion=controller,
                )
                for seed in effort.seeds(2, 20, 40):
                    yield Point((curve, size), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims A-2.1 to A-2.5; claims about MPTCP are judged for each controller."""

        def rates(key: str, sizes: tuple[int, ...], bound: Bound) -> list[Check]:
            return [
                Check(f"throughput at {size} KB", measured.interval(on_interfaces, key, size), bound, "Mb/s")
                for size in sizes
            ]

        facts = [
            self.fact(
                "A-2.1",
                "TCP over WiFi gets at least 1.7 Mb/s at every buffer size",
                published="close to full bandwidth (2 Mb/s) at every size",
                checks=rates("wifi", SIZES, Bound("rate", low=1.7)),
            ),
            self.fact(
                "A-2.2",
                "with buffers of 100 to 1000 KB, TCP over 3G gets 0.3 to 0.65 Mb/s",
                published="never much above 0.5 Mb/s, not even with 1000 KB",
                checks=rates("3g", (100, 200, 500, 1000), Bound("rate", 0.3, 0.65)),
            ),
            *self._multipath(measured),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _multipath(self, measured: Measured) -> list[Fact]:
        """The claims about MPTCP, with each controller, because the study names none."""

        def better(controller: str) -> list[Check]:
            return [
                Check(
                    f"{size} KB, MPTCP minus TCP over {curve}",
                    measured.difference(on_interfaces, (controller, size), (curve, size)),
                    Bound("more", low=0, strict=True),
                    "Mb/s",
                )
                for size in SIZES
                for curve in ("wifi", "3g")
            ]

        def rises(controller: str) -> list[Check]:
            start = measured.ratio(on_interfaces, (controller, 50), on_interfaces, ("wifi", 50))
            steps = [
                Check(
                    f"throughput at {big} KB / at {small} KB",
                    measured.ratio(on_interfaces, (controller, big), on_interfaces, (controller, small)),
                    Bound("step", low=0.98),
                )
                for small, big in pairwise(SIZES)
            ]
            end = measured.interval(on_interfaces, controller, 500)
            return [
                Check("50 KB, MPTCP / TCP over WiFi", start, Bound("smallest", low=0.95)),
                *steps,
                Check("throughput at 500 KB", end, Bound("largest", 2.2, 2.6), "Mb/s"),
            ]

        def adds(controller: str) -> list[Check]:
            alone = [measured.values(on_interfaces, curve, 500) for curve in ("wifi", "3g")]
            both = [sum(pair) for pair in zip(*alone, strict=True)]
            found = ratio(measured.values(on_interfaces, controller, 500), both, paired=False)
            return [Check("500 KB, MPTCP / sum of TCP over both paths", found, Bound("of the sum", 0.9, 1.1))]

        statements = (
            ("A-2.3", "MPTCP gets more than TCP over WiFi and than TCP over 3G, at every buffer size",
             "consistently outperforms TCP", better),
            ("A-2.4", (
                "MPTCP gets at least 95% of TCP over WiFi at 50 KB, 2.2 to 2.6 Mb/s at 500 KB, "
                "and no step falls by more than 2%"
            ), "from 2 to 2.5 Mb/s", rises),
            ("A-2.5", "MPTCP at 500 KB is within 10% of TCP over WiFi plus TCP over 3G", "2.5 Mb/s = 2.0 + 0.5", adds),
        )  # fmt: skip
        lia = "LIA is designed to take no more than TCP on the best path, if losses are random."
        return [
            self.fact(
                number,
                statement,
                published=published,
                checks={controller: checks(controller) for controller in CONTROLLERS},
                why="which congestion control was used",
                reason=lia if number != "A-2.3" else "",
            )
            for number, statement, published, checks in statements
        ]

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=7.6, height=4.0)
        names = {
            "TCP over WiFi": "wifi",
            "TCP over 3G": "3g",
            **{f"MPTCP ({controller})": controller for controller in CONTROLLERS},
        }
        series = {}
        for label, key in names.items():
            values = [measured.estimate(on_interfaces, key, size) for size in SIZES]
            series[label] = (figure_style.LOOKS[key], [(value.mean, value.half_width) for value in values])
        figure_style.grouped_bars(axes, [f"{size} KB" for size in SIZES], series)
        for one in self.published:
            one.draw(axes, lambda size: SIZES.index(int(size.removesuffix("KB"))))
        figure_style.finish(axes, x="send and receive buffer", y="throughput [Mb/s]", legend=None)
        handles, labels = axes.get_legend_handles_labels()
        order = [*range(2, len(handles)), 0, 1]
        axes.legend(
            [handles[at] for at in order],
            [labels[at] for at in order],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.14),
            ncols=3,
        )
        caption = (
            "Throughput against buffer size with random loss on both radio links: bars are means, whiskers "
            "are 95% intervals over the seeds."
        )
        bars = [
            of_keys(
                measured, label, {size: (key, size) for size in SIZES}, say="KB",
                places=figure_style.bar_places(len(SIZES), list(names).index(label), len(names)),
            )
            for label, key in names.items()
            if key in CONTROLLERS
        ]  # fmt: skip
        return Picture(
            "a2-buffers", caption, figure, explain(figure, {axes: bars}, bars=figure_style.bar_width(len(names)))
        )
