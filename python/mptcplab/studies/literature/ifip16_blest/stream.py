"""Experiment H2 of study H (BLEST, IFIP Networking 2016): the delay of a stream of 1 Mb/s by scheduler.

Owns the runs, the verdicts on the mean delays and their order, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.ifip16_blest.network import DELAYS, NAME, OFF, WHY, scenario, share_of_3g
from mptcplab.studies.literature.measures import mean_delay, near
from mptcplab.studies.verdicts import Bound, Check

PUBLISHED = {"minrtt": 68.0, "otias": 53.2, "blest": 62.8, "daps": 843.7}
"""Mean delays by scheduler, ms."""
LABELS = {"minrtt": "lowest RTT first", "otias": "OTIAS", "blest": "BLEST", "daps": "DAPS"}
KERNELS = ("3.x", "4.x")
"""The rule of M2 does not matter, because no window fills."""
READINGS = {f"{words}, {kernel}": (delays, kernel) for delays, words in DELAYS.items() for kernel in KERNELS}
"""By interpretation: the delays and the kernel."""


class Stream(Experiment):
    """A stream of constant bit rate over WLAN and 3G."""

    study = NAME
    name = "H2"
    title = "The delay of a stream of 1 Mb/s"
    setup = (
        "The network of H1 carries a stream of 1 Mb/s in blocks of 1400 bytes for 90 s. Delays are means from the "
        "writing of a block until it is read."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Delays × kernels × schedulers × seeds."""
        seconds = effort.pick(20, 90, 90)
        for delays, kernel in READINGS.values():
            for scheduler, words in LABELS.items():
                keys: dict[str, Any] = {"blocks": "1400B", "rate": "1Mbit", "nagle": False, "scheduler": scheduler}
                keys |= OFF if scheduler == "blest" else {}
                each = scenario(f"stream, {words}", delays, kernel, seconds, **keys)
                for seed in effort.seeds(3, 12, 50):
                    yield Point((delays, kernel, scheduler), each, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims H-2.1 to H-2.4."""

        def order(reading: tuple[str, str]) -> list[Check]:
            names = sorted(PUBLISHED, key=lambda scheduler: PUBLISHED[scheduler])
            return [
                Check(
                    f"{LABELS[second]} minus {LABELS[first]}",
                    measured.difference(mean_delay, (*reading, second), (*reading, first)),
                    Bound("order", low=0.0, strict=True),
                    "ms",
                )
                for first, second in pairwise(names)
            ]

        def over(reading: tuple[str, str], scheduler: str) -> Check:
            found = measured.ratio(mean_delay, (*reading, scheduler), mean_delay, (*reading, "minrtt"))
            wanted = PUBLISHED[scheduler] / PUBLISHED["minrtt"]
            return Check(f"{LABELS[scheduler]} / minRTT", found, near(LABELS[scheduler], wanted))

        over_3g = ", ".join(
            f"{measured.mean(share_of_3g, 'one-way', '3.x', name):.0%} with {LABELS[name]}" for name in PUBLISHED
        )
        shares = (
            f"With one-way delays and Linux 3.x, 3G carries {over_3g}. The window of WLAN limits the stream after "
            "losses, and each scheduler then uses 3G."
        )
        daps = (
            f"With one-way delays and Linux 3.x, the mean is {measured.mean(mean_delay, 'one-way', '3.x', 'daps'):.0f} "
            "ms with DAPS. A stream of 1 Mb/s fills no queue of the simulated network for 800 ms."
        )
        facts = [
            self.fact(
                "H-2.1",
                "mean delays increase from OTIAS to BLEST, the lowest RTT first and DAPS",
                published="53.2, 62.8, 68 and 843.7 ms",
                checks={words: order(reading) for words, reading in READINGS.items()},
                why=WHY,
                reason=shares,
            ),
            self.fact(
                "H-2.2",
                "with the lowest RTT first, the mean delay is 68 ms within 20%",
                published="68 ms",
                checks={
                    words: [Check("mean", measured.interval(mean_delay, *reading, "minrtt"), near("mean", 68), "ms")]
                    for words, reading in READINGS.items()
                },
                why=WHY,
            ),
            self.fact(
                "H-2.3",
                "the mean delay over that of the lowest RTT first is 0.78 with OTIAS and 0.92 with BLEST, within 20%",
                published="53.2 / 68 and 62.8 / 68",
                checks={words: [over(reading, "otias"), over(reading, "blest")] for words, reading in READINGS.items()},
                why=WHY,
            ),
            self.fact(
                "H-2.4",
                "the mean delay with DAPS over that of the lowest RTT first is 12.4 within 20%",
                published="843.7 / 68",
                checks={words: [over(reading, "daps")] for words, reading in READINGS.items()},
                why=WHY,
                reason=daps,
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=7.0, height=3.8)
        looks = figure_style.looks(["mptcp", "olia", "balia", "wvegas"])
        series = {}
        for look, (words, reading) in zip(looks.values(), READINGS.items(), strict=True):
            found = [measured.estimate(mean_delay, *reading, scheduler) for scheduler in PUBLISHED]
            series[words] = (look, [(one.mean, one.half_width) for one in found])
        figure_style.grouped_bars(axes, list(LABELS.values()), series)
        figure_style.published_points(axes, range(len(PUBLISHED)), list(PUBLISHED.values()), "published")
        figure_style.finish(axes, x="scheduler", y="mean delay [ms]", legend=None)
        axes.set_yscale("log")
        axes.set_ylim(10, 2000)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        caption = (
            "Mean delay of a stream of 1 Mb/s by scheduler and interpretation. Bars are means, whiskers are 95% "
            "intervals over the seeds, stars are published values."
        )
        return Picture("h2-stream", caption, figure)
