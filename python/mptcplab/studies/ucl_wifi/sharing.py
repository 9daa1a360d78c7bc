"""Experiments E4 and E5: New Reno on each subflow beside a single flow on each network (figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from mptcplab import plots
from mptcplab.statistics import Estimate, estimate
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, assume
from mptcplab.studies.ucl_wifi.figures import contest, draw_distributions, draw_ratios
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, RESIDUAL, Setup, mbps, path_mbps, single

CASES: Mapping[str, tuple[str, Setup]] = {
    "same": ("(a) one channel", Setup("same", interference="ideal", loss=RESIDUAL)),
    "apart": ("(b) channels 1 and 11", Setup("apart", loss=RESIDUAL)),
    "cross": ("(c) 2.4 and 5 GHz", Setup("cross", loss=RESIDUAL)),
    "same, preset": ("one channel, preset", Setup("same", loss=RESIDUAL)),
}
SHOWN = ("same", "apart", "cross")
MAIN = "the ideal model on one channel"
OTHER = "the preset on one channel"
WHY = (
    "the preset's factors for one channel are those of saturated UDP (E2); uplink, TCP on one network then starves the "
    "other, of which the study's figures of one channel show nothing"
)


def setup_of(case: str, direction: Literal["upload", "download"], congestion: str, effort: Effort) -> Setup:
    """A simultaneous test."""
    seconds = effort.pick(30, 60, 120)
    return replace(CASES[case][1], direction=direction, congestion=congestion, seconds=seconds)


def seeds(effort: Effort) -> range:
    """The seeds of the simultaneous tests."""
    return range(1, effort.pick(1, 7, 20) + 1)


def pooled(measured: Measured, *key: str) -> dict[str, float]:
    """By network: the subflow's throughput over that of the single flow, each averaged over the runs."""
    return {at: measured.mean(path_mbps(at), *key) / max(measured.mean(mbps(single(at)), *key), 1e-3) for at in BOTH}


class _Contest(Experiment):
    """What both figures share."""

    study = NAME
    direction: Literal["upload", "download"]

    def points(self, effort: Effort) -> Iterator[Point]:
        """The channels with several seeds."""
        for case in CASES:
            scenario = setup_of(case, self.direction, "reno", effort).scenario()
            for seed in seeds(effort):
                yield Point((case,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Facts E-4.* and E-5.*."""
        ratios = {case: pooled(measured, case) for case in CASES}
        halves = {case: _half(measured, case) for case in CASES}
        number = self.name.removeprefix("E")
        fair = {case: all(0.85 <= ratio <= 1.15 for ratio in ratios[case].values()) for case in CASES}
        half = {case: 0.85 <= halves[case].mean <= 1.15 for case in CASES}
        verdict, reason = assume(_both(fair), MAIN, WHY)
        sums, why = assume(_both(half), MAIN, WHY)
        facts = [
            self.fact(
                f"E-{number}.1", "each subflow gets 0.85 to 1.15 of the single flow on its network",
                published="an equal share on each link",
                measured="; ".join(
                    f"[{CASES[case][0]}] {ratios[case]['1']:.2f} and {ratios[case]['2']:.2f}" for case in CASES
                ),
                verdict=verdict, reason=reason,
            ),
            self.fact(
                f"E-{number}.2", "MPTCP gets half of what the two networks carry (0.85 to 1.15 of it)",
                published="the sum of half of each link",
                measured="; ".join(f"[{CASES[case][0]}] {halves[case]}" for case in CASES),
                verdict=sums, reason=why,
            ),
        ]  # fmt: skip
        if self.direction == "upload":
            hosts = {case: _hosts(measured, case) for case in CASES}
            checks = {case: 0.85 <= hosts[case].mean <= 1.15 for case in CASES}
            verdict, reason = assume(_both(checks), MAIN, WHY)
            facts.append(
                self.fact(
                    "E-5.3", "two radios in one host carry as much as two hosts with one each (0.85 to 1.15)",
                    published="no additional interference penalty",
                    measured="; ".join(f"[{CASES[case][0]}] {hosts[case]}" for case in CASES),
                    verdict=verdict, reason=reason,
                )
            )  # fmt: skip
        return Outcome(facts, [self._picture(measured, number)])

    def _picture(self, measured: Measured, number: str) -> Picture:
        figure, axes = plots.new_figure(2, 2, width=5.4, height=3.8)
        for at, case in enumerate(SHOWN):
            draw_distributions(axes[at], contest(measured.runs(case)), CASES[case][0])
        axes[0].legend(loc="lower right")
        series = {
            f"network {at}": [
                estimate(
                    path_mbps(at)(run) / max(mbps(single(at))(run), 1e-3) for run in measured.runs(case)
                )
                for case in SHOWN
            ]
            for at in BOTH
        }  # fmt: skip
        draw_ratios(
            axes[3], [CASES[case][0] for case in SHOWN], series, y="subflow over single flow",
            published=(0.85, 1.15), says="published: equal", top=1.9,
        )  # fmt: skip
        way = "uplink" if self.direction == "upload" else "downlink"
        caption = (
            f"Figure {number}: New Reno on each subflow, {way}; all runs together, and what a subflow gets of what the "
            "single flow beside it gets, with 95 % intervals."
        )
        return Picture(f"ucl-wifi-e{number}-reno", caption, figure)


class Downlink(_Contest):
    """Figure 4."""

    name = "E4"
    title = "Downlink with New Reno on each subflow"
    direction = "download"
    setup = (
        "A client with two interfaces and one client with one interface on each network, all at once, downlink. New "
        "Reno on each subflow. The access points hold 100 packets each; the cards lose 0.05 % of the packets by "
        "failures of their own, without which a queue that drops what comes last favours one flow by chance."
    )


class Uplink(_Contest):
    """Figure 5."""

    name = "E5"
    title = "Uplink with New Reno on each subflow"
    direction = "upload"
    setup = "As E4, uplink: the medium gives each station its turn."


def _both(checks: Mapping[str, bool]) -> dict[str, bool]:
    """All three figures, with either model of one channel."""
    others = checks["apart"] and checks["cross"]
    return {MAIN: checks["same"] and others, OTHER: checks["same, preset"] and others}


def _half(measured: Measured, case: str) -> Estimate:
    flows = [mbps(flow) for flow in (DUAL, single("1"), single("2"))]
    return estimate(2 * flows[0](run) / sum(flow(run) for flow in flows) for run in measured.runs(case))


def _hosts(measured: Measured, case: str) -> Estimate:
    pair = [mbps(single(at)) for at in BOTH]
    return estimate(mbps(DUAL)(run) / sum(flow(run) for flow in pair) for run in measured.runs(case))
