"""Experiment C3 of study C (the CS244 report of 2014 on receive buffers): long RTTs on WiFi, the faster path.

Owns the runs, the verdicts on the report's claims, and the figure. MPTCP uses M1 (opportunistic retransmission), with
and without M2 (penalisation). A *reading* is an interpretation of a setting that the study does not specify.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Interval, difference, ratio
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.cs244_rcvbuf.network import MAIN, NAME, READINGS, WHY, mptcp, paths, seeds, tcp
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.verdicts import Bound, Check

BUFFER = 500
TIGHT = 100
"""A buffer that limits the flow, so that penalisation (M2) acts, KB."""
RTTS = (20, 50, 100, 150, 200, 300, 400, 600)
CELLULAR_RTT = 150

Curves = Mapping[str, Mapping[int, float]]


class RoundTrip(Experiment):
    """The study's RTT sensitivity."""

    study = NAME
    name = "C3"
    title = "RTT sensitivity"
    setup = (
        "WiFi of 8 Mb/s and 3G of 2 Mb/s as in experiment C1, with buffers of 500 KB. The RTT of WiFi is 20 to 600 ms; "
        "queues and 3G stay the same. MPTCP with opportunistic retransmission (M1) and penalisation (M2), and with M1 "
        "alone, is compared with aggregate TCP, the sum of the goodput of TCP over each path. The study "
        "specifies neither the RTTs nor the buffer. C-3.3 is also tested with 100 KB, because M2 acts only if the "
        "window is full."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Interpretations × RTTs × curves × seeds."""
        for reading in READINGS:
            for rtt in _rtts(effort):
                both = paths(reading, rtt=f"{rtt}ms")
                for seed in seeds(effort):
                    yield Point((reading, "wifi", rtt), tcp(both, "wifi", BUFFER), seed)
                    for mechanisms in ("M1+M2", "M1"):
                        yield Point((reading, mechanisms, rtt), mptcp(both, mechanisms, BUFFER), seed)
                        yield Point((reading, mechanisms, rtt, TIGHT), mptcp(both, mechanisms, TIGHT), seed)
            for seed in seeds(effort):
                yield Point((reading, "3g"), tcp(paths(reading), "3g", BUFFER), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims C-3.1 to C-3.3."""
        rtts = _rtts(effort)
        curves: dict[str, Curves] = {}
        gaps: dict[str, dict[int, list[float]]] = {}
        for reading in READINGS:
            cellular = measured.mean(goodput, reading, "3g")
            rates = {
                name: {rtt: measured.mean(goodput, reading, name, rtt) for rtt in rtts}
                for name in ("wifi", "M1+M2", "M1")
            }
            rates["sum"] = {rtt: rate + cellular for rtt, rate in rates["wifi"].items()}
            curves[reading] = rates
            gaps[reading] = {rtt: _gaps(measured, reading, rtt) for rtt in rtts}
        largest = {reading: max(list(rtts)[1:-1], key=lambda rtt: _mean(gaps[reading][rtt])) for reading in READINGS}

        def gap(reading: str) -> list[Check]:
            at = largest[reading]
            return [
                Check(
                    f"MPTCP / aggregate TCP at {at} ms",
                    _share(measured, reading, at),
                    Bound("gap", high=0.95, strict=True),
                )
            ]

        def shape(reading: str) -> list[Check]:
            at = largest[reading]
            return [
                Check(
                    f"gap at {at} ms minus gap at {end} ms",
                    difference(gaps[reading][at], gaps[reading][end], paired=False),
                    Bound("widest inside", low=0, strict=True),
                    "Mb/s",
                )
                for end in (rtts[0], rtts[-1])
            ]

        def without(reading: str, *tight: int) -> list[Check]:
            return [
                Check(
                    f"goodput at {rtt} ms, without M2 minus with M2",
                    measured.difference(goodput, (reading, "M1", rtt, *tight), (reading, "M1+M2", rtt, *tight)),
                    Bound("narrower", low=0, strict=True),
                    "Mb/s",
                )
                for rtt in rtts
                if rtt > CELLULAR_RTT and _wifi_is_slower(measured.one(reading, "M1+M2", rtt, *tight))
            ]

        ours = {f"{reading}, {TIGHT} KB": without(reading, TIGHT) for reading in READINGS}
        outcome = Outcome(
            [
                self.fact(
                    "C-3.1",
                    "at an intermediate RTT of WiFi, MPTCP stays more than 5% below aggregate TCP",
                    published="a gap between MPTCP and aggregate TCP",
                    checks={reading: gap(reading) for reading in READINGS},
                    main=MAIN,
                    why=WHY,
                ),
                self.fact(
                    "C-3.2",
                    "as the RTT grows, the gap first grows and then shrinks: it is largest at an intermediate RTT",
                    published="the gap decreases once the RTT increases to a certain level",
                    checks={reading: shape(reading) for reading in READINGS},
                    main=MAIN,
                    why=WHY,
                ),
                self.fact(
                    "C-3.3",
                    "without penalisation (M2), the gap is narrower if the measured RTT of WiFi exceeds that of 3G",
                    published="M2 is unnecessarily penalising the WiFi subflow (an explanation of the study, not "
                    "measured there)",
                    checks={reading: without(reading) for reading in READINGS} | ours,
                    main=MAIN,
                    why=WHY,
                    origin="ours",
                    reason=(
                        f"The rest of the experiment uses buffers of {BUFFER} KB. mptcplab adds buffers of {TIGHT} KB, "
                        "with which the window is full and M2 acts."
                    ),
                ),
            ]
        )
        outcome.pictures.append(_picture(measured, curves, rtts))
        return outcome


def _gaps(measured: Measured, reading: str, rtt: int) -> list[float]:
    """The gap between MPTCP and aggregate TCP in each run, Mb/s."""
    return [
        wifi + cellular - both
        for wifi, cellular, both in zip(
            measured.values(goodput, reading, "wifi", rtt),
            itertools.cycle(measured.values(goodput, reading, "3g")),
            measured.values(goodput, reading, "M1+M2", rtt),
            strict=False,
        )
    ]


def _share(measured: Measured, reading: str, rtt: int) -> Interval:
    wifi, cellular = measured.values(goodput, reading, "wifi", rtt), measured.values(goodput, reading, "3g")
    both = [sum(pair) for pair in zip(wifi, cellular, strict=True)]
    return ratio(measured.values(goodput, reading, "M1+M2", rtt), both, paired=False)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _wifi_is_slower(run: Run) -> bool:
    """Whether the measured RTT of WiFi, including queues, exceeds that of 3G."""
    wifi, cellular = run.path("wifi"), run.path("3g")
    return wifi is not None and cellular is not None and wifi["mean_srtt_s"] > cellular["mean_srtt_s"]


def _rtts(effort: Effort) -> tuple[int, ...]:
    return effort.pick((20, 100, 200, 300, 400, 600), RTTS, (20, 50, 75, 100, 125, 150, 175, 200, 250, *RTTS[5:]))


def _picture(measured: Measured, curves: Mapping[str, Curves], rtts: tuple[int, ...]) -> Picture:
    figure, both = figure_style.new_figure(2, width=5.0, height=3.9, share_y=True)
    names = {
        "sum": ("aggregate TCP", figure_style.LOOKS["sum"]),
        "M1+M2": ("MPTCP with M1 and M2", figure_style.LOOKS["mptcp"]),
        "M1": ("MPTCP with M1", figure_style.LOOKS["reno"]),
        "wifi": ("TCP over WiFi", figure_style.LOOKS["wifi"]),
    }
    for axes, (reading, rates) in zip(both, curves.items(), strict=True):
        for name, (label, look) in names.items():
            figure_style.curve(axes, rtts, [rates[name][rtt] for rtt in rtts], label, look, markers=20)
        axes.axvline(CELLULAR_RTT, color="#999999", linewidth=0.8, linestyle=":", label="RTT of 3G")
        first = reading == next(iter(READINGS))
        figure_style.finish(
            axes,
            x="RTT of WiFi with an empty queue [ms]",
            y="goodput [Mb/s]" if first else "",
            title=f"queues of {reading}",
            legend=None if first else "upper right",
            top=10.5,
        )
    caption = (
        "Goodput against the RTT of WiFi. In the study, a gap between MPTCP and aggregate TCP opens as the RTT grows. "
        "The gap closes when the queue of WiFi is too short for plain TCP as well."
    )
    held = {
        axes: [
            of_keys(
                measured,
                f"{names[name][0]}, queues of {reading}",
                {rtt: (reading, name, rtt) for rtt in rtts},
                say="ms",
            )
            for name in ("M1+M2", "M1")
        ]
        for axes, reading in zip(both, READINGS, strict=True)
    }
    return Picture("c3-rtt", caption, figure, explain(figure, held))
