"""Experiment E11 of study E (Barlow-Bignell et al., UCL, 2013): a client moves from one access point to the other and
back to the middle (figure 13).

Tests the report's claims that MPTCP moves its traffic to the nearer access point. Owns the runs and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Event, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_time
from mptcplab.studies.ucl_wifi.figures import TOTAL
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, Setup, interface
from mptcplab.studies.verdicts import Bound, Check, every

STAY_S = 30
WALK_S = 10
ARM_M = 4.0
"""Metres from the intersection to each access point."""
NEAR_M = 0.5
"""Minimum distance from an access point, metres."""
STOPS = ("access point 1", "intersection", "access point 2", "intersection again")
PLACES = (-ARM_M, 0.0, ARM_M, 0.0)
STEP_S = 0.5
SETTLE_S = 5.0
"""Excluded seconds of each stop, in which the windows adapt."""
POWERS = {"36 dB lower": 10**1.2, "39 dB lower": 10**1.3, "42 dB lower": 10**1.4}
"""Factors on distances that model lower power: signals fade with the third power of distance, so 30 dB are ten times.
"""
MAIN = "39 dB lower"
WHY = "how low the power of the access points was"


def place(time: float) -> float:
    """Metres from the intersection, access point 1 on the negative side."""
    at, rest = divmod(time, STAY_S + WALK_S)
    here, there = PLACES[int(at)], PLACES[min(int(at) + 1, len(PLACES) - 1)]
    return here + (there - here) * max(0.0, rest - STAY_S) / WALK_S


def walk(power: str) -> Scenario:
    """The walk, with this key of `POWERS`; both interfaces move every half second."""
    times = np.arange(0, len(PLACES) * (STAY_S + WALK_S) - WALK_S, STEP_S)
    metres = {
        at: [POWERS[power] * max(NEAR_M, abs(place(time) - side)) for time in times]
        for at, side in zip(BOTH, (-ARM_M, ARM_M), strict=True)
    }
    events = [
        Event(at=f"{times[step]:g}s", station=interface(at), set={"distance": f"{metres[at][step]:.2f}m"})
        for step in range(1, len(times))
        for at in BOTH
        if metres[at][step] != metres[at][step - 1]
    ]
    setup = Setup(
        "apart", "download", singles=(), station={"rate": None},
        seconds=len(PLACES) * (STAY_S + WALK_S) - WALK_S, warmup=2,
    )  # fmt: skip
    start = {f"stations.{interface(at)}.distance": f"{metres[at][0]:.2f}m" for at in BOTH}
    return setup.scenario(events=events).vary(start)


class Mobility(Experiment):
    """Figure 13."""

    study = NAME
    name = "E11"
    title = "Walking between two access points"
    setup = (
        "Downlink with LIA on channels 1 and 11. Each access point is 4 m from an intersection. Its power is so low "
        "that its signal is barely received at the other access point. The client stays 30 s at access point 1, 30 s "
        "at the intersection, and 30 s at access point 2, and then returns to the intersection. Each walk takes 10 s. "
        "Distances change every half second, and rate control follows. Lower power is modelled by longer distances. "
        "The study does not specify the power, so three values are run. With a power that is 39 dB lower, the signal "
        "of the other access point is 1 dB above the minimum of the lowest rate."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Powers with several seeds."""
        for power in POWERS:
            scenario = walk(power)
            for seed in effort.seeds(2, 5, 10):
                yield Point((power,), scenario, seed, watched=power == MAIN and seed == effort.first)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims E-11.1 and E-11.2."""

        def at(power: str, stop: int, bound: Bound) -> Check:
            found = measured.interval(lambda run: share_at(run, stop), power)
            return Check(f"share of interface 1 at {STOPS[stop]}", found, bound)

        even = Bound("even", 0.35, 0.65)
        follows = {
            power: [
                at(power, 0, Bound("near 1", low=0.8)),
                at(power, 1, even),
                at(power, 2, Bound("near 2", high=0.2)),
            ]
            for power in POWERS
        }
        silent = Bound("silent", high=2)
        returns = {
            power: [
                at(power, 3, even),
                every("longest silence", measured.values(longest_silence, power), silent, "s"),
            ]
            for power in POWERS
        }
        facts = [
            self.fact(
                "E-11.1",
                "near an access point, at least 80% of the traffic uses its interface; at the intersection, each "
                "interface carries 35 to 65%",
                published="more traffic through the interface of the closer access point, an even split at the "
                "intersection",
                checks=follows,
                why=WHY,
            ),
            self.fact(
                "E-11.2",
                "back at the intersection, the split is even again (35 to 65%), and the connection is never silent "
                "for more than 2 s",
                published="evenly distributes the traffic when the user moves back",
                checks=returns,
                why=WHY,
            ),
        ]
        shares = [at(MAIN, stop, even).found.mean for stop in range(len(STOPS))]
        return Outcome(facts, [_picture(measured.one(MAIN), shares)])


def share_at(run: Run, stop: int) -> float:
    """Interface 1's share of the data that arrives during a stop."""
    start = stop * (STAY_S + WALK_S)
    parts = []
    for at in BOTH:
        times, values = run.series("interface_received", path=interface(at))
        parts.append(values[(times > start + SETTLE_S) & (times <= start + STAY_S)].sum())
    return float(parts[0] / max(sum(parts), 1))


def longest_silence(run: Run) -> float:
    """The longest time after the warm-up with less than 10 kb/s for the application, seconds."""
    times, values = run.series("goodput", flow=DUAL)
    longest = silent = 0
    for value in values[times > run.scenario.warmup + 1e-9]:
        silent = silent + 1 if value < 1e4 else 0
        longest = max(longest, silent)
    return longest * STEP_S


def _picture(run: Run, shares: list[float]) -> Picture:
    figure, (above, below) = figure_style.new_figure(1, 2, width=8.4, height=3.0)
    series = {at: run.series("interface_received", path=interface(at)) for at in BOTH}
    for at, look in zip(BOTH, ("mptcp", "wifi"), strict=True):
        figure_style.curve(
            above, series[at][0], series[at][1] / 1e6, f"interface {at}", figure_style.LOOKS[look], markers=15
        )
    times = series["1"][0]
    total = series["1"][1] + series["2"][1]
    figure_style.curve(above, times, total / 1e6, "both interfaces", TOTAL, markers=1)
    figure_style.finish(above, x="", y="throughput [Mb/s]", legend=None, top=36)
    above.legend(loc="upper left", ncols=3)
    split = 100 * series["1"][1] / np.maximum(total, 1)
    figure_style.curve(below, times, split, "interface 1", figure_style.LOOKS["mptcp"], markers=15)
    for stop, (low, high) in enumerate(((80, 100), (35, 65), (0, 20), (35, 65))):
        start = stop * (STAY_S + WALK_S)
        figure_style.accepted_range(
            below, low, high, "accepted" if stop == 0 else None, over=(start + SETTLE_S, start + STAY_S)
        )
        above.text(
            start + STAY_S / 2, 27, f"{STOPS[stop]}\n({shares[stop]:.0%} on interface 1)", ha="center", fontsize=8
        )
    figure_style.finish(below, x="time [s]", y="share of interface 1 [%]", legend="upper right", top=108)
    caption = (
        "Figure 13: throughput that arrives over each interface while the client moves, every 500 ms, in one run. The "
        "shares at the top are means over all seeds."
    )
    why = under_time(figure, below, {f"interface {at}": (run, DUAL, interface(at)) for at in BOTH})
    return Picture("ucl-wifi-e11-walk", caption, figure, why)
