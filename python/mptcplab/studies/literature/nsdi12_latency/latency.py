"""Experiment G1 of study G (figure 7 of NSDI 2012, as reproduced by students): delays of blocks over WiFi and 3G.

Owns the runs, the verdicts on the peaks and their order, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Path
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput, on_path
from mptcplab.studies.literature.measures import median_delay, near
from mptcplab.studies.literature.nsdi12_latency.network import (
    JITTER,
    NAME,
    RULES,
    WIFI,
    blocks,
    cellular,
    histogram,
    peak,
    share_below,
)
from mptcplab.studies.verdicts import Bound, Check

PEAKS = {"wifi": 125.0, "mptcp": 105.0, "plain": 350.0}
"""Published positions of the peaks, ms; `plain` is MPTCP without M1 and M2."""
FAST = 300.0
"""The delay in ms that most blocks of MPTCP stay below."""
LABELS = {"wifi": "TCP over WiFi", "3g": "TCP over 3G", "original": "MPTCP with M1 and M2", "plain": "MPTCP without"}


def head_of_line(run: Run) -> float:
    """Share of the time in which the receive window was full because of older data on a slower path."""
    return run.flow()["limits"].get("head_of_line", 0.0)


class Latency(Experiment):
    """Figure 7."""

    study = NAME
    name = "G1"
    title = "Delays of blocks over WiFi and 3G"
    setup = (
        "WiFi has 30 Mb/s, 6 ms and 0.75% loss. 3G has 3 Mb/s, 31 ms with a jitter of 100 ms, and 0.1% loss. Blocks of "
        "8 KB are written as fast as possible for 100 s. The send buffer has 200 KB, the receive buffer 30 KB. MPTCP "
        "runs with LIA, with and without opportunistic retransmission (M1) and penalisation (M2)."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """WiFi, 3G with and without reordering, MPTCP with two rules of M2 and without M1 and M2, × seeds."""
        seconds = effort.pick(20, 100, 100)
        mobile = cellular(JITTER)
        both: dict[str, Path] = {"wifi": WIFI, "3g": mobile}
        scenarios = {
            "wifi": blocks("TCP over WiFi", {"wifi": WIFI}, seconds),
            "3g": blocks("TCP over 3G", {"3g": mobile}, seconds),
            "ordered": blocks("TCP over 3G, in order", {"3g": cellular(JITTER, reorder=False)}, seconds),
            **{rule: blocks(f"MPTCP, {words}", both, seconds, penalty_rule=rule) for rule, words in RULES.items()},
            "plain": blocks(
                "MPTCP without M1 and M2", both, seconds, opportunistic_retransmission=False, penalisation=False
            ),
        }
        for curve, scenario in scenarios.items():
            for seed in effort.seeds(3, 10, 30):
                yield Point((curve,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims G-1.1 to G-1.6."""

        def ordered(rule: str) -> list[Check]:
            names = [rule, "wifi", "plain", "3g"]
            checks = []
            for first, second in pairwise(names):
                low = Bound("order", low=0, strict=first != rule)
                found = measured.difference(median_delay, (second,), (first,))
                words = [LABELS.get(name, LABELS["original"]) for name in (second, first)]
                checks.append(Check(f"median, {words[0]} minus {words[1]}", found, low, "ms"))
            return checks

        def at(name: str, key: str) -> Check:
            return Check("peak", measured.interval(peak, key), near("peak", PEAKS[name]), "ms")

        ordered_3g = measured.mean(median_delay, "ordered")
        slow = (
            "The sender takes many packets that jitter reorders for lost, and reduces its window. With the same jitter "
            f"but without reordering, the median is {ordered_3g:.0f} ms."
        )
        waits = (
            f"TCP over WiFi gets {measured.mean(goodput, 'wifi'):.1f} Mb/s, and MPTCP with M1 and M2 "
            f"{measured.mean(goodput, 'original'):.1f} Mb/s. The subflow on 3G adds "
            f"{measured.mean(on_path('3g'), 'original'):.1f} Mb/s. The window is full because of older data on 3G for "
            f"{measured.mean(head_of_line, 'original'):.0%} of the time."
        )
        facts = [
            self.fact(
                "G-1.1",
                "over WiFi, most blocks take 125 ms within 20%",
                published="the peak is at about 125 ms",
                checks=[at("wifi", "wifi")],
            ),
            self.fact(
                "G-1.2",
                "over 3G, the median delay is 1.2 to 3 s",
                published="about 1.2 to 3 s",
                checks=[
                    Check("median", measured.interval(median_delay, "3g"), Bound("median", 1200.0, 3000.0), "ms"),
                ],
                reason=slow,
            ),
            self.fact(
                "G-1.3",
                "with M1 and M2, most blocks of MPTCP take 105 ms within 20%",
                published="the peak is at about 105 ms",
                checks={words: [at("mptcp", rule)] for rule, words in RULES.items()},
                why="which rule of penalisation the kernel has",
                reason=waits,
            ),
            self.fact(
                "G-1.4",
                "without M1 and M2, most blocks of MPTCP take 350 ms within 20%",
                published="the peak is at about 350 ms",
                checks=[at("plain", "plain")],
            ),
            self.fact(
                "G-1.5",
                "the median delays have the order of the figure: MPTCP with M1 and M2, WiFi, MPTCP without, 3G",
                published="MPTCP at or below WiFi, then MPTCP without M1 and M2, then 3G",
                checks={words: ordered(rule) for rule, words in RULES.items()},
                why="which rule of penalisation the kernel has",
                reason=waits,
            ),
            self.fact(
                "G-1.6",
                "with M1 and M2, at least 90% of the blocks take less than 300 ms",
                published="most blocks below 300 ms",
                checks={
                    words: [
                        Check("share", measured.interval(partial(share_below, FAST), rule), Bound("share", low=0.9))
                    ]
                    for rule, words in RULES.items()
                },
                why="which rule of penalisation the kernel has",
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=7.0, height=3.8)
        looks = figure_style.looks(["wifi", "3g", "mptcp", "reno"])
        for look, (key, label) in zip(looks.values(), LABELS.items(), strict=True):
            edges, shares = histogram(measured.one(key))
            figure_style.curve(axes, edges, 100 * shares, label, look, markers=15)
        for at, value in enumerate(PEAKS.values()):
            axes.axvline(
                value, color=figure_style.PUBLISHED, linestyle=":", linewidth=1.2, label="" if at else "published peaks"
            )
        figure_style.finish(axes, x="delay of a block [ms]", y="blocks in 20 ms [%]", legend=None)
        axes.set_xscale("log")
        axes.set_xlim(30, 8000)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
        caption = (
            "Distribution of the delay of blocks of 8 KB, one run per curve, in bins of 20 ms as in the students' "
            "figure. MPTCP with M1 and M2 uses the rule of 2012."
        )
        return Picture("g1-latency", caption, figure)
