"""Experiment A2-clean of study A (Lim and Valdez, CS244 at Stanford, 2013): the original's figure 9 (NSDI 2012) as the
report quotes it, on links without random loss.

Owns the runs, the verdicts on the quoted statements, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Path
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.cs244_wireless.network import NAME, bulk
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

SIZES = (50, 100, 200, 500)
JITTER = "200us"
"""Jitter in both directions, so that runs without losses differ by seed; a packet takes 6 ms on the link."""
VARIANTS = {"whole": "the whole buffer as window", "half": "half the buffer as window"}
WHY = "the share of the buffer that the kernel of the original (NSDI 2012) offered as window"

PUBLISHED = (
    Published("published: MPTCP", "goodput", "flows.*.rcvbuf", points=(("50KB", 2.0), ("500KB", 3.25))),
    Published("published: 3G", "goodput", "flows.*.rcvbuf", points=(("50KB", 1.2),), line="dotted"),
)


class CleanBuffers(Experiment):
    """Figure 9 of NSDI 2012 as quoted by the study: links without random loss."""

    study = NAME
    name = "A2-clean"
    title = "The original figure 9: links without random loss"
    published = PUBLISHED
    setup = (
        "The original (NSDI 2012) measured over a real 3G network and WiFi, both at 2 Mb/s. The simulated paths have "
        "RTTs of 20 and 150 ms, queues of 80 ms and 2 s, and no random loss. The window is the whole buffer in one set "
        "of runs, and half the buffer in another, because Linux charges its overhead to the receive buffer. Delays "
        "vary by 0.2 ms, so that seeds differ."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Buffers × (WiFi, 3G, MPTCP) × whole and half window × seeds."""
        wifi = Path(rate="2Mbit", rtt="20ms", queue="80ms", jitter=JITTER)
        cellular = Path(rate="2Mbit", rtt="150ms", queue="2s", jitter=JITTER)
        curves: dict[str, tuple[dict[str, Path], str, str]] = {
            "wifi": ({"wifi": wifi}, "tcp", "reno"),
            "3g": ({"3g": cellular}, "tcp", "reno"),
            "mptcp": ({"wifi": wifi, "3g": cellular}, "mptcp", "lia"),
        }
        for curve, (paths, transport, controller) in curves.items():
            for size in SIZES:
                for variant in VARIANTS:
                    window = size if variant == "whole" else size // 2
                    scenario = bulk(
                        f"{curve}, {size} KB, {variant} buffer as window",
                        paths,
                        rcvbuf=f"{window}KB",
                        sndbuf=f"{size}KB",
                        transport=transport,
                        congestion=controller,
                    )
                    for seed in effort.seeds(2, 5, 20):
                        yield Point((curve, size, variant), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Statements of the study and its source about the original figure."""
        return Outcome([*self._original(measured), self._gains(measured)], [self._picture(measured)])

    def _original(self, measured: Measured) -> list[Fact]:
        """The numbers of the original, with all and with half of the buffer as window."""

        def rate(curve: str, size: int, variant: str, bound: Bound) -> Check:
            return Check(f"goodput at {size} KB", measured.interval(goodput, curve, size, variant), bound, "Mb/s")

        return [
            self.fact(
                "A-2.6",
                "TCP over 3G gets 1.2 Mb/s (within 15%) with 50 KB, and 1.8 Mb/s or more with 500 KB",
                published="1.2 Mb/s at the smallest buffer, full bandwidth at larger ones",
                checks={
                    words: [
                        rate("3g", 50, variant, Bound("smallest", 1.2 * 0.85, 1.2 * 1.15)),
                        rate("3g", 500, variant, Bound("largest", low=1.8)),
                    ]
                    for variant, words in VARIANTS.items()
                },
                why=WHY,
            ),
            self.fact(
                "A-2.7",
                "MPTCP's goodput rises from 2.0 Mb/s at 50 KB to 3.25 Mb/s at 500 KB (both within 15%)",
                published="2.0 to 3.25 Mb/s",
                checks={
                    words: [
                        rate("mptcp", 50, variant, Bound("smallest", 2.0 * 0.85, 2.0 * 1.15)),
                        rate("mptcp", 500, variant, Bound("largest", 3.25 * 0.85, 3.25 * 1.15)),
                    ]
                    for variant, words in VARIANTS.items()
                },
                why=WHY,
            ),
        ]

    def _gains(self, measured: Measured) -> Fact:
        """Three quotes about the original's gains."""

        def checks(variant: str) -> list[Check]:
            def gain(size: int) -> Check:
                found = measured.ratio(goodput, ("mptcp", size, variant), goodput, ("wifi", size, variant))
                bound = Bound("100 KB", 1.1, 1.4) if size == 100 else Bound("500 KB", low=1.7)
                return Check(f"{size} KB, MPTCP / TCP over WiFi", found, bound)

            def rate(run: Run) -> float:
                return goodput(run)

            most = Check(
                "goodput at 200 KB", measured.interval(rate, "mptcp", 200, variant), Bound("200 KB", low=3.0), "Mb/s"
            )
            return [gain(100), most, gain(500)]

        return self.fact(
            "A-2.8",
            "MPTCP gets 1.1 to 1.4 times TCP over WiFi at 100 KB, 3 Mb/s or more at 200 KB, and 1.7 times or more at "
            "500 KB",
            published="+25%, most of the available bandwidth, nearly double",
            checks={words: checks(variant) for variant, words in VARIANTS.items()},
            why=WHY,
            reason="Without loss, 100 KB are already enough for most of the capacity of both links.",
        )

    def _picture(self, measured: Measured) -> Picture:
        figure, both = figure_style.new_figure(2, width=4.6, height=3.9, share_y=True)
        for axes, variant in zip(both, VARIANTS, strict=True):
            for curve, label in (("wifi", "TCP over WiFi"), ("3g", "TCP over 3G"), ("mptcp", "MPTCP")):
                rates = [measured.mean(goodput, curve, size, variant) for size in SIZES]
                figure_style.curve(axes, SIZES, rates, label, figure_style.LOOKS[curve])
            for one in self.published:
                one.draw(axes, lambda size: float(size.removesuffix("KB")))
            figure_style.finish(
                axes,
                x="send and receive buffer [KB]",
                y="goodput [Mb/s]" if variant == "whole" else "",
                title=f"{variant} buffer as window",
                legend="lower right" if variant == "half" else None,
                top=4.1,
            )
        caption = "Goodput against buffer size without random loss, and the values published for the original."
        held = {
            axes: [of_keys(measured, words, {size: ("mptcp", size, variant) for size in SIZES}, say="KB")]
            for axes, (variant, words) in zip(both, VARIANTS.items(), strict=True)
        }
        return Picture("a2-clean", caption, figure, explain(figure, held))
