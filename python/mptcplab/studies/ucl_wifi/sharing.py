"""Experiments E4 and E5 of study E (Barlow-Bignell et al., UCL, 2013): MPTCP next to single flows, downlink (figure
4) and uplink (figure 5).

Tests the report's claim that subflows with New Reno get an equal share. E6 and E7 (`coupled`) repeat this with LIA.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from mptcplab.plots import figure_style
from mptcplab.stats.statistics import Interval, estimate, interval
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_distribution
from mptcplab.studies.limiting_factors import multipath
from mptcplab.studies.ucl_wifi.figures import contest, draw_distributions, draw_ratios
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, Setup, mbps, path_mbps, single
from mptcplab.studies.verdicts import Bound, Check

CASES: Mapping[str, tuple[str, Setup]] = {
    "same": ("(a) one channel", Setup("same")),
    "apart": ("(b) channels 1 and 11", Setup("apart")),
    "cross": ("(c) 2.4 and 5 GHz", Setup("cross")),
    "same, ideal": ("one channel, ideal model", Setup("same", interference="ideal")),
}
SHOWN = ("same", "apart", "cross")
MAIN = "one interference model for all channels"
OTHER = "the ideal model if both networks use one channel"
WHY = "the interference preset of figures 1 and 2 is used on all channels"


def setup_of(case: str, direction: Literal["upload", "download"], congestion: str, effort: Effort) -> Setup:
    """A scenario in which all clients send or receive at the same time."""
    seconds = effort.pick(12, 40, 60)
    return replace(CASES[case][1], direction=direction, congestion=congestion, seconds=seconds)


def seeds(effort: Effort, *, comparison: bool) -> range:
    """The seeds of the simultaneous tests. `comparison` as in `Effort.seeds`."""
    return effort.seeds(2, 5, 10, comparison=comparison)


def against(measured: Measured, *key: str) -> list[tuple[str, Interval]]:
    """By network: the throughput of MPTCP's subflow relative to the single flow."""
    return [(at, measured.ratio(path_mbps(at), key, mbps(single(at)), key)) for at in BOTH]


class _Contest(Experiment):
    """The common part of experiments E4 (downlink) and E5 (uplink)."""

    study = NAME
    direction: Literal["upload", "download"]

    def points(self, effort: Effort) -> Iterator[Point]:
        """The channels with several seeds."""
        for case in CASES:
            scenario = setup_of(case, self.direction, "reno", effort).scenario()
            for seed in seeds(effort, comparison=case not in SHOWN):
                yield Point((case,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-4.1 and E-4.2, or E-5.1 to E-5.3."""
        number = self.name.removeprefix("E")
        equal = Bound("of the single flow", 0.85, 1.15)
        statements = [
            (f"E-{number}.1", "each subflow gets 0.85 to 1.15 times the throughput of the single flow on its network",
             "an equal share on each link",
             {case: [Check(f"{CASES[case][0]}, network {at}", found, equal) for at, found in against(measured, case)]
              for case in CASES}),
            (f"E-{number}.2", "MPTCP gets half of the total of the two networks (0.85 to 1.15 times this half)",
             "the sum of half of each link",
             {case: [Check(CASES[case][0], _half(measured, case), Bound("of half", 0.85, 1.15))] for case in CASES}),
        ]  # fmt: skip
        if self.direction == "upload":
            hosts = {
                case: [Check(CASES[case][0], _hosts(measured, case), Bound("of two hosts", 0.85, 1.15))]
                for case in CASES
            }
            words = "two radios in one host carry 0.85 to 1.15 times the throughput of two hosts with one radio each"
            statements.append(("E-5.3", words, "no additional interference penalty", hosts))
        facts = [
            self.fact(fact, statement, published=published, checks=_both(checks), main=MAIN, why=WHY)
            for fact, statement, published, checks in statements
        ]
        return Outcome(facts, [self._picture(measured, number)])

    def _picture(self, measured: Measured, number: str) -> Picture:
        figure, axes = figure_style.new_figure(2, 2, width=5.4, height=3.8)
        for at, case in enumerate(SHOWN):
            draw_distributions(axes[at], contest(measured.runs(case)), CASES[case][0])
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
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
            axes[3], [CASES[case][0] for case in SHOWN], series, y="subflow / single flow",
            accepted=(0.85, 1.15), says="accepted as equal", top=1.9,
        )  # fmt: skip
        way = "uplink" if self.direction == "upload" else "downlink"
        caption = (
            f"Figure {number}: {way} with New Reno on each subflow. Distributions of the samples of all runs, and the "
            "throughput of each subflow relative to the single flow on its network, with 95% intervals."
        )
        joint = {f"MPTCP, {CASES[case][0]}": multipath(measured.runs(case), DUAL) for case in SHOWN}
        return Picture(f"ucl-wifi-e{number}-reno", caption, figure, under_distribution(figure, joint))


class Downlink(_Contest):
    """Figure 4."""

    name = "E4"
    title = "Downlink with New Reno on each subflow"
    direction = "download"
    setup = (
        "A client with two interfaces, and on each network a further client with one interface, all at once, downlink. "
        "MPTCP uses New Reno on each subflow. The access points have queues of 100 packets. The cards have a residual "
        "loss of 0.1%; without losses, a drop-tail queue favours one flow at random."
    )


class Uplink(_Contest):
    """Figure 5."""

    name = "E5"
    title = "Uplink with New Reno on each subflow"
    direction = "upload"
    setup = (
        "The network and flows of experiment E4, uplink: a client with New Reno on two subflows, and on each network a "
        "further client with one interface. The medium gives all stations equally many turns."
    )


def _both(checks: Mapping[str, list[Check]]) -> dict[str, list[Check]]:
    """The checks on all three pairs of channels, with either model of interference on one channel."""
    others = checks["apart"] + checks["cross"]
    return {MAIN: checks["same"] + others, OTHER: checks["same, ideal"] + others}


def _half(measured: Measured, case: str) -> Interval:
    flows = [mbps(flow) for flow in (DUAL, single("1"), single("2"))]
    return interval(2 * flows[0](run) / sum(flow(run) for flow in flows) for run in measured.runs(case))


def _hosts(measured: Measured, case: str) -> Interval:
    pair = [mbps(single(at)) for at in BOTH]
    return measured.ratio(mbps(DUAL), (case,), lambda run: sum(flow(run) for flow in pair), (case,))
