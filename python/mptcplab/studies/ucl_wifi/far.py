"""Experiment E9 of study E (Barlow-Bignell et al., UCL, 2013): WiFi uplinks with 100 ms more RTT (figure 10).

Tests the report's claims that throughput falls because windows never reach the larger bandwidth-delay product. The
residual loss of a card, which limits the windows, is its loss of frames after all retransmissions of the MAC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import correlation, difference
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_distribution, under_time
from mptcplab.studies.limiting_factors import multipath
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, RESIDUAL, Setup, interface, mbps, single
from mptcplab.studies.ucl_wifi.windows import START_S, WHY
from mptcplab.studies.verdicts import Bound, Check, every

NEVER = Bound("of what is needed", high=1, strict=True)


class Far(Experiment):
    """Figure 10."""

    study = NAME
    name = "E9"
    title = "Uplink with 100 ms more RTT"
    setup = (
        "Uplink on channels 1 and 11, with MPTCP and a single flow on each network, without and with 100 ms more "
        "RTT at the server. The cards have residual losses, as in the study. The study does not specify the loss "
        f"rate, so three rates are run. Verdicts use the rate of the other experiments, {RESIDUAL}."
    )

    judged = RESIDUAL
    LOSSES = ("0%", "0.05%", "0.1%")
    MAIN = RESIDUAL

    def points(self, effort: Effort) -> Iterator[Point]:
        """Losses, delays and controllers with several seeds."""
        for loss in self.LOSSES:
            for extra in (0, 100):
                for congestion in ("reno", "lia"):
                    setup = Setup(
                        "apart", congestion=congestion, extra_delay_ms=extra, loss=loss, seconds=effort.pick(12, 40, 60)
                    )
                    for seed in effort.seeds(2, 5, 10, comparison=loss != self.MAIN):
                        yield Point((loss, extra, congestion), setup.scenario(), seed, watched=seed == effort.first)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-9.1 to E-9.5."""
        flows = (DUAL, single("1"), single("2"))

        def kept(loss: str) -> list[Check]:
            return [
                Check(
                    f"{flow}, {cc} on MPTCP",
                    measured.ratio(mbps(flow), (loss, 100, cc), mbps(flow), (loss, 0, cc)),
                    Bound("kept", high=0.6),
                )
                for flow in flows
                for cc in ("reno", "lia")
            ]

        def peaks(loss: str) -> list[Check]:
            """The largest window relative to the bandwidth-delay product, in each run."""
            found = []
            for at in BOTH:
                # The product is at least one segment, for a path without data.
                needed = max(1448, 0.107 * measured.mean(mbps(single(at)), loss, 0, "lia") * 1e6 / 8)
                each = [_largest(run, DUAL, interface(at)) / needed for run in measured.runs(loss, 100, "lia")]
                found.append(every(f"window / {needed / 1e3:.0f} kB, network {at}", each, NEVER))
            return found

        def suffers(loss: str) -> list[Check]:
            found = difference(*(measured.values(mbps(DUAL), loss, 100, cc) for cc in ("lia", "reno")), paired=False)
            return [Check("LIA minus New Reno", found, Bound("lower", high=0, strict=True), "Mb/s")]

        def follows(loss: str) -> list[Check]:
            return [
                Check("correlation", measured.interval(_rate_follows, loss, 100, "lia"), Bound("correlation", low=0.7))
            ]

        def drops(loss: str) -> list[Check]:
            found = measured.ratio(_lost_share, (loss, 100, "lia"), _lost_share, (loss, 0, "lia"))
            return [Check("loss rate with / without the delay", found, Bound("drops", 0.5, 2))]

        statements: tuple[tuple[str, str, str, Callable[[str], list[Check]], str], ...] = (
            ("E-9.1", "with 100 ms more RTT, every flow gets at most 60% of its throughput without the longer RTT",
             "drastically reduced for all flows", kept, ""),
            ("E-9.2",
             "the windows of the MPTCP flow never reach the bandwidth-delay product of the longer path, in any run",
             "the congestion window is never approaching this value", peaks,
             "The largest window of each run counts. The claim fails if one run reaches the product; the study shows "
             "one run."),
            ("E-9.3", "with 100 ms more RTT, MPTCP gets less throughput with LIA than with New Reno",
             "suffers noticeably more", suffers, ""),
            ("E-9.4", "the throughput follows the window (correlation at least 0.7)",
             "strictly bounded by the congestion window", follows, ""),
            ("E-9.5", "MPTCP's loss rate with the delay is 0.5 to 2 times its loss rate without the delay",
             "the number of dropped packets is similar to that without the delay", drops,
             "Loss rates are compared, because fewer packets are sent with the delay. A factor of two is accepted as "
             "similar."),
        )  # fmt: skip
        facts = [
            self.fact(
                number,
                statement,
                published=published,
                checks={
                    f"{loss} residual loss": check(loss) for loss in self.LOSSES if loss != "0%" or number == "E-9.1"
                },
                main=f"{self.MAIN} residual loss",
                why=WHY,
                reason=reason,
            )
            for number, statement, published, check, reason in statements
        ]
        main = self.MAIN
        return Outcome(facts, [_cdf_picture(measured, main), _plot_picture(measured.one(main, 100, "lia"))])


def _lost_share(run: Run) -> float:
    """Segments that MPTCP retransmitted, relative to received segments."""
    again = sum(row["retransmits"] for row in run.paths.to_pylist() if row["flow"] == DUAL)
    return float(again / max(1, run.flow(DUAL)["bytes_received"] / 1448))


def _largest(run: Run, flow: str, path: str) -> float:
    """The largest congestion window of a flow on a path after `START_S`, bytes; 0 without a subflow."""
    times, windows = run.series("cwnd", flow=flow, path=path)
    return float(windows[times > START_S].max(initial=0))


def _rate_follows(run: Run) -> float:
    found = []
    for at in BOTH:
        times, windows = run.series("cwnd", flow=DUAL, path=interface(at))
        rate_times, rates = run.series("throughput", flow=DUAL, path=interface(at))
        found.append(correlation(list(windows[times > START_S]), list(rates[rate_times > START_S])))
    return float(np.mean(found))


def _cdf_picture(measured: Measured, loss: str) -> Picture:
    figure, axes = figure_style.new_figure(2, width=5.6, height=4.1)
    for axis, (congestion, title) in zip(
        axes, (("lia", "MPTCP with LIA"), ("reno", "MPTCP with New Reno")), strict=True
    ):
        for extra, line in ((0, "-"), (100, "--")):
            for flow, name in ((single("1"), "wifi"), (single("2"), "3g"), (DUAL, "mptcp")):
                rates: list[float] = []
                for run in measured.runs(loss, extra, congestion):
                    times, values = run.series("goodput", flow=flow)
                    rates += list(values[times > START_S] / 1e6)
                who = "MPTCP" if flow == DUAL else f"single flow, network {flow.removeprefix('single-')}"
                look = replace(figure_style.LOOKS[name], line=line)
                rank = np.arange(1, len(rates) + 1) / len(rates)
                figure_style.curve(axis, np.sort(rates), rank, f"{who}, +{extra} ms", look, markers=6)
        figure_style.finish(
            axis,
            x="goodput in steps of 500 ms [Mb/s]",
            y="share of samples up to this value",
            title=title,
            legend=None,
        )
    lines, labels = axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=2)
    caption = f"Figure 10a: goodput without and with 100 ms more delay, uplink, {loss} residual loss."
    why = under_distribution(figure, {
        f"{title}, +{extra} ms": multipath(measured.runs(loss, extra, congestion), DUAL)
        for congestion, title in (("lia", "MPTCP with LIA"), ("reno", "MPTCP with New Reno"))
        for extra in (0, 100)
    })  # fmt: skip
    return Picture("ucl-wifi-e9-cdf", caption, figure, why)


def _plot_picture(run: Run) -> Picture:
    figure, (left, right) = figure_style.new_figure(2, width=5.6)
    for at, look in zip(BOTH, ("mptcp", "wifi"), strict=True):
        times, windows = run.series("cwnd", flow=DUAL, path=interface(at))
        figure_style.curve(left, times, windows / 1e3, f"network {at}", figure_style.LOOKS[look], markers=8)
        rate_times, rates = run.series("throughput", flow=DUAL, path=interface(at))
        figure_style.curve(right, rate_times, rates / 1e6, f"network {at}", figure_style.LOOKS[look], markers=8)
    figure_style.published_range(left, 140, 150, "bandwidth-delay product at the published rates")
    figure_style.finish(left, x="time [s]", y="congestion window [kB]", legend="upper right", top=165)
    figure_style.finish(right, x="time [s]", y="throughput [Mb/s]", legend="upper right")
    caption = "Figure 10b: the windows of the MPTCP flow with 100 ms more delay, and the throughput that follows them."
    why = under_time(figure, left, {f"network {at}": (run, DUAL, interface(at)) for at in BOTH})
    return Picture("ucl-wifi-e9-time", caption, figure, why)
