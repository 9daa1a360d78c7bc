"""Experiments D1 and D3 of study D (Ro and Nguyen Van, IJCCE 2016): MPTCP and TCP on one link, at different RTTs.

D1 varies the RTT of all flows (figures 5 and 6), D3 that of one subflow (figures 9 and 10). Owns the runs, the verdicts
on the paper's claims, and the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Estimate, difference, estimate, interval
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import under_distribution
from mptcplab.studies.limiting_factors import multipath
from mptcplab.studies.ro_bottleneck.contest import (
    FALLS,
    LESS,
    MORE,
    READINGS,
    WHY,
    Contest,
    Contests,
    contests,
    fact,
    fairness,
    indices,
    listed,
    mptcp,
    points,
    ratios_fall,
)
from mptcplab.studies.ro_bottleneck.figures import contest_picture
from mptcplab.studies.ro_bottleneck.network import NAME, SECOND, VARIANTS, WARMUP, scenario, seeds
from mptcplab.studies.verdicts import Bound, Check

SHORT = 100
"""RTT in ms below which the study calls a network good."""
LONG = 200


class Delay(Experiment):
    """Figures 5 and 6."""

    study = NAME
    name = "D1"
    title = "The same RTT for all flows"
    setup = (
        "An MPTCP flow has two subflows over two interfaces, and a TCP flow (Reno) has one interface. All links have "
        "100 Mb/s; the link behind the bridge is the bottleneck. The bridge delays all flows, so that RTTs are below "
        "1 ms to 500 ms, without random loss. The bottleneck either has one queue of 100 packets, or serves its three "
        "ports in turn. Both are run with LIA, which the study names, and with Reno on each subflow as the control. "
        "All runs use Linux's buffer tuning, TCP small queues of 128 KB, and slow start until 64 KB. Runs last 30 s "
        "without delay, 200 s with an RTT below 200 ms, and ten minutes from 200 ms on, as in the study. In the other "
        "experiments, they last 100 s if only one subflow is delayed, and 50 s if only one has losses (--full: all "
        "runs last ten minutes)."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × RTTs × seeds, and longer runs of LIA at the shortest RTT."""
        yield from points(effort, _rtts(effort), delay=True, one_sided=False)
        longer = scenario(VARIANTS["LIA"], effort, seconds=effort.pick(15, 60, 600))
        yield from (Point(("time",), longer, seed) for seed in seeds(effort))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims D-1.1 to D-1.6."""
        rtts = _rtts(effort)
        found = contests(measured, rtts)
        facts = [
            fact(
                self, "D-1.1", "MPTCP gets 1.6 to 2.4 times TCP's throughput at each RTT below 100 ms",
                "latencies less than 100 ms: approximately double", found, _double, _ratios,
            ),
            fact(
                self, "D-1.2", "the ratio of MPTCP's to TCP's throughput falls with each longer RTT",
                "MPTCP approached TCP as the RTT increased", found, lambda one: ratios_fall(one, _ms), _ratios,
            ),
            fact(
                self, "D-1.3", "at an RTT of 200 ms, MPTCP gets 0.8 to 1.05 times TCP's throughput",
                "a little less than TCP's at 200 ms", found,
                lambda one: [Check(_ms(LONG), one.ratio[LONG], Bound("ratio", 0.8, 1.05))], _ratios,
            ),
            fact(
                self, "D-1.4", (
                    "Jain's index is 0.86 to 0.94 at an RTT below 1 ms, at least 0.98 at 500 ms, and lower below 1 ms "
                    "than at 500 ms"
                ), "best fairness in the bad condition, very close to 1", found, _fairness, _indices,
            ),
            fact(
                self, "D-1.5", "MPTCP's throughput falls with each longer RTT",
                "the performance of MPTCP decreased as the propagation delay increased", found,
                lambda one: one.steps(mptcp, rtts, _ms, FALLS), _throughputs,
            ),
            self._time(measured, effort),
        ]  # fmt: skip
        caption = "Throughput and Jain's index against the RTT of all flows (figures 5 and 6)."
        pictures = [
            _picture("d1-delay", caption, found, rtts, "RTT of all flows [ms]", below=100),
            _times(measured),
        ]
        return Outcome(facts, pictures)

    def _time(self, measured: Measured, effort: Effort) -> Fact:
        """Whether the first half minute has the same ratio as longer runs."""
        length = effort.pick(10, 20, 30)
        runs = measured.runs("time")
        last = int(runs[0].scenario.duration)
        rows = [_ratios_until(run, (length, last)) for run in runs]
        found = difference([row[0] for row in rows], [row[1] for row in rows], paired=True)
        return self.fact(
            "D-1.6",
            (
                f"at an RTT below 1 ms, the ratio of MPTCP's (LIA) to TCP's throughput over the first {length} s is "
                f"within 0.15 of the ratio over {last} s"
            ),
            published="not a claim of the study, which measured ten minutes, five times",
            checks=[Check("ratio over the shorter minus the longer time", found, Bound("difference", -0.15, 0.15))],
            origin="ours",
        )


class OneDelay(Experiment):
    """Figures 9 and 10."""

    study = NAME
    name = "D3"
    title = "A longer RTT for the first subflow"
    setup = (
        "The network of experiment D1: two MPTCP subflows and a TCP flow share a link of 100 Mb/s. The bridge delays "
        "only the first subflow; the RTT of the second subflow and of TCP stays below 1 ms."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × RTTs × seeds."""
        return points(effort, _rtts(effort), delay=True, one_sided=True)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims D-3.1 to D-3.5."""
        rtts = _rtts(effort)
        found = contests(measured, rtts)
        facts = [
            fact(
                self, "D-3.1", "MPTCP gets more throughput than TCP at each RTT of the first subflow below 100 ms",
                "greater than that of the normal TCP when the difference is less than 100 ms", found, _more, _ratios,
            ),
            fact(
                self, "D-3.2", (
                    "the ratio of MPTCP's to TCP's throughput falls with each longer RTT of the first subflow, up to "
                    "200 ms"
                ),
                "gradually became more balanced", found,
                lambda one: [check for check in ratios_fall(one, _ms) if not check.what.startswith(("300", "500"))],
                _ratios,
            ),
            fact(
                self, "D-3.3a", "with an RTT of the first subflow above 200 ms, MPTCP gets less throughput than TCP",
                "less than the TCP's throughput (4.3.2)", found, _less_beyond, _ratios,
            ),
            fact(
                self, "D-3.3b", (
                    "MPTCP's throughput is lower with an RTT of 500 ms for the first subflow than with an RTT of 200 ms"
                ),
                "decreased as the difference became greater over 200 ms", found,
                lambda one: one.steps(mptcp, (LONG, 500), _ms, FALLS), _throughputs,
                explanation=(
                    "beyond 200 ms, the first subflow carries almost nothing, and its delay does not affect the second "
                    "subflow."
                ),
            ),
            fact(
                self, "D-3.4", (
                    "Jain's index is lower with an RTT of the first subflow below 1 ms than with an RTT of 200 or 500 "
                    "ms"
                ),
                "fairness is small when the difference is small", found, _least_fair_when_short, _indices,
            ),
            self._second_decides(found),
        ]  # fmt: skip
        caption = (
            "Throughput and Jain's index against the RTT of the first subflow (figures 9 and 10); the RTT of the "
            "second subflow and of TCP stays below 1 ms."
        )
        return Outcome(facts, [_picture("d3-one-delay", caption, found, rtts, "RTT of the first subflow [ms]")])

    def _second_decides(self, found: Contests) -> Fact:
        """Equation 4 of the paper. Its consequence, that alpha is at most 1 / W2, is LIA's own bound (RFC 6356 section
        3).
        """
        bound = Bound("of W2 / SRTT2", 0.9, 1.1)
        checks = {
            reading: [
                Check(_ms(rtt), interval(map(_over_second, runs)), bound)
                for rtt, runs in found[variant].runs.items()
                if rtt >= LONG
            ]
            for reading, variant in READINGS.items()
        }
        return self.fact(
            "D-3.5",
            "from 200 ms on, MPTCP's throughput is the second subflow's window divided by its RTT, within 10%",
            published="the study argues that the throughput B is about W2 / SRTT2 (section 4.3.2)",
            checks=checks,
            why=WHY,
            origin="ours",
        )


def _over_second(run: Run) -> float:
    """MPTCP's throughput relative to the mean of window / RTT of its second subflow."""
    times, windows = run.series("cwnd", flow="mptcp", path=SECOND)
    others, round_trips = run.series("srtt", flow="mptcp", path=SECOND)
    same, first, second = np.intersect1d(times, others, return_indices=True)
    inside = same > WARMUP
    return mptcp(run) / float((windows[first] / round_trips[second])[inside].mean() * 8 / 1e6)


def _rtts(effort: Effort) -> tuple[int, ...]:
    return effort.pick((1, 50, 200, 500), (1, 50, 200, 300, 500), (1, 25, 50, 100, 200, 300, 500))


def _ms(rtt: float) -> str:
    return f"{rtt:g} ms" if rtt > 1 else "< 1 ms"


def _ratios(one: Contest) -> str:
    return f"MPTCP / TCP {listed(one.ratio, _ms)}"


def _throughputs(one: Contest) -> str:
    return f"throughput of MPTCP {listed(one.mptcp, _ms)} Mb/s"


def _indices(one: Contest) -> str:
    return indices(one, _ms)


def _double(one: Contest) -> list[Check]:
    return [Check(_ms(rtt), found, Bound("ratio", 1.6, 2.4)) for rtt, found in one.ratio.items() if rtt < SHORT]


def _fairness(one: Contest) -> list[Check]:
    last = max(one.ratio)
    return [
        Check("below 1 ms", one.each(fairness, 1), Bound("good", 0.86, 0.94)),
        Check(_ms(last), one.each(fairness, last), Bound("bad", low=0.98)),
        Check(f"below 1 ms minus {_ms(last)}", one.steps(fairness, (last, 1), _ms, FALLS)[0].found, FALLS),
    ]


def _more(one: Contest) -> list[Check]:
    return [Check(_ms(rtt), found, MORE) for rtt, found in one.ratio.items() if rtt < SHORT]


def _less_beyond(one: Contest) -> list[Check]:
    return [Check(_ms(rtt), found, LESS) for rtt, found in one.ratio.items() if rtt > LONG]


def _least_fair_when_short(one: Contest) -> list[Check]:
    return [check for far in (LONG, 500) for check in one.steps(fairness, (far, 1), _ms, FALLS)]


def _over_time(runs: Sequence[Run]) -> dict[float, Estimate]:
    """By end time in s: the ratio of MPTCP to TCP from the warm-up until then, over the seeds."""
    ends = [end for end in (10, 20, 30, 60, 120, 300, 600) if end <= runs[0].scenario.duration]
    rows = [_ratios_until(run, ends) for run in runs]
    return {end: estimate(row[at] for row in rows) for at, end in enumerate(ends)}


def _ratios_until(run: Run, ends: Sequence[float]) -> list[float]:
    times, ours = run.series("goodput", flow="mptcp")
    _, theirs = run.series("goodput", flow="tcp")
    inside = [(times > WARMUP) & (times <= end) for end in ends]
    return [float(ours[rows].sum() / max(theirs[rows].sum(), 1)) for rows in inside]


def _times(measured: Measured) -> Picture:
    figure, (axes,) = figure_style.new_figure()
    for key, label, look in (
        (("time",), "RTT below 1 ms", figure_style.LOOKS["mptcp"]),
        (("LIA", LONG), "RTT 200 ms", figure_style.LOOKS["wifi"]),
    ):
        curve = _over_time(measured.runs(*key))
        figure_style.curve(
            axes, list(curve), [value.mean for value in curve.values()], label, look,
            spread=[value.half_width for value in curve.values()],
        )  # fmt: skip
    axes.axhline(1, color="#222222", linewidth=0.9, linestyle=":", label="theory for coupled controllers: 1")
    axes.set_xscale("log")
    axes.set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"])
    axes.minorticks_off()
    figure_style.finish(axes, x="end of the measured time [s]", y="MPTCP / TCP throughput", legend=None)
    figure.legend(loc="outside lower center", ncols=3)
    keys = {"RTT below 1 ms": ("time",), "RTT 200 ms": ("LIA", LONG)}
    why = under_distribution(figure, {label: multipath(measured.runs(*key), "mptcp") for label, key in keys.items()})
    caption = (
        "Throughput of MPTCP with LIA relative to TCP, against the end of the measured time, with one queue of 100 "
        "packets. The first 5 s are excluded."
    )
    return Picture("d1-time", caption, figure, why)


def _picture(  # noqa: PLR0913, RUF100 - what differs between both figures
    name: str, caption: str, found: Contests, rtts: tuple[int, ...], x: str, *, below: float = 0
) -> Picture:
    """The figure of a sweep of RTTs. In the study, MPTCP had twice TCP's throughput at RTTs below `below`, ms."""
    ticks = [(float(rtt), "<1" if rtt == 1 else str(rtt)) for rtt in rtts]
    return contest_picture(name, caption, found, x=x, ticks=ticks, doubled=[rtt for rtt in rtts if rtt < below])
