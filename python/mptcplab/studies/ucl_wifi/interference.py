"""Experiments E1 and E2 of study E (Barlow-Bignell et al., UCL, 2013): one interface sends UDP all the time, another in
every other period (figures 1 and 2).

Tests the report's claims about interference with three models of the medium. The preset `ucl` has two factors, for
carrier sense and for collisions between channels, which were calibrated on these figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.run.udp_interference import Interference, interference_test, measure, over_time
from mptcplab.stats.statistics import Interval, difference, interval
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.ucl_wifi.network import NAME, Channels, Setup, interface
from mptcplab.studies.verdicts import Bound, Check

MODELS: Mapping[str, tuple[Literal["ucl", "ideal"], Mapping[str, Any]]] = {
    "preset": ("ucl", {}),
    "preset, long slots": ("ucl", {"protection": False, "slot": "long"}),
    "ideal": ("ideal", {}),
}
WORDS = {
    "preset": "the calibrated preset",
    "preset, long slots": "the preset with long slots and no protection",
    "ideal": "the ideal model",
}
MAIN = "preset"
WHY = "the two factors of the preset were calibrated on the totals of figures 1 and 2"
DIRECTIONS: tuple[Literal["upload", "download"], ...] = ("upload", "download")


class _Interrupt(Experiment):
    """The common part of experiments E1 (different channels) and E2 (one channel)."""

    study = NAME
    channels: Channels

    def points(self, effort: Effort) -> Iterator[Point]:
        """Models × directions with several seeds."""
        every = _every(effort)
        for model, (interference, cell) in MODELS.items():
            scenario = Setup(self.channels, singles=(), interference=interference, cell=cell).scenario()
            for direction in DIRECTIONS if model == MAIN else DIRECTIONS[:1]:
                one = interference_test(scenario, interface("1"), interface("2"), every=every, direction=direction)
                for seed in effort.seeds(2, 5, 10, comparison=(model, direction) != (MAIN, "upload")):
                    yield Point((model, direction), one, seed)

    def _found(self, measured: Measured, effort: Effort) -> dict[tuple[str, str], list[Interference]]:
        keys = [(model, way) for model in MODELS for way in (DIRECTIONS if model == MAIN else DIRECTIONS[:1])]
        return {key: [measure(run, _every(effort)) for run in measured.runs(*key)] for key in keys}

    def _total(self, fact: str, found: Mapping[tuple[str, str], list[Interference]], low: float, high: float) -> Fact:
        gain = "more than one, but less than twice" if low > 1 else "less than one alone"
        return self._judged(
            fact,
            f"both interfaces together carry {low:g} to {high:g} times the rate of one alone: {gain}",
            "closer to 150% than to 200%" if low > 1 else "almost 60% of a single link",
            {key: [Check("both / one alone", _mean(found, key, "ratio"), Bound("ratio", low, high))] for key in found},
        )

    def _judged(self, fact: str, statement: str, published: str, checks: Mapping[tuple[str, str], list[Check]]) -> Fact:
        return self.fact(
            fact,
            statement,
            published=published,
            checks={_label(key): some for key, some in checks.items()},
            main=_label((MAIN, "upload")),
            why=WHY,
        )

    def _picture(  # noqa: PLR0913, RUF100 - what differs between both figures
        self, measured: Measured, effort: Effort, number: int, low: float, high: float, published: float
    ) -> Picture:
        every = _every(effort)
        figure, axes = figure_style.new_figure(2, 2, width=5.8, height=3.1)
        for column, model in enumerate((MAIN, "ideal")):
            run = measured.one(model, "upload")
            times, (steady, toggled) = over_time(run)
            above, below = axes[column], axes[2 + column]
            alone = measure(run, every).alone
            figure_style.curve(above, times, steady, "interface 1, always on", figure_style.LOOKS["mptcp"], markers=9)
            figure_style.curve(
                above,
                times,
                toggled,
                f"interface 2, on or off every {every:g} s",
                figure_style.LOOKS["wifi"],
                markers=9,
            )
            figure_style.curve(above, times, steady + toggled, "both interfaces", figure_style.LOOKS["sum"], markers=1)
            for at in range(1, 4, 2):
                figure_style.accepted_range(
                    above, low * alone, high * alone, "accepted while both send" if at == 1 else None,
                    over=(at * every, (at + 1) * every),
                )  # fmt: skip
            figure_style.published_points(
                above,
                [(at + 0.5) * every for at in (1, 3)],
                [published * alone] * 2,
                f"published: {published:g} times one alone",
            )
            figure_style.finish(above, x="", y="throughput [Mb/s]", title=WORDS[model], legend=None, top=62)
            above.legend(loc="upper left", ncols=2)
            share = 100 * steady / np.maximum(steady + toggled, 1e-9)
            figure_style.curve(below, times, share, "interface 1", figure_style.LOOKS["mptcp"], markers=9)
            figure_style.curve(below, times, 100 - share, "interface 2", figure_style.LOOKS["wifi"], markers=9)
            for at in range(1, 4, 2) if self.channels == "apart" else ():
                label = "accepted as equal while both send" if at == 1 else None
                figure_style.accepted_range(below, 45, 55, label, over=(at * every, (at + 1) * every))
            figure_style.finish(below, x="time [s]", y="share of the total [%]", legend=None, top=128)
            below.set_yticks(range(0, 101, 20))
            below.legend(loc="upper left", ncols=3)
        where = "channels 1 and 11" if self.channels == "apart" else "one channel"
        caption = (
            f"Figure {number}: UDP uplink on {where}; throughput of each interface, and its share of the total, every "
            "500 ms. The preset was calibrated on figures 1 and 2; the ideal model was not calibrated."
        )
        return Picture(f"ucl-wifi-e{number}-interrupt", caption, figure)


class Apart(_Interrupt):
    """Figure 1."""

    name = "E1"
    title = "UDP interference test on channels 1 and 11"
    channels = "apart"
    setup = (
        "One client with two interfaces sends UDP as fast as it can. The first interface sends all the time, the "
        "second in every second period of 30 s. With the preset `ucl`, a station senses half of the transmissions on "
        "the other channel. In the ideal model, it senses none."
    )

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims E-1.1 to E-1.3."""
        found = self._found(measured, effort)
        facts = [
            self._judged(
                "E-1.1", "while both interfaces send, each carries 45 to 55% of the total", "completely fair sharing",
                {key: [
                    Check("share of interface 1", _mean(found, key, "share"), Bound("share", 0.45, 0.55))
                ] for key in found},
            ),
            self._total("E-1.2", found, 1.35, 1.65),
            self._judged(
                "E-1.3", "while both interfaces send, at most 1% of the frames are dropped after all retries",
                "very few 802.11 retransmit failures",
                {key: [Check("dropped", _mean(found, key, "lost_both"), Bound("lost", high=0.01))] for key in found},
            ),
        ]  # fmt: skip
        return Outcome(facts, [self._picture(measured, effort, 1, 1.35, 1.65, 1.5)])


class Same(_Interrupt):
    """Figure 2."""

    name = "E2"
    title = "UDP interference test on one channel"
    channels = "same"
    setup = (
        "As in experiment E1, one client sends UDP over its first interface all the time, and over its second in every "
        "second period of 30 s. Both networks use channel 1. In the preset, each network senses 1 of 20 "
        "transmissions of the other network, so that carrier sensing fails to prevent collisions. In the ideal model, "
        "each network senses all transmissions."
    )

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims E-2.1 and E-2.2."""
        found = self._found(measured, effort)
        facts = [
            self._total("E-2.1", found, 0.5, 0.75),
            self._judged(
                "E-2.2", (
                    "while both interfaces send, at least 1% of the frames are dropped, and at least ten times the "
                    "share that is dropped while one sends alone"
                ),
                "a high number of link layer transmit failures",
                {
                    key: [
                        Check("dropped", _mean(found, key, "lost_both"), Bound("lost", low=0.01)),
                        Check("dropped, minus 10 times that of one alone", _more(found[key]), Bound("more", low=0)),
                    ]
                    for key in found
                },
            ),
        ]  # fmt: skip
        return Outcome(facts, [self._picture(measured, effort, 2, 0.5, 0.75, 0.6)])


def _every(effort: Effort) -> float:
    return effort.pick(10.0, 30.0, 30.0)


def _label(key: tuple[str, str]) -> str:
    return f"{WORDS[key[0]]}, {'uplink' if key[1] == 'upload' else 'downlink'}"


def _mean(found: Mapping[tuple[str, str], list[Interference]], key: tuple[str, str], what: str) -> Interval:
    return interval(float(getattr(one, what)) for one in found[key])


def _more(runs: Sequence[Interference]) -> Interval:
    return difference([one.lost_both for one in runs], [10 * one.lost_alone for one in runs], paired=True)
