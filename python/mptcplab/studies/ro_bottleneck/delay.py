"""Experiments D1 and D3: round trips, of all (figures 5, 6) or of the first subflow alone (figures 9, 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mptcplab import plots
from mptcplab.results import Run
from mptcplab.statistics import Estimate, estimate
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.ro_bottleneck.contest import (
    MAIN,
    THEORY,
    Contest,
    Contests,
    above,
    contests,
    fact,
    falls,
    listed,
    points,
)
from mptcplab.studies.ro_bottleneck.figures import Says, contest_picture
from mptcplab.studies.ro_bottleneck.network import NAME, VARIANTS, WARMUP, scenario, seeds

SHORT = 100
"""ms below which the study calls a network good."""
LONG = 200


class Delay(Experiment):
    """Figures 5 and 6."""

    study = NAME
    name = "D1"
    title = "The same round trip for all"
    setup = (
        "MPTCP with two subflows over two interfaces and TCP (Reno) with one, all lines 100 Mb/s, one bottleneck "
        "behind the bridge. The bridge delays everything: round trips from under 1 to 500 ms, no random loss. Three "
        "variants. LIA, and Reno on each subflow, on one queue of 100 packets with Linux's buffer tuning. And LIA "
        "with ports in turn: the bottleneck serves its three ports by turns, as a switch with flow control does "
        "(here a third of the line for each, which nobody else gets when it is idle), no port's queue overflows, and "
        "buffers of 768 KB end the growth of the windows. Buffers and M2's rule of this last variant were chosen among "
        "several after looking at results: it shows what can explain the study, not what did. 5 seeds, 25 s "
        "after 5 s. LIA on one queue has two to ten minutes from 100 ms on, for with half a minute its ratio at 200 ms "
        "is still that of the slow starts (D-1.6); the others have half a minute everywhere (--full: all ten minutes). "
        "The study names neither queue nor buffers."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × round trips × seeds, and LIA on the short one for longer."""
        yield from points(effort, _rtts(effort), delay=True, one_sided=False)
        longer = scenario(VARIANTS[MAIN], effort, seconds=effort.pick(15, 120, 600))
        yield from (Point(("time",), longer, seed) for seed in seeds(effort))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Facts D-1.1 to D-1.6."""
        rtts = _rtts(effort)
        found = contests(measured, rtts)
        facts = [
            fact(
                self, "D-1.1", "MPTCP gets 1.6 to 2.4 times TCP's throughput at each round trip below 100 ms",
                "latencies less than 100 ms: approximately double", found, _double, theory=THEORY,
            ),
            fact(
                self, "D-1.2", "the ratio of MPTCP to TCP does not rise with the round trip and ends "
                "lower, both beyond the intervals", "MPTCP approached TCP as the RTT increased", found, _ratio_falls,
                theory=THEORY,
            ),
            fact(
                self, "D-1.3", "at 200 ms the ratio is 0.8 to 1.05, on average over the seeds",
                "a little less than TCP's at 200 ms", found, _even_at_long,
            ),
            fact(
                self, "D-1.4", "Jain's index is lowest below 100 ms, 0.86 to 0.94 there, and 0.98 or more at 500 ms",
                "best fairness in the bad condition, very close to 1", found, _fairness, theory=THEORY,
            ),
            fact(
                self, "D-1.5", "MPTCP's throughput falls with the round trip",
                "the performance of MPTCP decreased as the propagation delay increased", found, _throughput_falls,
                explanation="with LIA the line is full up to 50 ms whatever the delay, and MPTCP's half of it cannot "
                "fall. Below 1 ms the flows lose together, which costs LIA most.",
            ),
            self._time(measured, effort),
        ]  # fmt: skip
        caption = (
            "Throughput and Jain's index against the round trip of all flows (figures 5 and 6). Bands: what the study "
            "says in words, two shares and one below 100 ms, and near 1 at the worst."
        )
        pictures = [
            _picture("d1-delay", caption, found, rtts, "round trip of all flows [ms]", says="double"),
            _times(measured),
        ]
        return Outcome(facts, pictures)

    def _time(self, measured: Measured, effort: Effort) -> Fact:
        """Whether what is measured in half a minute is what more time would give."""
        curves = _over_times(measured)
        length = effort.pick(10, 30, 30)
        short = curves[1]
        return self.fact(
            "D-1.6",
            f"below 1 ms LIA's ratio over the first {length} s is within 0.15 of that over {max(short)} s",
            published="(not the study) ten minutes, five times",
            measured="; ".join(
                f"[{_ms(rtt)}] {listed(curve, lambda end: f'{end:g} s')}" for rtt, curve in curves.items()
            ),
            verdict=abs(short[length].mean - short[max(short)].mean) <= 0.15,
            reason="At 200 ms the ratio is that of the slow starts for minutes: who lost packets in it has little, and "
            "LIA grows back more slowly than Reno. So the long round trips are measured longer.",
        )


class OneDelay(Experiment):
    """Figures 9 and 10."""

    study = NAME
    name = "D3"
    title = "A longer round trip for the first subflow"
    setup = "As D1, but the bridge delays only the first subflow of MPTCP; the second and TCP stay under 1 ms."

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × round trips × seeds."""
        return points(effort, _rtts(effort), delay=True, one_sided=True)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Facts D-3.1 to D-3.4."""
        rtts = _rtts(effort)
        found = contests(measured, rtts)
        facts = [
            fact(
                self, "D-3.1", "MPTCP gets more than TCP at each round trip below 100 ms (the interval above 1)",
                "greater than that of the normal TCP when the difference is less than 100 ms", found, _more,
                theory=THEORY,
            ),
            fact(
                self, "D-3.2", "the ratio of MPTCP to TCP does not rise with the round trip and ends "
                "lower, both beyond the intervals", "gradually became more balanced", found, _ratio_falls,
                theory=THEORY,
            ),
            *self._beyond(found),
            fact(
                self, "D-3.4", "Jain's index is lowest at a round trip below 100 ms",
                "fairness is small when the difference is small", found, _least_fair_when_short, theory=THEORY,
            ),
        ]  # fmt: skip
        caption = (
            "Throughput and Jain's index against the round trip of the first subflow (figures 9 and 10); the second "
            "subflow and TCP stay under 1 ms."
        )
        return Outcome(
            facts, [_picture("d3-one-delay", caption, found, rtts, "round trip of the first subflow [ms]", says="more")]
        )

    def _beyond(self, found: Contests) -> list[Fact]:
        return [
            fact(
                self, "D-3.3a", "beyond 200 ms MPTCP gets less than TCP, on average over the seeds",
                "less than the TCP's throughput (4.3.2)", found, _less_beyond,
            ),
            fact(
                self, "D-3.3b", "MPTCP's throughput at 500 ms is below that at 200 ms, on average over the seeds",
                "decreased as the difference became greater over 200 ms", found, _falls_on,
                explanation="beyond 200 ms the first subflow carries less than 1 % whatever its delay, and the second "
                "does not feel it; what is left to fall is smaller than the spread over the seeds.",
            ),
        ]  # fmt: skip


def _rtts(effort: Effort) -> tuple[int, ...]:
    return effort.pick((1, 50, 200, 500), (1, 25, 50, 100, 200, 500), (1, 25, 50, 100, 200, 300, 500))


def _ms(rtt: float) -> str:
    return f"{rtt:g} ms" if rtt > 1 else "< 1 ms"


def _double(one: Contest) -> tuple[bool, str]:
    short = {rtt: value for rtt, value in one.ratio.items() if rtt < SHORT}
    return all(1.6 <= value.mean <= 2.4 for value in short.values()), f"ratio {listed(short, _ms)}"


def _ratio_falls(one: Contest) -> tuple[bool, str]:
    return falls(one.ratio), listed(one.ratio, _ms)


def _even_at_long(one: Contest) -> tuple[bool, str]:
    return 0.8 <= one.ratio[LONG].mean <= 1.05, str(one.ratio[LONG])


def _fairness(one: Contest) -> tuple[bool, str]:
    least = min(one.fairness, key=lambda rtt: one.fairness[rtt].mean)
    last = one.fairness[max(one.fairness)].mean
    return least < SHORT and 0.86 <= one.fairness[least].mean <= 0.94 and last >= 0.98, (
        f"least {one.fairness[least].mean:.3f} at {_ms(least)}, {last:.3f} at {_ms(max(one.fairness))}"
    )


def _throughput_falls(one: Contest) -> tuple[bool, str]:
    return falls(one.mptcp), f"{listed(one.mptcp, _ms)} Mb/s"


def _more(one: Contest) -> tuple[bool, str]:
    short = {rtt: value for rtt, value in one.ratio.items() if rtt < SHORT}
    return all(above(value, 1.0) for value in short.values()), f"ratio {listed(short, _ms)}"


def _less_beyond(one: Contest) -> tuple[bool, str]:
    far = {rtt: value for rtt, value in one.ratio.items() if rtt > LONG}
    return all(value.mean < 1 for value in far.values()), f"ratio {listed(far, _ms)}"


def _falls_on(one: Contest) -> tuple[bool, str]:
    last = max(one.mptcp)
    return one.mptcp[last].mean < one.mptcp[LONG].mean, (
        f"{one.mptcp[LONG]} Mb/s at 200 ms, {one.mptcp[last]} at {_ms(last)}"
    )


def _least_fair_when_short(one: Contest) -> tuple[bool, str]:
    least = min(one.fairness, key=lambda rtt: one.fairness[rtt].mean)
    return least < SHORT, f"least {one.fairness[least].mean:.3f} at {_ms(least)}"


def _over_times(measured: Measured) -> dict[int, dict[float, Estimate]]:
    return {1: _over_time(measured.runs("time")), LONG: _over_time(measured.runs(MAIN, LONG))}


def _over_time(runs: Sequence[Run]) -> dict[float, Estimate]:
    """The ratio measured from the warm-up to ever later ends, over the seeds."""
    curves = []
    for run in runs:
        times, ours = run.series("goodput", flow="mptcp")
        _, theirs = run.series("goodput", flow="tcp")
        ends = [end for end in (10, 20, 30, 60, 120, 300, 600) if end <= run.scenario.duration] or [
            int(run.scenario.duration)
        ]
        inside = {end: (times > WARMUP) & (times <= end) for end in ends}
        curves.append({end: float(ours[rows].sum() / theirs[rows].sum()) for end, rows in inside.items()})
    return {end: estimate(curve[end] for curve in curves) for end in curves[0]}


def _times(measured: Measured) -> Picture:
    figure, (axes,) = plots.new_figure()
    curves = _over_times(measured)
    for rtt, label, look in (
        (1, "round trip under 1 ms", plots.LOOKS["mptcp"]),
        (LONG, "round trip 200 ms", plots.LOOKS["wifi"]),
    ):
        curve = curves[rtt]
        plots.curve(
            axes, list(curve), [value.mean for value in curve.values()], label, look,
            spread=[value.half_width for value in curve.values()],
        )  # fmt: skip
    axes.axhline(1, color="#222222", linewidth=0.9, linestyle=":", label="theory of coupling: 1")
    axes.set_xscale("log")
    axes.set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"])
    axes.minorticks_off()
    plots.finish(axes, x="measured up to [s]", y="MPTCP / TCP throughput", legend="upper right")
    return Picture("d1-time", "LIA on 100 packets: the ratio against the time measured, less the first 5 s.", figure)


def _picture(name: str, caption: str, found: Contests, rtts: tuple[int, ...], x: str, *, says: Says) -> Picture:
    ticks = [(float(rtt), "<1" if rtt == 1 else str(rtt)) for rtt in rtts]
    return contest_picture(
        name, caption, found, x=x, ticks=ticks, says=says, small=sum(rtt < SHORT for rtt in rtts) - 1
    )
