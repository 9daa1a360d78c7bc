"""Experiment E12 of study E (Barlow-Bignell et al., UCL, 2013): the send-queue rule, and alternatives.

On a WiFi uplink, the host's own queue hides congestion, so LIA is unfair. The rule shrinks windows while that queue is
long. The authors proposed it (section 4.4) without a test. Article: docs/research/send-queue-rule.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Estimate, interval
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import explain, under_time
from mptcplab.studies.limiting_factors import multipath, of_flows, sentences
from mptcplab.studies.ucl_wifi.network import BDP, BOTH, DUAL, NAME, Setup, interface, mbps, single
from mptcplab.studies.verdicts import Bound, Check


@dataclass(frozen=True)
class Remedy:
    """A remedy for the unfair uplink: its keys of flows and stations."""

    words: str
    flow: Mapping[str, Any] = field(default_factory=dict)
    station: Mapping[str, Any] = field(default_factory=dict)
    congestion: str = "lia"


REMEDIES: Mapping[str, Remedy] = {
    "none": Remedy("LIA only"),
    "published": Remedy("the rule as published", {"send_queue_rule": "published"}),
    "unacked": Remedy("the rule, with the send queue of ss", {"send_queue_rule": "unacked"}),
    "small": Remedy("TCP small queues, 128 KB", {"small_queues": "128KB"}),
    "two": Remedy("TCP small queues, 2 packets", {"small_queues": "3KB"}),
    "codel": Remedy("CoDel in the host", station={"discipline": "codel"}),
    "wvegas": Remedy("wVegas", congestion="wvegas"),
    "linked": Remedy("linked pacing (mptcplab)", {"send_queue_rule": "linked"}),
}

_SLOW = {f"links.lan{at}.{key}": value for at in BOTH for key, value in (("rate", "5Mbit"), ("queue", "50p"))}
_FAR = {f"flows.{DUAL}.ssthresh": "300KB"}
"""The threshold that tcp_metrics would keep from an earlier connection on such a path."""
_WEAK = {f"stations.{name}.rate": "12Mbit" for name in ("if2", "if-single-2")}

_ALONE = {f"flows.{single(at)}.send_queue_rule": "off" for at in BOTH}
CONDITIONS: Mapping[str, tuple[str, Setup, Mapping[str, str]]] = {
    "contended": ("a single flow on each network", Setup("cross"), {}),
    "idle": ("alone on both networks", Setup("cross", singles=()), {}),
    "far": ("alone on both networks, 100 ms more RTT", Setup("cross", singles=(), extra_delay_ms=100), _FAR),
    "far contended": ("a single flow on each network,\n100 ms more RTT", Setup("cross", extra_delay_ms=100), {}),
    "remote": (
        "alone on both networks, bottleneck of\n5 Mb/s behind each access point",
        Setup("cross", singles=()),
        _SLOW,
    ),
    "half": ("a single flow on network 1 only", Setup("cross", singles=("1",)), {}),
    "unequal": ("a single flow on each network,\nnetwork 2 at 12 Mb/s", Setup("cross"), _WEAK),
    "alone": ("a single flow on each network,\nwithout the remedy", Setup("cross"), _ALONE),
}
IDLE = ("idle", "far", "remote")
ELSEWHERE = ("far contended", "half", "unequal", "alone")
DRAWN = {"none": "wifi", "small": "3g", "published": "mptcp", "linked": "reno"}
"""Remedies whose windows are drawn, each with its key of `LOOKS`."""
COMPARED = ("none", "published", "linked")
"""Remedies that run in the conditions `ELSEWHERE` too."""


class SendQueueRule(Experiment):
    """An experiment that mptcplab added: the authors had no time to measure it."""

    study = NAME
    name = "E12"
    title = "The send-queue rule, tested"
    setup = (
        "Uplink at 2.4 and 5 GHz, as in figure 8: MPTCP with LIA and a single flow on each network, with the same "
        "remedy for every sender. The published rule: while the send queue exceeds QL = rttvar · cwnd / RTT, each "
        "acknowledgement reduces the window by MSS/2 · cwnd_i / cwnd. The alternatives are TCP small queues, CoDel in "
        "the host, the delay-based wVegas, and linked pacing. Linked pacing is a proposal of mptcplab: a path on a "
        "contended medium is paced at its share of one station's turns. The remedies are also run on idle networks, "
        "with 100 ms more RTT, with the bottleneck elsewhere, and with unequal networks."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Remedies × conditions with several seeds."""
        for name, remedy in REMEDIES.items():
            for condition, (_, setup, values) in CONDITIONS.items():
                if condition in ELSEWHERE and name not in COMPARED:
                    continue
                one = replace(
                    setup,
                    congestion=remedy.congestion,
                    flow=remedy.flow,
                    station=remedy.station,
                    seconds=effort.pick(12, 30, 60),
                )
                scenario = one.scenario().vary(values)
                for seed in effort.seeds(2, 5, 10):
                    watched = condition == "contended" and name in DRAWN and seed == effort.first
                    yield Point((name, condition), scenario, seed, watched)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-12.1 to E-12.4."""
        windows = {name: _window(measured, name) for name in REMEDIES}
        fair = {name: _fairness(measured, name, "contended") for name in REMEDIES}
        cost = {name: {at: _cost(measured, name, at) for at in IDLE} for name in REMEDIES}
        facts = self._facts(measured, windows, fair, cost)
        pictures = [
            _fairness_picture(measured, fair),
            _cost_picture(measured, cost),
            _window_picture(measured),
            _limit_picture(measured),
            _elsewhere_picture(measured),
        ]
        return Outcome(facts, pictures)

    def _facts(
        self,
        measured: Measured,
        windows: Mapping[str, Estimate],
        fair: Mapping[str, Estimate],
        cost: Mapping[str, Mapping[str, Estimate]],
    ) -> list[Fact]:
        """Expectations that the authors could not measure, and a proposal of mptcplab."""

        def window(name: str) -> Check:
            found = interval(_mean_window(run) / 1e3 for run in measured.runs(name, "contended"))
            return Check("window", found, Bound("window", high=BDP / 1e3), "kB")

        def fairness(name: str) -> Check:
            found = interval(_over_best(run) for run in measured.runs(name, "contended"))
            return Check("MPTCP / best single flow", found, Bound("of a single flow", 0.85, 1.2))

        def costs(name: str) -> list[Check]:
            return [
                Check(
                    f"throughput kept, {_words(at)}",
                    measured.ratio(mbps(DUAL), (name, at), mbps(DUAL), ("none", at)),
                    Bound("kept", low=0.9),
                )
                for at in IDLE
            ]

        others = {at: _fairness(measured, "linked", at).mean for at in ELSEWHERE}
        return [
            self.fact(
                "E-12.1", (
                    "with the rule, the mean window on the uplink is at most the bandwidth-delay product (25 kB)"
                ),
                published="bringing it back to the point where the send queue is usually empty (expected, not "
                "measured)",
                checks=[window("published")], origin="ours",
                measured="; ".join(f"[{REMEDIES[name].words}] {windows[name].mean / 1e3:.0f} kB" for name in REMEDIES),
            ),
            self.fact(
                "E-12.2",
                "with the rule, LIA is fair on the uplink: MPTCP gets 0.85 to 1.2 times the best single flow",
                published="could potentially correct the fairness issue (expected, not measured)",
                checks=[fairness("published")], origin="ours",
                measured="; ".join(f"[{REMEDIES[name].words}] {fair[name]}" for name in REMEDIES),
                reason=(
                    "With windows of a few packets, the station sometimes has nothing to send at its turn, and gets "
                    "less than its share. On idle networks, missed turns cost throughput too (E-12.3). A short queue "
                    "alone is not enough: with CoDel and small queues, the station still takes its turn on each "
                    "network."
                ),
            ),
            self.fact(
                "E-12.3", "the rule costs at most 10% of the throughput on idle networks, with short or long delays",
                published="could leave the intermediary links without data where the bottleneck is elsewhere "
                "(expected, not measured)",
                checks=costs("published"), origin="ours",
                measured="; ".join(
                    f"[{REMEDIES[name].words}] throughput lost: "
                    + "; ".join(f"{_words(at)}: {_percent(cost[name][at])}" for at in IDLE)
                    for name in REMEDIES
                ),
                reason=(
                    "On a path with a long delay, the RTT varies little relative to its mean. So QL is less than a "
                    "packet, and any waiting packet counts as congestion. Linked pacing meets the claim."
                ),
            ),
            self.fact(
                "E-12.4", (
                    "linked pacing meets all three bounds: a window of at most 25 kB, 0.85 to 1.2 times the best "
                    "single flow, and a cost of at most 10% on idle networks"
                ),
                published="nothing: this is a proposal of mptcplab",
                checks=[window("linked"), fairness("linked"), *costs("linked")], origin="ours",
                reason="On other networks, MPTCP / best single flow: "
                + "; ".join(f"{_words(at)}: {ratio:.2f}" for at, ratio in others.items())
                + ". If only one network is contended, MPTCP uses the full capacity of the idle network.",
            ),
        ]  # fmt: skip


def _mean_window(run: Run) -> float:
    """Mean congestion window over the subflows, bytes."""
    found = [run.series("cwnd", flow=DUAL, path=interface(at)) for at in BOTH]
    return float(np.mean([windows[times > run.scenario.warmup].mean() for times, windows in found]))


def _over_best(run: Run) -> float:
    return float(mbps(DUAL)(run) / max(mbps(flow)(run) for flow in run.flow_names if flow != DUAL))


def _window(measured: Measured, name: str) -> Estimate:
    """The mean window of a subflow on contended networks, bytes."""
    return measured.estimate(_mean_window, name, "contended")


def _fairness(measured: Measured, name: str, condition: str) -> Estimate:
    """MPTCP's goodput relative to the best single flow."""
    return measured.estimate(_over_best, name, condition)


def _cost(measured: Measured, name: str, condition: str) -> Estimate:
    """The share of LIA's goodput that a remedy costs."""
    kept = measured.ratio(mbps(DUAL), (name, condition), mbps(DUAL), ("none", condition))
    return Estimate(1 - kept.mean, (kept.high - kept.low) / 2 if kept.n > 1 else 0.0, kept.n)


def _words(condition: str) -> str:
    """The text of a key of `CONDITIONS`, on one line."""
    return CONDITIONS[condition][0].replace("\n", " ")


def _names(remedies: Iterable[str]) -> str:
    """A sentence that explains the labels of these keys of `REMEDIES`."""
    return "Remedies: " + "; ".join(f"{name}: {REMEDIES[name].words}" for name in remedies) + "."


def _percent(value: Estimate) -> str:
    """Whole percent; values near zero have no sign."""
    return f"{round(value.mean, 2) + 0.0:.0%}"


def _fairness_picture(measured: Measured, fair: Mapping[str, Estimate]) -> Picture:
    figure, (left, right) = figure_style.new_figure(2, width=6.2, height=4.2)
    flows = ((DUAL, "MPTCP, both interfaces", "mptcp"), (single("1"), "single flow, 2.4 GHz", "wifi"),
             (single("2"), "single flow, 5 GHz", "3g"))  # fmt: skip
    series = {}
    for flow, words, look in flows:
        values = [measured.estimate(mbps(flow), name, "contended") for name in REMEDIES]
        series[words] = (figure_style.LOOKS[look], [(value.mean, value.half_width) for value in values])
    figure_style.grouped_bars(left, list(REMEDIES), series)
    figure_style.finish(left, x="remedy", y="goodput [Mb/s]", legend="upper right", top=38)
    bars = {
        "MPTCP / best single flow": (
            figure_style.LOOKS["mptcp"],
            [(fair[n].mean, fair[n].half_width) for n in REMEDIES],
        )
    }
    figure_style.grouped_bars(right, list(REMEDIES), bars)
    figure_style.accepted_range(right, 0.85, 1.2, "accepted as fair (0.85 to 1.2)")
    figure_style.finish(right, x="remedy", y="MPTCP / best single flow", legend="upper right", top=2.4)
    caption = (
        "Goodput with each remedy on networks with a single flow each, and MPTCP's goodput relative to the best single "
        f"flow. All senders use the remedy. Means and 95% intervals. {_names(REMEDIES)}"
    )
    held = of_flows(
        "MPTCP", {name: multipath(measured.runs(name, "contended"), DUAL) for name in REMEDIES},
        places=figure_style.bar_places(len(REMEDIES), 0, len(flows)), ordered=False,
    )  # fmt: skip
    why = explain(figure, {left: [held]}, bars=figure_style.bar_width(len(flows)))
    return Picture("ucl-wifi-e12-fairness", caption, figure, why)


def _cost_picture(measured: Measured, cost: Mapping[str, Mapping[str, Estimate]]) -> Picture:
    figure, (axes,) = figure_style.new_figure(width=8.4, height=4)
    names = [name for name in REMEDIES if name != "none"]
    looks = dict(zip(IDLE, ("mptcp", "wifi", "3g"), strict=True))
    series = {
        _words(at): (
            figure_style.LOOKS[looks[at]],
            [(100 * cost[name][at].mean, 100 * cost[name][at].half_width) for name in names],
        )
        for at in IDLE
    }
    figure_style.grouped_bars(axes, names, series)
    axes.axhline(10, color="#555555", linestyle=":", linewidth=1, label="maximum of the claim: 10%")
    figure_style.finish(axes, x="remedy", y="throughput lost [%]", legend="upper right", top=115)
    caption = f"Throughput that each remedy costs without competing flows, compared with LIA only. {_names(names)}"
    held = [
        of_flows(
            _words(condition),
            {name: multipath(measured.runs(name, condition), DUAL) for name in names},
            places=figure_style.bar_places(len(names), at, len(IDLE)), ordered=False,
        )
        for at, condition in enumerate(IDLE)
    ]  # fmt: skip
    why = explain(figure, {axes: held}, bars=figure_style.bar_width(len(IDLE)))
    return Picture("ucl-wifi-e12-cost", caption, figure, why)


def _window_picture(measured: Measured) -> Picture:
    figure, (axes,) = figure_style.new_figure(width=7.6)
    for name, look in DRAWN.items():
        times, windows = measured.one(name, "contended").series("cwnd", flow=DUAL, path=interface("1"))
        figure_style.curve(axes, times, windows / 1e3, REMEDIES[name].words, figure_style.LOOKS[look], markers=8)
    figure_style.published_line(axes, BDP / 1e3, "bandwidth-delay product (25 kB)")
    figure_style.finish(axes, x="time [s]", y="congestion window [kB]", legend="upper left", top=1000)
    axes.set_yscale("log")
    axes.set_ylim(2, 1000)
    caption = "The congestion window of the subflow at 2.4 GHz with a competing single flow, on a logarithmic axis."
    runs = {REMEDIES[name].words: measured.one(name, "contended") for name in DRAWN}
    why = under_time(figure, axes, {words: (run, DUAL, interface("1")) for words, run in runs.items()})
    return Picture("ucl-wifi-e12-window", caption, figure, why)


def _limit_picture(measured: Measured) -> Picture:
    """Why the rule costs so much on a path with a long delay."""
    figure, axes = figure_style.new_figure(2, width=5.8)
    for axis, condition in zip(axes, ("contended", "far"), strict=True):
        run: Run = measured.one("published", condition)
        one = {
            key: run.series(key, flow=DUAL, path=interface("2")) for key in ("rttvar", "cwnd", "srtt", "local_queue")
        }
        times, round_trips = one["srtt"]
        # A subflow has a window before its first RTT sample.
        windows = one["cwnd"][1][np.isin(one["cwnd"][0], times)]
        limit = one["rttvar"][1] * windows / np.maximum(round_trips, 1e-6)
        figure_style.curve(axis, times, limit / 1e3, "QL = rttvar · cwnd / RTT", figure_style.LOOKS["mptcp"], markers=6)
        queue = one["local_queue"]
        figure_style.curve(axis, queue[0], queue[1] / 1e3, "send queue", figure_style.LOOKS["wifi"], markers=6)
        axis.axhline(1.5, color="#555555", linestyle=":", linewidth=1, label="one packet")
        figure_style.finish(
            axis,
            x="time [s]",
            y="limit and send queue [kB]",
            title=CONDITIONS[condition][0],
            legend="upper right",
            top=12,
        )
    caption = "The send queue and its limit QL in the published rule, at 5 GHz, every 500 ms."
    return Picture("ucl-wifi-e12-limit", caption, figure)


def _elsewhere_picture(measured: Measured) -> Picture:
    figure, axes = figure_style.new_figure(2, 2, width=6.2, height=3.6)
    for axis, condition in zip(axes, ELSEWHERE, strict=True):
        flows = [
            flow for flow in (DUAL, single("1"), single("2")) if flow in measured.one("none", condition).flow_names
        ]
        looks = {DUAL: "mptcp", single("1"): "wifi", single("2"): "3g"}
        series = {}
        for flow in flows:
            values = [measured.estimate(mbps(flow), name, condition) for name in COMPARED]
            label = "MPTCP" if flow == DUAL else flow.replace("single-", "single flow, network ")
            series[label] = (figure_style.LOOKS[looks[flow]], [(value.mean, value.half_width) for value in values])
        figure_style.grouped_bars(axis, COMPARED, series)
        figure_style.finish(
            axis, x="remedy", y="goodput [Mb/s]", title=CONDITIONS[condition][0], legend="upper right", top=52
        )
    caption = (
        "Goodput with the rule and with linked pacing on other networks. All senders use the remedy, except in the "
        f"last panel. {_names(COMPARED)}"
    )
    held = [
        of_flows(
            _words(condition),
            {name: multipath(measured.runs(name, condition), DUAL) for name in COMPARED},
            ordered=False,
            places=range(len(COMPARED)),
        )
        for condition in ELSEWHERE
    ]
    return Picture("ucl-wifi-e12-elsewhere", caption, figure, sentences(held))
