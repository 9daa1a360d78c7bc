"""Experiments E3 and E10 of study E (Barlow-Bignell et al., UCL, 2013): two idle WiFi networks, separately, in parallel
(figure 3), and with MPTCP (figure 12).

Tests the report's claims that MPTCP gets the sum of both. Owns the runs, the verdicts and the figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.stats.statistics import quantile, ratio
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_distribution
from mptcplab.studies.limiting_factors import multipath
from mptcplab.studies.ucl_wifi.figures import SECOND, TOTAL, draw_distributions, samples
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, WORDS, Channels, Setup, mbps, path_mbps, single
from mptcplab.studies.verdicts import Bound, Check

BANDS = {"1": "2.4 GHz", "2": "5 GHz"}
WAYS: tuple[Literal["upload", "download"], ...] = ("upload", "download")
CHANNELS: tuple[Channels, ...] = ("cross", "apart")


def _alone(at: str, way: Literal["upload", "download"], effort: Effort) -> Setup:
    return Setup("cross", way, dual=False, singles=(at,), seconds=effort.pick(12, 30, 60))


def _parallel(channels: Channels, way: Literal["upload", "download"], effort: Effort) -> Setup:
    return Setup(channels, way, dual=False, seconds=effort.pick(12, 30, 60))


class CrossBand(Experiment):
    """Figure 3."""

    study = NAME
    name = "E3"
    title = "Two bands, separately and in parallel"
    setup = (
        "Two networks, at 2.4 and 5 GHz, each have a client with one interface, which uses New Reno. First, each "
        "client runs alone; then, both run at once. Samples cover 500 ms. There is no background traffic."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Separate and parallel runs, both directions, with several seeds."""
        for way in WAYS:
            tests = {at: _alone(at, way, effort) for at in BOTH} | {"both": _parallel("cross", way, effort)}
            for test, setup in tests.items():
                for seed in effort.seeds(2, 5, 10):
                    yield Point((test, way), setup.scenario(), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-3.1 and E-3.2."""
        bound = Bound("parallel over alone", 0.9, 1.1)

        def median(at: str, way: str, test: str) -> list[float]:
            return [quantile(samples([run], single(at)), 0.5) for run in measured.runs(test, way)]

        def whole(way: str) -> Check:
            alone = [
                sum(pair) for pair in zip(*(measured.values(mbps(single(at)), at, way) for at in BOTH), strict=True)
            ]
            return Check(_words(way), ratio(measured.values(_pair, "both", way), alone, paired=False), bound)

        facts = [
            self.fact(
                "E-3.1",
                "in each band and direction, the median throughput in parallel is within 10% of the median throughput "
                "alone",
                published="almost identical",
                checks=[
                    Check(
                        f"{BANDS[at]}, {_words(way)}",
                        ratio(median(at, way, "both"), median(at, way, at), paired=False),
                        bound,
                    )
                    for at in BOTH
                    for way in WAYS
                ],
                origin="by construction",
                reason="In the model, the two bands do not interfere.",
            ),
            self.fact(
                "E-3.2",
                "both bands together carry the sum of their separate throughputs, within 10%",
                published="the sum of each link's capacity in the best case; no penalty",
                checks=[whole(way) for way in WAYS],
                origin="by construction",
                reason="In the model, the two bands do not interfere.",
            ),
        ]
        return Outcome(facts, [_band_picture(measured, way) for way in WAYS])


class Idle(Experiment):
    """Figure 12."""

    study = NAME
    name = "E10"
    title = "LIA on idle networks"
    setup = (
        "Downlink: first, a client on each network uses New Reno, both in parallel; then, one client on both networks "
        "uses LIA, without other traffic. The figure does not name its channels, so two pairs are run: 2.4 and 5 GHz, "
        "and channels 1 and 11. The uplink is run only at 2.4 and 5 GHz."
    )
    MAIN = WORDS["cross"]

    def points(self, effort: Effort) -> Iterator[Point]:
        """Parallel and MPTCP runs with several seeds."""
        for channels in CHANNELS:
            seconds = effort.pick(12, 30, 60)
            joined = Setup(channels, "download", singles=(), seconds=seconds)
            for test, setup in (("parallel", _parallel(channels, "download", effort)), ("coupled", joined)):
                for seed in effort.seeds(2, 5, 10, comparison=WORDS[channels] != self.MAIN):
                    yield Point((channels, test), setup.scenario(), seed)
        up = Setup("cross", "upload", singles=(), seconds=effort.pick(12, 30, 60))
        for test, setup in (("parallel", _parallel("cross", "upload", effort)), ("coupled", up)):
            for seed in effort.seeds(2, 5, 10):
                yield Point(("uplink", test), setup.scenario(), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-10.1 to E-10.3."""

        def whole(channels: str) -> list[Check]:
            found = measured.ratio(mbps(DUAL), (channels, "coupled"), _pair, (channels, "parallel"))
            return [Check("MPTCP / both parallel flows", found, Bound("of the sum", 0.9, 1.05))]

        def each(channels: str) -> list[Check]:
            return [
                Check(
                    f"network {at}",
                    measured.ratio(path_mbps(at), (channels, "coupled"), mbps(single(at)), (channels, "parallel")),
                    Bound("of the parallel flow", 0.85, 1.15),
                )
                for at in BOTH
            ]

        why = "the figure compares with a case that the study calls free of penalty"
        facts = [
            self.fact(
                "E-10.1",
                "MPTCP with LIA carries 0.9 to 1.05 times the total of the two parallel flows",
                published="the sum of what New Reno gets on each flow",
                checks={WORDS[channels]: whole(channels) for channels in CHANNELS},
                main=self.MAIN,
                why=why,
            ),
            self.fact(
                "E-10.2",
                "each subflow carries 0.85 to 1.15 times the throughput of the parallel flow on its network",
                published="following the performance profile of the independent interfaces",
                checks={WORDS[channels]: each(channels) for channels in CHANNELS},
                main=self.MAIN,
                why=why,
            ),
            self.fact(
                "E-10.3",
                "uplink too, MPTCP over two interfaces carries 0.9 to 1.05 times the total of two clients in parallel",
                published="abstract: on idle links MPTCP aggregates, uplink as downlink",
                checks={WORDS["cross"]: [_uplink(measured)]},
                main=WORDS["cross"],
                why=why,
            ),
        ]
        return Outcome(facts, [_idle_picture(measured)])


def _words(way: str) -> str:
    return "uplink" if way == "upload" else "downlink"


def _pair(run: object) -> float:
    return float(sum(mbps(single(at))(run) for at in BOTH))


def _uplink(measured: Measured) -> Check:
    found = measured.ratio(mbps(DUAL), ("uplink", "coupled"), _pair, ("uplink", "parallel"))
    return Check("MPTCP / both parallel flows", found, Bound("of the sum", 0.9, 1.05))


def _band_picture(measured: Measured, way: str) -> Picture:
    figure, (axes,) = figure_style.new_figure(width=7.0, height=4.0)
    looks = {
        "1": (figure_style.LOOKS["mptcp"], SECOND),
        "2": (figure_style.LOOKS["wifi"], figure_style.LOOKS["3g"]),
    }
    curves = [
        (f"{BANDS[at]}, {words}", looks[at][number], samples(measured.runs(test, way), single(at)))
        for at in BOTH
        for number, (test, words) in enumerate(((at, "alone"), ("both", "in parallel")))
    ]
    draw_distributions(axes, curves, "", top=32)
    for line in axes.lines[::2]:
        line.set_linewidth(4.5)
        line.set_alpha(0.45)
    for at, label in (("1", "accepted as `almost identical`: ±10%"), ("2", None)):
        middle = quantile(samples(measured.runs(at, way), single(at)), 0.5)
        axes.axvspan(0.9 * middle, 1.1 * middle, facecolor="none", edgecolor="#aaaaaa", hatch="..", label=label)
    axes.legend(loc="upper left")
    figure_name = "3a" if way == "upload" else "3b"
    caption = (
        f"Figure {figure_name}: {_words(way)} throughput in two bands, of each client alone and of both in parallel. "
        "The curves contain the samples of all runs."
    )
    return Picture(f"ucl-wifi-e3-{_words(way)}", caption, figure)


def _idle_picture(measured: Measured) -> Picture:
    figure, axes = figure_style.new_figure(2, width=6.0, height=4.0)
    for axis, channels in zip(axes, CHANNELS, strict=True):
        joined, parallel = measured.runs(channels, "coupled"), measured.runs(channels, "parallel")
        curves = [
            ("MPTCP with LIA, network 1", figure_style.LOOKS["mptcp"], samples(joined, DUAL, "1")),
            ("MPTCP with LIA, network 2", SECOND, samples(joined, DUAL, "2")),
            ("parallel flow, network 1", figure_style.LOOKS["wifi"], samples(parallel, single("1"))),
            ("parallel flow, network 2", figure_style.LOOKS["3g"], samples(parallel, single("2"))),
            ("MPTCP with LIA, both networks", TOTAL, samples(joined, DUAL)),
        ]
        draw_distributions(axis, curves, WORDS[channels], top=50)
        both = float(np.mean([_pair(run) for run in parallel]))
        axis.axvspan(
            0.9 * both, 1.05 * both, facecolor="none", edgecolor="#aaaaaa", hatch="..", label="accepted as `the sum`"
        )
    axes[1].legend(loc="lower right")
    caption = "Figure 12: downlink throughput of MPTCP with LIA on idle networks, and of two single flows in parallel."
    joint = {f"MPTCP with LIA, {WORDS[at]}": multipath(measured.runs(at, "coupled"), DUAL) for at in CHANNELS}
    return Picture("ucl-wifi-e10-idle", caption, figure, under_distribution(figure, joint))
