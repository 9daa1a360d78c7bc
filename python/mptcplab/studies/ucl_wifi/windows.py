"""Experiment E8 of study E (Barlow-Bignell et al., UCL, 2013): windows that grow far beyond the bandwidth-delay product
(figures 9 and 11).

The station's queue drops nothing, so no congestion signal stops them. Owns the runs, verdicts and figures. `readings`
are values of the unspecified residual loss, the loss of frames after all retransmissions of the MAC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Interval, correlation
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_time
from mptcplab.studies.published import TIME, Published
from mptcplab.studies.ucl_wifi.network import (
    BDP,
    BOTH,
    DUAL,
    IDLE_RTT,
    NAME,
    RESIDUAL,
    Setup,
    interface,
    mbps,
    single,
)
from mptcplab.studies.verdicts import Bound, Check, Origin

GROWTH_S = 150.0
START_S = 10.0
"""The excluded start, s."""

PRODUCT = Published("published: bandwidth-delay product, 25 kB", "cwnd", TIME, level=BDP / 1e3)
ROUND_TRIP = Published("published: around 600 ms", "srtt", TIME, level=600)


class Growth(Experiment):
    """Figures 9 and 11."""

    study = NAME
    name = "E8"
    title = "Congestion windows without a congestion signal"
    published = (PRODUCT, ROUND_TRIP)
    setup = (
        "Uplink. The station retries after collisions, and its queue drops nothing. The only losses are the residual "
        "losses of the cards; runs without losses are shown for comparison. First, MPTCP competes with a single flow "
        "on each network (figure 9); then, one TCP flow runs alone for 150 s (figure 11). The queue of the host holds "
        "10,000 packets, and TCP small queues are off."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Figure 9 (`crowd`) and figure 11 (`alone`), with several seeds."""
        station = {"queue": "10000p"}
        for loss in LOSSES:
            crowd = Setup("apart", station=station, seconds=effort.pick(12, 30, 60), loss=loss)
            alone = Setup(
                "apart", dual=False, singles=("1",), station=station, seconds=GROWTH_S, warmup=START_S, loss=loss
            )
            for seed in effort.seeds(2, 5, 10, comparison=loss != RESIDUAL):
                yield Point(("crowd", loss), crowd.scenario(), seed, watched=seed == effort.first)
                yield Point(("alone", loss), alone.scenario(), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-8.1 to E-8.5."""
        one = single("1")

        def each(value: Callable[[Run], float], key: str = "alone") -> Callable[[str], Interval]:
            return lambda loss: measured.interval(value, key, loss)

        def least(run: Run) -> float:
            return min(_share_above(run, DUAL, interface(at)) for at in BOTH)

        def above(run: Run) -> float:
            return _share_above(run, one, f"if-{one}")

        def follows(run: Run) -> float:
            return _follows(run, one)

        def last_rtt(run: Run) -> float:
            return float(run.series("srtt", flow=one, path=f"if-{one}")[1][-1]) / IDLE_RTT

        def lost(run: Run) -> float:
            return float(sum(row["retransmits"] for row in run.paths.to_pylist())) / _segments(run, one)

        def fact(  # noqa: PLR0913, RUF100 - what a fact consists of
            number: str,
            statement: str,
            published: str,
            checks: Callable[[str], list[Check]],
            *,
            reason: str = "",
            origin: Origin = "published",
        ) -> Fact:
            readings = {f"{loss} residual loss": checks(loss) for loss in LOSSES}
            return self.fact(
                number, statement, published=published, checks=readings, main=f"{RESIDUAL} residual loss", why=WHY,
                reason=reason, origin=origin,
            )  # fmt: skip

        rate = measured.mean(mbps(one), "alone", RESIDUAL)
        facts = [
            fact(
                "E-8.1", (
                    "the window of every uplink flow exceeds the bandwidth-delay product (25 kB) in at least 90% of "
                    "the samples after the start"
                ), "consistently much greater than 25 kB",
                lambda loss: [
                    Check("MPTCP with single flows", each(least, "crowd")(loss), Bound("share", low=0.9)),
                    Check("TCP alone", each(above)(loss), Bound("share", low=0.9)),
                ],
            ),
            fact(
                "E-8.2", "the RTT of TCP grows to at least 20 times that of an idle ping (7 ms)",
                "around 600 ms, and 7 ms by ping",
                lambda loss: [Check(f"RTT after {GROWTH_S:g} s / 7 ms", each(last_rtt)(loss), Bound("times", low=20))],
                reason=f"One flow alone carries {rate:.1f} Mb/s in the simulator, and about 10 Mb/s in the study.",
            ),
            fact(
                "E-8.3", "the window grows as the square root of time: its square is linear in time (R² at least 0.95)",
                "something resembling logarithmic growth",
                lambda loss: [Check("R²", each(lambda run: _root_fit(run, one)[0])(loss), Bound("R²", low=0.95))],
                reason=(
                    "Without losses, each acknowledgement adds 1/cwnd to the window. Acknowledgements arrive at a "
                    "constant rate C, so cwnd = sqrt(2 C t)."
                ),
            ),
            fact(
                "E-8.4", "the send queue follows the window (correlation at least 0.95)",
                "closely following the congestion window through the entire test",
                lambda loss: [Check("correlation", each(follows)(loss), Bound("correlation", low=0.95))],
                reason=(
                    "The send queue is the value that ss prints (section 4.7.3 of the report). This value counts all "
                    "unacknowledged data, which fill the window."
                ), origin="by construction",
            ),
            fact(
                "E-8.5", "TCP sees almost no loss: less than 1 in 1,000 segments", "very little loss",
                lambda loss: [Check("retransmitted segments", each(lost)(loss), Bound("lost", high=0.001))],
                reason="The only losses are the residual losses of the cards.", origin="by construction",
            ),
        ]  # fmt: skip
        shown = "0%"
        pictures = [_crowd_picture(measured.one("crowd", shown)), _growth_picture(measured.one("alone", shown), one)]
        return Outcome(facts, pictures)


LOSSES = (RESIDUAL, "0%")
WHY = "all experiments use the same residual loss"


def _share_above(run: Run, flow: str, path: str) -> float:
    times, windows = run.series("cwnd", flow=flow, path=path)
    return float((windows[times > START_S] > BDP).mean())


def _acks(run: Run, flow: str) -> float:
    """Acknowledgements per second: the receiver sends one per two segments."""
    return run.flow(flow)["goodput"] / 8 / 1448 / 2


def _segments(run: Run, flow: str) -> float:
    return run.flow(flow)["bytes_received"] / 1448


def _root_fit(run: Run, flow: str) -> tuple[float, float]:
    """R² and slope, packets²/s, of the squared window over time after the start."""
    times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    square = (windows[times > START_S] / 1448) ** 2
    line = np.polyfit(times[times > START_S], square, 1)
    rest = square - np.polyval(line, times[times > START_S])
    spread = float(((square - square.mean()) ** 2).sum())
    return 1 - float((rest**2).sum()) / spread if spread else 0.0, float(line[0])


def _follows(run: Run, flow: str) -> float:
    times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    queue_times, queue = run.series("in_flight", flow=flow, path=f"if-{flow}")
    late, late_queue = times > START_S, queue_times > START_S
    return correlation(list(windows[late]), list(queue[late_queue]))


def _crowd_picture(run: Run) -> Picture:
    figure, (axes,) = figure_style.new_figure(width=7.6)
    for at, look in zip(BOTH, ("mptcp", "wifi"), strict=True):
        times, windows = run.series("cwnd", flow=DUAL, path=interface(at))
        figure_style.curve(axes, times, windows / 1e3, f"window, network {at}", figure_style.LOOKS[look], markers=8)
    PRODUCT.draw(axes)
    figure_style.finish(axes, x="time [s]", y="congestion window [kB]", legend="upper left")
    caption = (
        "Figure 9: the windows of the two subflows of an uplink connection with a single flow on each network. The "
        f"cards have no losses here; for the verdicts, they lose {RESIDUAL} of the packets."
    )
    why = under_time(figure, axes, {f"network {at}": (run, DUAL, interface(at)) for at in BOTH})
    return Picture("ucl-wifi-e8-crowd", caption, figure, why)


def _growth_picture(run: Run, flow: str) -> Picture:
    figure, (left, right) = figure_style.new_figure(2, width=5.6)
    times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    figure_style.curve(left, times, windows / 1e3, "congestion window", figure_style.LOOKS["mptcp"], markers=8)
    queue_times, queue = run.series("in_flight", flow=flow, path=f"if-{flow}")
    figure_style.curve(left, queue_times, queue / 1e3, "send queue (ss)", figure_style.LOOKS["wifi"], markers=6)
    fit = _law(run, flow, times)
    left.plot(times, fit, color="#222222", linestyle=":", label="model: sqrt(w² + 2 C t)")
    PRODUCT.draw(left)
    figure_style.finish(left, x="time [s]", y="window and send queue [kB]", legend="upper left", top=1000)
    rtt_times, rtts = run.series("srtt", flow=flow, path=f"if-{flow}")
    figure_style.curve(right, rtt_times, rtts * 1e3, "RTT of TCP", figure_style.LOOKS["3g"], markers=8)
    ROUND_TRIP.draw(right)
    right.axhline(7, color="#555555", linestyle="--", linewidth=1, label="idle ping (7 ms)")
    figure_style.finish(right, x="time [s]", y="RTT [ms]", legend="upper left", top=900)
    caption = (
        "Figure 11: without losses, the window grows as the square root of time, and so do the queue of the host and "
        f"the RTT. The three curves on the left coincide. For the verdicts, cards lose {RESIDUAL} of the packets."
    )
    return Picture("ucl-wifi-e8-growth", caption, figure)


def _law(run: Run, flow: str, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """A model window in kB: the measured one at `START_S`, which then grows by 1/cwnd per acknowledgement."""
    all_times, windows = run.series("cwnd", flow=flow, path=f"if-{flow}")
    first = float(windows[all_times >= START_S][0] / 1448)
    grown = np.maximum(first**2 + 2 * _acks(run, flow) * (times - START_S), 0)
    return np.sqrt(grown) * 1.448
