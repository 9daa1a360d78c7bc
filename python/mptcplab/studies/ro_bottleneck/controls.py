"""Controls of study D (Ro and Nguyen Van, IJCCE 2016): LIA and TCP on a shared link.

A control is not a claim of the study: it checks the simulator against an RFC, a formula or a scenario value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mptcplab.results.run import Run
from mptcplab.scenario.definition import Path, Scenario
from mptcplab.stats import formulas
from mptcplab.stats.statistics import Interval
from mptcplab.studies import controls
from mptcplab.studies.base import Effort, Key, Measured
from mptcplab.studies.controls import Claim, Claims
from mptcplab.studies.ro_bottleneck.network import BASE_RTT, FIRST, NAME, QUEUE, SECOND, SINGLE, VARIANTS, scenario
from mptcplab.studies.verdicts import Bound, Check

RTT, LOSS = 50, 0.003
"""RTT in ms and loss rate of data segments: values of experiments D1 and D2."""
SECONDS = 60
ALPHAS = (0.5, 1, 2)
"""Factors on LIA's alpha; 1 is RFC 6356."""
LONG = {f"links.{line}.delay": f"{(RTT - 0.2) / 2:g}ms" for line in (FIRST, SECOND, SINGLE)}
NARROW = {"links.bottleneck.rate": "10Mbit", "links.bottleneck.queue": "20p"}
"""A bottleneck of a low rate, which is cheap to simulate."""


class SharedControls(controls.Controls):
    """D-0.1 to D-0.8."""

    study = NAME
    name = "D0"
    title = "Controls on the shared link"
    setup = (
        "These claims are not part of the study. On its topology, an MPTCP flow with LIA competes with a TCP flow. For "
        "D-0.1 to D-0.5, an RTT of 50 ms and 0.3% random loss limit both flows. LIA's alpha is that of RFC 6356, "
        "half of it, or twice it. For D-0.6, both flows fill a link of 10 Mb/s with a queue of 20 packets, at an RTT "
        "of 20 ms. For D-0.7, an application writes 5 Mb/s over paths with RTTs of 0.4 and 200 ms. D-0.8 uses the run "
        "of D1 without delay."
    )

    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:
        """Random loss and a full link, each with three alphas, an application's rate, and the study's queue."""
        lia = VARIANTS["LIA"]
        found: dict[Key, Scenario] = {}
        for alpha in ALPHAS:
            lossy = scenario(lia, effort, loss=LOSS, seconds=4 * SECONDS).vary(LONG)
            full = scenario(lia, effort, rtt=20, seconds=SECONDS).vary(NARROW)
            scale = {"flows.mptcp.congestion": f'{{ kind = "lia", alpha_scale = {alpha:g} }}'} if alpha != 1 else {}
            found["lossy", alpha], found["full", alpha] = lossy.vary(scale), full.vary(scale)
        both = {
            name: Path(rate="20Mbit", rtt=f"{rtt:g}ms", queue="100p")
            for name, rtt in ((SECOND, BASE_RTT), (FIRST, 200))
        }
        keys = {"transport": "mptcp", "congestion": "lia", "rate": "5Mbit", "blocks": "8KB"}
        found["slow",] = controls.flow("5 Mb/s", both, keys, seconds=30)
        found["queue",] = scenario(lia, effort)
        return found

    def seeds(self, effort: Effort) -> range:
        """The seeds of a point: a given block of seeds; otherwise 2, 5 or 10 by effort, more if undecided."""
        return effort.seeds(2, 5, 10)

    def claims(self, measured: Measured) -> Claims:
        """The claims, each with the formula, rule or setting that decides it."""

        def taken(where: str, alpha: float) -> Interval:
            return measured.ratio(_rate("mptcp"), (where, alpha), _rate("tcp"), (where, alpha))

        def share(where: str, alpha: float, bound: Bound) -> Check:
            return Check(f"LIA / TCP, alpha {alpha:g}", taken(where, alpha), bound)

        yield Claim(
            "D-0.1",
            "with random loss, MPTCP with LIA gets at least the rate of TCP",
            controls.GOAL_1,
            [share("lossy", 1, Bound("improves", low=controls.LEAST))],
        )
        yield Claim(
            "D-0.2",
            "with random loss, MPTCP with LIA gets no more than the rate of TCP",
            controls.GOAL_2,
            [share("lossy", 1, Bound("no harm", high=controls.MOST))],
        )
        roots = {alpha: alpha**0.5 for alpha in ALPHAS if alpha != 1}
        yield Claim(
            "D-0.3",
            "half of LIA's alpha changes the rate by the square root of 1/2, and twice alpha by the square root of 2",
            "on equal paths with a fixed loss rate p, LIA's window is sqrt(2 alpha / p)",
            [
                Check(
                    f"LIA / TCP / root of alpha, alpha {alpha:g}",
                    controls.over(taken("lossy", alpha), root),
                    Bound("of the root", controls.LEAST, controls.MOST),
                )
                for alpha, root in roots.items()
            ],
        )
        law = formulas.random_loss_law(LOSS, RTT / 1e3, acked=2)
        yield Claim(
            "D-0.4",
            "with random loss, the rate of TCP follows the square-root law",
            controls.LAW,
            [
                Check(
                    f"TCP / law, {RTT} ms, {LOSS:.2%} loss",
                    controls.over(measured.interval(_rate("tcp"), "lossy", 1), law),
                    Bound("of the law", controls.LAW_LEAST, controls.LAW_MOST),
                )
            ],
        )
        yield Claim(
            "D-0.5",
            "a receiver sends one acknowledgement per two segments, and an immediate one after a loss",
            "RFC 5681 section 4.2",
            [controls.acks(measured, SINGLE, Bound("acks", controls.ACKS_LEAST, controls.ACKS_MOST), "lossy", 1)],
        )
        yield Claim(
            "D-0.6",
            "on a saturated link of 10 Mb/s, MPTCP with LIA gets no more than the rate of TCP",
            controls.GOAL_2,
            [share("full", 1, Bound("no harm", high=controls.MOST))],
        )
        yield Claim(
            "D-0.7",
            "an application that needs a quarter of the rate of the path with the lower RTT uses only that path",
            "the scheduler's rule: the path with the lowest RTT first, if its window has space",
            [controls.preferred(measured, SECOND, Bound("first", low=controls.FIRST), "slow")],
        )
        yield Claim(
            "D-0.8",
            "two subflows and a TCP flow fill the queue of 100 packets up to its limit",
            "the configured limit of the queue",
            [
                controls.longest_queue(
                    measured,
                    "bottleneck",
                    QUEUE,
                    Bound("of the limit", controls.QUEUE_LEAST, controls.QUEUE_MOST),
                    "queue",
                )
            ],
        )


def _rate(name: str) -> Callable[[Run], float]:
    def value(run: Run) -> float:
        return run.flow(name)["goodput"]

    return value
