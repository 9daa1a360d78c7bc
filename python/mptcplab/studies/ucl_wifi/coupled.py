"""Experiments E6 and E7 of study E (Barlow-Bignell et al., UCL, 2013): MPTCP with LIA next to single flows, downlink
(figures 6, 7) and uplink (figure 8).

Tests the report's claims that coupled congestion control is fair downlink and unfair uplink. The *residual loss* of a
card is its loss of frames after all retransmissions of the MAC. One *share* is the throughput of the single flow on the
same network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Interval, estimate, interval
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_distribution
from mptcplab.studies.limiting_factors import multipath
from mptcplab.studies.published import Published
from mptcplab.studies.ucl_wifi.figures import contest, draw_distributions, draw_ratios, draw_traffic, split
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, RESIDUAL, WORDS, Channels, interface, mbps, single
from mptcplab.studies.ucl_wifi.sharing import CASES, against, seeds, setup_of
from mptcplab.studies.ucl_wifi.sharing import SHOWN as CHANNELS
from mptcplab.studies.verdicts import Bound, Check


@dataclass(frozen=True)
class Cards:
    """Values of two unspecified settings: the residual loss of the cards, and the traffic of a neighbour."""

    words: str
    loss: str
    dual: Sequence[str] = ()
    """Losses of the two cards of the MPTCP client; empty if they are as `loss`."""
    neighbour: bool = False


CARDS: Mapping[str, Cards] = {
    "alike": Cards(f"loss of {RESIDUAL} on all cards", RESIDUAL),
    "lossless": Cards("no losses on any card", "0%"),
    "unlike": Cards(
        "losses of 0.03 and 0.07% on the two cards of the MPTCP client, and a neighbour that sends half of the time on "
        "network 2",
        RESIDUAL, ("0.03%", "0.07%"), neighbour=True,
    ),
}  # fmt: skip
SHOWN: tuple[Channels, ...] = ("apart", "cross")
NEIGHBOUR = {"neighbour": {"cell": "ap2", "stations": 1, "on": "200ms", "off": "200ms"}}
STEPS = (0.5, 5.0)
"""Step lengths over which the split of the traffic is measured, in seconds.

The first is the sampling interval of the study. The second is long enough for a cycle of the congestion window.
"""
WHY = "all experiments use the same residual loss for all cards"

HALF = Published("published with New Reno: half of the total", "mptcp_part", level=0.5)


class Downlink(Experiment):
    """Figures 6 and 7."""

    study = NAME
    name = "E6"
    title = "Downlink with LIA"
    published = (HALF,)
    setup = (
        "A client with two interfaces, and on each network a further client with one interface, all at once, downlink, "
        "as in experiment E4. MPTCP uses LIA. The study specifies neither the residual loss of cards nor the traffic "
        f"of neighbours. For verdicts, all cards lose {RESIDUAL} of the packets; cards without losses and unequal "
        "networks are shown for comparison. Without residual losses, a drop-tail queue drops packets of the flow whose "
        "window grows fastest, instead of random packets. The slowly growing subflows of LIA then get more than their "
        "share."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Cards × channels × controllers with several seeds."""
        for cards, given in CARDS.items():
            for case in SHOWN:
                for congestion in ("lia", "reno") if cards == "alike" else ("lia",):
                    setup = replace(setup_of(case, "download", congestion, effort), loss=given.loss)
                    more: dict[str, Any] = {"background": NEIGHBOUR} if given.neighbour else {}
                    losses = {
                        f"stations.{interface(at)}.loss": loss for at, loss in zip(BOTH, given.dual, strict=False)
                    }
                    scenario = setup.scenario(**more).vary(losses)
                    for seed in seeds(effort, comparison=cards != "alike"):
                        yield Point((cards, case, congestion), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-6.1 to E-6.3."""
        return Outcome(
            [self._split_fact(measured), self._share_fact(measured), self._best_fact(measured)],
            [_traffic_picture(measured), _cross_picture(measured)],
        )

    def _split_fact(self, measured: Measured) -> Fact:
        def most(cards: str, case: str, step: float) -> Interval:
            return interval(float((split(run, step) >= 0.65).mean()) for run in measured.runs(cards, case, "lia"))

        longer = "; ".join(
            f"[{CARDS[cards].words}] "
            + ", ".join(f"{WORDS[case]}: {most(cards, case, STEPS[1]).mean:.0%}" for case in SHOWN)
            for cards in CARDS
        )
        return self.fact(
            "E-6.1", (
                "in at least half of the steps of 500 ms, one subflow is limited, and the other carries at least 65% "
                "of MPTCP's traffic"
            ),
            published="limiting one of its subflows and transmitting most of its traffic on the other",
            checks={
                CARDS[cards].words: [
                    Check(WORDS[case], most(cards, case, STEPS[0]), Bound("share of the steps", low=0.5))
                    for case in SHOWN
                ]
                for cards in CARDS
            },
            main=CARDS["alike"].words, why=WHY,
            reason=(
                f"Share of such steps, if they last 5 s: {longer}. On equal networks, LIA keeps both windows equal, as "
                "its equations predict, and the subflows take turns in carrying more."
            ),
        )  # fmt: skip

    def _share_fact(self, measured: Measured) -> Fact:
        def checks(cards: str) -> list[Check]:
            each = [
                Check(f"MPTCP / single flow {at}", measured.ratio(mbps(DUAL), key, mbps(single(at)), key),
                      Bound("of the single flow", 0.85, 1.2))
                for key in [(cards, "apart", "lia")]
                for at in BOTH
            ]  # fmt: skip
            parts = [
                Check(
                    f"share of the total, {WORDS[case]}", _part(measured, cards, case, "lia"), Bound("part", 0.28, 0.4)
                )
                for case in SHOWN
            ]
            return each + parts

        reno = ", ".join(f"{_part(measured, 'alike', case, 'reno').mean:.2f} ({WORDS[case]})" for case in SHOWN)
        return self.fact(
            "E-6.2", (
                "on channels 1 and 11, MPTCP gets 0.85 to 1.2 times each single flow; on both pairs of channels, it "
                "gets a third of the total (0.28 to 0.40)"
            ),
            published="close to the parallel flows; a third of the capacity, half with New Reno",
            checks={CARDS[cards].words: checks(cards) for cards in CARDS},
            main=CARDS["alike"].words, why=WHY,
            reason=(
                f"With New Reno, MPTCP gets {reno} of the total. If one subflow is limited, the single flow on its "
                "network gets the remaining capacity. So on equal networks, this claim and E-6.1 can both hold only if "
                "the other subflow carries 65 to 67% of MPTCP's traffic."
            ),
        )  # fmt: skip

    def _best_fact(self, measured: Measured) -> Fact:
        def best(cards: str) -> Interval:
            key = (cards, "cross", "lia")
            at = max(BOTH, key=lambda one: measured.mean(mbps(single(one)), *key))
            return measured.ratio(mbps(DUAL), key, mbps(single(at)), key)

        return self.fact(
            "E-6.3", "at 2.4 and 5 GHz, MPTCP gets 0.85 to 1.2 times the throughput of the best single flow",
            published="limiting itself to the throughput of the best available link",
            checks={
                CARDS[cards].words: [Check("MPTCP / best single flow", best(cards), Bound("of the best", 0.85, 1.2))]
                for cards in CARDS
            },
            main=CARDS["alike"].words, why=WHY,
        )  # fmt: skip


class Uplink(Experiment):
    """Figure 8."""

    study = NAME
    name = "E7"
    title = "Uplink with LIA"
    setup = (
        "A client with two interfaces, and on each network a further client with one interface, all at once, uplink, "
        "as in experiment E5. MPTCP uses LIA. The queue of each station hides congestion. While the queue is not "
        "empty, the station uses each of its turns on the medium, so the growth of windows makes no difference."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Channels × directions × controllers with several seeds."""
        for case in CASES:
            for direction in ("upload", "download"):
                if direction == "download" and case == "same, ideal":
                    continue
                for congestion in ("lia", "reno"):
                    scenario = setup_of(case, direction, congestion, effort).scenario()
                    for seed in seeds(effort, comparison=case not in CHANNELS):
                        yield Point((case, direction, congestion), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-7.1 and E-7.2."""
        three = list(CHANNELS)
        equal = Bound("of the single flow", 0.85, 1.15)
        each = {
            case: [
                Check(f"{CASES[case][0]}, network {at}", found, equal)
                for at, found in against(measured, case, "upload", "lia")
            ]
            for case in CASES
        }

        def lia_over_reno(case: str, way: str, bound: Bound) -> Check:
            found = measured.ratio(mbps(DUAL), (case, way, "lia"), mbps(DUAL), (case, way, "reno"))
            return Check(f"LIA / New Reno, {CASES[case][0]}, {way}", found, bound)

        others = each["apart"] + each["cross"]
        facts = [
            self.fact(
                "E-7.1", (
                    "each subflow gets 0.85 to 1.15 times the throughput of the single flow on its network, so MPTCP "
                    "gets half of the total"
                ),
                published="as well as parallel on both links; unfair, like New Reno",
                checks={
                    "one interference model for all channels": each["same"] + others,
                    "the ideal model if both networks use one channel": each["same, ideal"] + others,
                },
                main="one interference model for all channels",
                why="the interference preset of figures 1 and 2 is used on all channels",
            ),
            self.fact(
                "E-7.2", (
                    "uplink, MPTCP with LIA gets 0.9 to 1.1 times its throughput with New Reno; downlink, at most 0.75 "
                    "times"
                ),
                published="uplink exactly like New Reno; downlink a third of the capacity instead of half",
                checks=[
                    *(lia_over_reno(case, "upload", Bound("uplink", 0.9, 1.1)) for case in three),
                    *(lia_over_reno(case, "download", Bound("downlink", high=0.75)) for case in three),
                ],
            ),
        ]  # fmt: skip
        return Outcome(facts, [_uplink_picture(measured, three)])


def _keys() -> list[tuple[str, str, str]]:
    keys: list[tuple[str, str, str]] = [(cards, case, "lia") for cards in CARDS for case in SHOWN]
    return keys + [("alike", case, "reno") for case in SHOWN]


def _part(measured: Measured, *key: str) -> Interval:
    """MPTCP's share of the total goodput of all flows."""
    return interval(_part_of(run) for run in measured.runs(*key))


def _part_of(run: Run) -> float:
    flows = [mbps(flow)(run) for flow in (DUAL, single("1"), single("2"))]
    return float(flows[0] / sum(flows))


def _typical(runs: Sequence[Run]) -> Run:
    """The run with the median split of MPTCP's traffic between its subflows."""
    return sorted(runs, key=lambda run: float(split(run, STEPS[0]).mean()))[len(runs) // 2]


def _traffic_picture(measured: Measured) -> Picture:
    figure, axes = figure_style.new_figure(2, width=6.2, height=4.0)
    shown = {}
    for axis, cards, words in zip(
        axes, ("unlike", "alike"), ("unequal cards, and a neighbour", "equal cards"), strict=True
    ):
        run = _typical(measured.runs(cards, "apart", "lia"))
        draw_traffic(axis, run, 2.0, words)
        shown[f"MPTCP, {words}"] = multipath([run], DUAL)
        alone = float(np.mean([mbps(single(at))(run) for at in BOTH]))
        figure_style.accepted_range(axis, 0.85 * alone, 1.2 * alone, "accepted as `close to the parallel flow`")
        axis.set_ylim(0, 22)
    axes[0].legend(loc="upper left", ncols=2)
    caption = (
        "Figure 6: downlink with LIA on channels 1 and 11, in each panel the run with the median split between the "
        "subflows. On unequal networks, one subflow carries most of the traffic; on equal networks, the subflows take "
        "turns. Published: MPTCP's total equals the throughput of a single flow. The shaded range is around the mean "
        "of the two single flows."
    )
    return Picture("ucl-wifi-e6-traffic", caption, figure, under_distribution(figure, shown))


def _cross_picture(measured: Measured) -> Picture:
    figure, (left, right) = figure_style.new_figure(2, width=6.0, height=4.0)
    curves = contest(measured.runs("alike", "cross", "lia"), total=True)
    draw_distributions(left, curves, "2.4 and 5 GHz")
    left.legend(loc="lower right")
    keys = [key for key in _keys() if key[0] != "lossless"]
    names = {"alike": "equal\ncards", "unlike": "unequal\ncards"}
    places = {"apart": "channels\n1 and 11", "cross": "2.4 and\n5 GHz"}
    labels = [f"{places[key[1]]},\n{names[key[0]]},\n{'LIA' if key[2] == 'lia' else 'New Reno'}" for key in keys]
    series = {"MPTCP": [measured.estimate(_part_of, *key) for key in keys]}
    draw_ratios(
        right, labels, series, y="MPTCP's share of the total", accepted=(0.28, 0.4),
        says="accepted as `a third` (LIA)", top=0.7,
    )  # fmt: skip
    HALF.draw(right)
    right.legend(loc="upper left")
    caption = "Figure 7: downlink with LIA at 2.4 and 5 GHz, and MPTCP's share of the total with 95% intervals."
    joint = {
        f"MPTCP, {label}".replace("\n", " "): multipath(measured.runs(*key), DUAL)
        for key, label in zip(keys, labels, strict=True)
    }
    return Picture("ucl-wifi-e6-cross", caption, figure, under_distribution(figure, joint))


def _uplink_picture(measured: Measured, cases: Sequence[str]) -> Picture:
    figure, (left, middle, right) = figure_style.new_figure(3, width=4.8, height=4.0)
    draw_traffic(left, measured.one("cross", "upload", "lia"), 2.0, "one run")
    left.set_ylim(0, 34)
    left.legend(loc="upper left", ncols=2, fontsize=8)
    draw_distributions(middle, contest(measured.runs("cross", "upload", "lia")), "all runs")
    series = {
        f"{'LIA' if congestion == 'lia' else 'New Reno'}, {words}": [
            estimate(
                mbps(DUAL)(run) / np.mean([mbps(single(at))(run) for at in BOTH])
                for run in measured.runs(case, way, congestion)
            )
            for case in cases
        ]
        for congestion, way, words in (
            ("lia", "upload", "uplink"),
            ("reno", "upload", "uplink"),
            ("lia", "download", "downlink"),
        )
    }
    labels = [CASES[case][0].partition(" ")[2] for case in cases]
    draw_ratios(
        right, labels, series, y="MPTCP / mean single flow", accepted=(1.7, 2.3),
        says="accepted as one single flow on each network", top=3.2,
    )  # fmt: skip
    caption = (
        "Figure 8: uplink at 2.4 and 5 GHz, MPTCP with LIA gets as much as the single flow on each network, like MPTCP "
        "with New Reno. Downlink, MPTCP with LIA gets as much as one single flow in total."
    )
    why = under_distribution(
        figure, {"MPTCP with LIA, uplink": multipath(measured.runs("cross", "upload", "lia"), DUAL)}
    )
    return Picture("ucl-wifi-e7-uplink", caption, figure, why)
