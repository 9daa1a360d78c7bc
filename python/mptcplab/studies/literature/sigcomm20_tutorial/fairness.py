"""Experiment F5 of study F (hands-on lab of the SIGCOMM 2020 tutorial): fairness to TCP at two bottlenecks.

Owns the runs, the verdicts on the lab's fifth section, and the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Flow, Scenario
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.measures import near
from mptcplab.studies.literature.sigcomm20_tutorial.network import NAME, STACK
from mptcplab.studies.verdicts import Bound, Check

VARIANTS = {
    ("reno", 1): "Reno, 1 subflow per path",
    ("olia", 1): "OLIA, 1 subflow per path",
    ("reno", 4): "Reno, 4 subflows per path",
    ("olia", 4): "OLIA, 4 subflows per path",
}
PHASES = ((0, 10, 40.0), (10, 20, 30.0), (20, 30, 20.0), (30, 40, 30.0), (40, 50, 40.0))
"""Start and end in s of each phase, and the published rate of MPTCP in Mb/s."""
HALF = 10.0
"""The published rate of a TCP flow in Mb/s: half of its bottleneck."""
ACTIVE = {"tcp-1": (10, 30), "tcp-2": (20, 40)}
"""Start and end of each TCP flow, s."""


def rate_between(flow: str, start: float, end: float) -> Callable[[Run], float]:
    """Goodput of a flow between two times in s, Mb/s."""

    def value(run: Run) -> float:
        times, values = run.series("goodput", flow=flow)
        return float(values[(times > start + 1e-9) & (times <= end + 1e-9)].sum()) / (end - start) / 1e6

    return value


def network(subflows: int) -> dict[str, Any]:
    """Two bottlenecks between a multihomed client and a server, each shared with one TCP client."""
    fast = {"rate": "1Gbit", "queue": "1000p"}
    links: dict[str, Any] = {
        "upper": {"ends": ["u", "r"], "rate": "20Mbit", "rtt": "20ms", "queue": "40p"},
        "lower": {"ends": ["l", "r"], "rate": "20Mbit", "rtt": "80ms", "queue": "160p"},
        "r": {"ends": ["r", "server"], **fast},
        "c1": {"ends": ["client-1", "u"], **fast},
        "c2": {"ends": ["client-2", "l"], **fast},
    }
    for number in range(1, subflows + 1):
        links[f"u{number}"] = {"ends": ["client", "u"], **fast}
        links[f"l{number}"] = {"ends": ["client", "l"], **fast}
    return links


def scenario(controller: str, subflows: int) -> Scenario:
    """MPTCP for 50 s, and two TCP flows of 20 s at 10 s and 20 s."""
    tcp = STACK | {"transport": "tcp", "congestion": "reno"}
    single = {
        name: Flow(from_=f"client-{name[-1]}", start=f"{start}s", stop=f"{end}s", more=tcp)
        for name, (start, end) in ACTIVE.items()
    }
    return Scenario(
        name=VARIANTS[controller, subflows],
        duration="50s",
        sample="1s",
        links=network(subflows),
        flows={"mptcp": Flow(more=STACK | {"congestion": controller}), **single},
    )


class Fairness(Experiment):
    """Section 5 of the lab."""

    study = NAME
    name = "F5"
    title = "Fairness to TCP at two bottlenecks"
    setup = (
        "Two bottlenecks of 20 Mb/s have RTTs of 20 and 80 ms and queues of 40 and 160 packets. MPTCP uses both for "
        "50 s. A TCP flow uses the first from 10 to 30 s, and another the second from 20 to 40 s. MPTCP runs with Reno "
        "and OLIA, with one and four subflows per bottleneck. TCP runs with Reno. Rates are means over phases of 10 s."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Controllers × subflows × seeds."""
        for controller, subflows in VARIANTS:
            each = scenario(controller, subflows)
            for seed in effort.seeds(2, 8, 20):
                yield Point((controller, subflows), each, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims F-5.1 to F-5.6."""

        def tcp(key: tuple[str, int], bound: Bound) -> list[Check]:
            return [
                Check(
                    f"{name} with {key[0]} × {key[1]}",
                    measured.interval(rate_between(name, *window), *key),
                    bound,
                    "Mb/s",
                )
                for name, window in ACTIVE.items()
            ]

        def less(name: str, other: tuple[str, int]) -> Check:
            value = rate_between(name, *ACTIVE[name])
            found = measured.ratio(value, ("reno", 4), value, other, paired=False)
            return Check(f"{name}, reno × 4 / {other[0]} × {other[1]}", found, Bound("share", high=1.0, strict=True))

        slow = [measured.mean(rate_between("tcp-2", at, at + 10), "reno", 1) for at in (20, 30)]
        growth = (
            f"With Reno, tcp-2 gets {slow[0]:.1f} Mb/s in its first 10 s and {slow[1]:.1f} Mb/s in its last 10 s. Its "
            "window grows slowly, because the RTT is 80 ms without and up to 180 ms with a full queue."
        )
        pooled = (
            "OLIA balances congestion over both bottlenecks. A free bottleneck attracts MPTCP, which leaves the other "
            "one to TCP. If both TCP flows run, three equal shares of 40 Mb/s are 13.3 Mb/s each."
        )
        half = near("half", HALF)
        facts: list[Fact] = [
            *(
                self.fact(
                    f"F-5.{number}",
                    f"with {controller} and one subflow per path, MPTCP has 40, 30, 20, 30 and 40 Mb/s within 20%",
                    published="40, 30, 20, 30 and 40 Mb/s in the five phases",
                    checks=self._phases(measured, (controller, 1)),
                    reason=growth if controller == "reno" else "",
                    explanation=pooled if controller == "olia" else "",
                )
                for number, controller in ((1, "reno"), (2, "olia"))
            ),
            self.fact(
                "F-5.3",
                "with one subflow per path, each TCP flow gets half of its bottleneck within 20%",
                published="half of the capacity of the bottleneck",
                checks=[*tcp(("reno", 1), half), *tcp(("olia", 1), half)],
                reason=growth,
                explanation=pooled,
            ),
            self.fact(
                "F-5.4",
                "with four subflows per path, Reno leaves TCP less than with one subflow, and less than OLIA does",
                published="unfair to single-path flows; no number",
                checks=[less(name, other) for other in (("reno", 1), ("olia", 4)) for name in ACTIVE],
            ),
            self.fact(
                "F-5.5",
                "with four subflows per path and OLIA, each TCP flow gets half of its bottleneck within 20%",
                published="the subflows of one bottleneck together get as much as one TCP flow",
                checks=tcp(("olia", 4), half),
                explanation=pooled,
            ),
            self.fact(
                "F-5.6",
                "with four subflows per path and Reno, each TCP flow gets a fifth of its bottleneck within 20%",
                published="five TCP connections compete for a bottleneck; no number",
                origin="ours",
                checks=tcp(("reno", 4), near("fifth", 4.0)),
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _phases(self, measured: Measured, key: tuple[str, int]) -> list[Check]:
        return [
            Check(
                f"{start} to {end} s",
                measured.interval(rate_between("mptcp", start, end), *key),
                near(f"{wanted:g} Mb/s", wanted),
                "Mb/s",
            )
            for start, end, wanted in PHASES
        ]

    def _picture(self, measured: Measured) -> Picture:
        figure, panels = figure_style.new_figure(columns=2, rows=2, width=4.6, height=3.0, share_y=True)
        looks = figure_style.looks(["mptcp", "olia", "reno"])
        for at, (axes, (key, words)) in enumerate(zip(panels, VARIANTS.items(), strict=True)):
            flows: Sequence[str] = ("mptcp", *ACTIVE)
            for look, flow in zip(looks.values(), flows, strict=True):
                times, values = measured.one(*key).series("goodput", flow=flow)
                label = "MPTCP" if flow == "mptcp" else f"TCP at bottleneck {flow[-1]}"
                figure_style.curve(axes, times, values / 1e6, label, look, markers=10)
            for start, end, wanted in PHASES:
                axes.hlines(
                    wanted, start, end, color=figure_style.PUBLISHED, linewidth=1.4,
                    label="published for MPTCP" if start == 0 else "",
                )  # fmt: skip
            bottom, left = at >= 2, at % 2 == 0
            figure_style.finish(
                axes,
                x="time [s]" if bottom else "",
                y="goodput [Mb/s]" if left else "",
                title=words,
                legend=None,
                top=45,
            )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        caption = "Goodput of MPTCP and of two TCP flows at two bottlenecks, in bins of 1 s, one run per variant."
        return Picture("f5-fairness", caption, figure)
