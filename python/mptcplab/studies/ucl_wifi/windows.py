"""Experiments E8 and E9: windows that grow beyond all need, and windows that never reach it (figures 9, 10, 11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mptcplab import plots
from mptcplab.results import Run
from mptcplab.statistics import correlation
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.ucl_wifi.network import BDP, BOTH, DUAL, IDLE_RTT, NAME, Setup, interface, mbps, single

GROWTH_S = 150.0
START_S = 10.0
"""What counts as start-up."""


class Growth(Experiment):
    """Figures 9 and 11."""

    study = NAME
    name = "E8"
    title = "Congestion windows without a congestion signal"
    setup = (
        "Uplink. The station retries what collides, and its own queue drops nothing: TCP sees no loss. First MPTCP "
        "beside a single flow on each network (figure 9), then one TCP flow alone for 150 s (figure 11). The queue of "
        "the host holds 10 000 packets, and there are no small queues."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Both tests with several seeds."""
        station = {"queue": "10000p"}
        crowd = Setup("apart", station=station, seconds=effort.pick(30, 60, 120))
        alone = Setup("apart", dual=False, singles=("1",), station=station, seconds=GROWTH_S, warmup=START_S)
        for seed in range(1, effort.pick(1, 5, 20) + 1):
            yield Point(("crowd",), crowd.scenario(), seed)
            yield Point(("alone",), alone.scenario(), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Facts E-8.1 to E-8.5."""
        crowd, alone = measured.runs("crowd"), measured.runs("alone")
        one = single("1")
        above = min(
            [_share_above(run, DUAL, interface(at)) for run in crowd for at in BOTH]
            + [_share_above(run, one, f"if-{one}") for run in alone]
        )
        rtts = [run.series("srtt", flow=one, path=f"if-{one}")[1][-1] for run in alone]
        fits = [_root_fit(run, one) for run in alone]
        together = [_follows(run, one) for run in alone]
        losses = [sum(row["retransmits"] for row in run.paths.to_pylist()) for run in alone]
        rate = float(np.mean([mbps(one)(run) for run in alone]))
        expected = (2 * _acks(alone[0], one)) ** 0.5
        facts = [
            self.fact(
                "E-8.1", "the window of every uplink flow is above the bandwidth-delay product (25 kB) in 90 % of the "
                "samples after the start",
                published="consistently much greater than 25 kB",
                measured=f"{above:.0%} of the samples of the flow that has the fewest",
                verdict=above >= 0.9,
            ),
            self.fact(
                "E-8.2", "the round-trip time that TCP estimates grows to 20 times that of an idle ping or more",
                published="around 600 ms, and 7 ms by ping",
                measured=f"{np.mean(rtts) * 1e3:.0f} ms after {GROWTH_S:g} s at {rate:.1f} Mb/s, and 7 ms",
                verdict=bool(np.mean(rtts) >= 20 * IDLE_RTT),
            ),
            self.fact(
                "E-8.3", "the window grows as the root of time: its square is a straight line (R² at least 0.95)",
                published="something resembling logarithmic growth",
                measured=f"R² {min(fit[0] for fit in fits):.4f} or more; the square grows by "
                f"{np.mean([fit[1] for fit in fits]):.0f} packets² a second, twice the acknowledgements a second are "
                f"{expected**2:.0f}",
                verdict=min(fit[0] for fit in fits) >= 0.95,
                reason="Each acknowledgement adds 1/cwnd, and they come at the constant rate of the link: "
                "cwnd = sqrt(2 C t). A logarithm would flatten sooner.",
            ),
            self.fact(
                "E-8.4", "the send queue follows the window (correlation at least 0.95)",
                published="closely following the congestion window through the entire test",
                measured=f"correlation {min(together):.3f} or more",
                verdict=min(together) >= 0.95,
                reason="The send queue is what ss shows (section 4.7.3 of the report): all that was sent and is not "
                "acknowledged.",
            ),
            self.fact(
                "E-8.5", "TCP sees almost no loss: less than one segment in a thousand",
                published="very little loss",
                measured=f"{np.mean(losses):.1f} segments sent again in {GROWTH_S:g} s",
                verdict=all(loss <= _segments(run, one) / 1000 for loss, run in zip(losses, alone, strict=True)),
            ),
        ]  # fmt: skip
        return Outcome(facts, [_crowd_picture(crowd[0]), _growth_picture(alone[0], one)])


def _share_above(run: Run, flow: str, path: str) -> float:
    times, windows = run.series("cwnd", flow=flow, path=path)
    return float((windows[times > START_S] > BDP).mean())


def _acks(run: Run, flow: str) -> float:
    """Acknowledgements a second: the receiver sends one for every second segment."""
    return run.flow(flow)["goodput"] / 8 / 1448 / 2


def _segments(run: Run, flow: str) -> float:
    return run.flow(flow)["bytes_received"] / 1448


def _root_fit(run: Run, flow: str) -> tuple[float, float]:
    """R² and slope of the squared window (packets²) over time."""
    times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    square = (windows[times > START_S] / 1448) ** 2
    line = np.polyfit(times[times > START_S], square, 1)
    rest = square - np.polyval(line, times[times > START_S])
    return float(1 - (rest**2).sum() / ((square - square.mean()) ** 2).sum()), float(line[0])


def _follows(run: Run, flow: str) -> float:
    times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    queue_times, queue = run.series("in_flight", flow=flow, path=f"if-{flow}")
    late, late_queue = times > START_S, queue_times > START_S
    return correlation(list(windows[late]), list(queue[late_queue]))


def _crowd_picture(run: Run) -> Picture:
    figure, (axes,) = plots.new_figure(width=7.6)
    for at, look in zip(BOTH, ("mptcp", "wifi"), strict=True):
        times, windows = run.series("cwnd", flow=DUAL, path=interface(at))
        plots.curve(axes, times, windows / 1e3, f"window, network {at}", plots.LOOKS[look], markers=8)
    plots.published_line(axes, BDP / 1e3, "bandwidth-delay product (published, 25 kB)")
    plots.finish(axes, x="time [s]", y="congestion window [kB]", legend="upper left")
    caption = "Figure 9: the windows of the two subflows of an uplink connection beside a single flow on each network."
    return Picture("ucl-wifi-e8-crowd", caption, figure)


def _growth_picture(run: Run, flow: str) -> Picture:
    figure, (left, right) = plots.new_figure(2, width=5.6)
    times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    plots.curve(left, times, windows / 1e3, "congestion window", plots.LOOKS["mptcp"], markers=8)
    queue_times, queue = run.series("in_flight", flow=flow, path=f"if-{flow}")
    plots.curve(left, queue_times, queue / 1e3, "send queue, as ss shows it", plots.LOOKS["wifi"], markers=6)
    fit = _law(run, flow, times)
    left.plot(times, fit, color="#222222", linestyle=":", label="sqrt(w² + 2 C t)")
    plots.published_line(left, BDP / 1e3, "bandwidth-delay product (25 kB)")
    plots.finish(left, x="time [s]", y="[kB]", legend="upper left")
    rtt_times, rtts = run.series("srtt", flow=flow, path=f"if-{flow}")
    plots.curve(right, rtt_times, rtts * 1e3, "round trip as TCP sees it", plots.LOOKS["3g"], markers=8)
    plots.published_line(right, 600, "around 600 ms (published)")
    right.axhline(7, color="#555555", linestyle="--", linewidth=1, label="idle ping (7 ms)")
    plots.finish(right, x="time [s]", y="round-trip time [ms]", legend="upper left", top=700)
    caption = (
        "Figure 11: without loss the window grows as the root of time, and the queue of the host and the round trip "
        "with it."
    )
    return Picture("ucl-wifi-e8-growth", caption, figure)


def _law(run: Run, flow: str, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """The window, kB, that starts where the measured one is after the start and grows by 1/cwnd an acknowledgement."""
    all_times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    first = float(windows[all_times >= START_S][0] / 1448)
    grown = np.maximum(first**2 + 2 * _acks(run, flow) * (times - START_S), 0)
    return np.sqrt(grown) * 1.448


class Far(Experiment):
    """Figure 10."""

    study = NAME
    name = "E9"
    title = "Uplink with 100 ms more"
    setup = (
        "Uplink on channels 1 and 11, MPTCP beside a single flow on each network, without and with 100 ms more at the "
        "server. The cards lose a small share of the packets by failures of their own, as the study's did; the share "
        "is not stated, so three are run."
    )

    LOSSES = ("0%", "0.05%", "0.1%")
    MAIN = "0.1%"

    def points(self, effort: Effort) -> Iterator[Point]:
        """Losses, delays and controllers with several seeds."""
        for loss in self.LOSSES:
            for extra in (0, 100):
                for congestion in ("reno", "lia"):
                    setup = Setup("apart", congestion=congestion, extra_delay_ms=extra, loss=loss)
                    for seed in range(1, effort.pick(2, 10, 40) + 1):
                        yield Point((loss, extra, congestion), setup.scenario(), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Facts E-9.1 to E-9.5."""
        flows = (DUAL, single("1"), single("2"))

        def ratio(loss: str) -> float:
            """The best-preserved flow's share of its throughput without delay."""
            return max(
                measured.mean(mbps(flow), loss, 100, cc) / measured.mean(mbps(flow), loss, 0, cc)
                for flow in flows
                for cc in ("reno", "lia")
            )

        main = self.MAIN
        checks = {loss: ratio(loss) <= 0.6 for loss in self.LOSSES}
        needed = {at: 0.107 * measured.mean(mbps(single(at)), main, 0, "lia") * 1e6 / 8 for at in BOTH}
        peaks = {at: [_largest(run, DUAL, interface(at)) for run in measured.runs(main, 100, "lia")] for at in BOTH}
        coupled, reno = (measured.mean(mbps(DUAL), main, 100, cc) for cc in ("lia", "reno"))
        follows = float(np.mean([_rate_follows(run) for run in measured.runs(main, 100, "lia")]))
        lossless = ratio("0%")
        facts = [
            self.fact(
                "E-9.1", "with 100 ms more every flow gets 60 % or less of its throughput",
                published="drastically reduced for all flows",
                measured="; ".join(f"[{loss} loss] at most {ratio(loss):.0%}" for loss in self.LOSSES),
                verdict=checks[main],
                reason=f"Judged with {main} residual loss.",
                explanation="the share of packets that the cards lost is not stated.",
            ),
            self.fact(
                "E-9.2", "the windows of the MPTCP flow never reach what the longer path needs, in most runs",
                published="the congestion window is never approaching this value",
                measured="; ".join(
                    f"[network {at}] at most {np.median(peaks[at]) / 1e3:.0f} kB in the median run, "
                    f"{max(peaks[at]) / 1e3:.0f} kB in the worst, needed {needed[at] / 1e3:.0f} kB"
                    for at in BOTH
                ),
                verdict=all(float(np.median(peaks[at])) < needed[at] for at in BOTH),
                reason="The study shows one run.",
            ),
            self.fact(
                "E-9.3", "Coupled suffers more than New Reno",
                published="suffers noticeably more",
                measured=f"{coupled:.2f} and {reno:.2f} Mb/s",
                verdict=coupled < reno,
            ),
            self.fact(
                "E-9.4", "the throughput follows the window (correlation at least 0.7)",
                published="strictly bounded by the congestion window",
                measured=f"correlation {follows:.2f}",
                verdict=follows >= 0.7,
            ),
            self.fact(
                "E-9.5", "it takes a constant residual loss: without, the longer path costs the flows less",
                published="the number of dropped packets is similar to that without the delay",
                measured=f"at most {lossless:.0%} of the throughput is kept without loss, "
                f"{ratio(main):.0%} with {main}",
                verdict=ratio(main) < lossless,
            ),
        ]  # fmt: skip
        return Outcome(facts, [_cdf_picture(measured, main), _plot_picture(measured.one(main, 100, "lia"))])


def _largest(run: Run, flow: str, path: str) -> float:
    times, windows = run.series("cwnd", flow=flow, path=path)
    return float(windows[times > START_S].max())


def _rate_follows(run: Run) -> float:
    found = []
    for at in BOTH:
        times, windows = run.series("cwnd", flow=DUAL, path=interface(at))
        rate_times, rates = run.series("throughput", flow=DUAL, path=interface(at))
        found.append(correlation(list(windows[times > START_S]), list(rates[rate_times > START_S])))
    return float(np.mean(found))


def _cdf_picture(measured: Measured, loss: str) -> Picture:
    figure, axes = plots.new_figure(2, width=5.6, height=4.1)
    for axis, (congestion, title) in zip(axes, (("lia", "Coupled"), ("reno", "New Reno")), strict=True):
        for extra, line in ((0, "-"), (100, "--")):
            for flow, name in ((single("1"), "wifi"), (single("2"), "3g"), (DUAL, "mptcp")):
                rates: list[float] = []
                for run in measured.runs(loss, extra, congestion):
                    times, values = run.series("goodput", flow=flow)
                    rates += list(values[times > START_S] / 1e6)
                who = "MPTCP" if flow == DUAL else f"single flow, network {flow.removeprefix('single-')}"
                look = replace(plots.LOOKS[name], line=line)
                rank = np.arange(1, len(rates) + 1) / len(rates)
                plots.curve(axis, np.sort(rates), rank, f"{who}, +{extra} ms", look, markers=6)
        plots.finish(axis, x="goodput in 500 ms [Mb/s]", y="share of samples", title=title, legend=None)
    lines, labels = axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=2)
    caption = f"Figure 10a: goodput without and with 100 ms more, uplink, {loss} residual loss."
    return Picture("ucl-wifi-e9-cdf", caption, figure)


def _plot_picture(run: Run) -> Picture:
    figure, (left, right) = plots.new_figure(2, width=5.6)
    for at, look in zip(BOTH, ("mptcp", "wifi"), strict=True):
        times, windows = run.series("cwnd", flow=DUAL, path=interface(at))
        plots.curve(left, times, windows / 1e3, f"network {at}", plots.LOOKS[look], markers=8)
        rate_times, rates = run.series("throughput", flow=DUAL, path=interface(at))
        plots.curve(right, rate_times, rates / 1e6, f"network {at}", plots.LOOKS[look], markers=8)
    plots.published_range(left, 140, 150, "needed (published rates)")
    plots.finish(left, x="time [s]", y="congestion window [kB]", legend="upper right", top=165)
    plots.finish(right, x="time [s]", y="throughput [Mb/s]", legend="upper right")
    caption = "Figure 10b: the windows of the MPTCP flow with 100 ms more, and the throughput that follows them."
    return Picture("ucl-wifi-e9-time", caption, figure)
