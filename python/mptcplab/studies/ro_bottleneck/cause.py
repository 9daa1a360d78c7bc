"""Experiment D5 of study D (Ro and Nguyen Van, IJCCE 2016): the conclusion of the study, and why MPTCP gets twice the
throughput of TCP.

In theory, MPTCP with LIA gets no more than TCP at a shared bottleneck. The study does not specify the queue of the
bottleneck, so this experiment varies both queue and controller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import multipath, of_flows
from mptcplab.studies.published import Published
from mptcplab.studies.ro_bottleneck.contest import (
    CONTROLS,
    LESS,
    Contest,
    Contests,
    contest,
    contests,
    fact,
    ratio_of_ratios,
)
from mptcplab.studies.ro_bottleneck.network import NAME, VARIANTS, Variant, scenario, seeds
from mptcplab.studies.verdicts import Bound, Check

CONTROLLERS = ("lia", "olia", "balia", "wvegas", "reno", "cubic")
"""Controllers of the MPTCP flow in the sweep; TCP uses Reno."""
COUPLED = ("lia", "olia", "balia", "wvegas")
"""Controllers that are designed to take no more than one TCP flow."""
QUEUES = (20, 50, 100, 1000)
SHALLOW = 100
"""Packets: the largest queue that drops before buffer tuning limits the windows."""

GOOD, LONG, LOSSY, ONE_LONG, ONE_LOSSY = range(5)
CONDITIONS: dict[float, dict[str, Any]] = {
    GOOD: {},
    LONG: {"rtt": 500},
    LOSSY: {"loss": 0.3},
    ONE_LONG: {"rtt": 500, "one_sided": True},
    ONE_LOSSY: {"loss": 0.3, "one_sided": True},
}
"""The best and the worst network of each experiment D1 to D4."""

DOUBLE = Published("published for a short RTT: twice TCP", "mptcp_over_tcp", level=2)


def is_judged(controller: str, queue: int) -> bool:
    """Whether a claim uses this point of the sweep; the others are for comparison."""
    return controller in (*COUPLED, "reno") and queue <= SHALLOW


class Cause(Experiment):
    """The conclusion of the study, and a sweep beyond it."""

    study = NAME
    name = "D5"
    title = "The conclusion of the study, and the effect of queue and controller"
    published = (DOUBLE,)
    setup = (
        "The best and the worst network of each experiment D1 to D4 are run again, because the study's conclusion is "
        "about all of them. Beyond the study, the bottleneck then has a queue of 20, 50, 100 or 1000 packets, MPTCP "
        "uses each controller, and TCP uses Reno. These runs have an RTT below 1 ms and Linux's buffer tuning. Each "
        "lasts 30 s (--full: 2 minutes)."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × conditions and controllers × queues, with all seeds."""
        for name, variant in VARIANTS.items():
            for condition, what in CONDITIONS.items():
                one = scenario(variant, effort, **what)
                control = name in CONTROLS.values()
                yield from (Point((name, condition), one, seed) for seed in seeds(effort, control=control))
        for controller in CONTROLLERS:
            for queue in _queues(effort):
                one = scenario(Variant(controller, queue), effort, seconds=effort.pick(8, 30, 120))
                control = not is_judged(controller, queue)
                yield from (Point((controller, queue), one, seed) for seed in seeds(effort, control=control))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims D-5.1 to D-5.5."""
        found = contests(measured, list(CONDITIONS))
        swept = {controller: contest(measured, (controller,), _queues(effort)) for controller in CONTROLLERS}
        return Outcome([*self._conclusion(found), *self._theory(swept)], [_sweep(swept)])

    def _conclusion(self, found: Contests) -> list[Fact]:
        return [
            fact(
                self, "D-5.1", "with an RTT below 1 ms and without loss, MPTCP gets at least TCP's throughput",
                "outstanding in a local area network with small latency and loss", found,
                lambda one: [Check("MPTCP / TCP", one.ratio[GOOD], Bound("ratio", low=1))], _words,
            ),
            fact(
                self, "D-5.2", (
                    "with an RTT of 500 ms or 30% loss, for all flows or only for the first subflow, MPTCP gets no "
                    "more throughput than TCP"
                ),
                "with high latency or congestion not better than TCP", found,
                lambda one: [Check(name, one.ratio[at], Bound("ratio", high=1)) for name, at in _WORST.items()],
                _words,
            ),
            fact(
                self, "D-5.3", (
                    "an RTT of 500 ms or 30% loss, for all flows or only for the first subflow, lowers the ratio of "
                    "MPTCP's to TCP's throughput"
                ),
                "the behaviour was the same in both the homogeneous and heterogeneous networks", found,
                lambda one: [
                    Check(name, ratio_of_ratios(one.runs[at], one.runs[GOOD]), LESS)
                    for name, at in _WORST.items()
                ], _words,
            ),
        ]  # fmt: skip

    def _theory(self, swept: Contests) -> list[Fact]:
        def checks(controllers: Sequence[str], bound: Bound) -> list[Check]:
            return [
                Check(f"{controller}, {queue:g} packets", found, bound)
                for controller in controllers
                for queue, found in swept[controller].ratio.items()
                if queue <= SHALLOW
            ]

        return [
            self.fact(
                "D-5.4",
                "with a coupled controller, MPTCP gets at most 1.2 times TCP's throughput on queues of 20 to 100 "
                "packets",
                published="RFC 6356 (not the study): MPTCP takes no more than one TCP flow at a bottleneck",
                checks=checks(COUPLED, Bound("ratio", high=1.2)),
                origin="ours",
                reason=(
                    "If a full queue drops packets of all flows at once, each flow halves its window. The total window "
                    "of MPTCP with LIA then grows half as fast as TCP's, so the ratio stays below 1. If losses affect "
                    "random packets, the ratio is 1 (see D2)."
                ),
            ),
            self.fact(
                "D-5.5",
                "with Reno on each subflow, MPTCP gets 1.6 to 2.4 times TCP's throughput on queues of 20 to 100 "
                "packets",
                published="expected for three independent flows (not from the study): two shares for MPTCP, and one "
                "for TCP",
                checks=checks(("reno",), Bound("ratio", 1.6, 2.4)),
                origin="ours",
            ),
        ]


def _queues(effort: Effort) -> tuple[int, ...]:
    return effort.pick((20, 100), (20, 100, 1000), QUEUES)


def _words(one: Contest) -> str:
    names = {GOOD: "RTT below 1 ms"} | {at: name for name, at in _WORST.items()}
    return "MPTCP / TCP: " + ", ".join(f"{names[int(at)]} {found}" for at, found in one.ratio.items())


_WORST = {
    "RTT of 500 ms for all flows": LONG,
    "30% loss for all flows": LOSSY,
    "RTT of 500 ms for one subflow": ONE_LONG,
    "30% loss for one subflow": ONE_LOSSY,
}


def _sweep(swept: Contests) -> Picture:
    figure, (axes,) = figure_style.new_figure(height=4.0)
    queues = list(swept[CONTROLLERS[0]].ratio)
    places = list(range(len(queues)))
    for controller, look in figure_style.looks(CONTROLLERS).items():
        ratios = [swept[controller].ratio[queue] for queue in queues]
        figure_style.curve(
            axes, places, [value.mean for value in ratios], controller, look,
            spread=[(value.high - value.low) / 2 for value in ratios],
        )  # fmt: skip
    DOUBLE.draw(axes)
    axes.axhline(1, color="#222222", linewidth=0.9, linestyle=":", label="theory for coupled controllers: 1")
    axes.set_xticks(places, [f"{queue:g}" for queue in queues])
    figure_style.finish(axes, x="queue of the bottleneck [packets]", y="MPTCP / TCP throughput", legend=None, top=4)
    figure.legend(loc="outside lower center", ncols=4)
    caption = (
        "MPTCP's throughput relative to TCP (Reno) with an RTT below 1 ms, by the queue of the bottleneck and by "
        "MPTCP's controller. The study has no such figure."
    )
    if 1000 in queues:
        caption += (
            " A queue of 1000 packets drops nothing before Linux's buffer tuning stops the growth of the windows. A "
            "connection has one receive window for any number of subflows, so MPTCP and TCP get the same throughput."
        )
    held = [
        of_flows(
            controller, {queue: multipath(one.runs[queue], "mptcp") for queue in queues}, say="packets",
            places=figure_style.bar_places(len(queues), at, len(swept)),
        )
        for at, (controller, one) in enumerate(swept.items())
    ]  # fmt: skip
    return Picture("d5-queue", caption, figure, explain(figure, {axes: held}, bars=figure_style.bar_width(len(swept))))
