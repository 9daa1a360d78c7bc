"""Experiment B1 of study B (Abdrabou and Prakash, UAE University): one interface compared with two (figure 3).

Owns the transfer times and the verdicts on the paper's claims. Two numbers of the study disagree: 15 s in figure 3, and
10.5 Mb/s (11.4 s) in figure 5. A *reading* is an interpretation of a setting that the study does not specify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import jain
from mptcplab.studies.abdrabou_heterogeneous.network import (
    LARGEST,
    MAIN,
    NAME,
    PAIRS,
    READINGS,
    WHY,
    Reading,
    Setup,
    mean_time,
    seeds,
    transfer_time,
)
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import multipath, of_flows
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

SMALL = 20
"""The smallest receive buffer of the study, KB."""
BUFFERS = (LARGEST, SMALL)
ALONE = "WiFi alone"
ONE_CHANNEL = "WiFi alone, one channel"
CURVES: Mapping[str, Reading | None] = {ALONE: None, **{reading: reading for reading in READINGS}}

PUBLISHED = (
    Published("published: one interface, 23 s", "completion_time", level=23),
    Published("published: two interfaces, 15 s", "completion_time", level=15, line="dotted"),
)


class Interfaces(Experiment):
    """Figure 3."""

    study = NAME
    name = "B1"
    title = "One interface compared with two"
    published = PUBLISHED
    setup = (
        "Four pairs transfer 15 MB each, at once: over 802.11n alone, and with an additional dedicated link of 6 "
        "Mb/s. That link is an 802.11 link with this PHY rate, or a link with a token bucket of this rate. Receive "
        "buffers have 320 KB, the default. Runs with 20 KB are added, because figure 5 of the study contradicts figure "
        "3 at equal buffers. Runs over WiFi alone are repeated with both routers on one channel, because the study "
        "does not specify the channels. The neighbours were calibrated on the transfer time over WiFi alone, so B-1.1 "
        "is not a finding."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """WiFi alone and both interpretations of the dedicated link × buffers × seeds."""
        for curve, dedicated in CURVES.items():
            for buffer in BUFFERS:
                scenario = Setup(dedicated=dedicated, buffer=buffer).scenario()
                comparison = buffer != LARGEST or curve not in {ALONE, MAIN}
                for seed in seeds(effort, comparison=comparison):
                    yield Point((curve, buffer), scenario, seed)
        together = Setup(dedicated=None, one_channel=True, seconds=100).scenario()
        yield from (Point((ONE_CHANNEL,), together, seed) for seed in seeds(effort))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims B-1.1 to B-1.5."""
        facts = [self._alone(measured), *self._gain(measured), self._fairness(measured), self._one_channel(measured)]
        return Outcome(facts, [_picture(measured)])

    def _alone(self, measured: Measured) -> Fact:
        return self.fact(
            "B-1.1", "over WiFi alone, a transfer of 15 MB takes 23 s, within 15%",
            published="on average around 23 s",
            checks=[
                Check(f"transfer time with {LARGEST} KB", measured.interval(mean_time, ALONE, LARGEST),
                      Bound("time", 23 * 0.85, 23 * 1.15), "s")
            ],
            reason="The neighbours were calibrated on this time.",
        )  # fmt: skip

    def _gain(self, measured: Measured) -> list[Fact]:
        """B-1.2 and B-1.3. Figure 5 has 10.5 Mb/s for the same network, which is 11.4 s (B-3c.4)."""

        def time(reading: str, buffer: int) -> list[Check]:
            found = measured.interval(mean_time, reading, buffer)
            return [Check("transfer time over both networks", found, Bound("time", 15 * 0.85, 15 * 1.15), "s")]

        def gain(reading: str, buffer: int) -> list[Check]:
            found = measured.ratio(mean_time, (ALONE, buffer), mean_time, (reading, buffer))
            return [Check("time over WiFi alone / over both networks", found, Bound("gain", 1.35, 1.7))]

        def named(check: Callable[[str, int], list[Check]]) -> dict[str, list[Check]]:
            return {f"{reading}, {buffer} KB": check(reading, buffer) for reading, buffer in _dual()}

        main, why = f"{MAIN}, {LARGEST} KB", f"{WHY}, and {LARGEST} KB is the default buffer"
        note = "A time of 12.75 to 13.4 s would agree with this figure and with figure 5 (B-3c.4)."
        return [
            self.fact("B-1.2", "over both networks, 15 MB take 15 s, within 15%", published="around 15 s on average",
                      checks=named(time), main=main, why=why, reason=note),
            self.fact("B-1.3", "over WiFi alone, transfers take 1.35 to 1.7 times as long as over both networks",
                      published="around 50% more",
                      checks=named(gain), main=main, why=why),
        ]  # fmt: skip

    def _fairness(self, measured: Measured) -> Fact:
        def checks(reading: str) -> list[Check]:
            return [
                Check(
                    "slowest / fastest time", measured.interval(_spread, reading, LARGEST), Bound("spread", high=1.25)
                ),
                Check("Jain's index", measured.interval(_jain, reading, LARGEST), Bound("Jain's index", low=0.98)),
            ]

        return self.fact(
            "B-1.4", (
                "the pairs are equal: the slowest takes at most 1.25 times as long as the fastest, and Jain's index "
                "of the times is at least 0.98"
            ),
            published="almost similarly, with small throughput differences",
            checks={reading: checks(reading) for reading in READINGS},
            main=MAIN,
            why=WHY,
            reason="The means of both values over the runs decide.",
        )  # fmt: skip

    def _one_channel(self, measured: Measured) -> Fact:
        found = measured.ratio(mean_time, (ONE_CHANNEL,), mean_time, (ALONE, LARGEST))
        return self.fact(
            "B-1.5",
            "over WiFi alone, transfers take 1.6 to 2.4 times as long with both routers on one channel as on two",
            published=(
                "(not the study) the study does not specify the channels of the routers; on one channel, each frame "
                "is sent twice on the medium"
            ),
            checks=[Check("time with one channel / two channels", found, Bound("time over two channels", 1.6, 2.4))],
            origin="ours",
        )


def _dual() -> list[tuple[str, int]]:
    return [(reading, buffer) for buffer in BUFFERS for reading in READINGS]


def _spread(run: Run) -> float:
    times = [transfer_time(run, pair) for pair in PAIRS]
    return max(times) / min(times)


def _jain(run: Run) -> float:
    return jain([transfer_time(run, pair) for pair in PAIRS])


def _time_of(pair: int) -> Callable[[Run], float]:
    return lambda run: transfer_time(run, pair)


def _picture(measured: Measured) -> Picture:
    figure, axes = figure_style.new_figure(len(BUFFERS), width=4.9)
    looks = dict(zip(CURVES, ("wifi", "mptcp", "3g"), strict=True))
    for panel, buffer in zip(axes, BUFFERS, strict=True):
        series = {}
        for curve, look in looks.items():
            bars = []
            for pair in PAIRS:
                value = measured.estimate(_time_of(pair), curve, buffer)
                bars.append((value.mean, value.half_width))
            label = curve if curve == ALONE else f"WiFi and dedicated, {curve}"
            series[label] = (figure_style.LOOKS[look], bars)
        figure_style.grouped_bars(panel, [str(pair) for pair in PAIRS], series)
        for one in PUBLISHED:
            one.draw(panel)
        title = f"receive buffers of {buffer} KB"
        first = buffer == LARGEST
        figure_style.finish(panel, x="pair", y="transfer time [s]" if first else "", title=title, legend=None, top=30)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    caption = "Figure 3: transfer time of 15 MB for each pair, over 802.11n alone and with a dedicated link of 6 Mb/s."
    held = {
        panel: [
            of_flows(
                f"{name}, {buffer} KB",
                {f"pair {pair}": multipath(measured.runs(name, buffer), f"pair{pair}") for pair in PAIRS},
                places=figure_style.bar_places(len(PAIRS), at, len(CURVES)), ordered=False,
            )
            for at, name in enumerate(CURVES)
        ]
        for panel, buffer in zip(axes, BUFFERS, strict=True)
    }  # fmt: skip
    why = explain(figure, held, bars=figure_style.bar_width(len(CURVES)))
    return Picture("abdrabou-heterogeneous-b1", caption, figure, why)
