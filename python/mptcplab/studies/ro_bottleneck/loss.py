"""Experiments D2 and D4 of study D (Ro and Nguyen Van, IJCCE 2016): MPTCP and TCP on one link, with random loss.

D2 varies the loss rate of all flows (figures 7 and 8), D4 that of one subflow (figures 11 and 12). Owns the runs, the
verdicts on the paper's claims, and the figures.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.stats import formulas
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Point
from mptcplab.studies.ro_bottleneck.contest import (
    MORE,
    Contest,
    contest,
    contests,
    fact,
    fairness,
    first_share,
    indices,
    listed,
    points,
    ratio_of_ratios,
    ratios_fall,
)
from mptcplab.studies.ro_bottleneck.figures import contest_picture
from mptcplab.studies.ro_bottleneck.network import LINE, NAME, VARIANTS, scenario, seeds
from mptcplab.studies.verdicts import Bound, Check

SMALL = 0.0003
"""The smallest loss rate in the study, as a fraction."""
MODERATE = 0.03
"""The largest loss rate at which timeouts do not dominate."""
BOTH_WAYS = "LIA, acknowledgements lost too"


class Loss(Experiment):
    """Figures 7 and 8."""

    study = NAME
    name = "D2"
    title = "The same random loss for all flows"
    setup = (
        "The network of experiment D1, with RTTs below 1 ms: two MPTCP subflows and a TCP flow share a link of 100 "
        "Mb/s. The bridge drops 0 to 30% of the data packets of all flows. The study plots loss rates of four orders "
        "of magnitude, from 0.0003 to 0.3; here, one loss rate of each order is run. LIA with one queue is also run "
        "with the same loss rate for acknowledgements."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × losses × seeds, and LIA with losses in both directions."""
        yield from points(effort, _losses(effort), delay=False, one_sided=False)
        for loss in _losses(effort)[1:]:
            both = scenario(VARIANTS["LIA"], effort, loss=loss, both_ways=True)
            yield from (Point((BOTH_WAYS, loss), both, seed) for seed in seeds(effort))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims D-2.1 to D-2.4."""
        losses = _losses(effort)
        found = contests(measured, losses)
        facts = [
            fact(
                self, "D-2.1", "at a loss rate of at most 0.03%, MPTCP gets at least 1.6 times TCP's throughput",
                "extremely larger when the packet loss rate is small", found, _much_more, _ratios,
            ),
            fact(
                self, "D-2.2", "the ratio of MPTCP's to TCP's throughput falls with each higher loss rate",
                "the unbalance reduces gradually when the loss rate increases", found,
                lambda one: ratios_fall(one, _percent), _ratios,
                explanation=(
                    "at 30% loss, retransmission timeouts dominate, and each subflow has its own timer (RFC 9293, RFC "
                    "8684). So MPTCP's two subflows get twice the rate of TCP, with or without coupling."
                ),
            ),
            fact(
                self, "D-2.3", "Jain's index is 0.86 to 0.94 without loss, and at least 0.98 at 30% loss",
                "the shapes look like those of the first test", found, _fairness, _indices,
            ),
            self._both_ways(found["LIA"], contest(measured, (BOTH_WAYS,), losses[1:])),
        ]  # fmt: skip
        model = {
            loss: min(formulas.line_goodput(LINE * 1e6), formulas.pftk(loss, 0.001, acked=2)) / 1e6 for loss in losses
        }
        caption = (
            "Throughput and Jain's index against the loss rate of all flows (figures 7 and 8). The dashed curve shows "
            "TCP alone at an RTT of 1 ms by the model of Padhye et al. (b = 2). In this model, each loss without "
            "duplicate acknowledgements costs a timeout of 200 ms. Senders with selective acknowledgements and "
            "tail-loss probes are faster."
        )
        picture = contest_picture(
            "d2-loss", caption, found, x="loss rate of data packets, all flows", ticks=_ticks(losses),
            model=model,
        )  # fmt: skip
        return Outcome(facts, [picture])

    def _both_ways(self, data: Contest, both: Contest) -> Fact:
        return self.fact(
            "D-2.4",
            "with one queue and up to 3% loss, additional losses of acknowledgements change the ratio of MPTCP to TCP "
            "by at most a factor of 1.25",
            published="not a claim of the study, which does not specify the direction of the losses",
            checks=[
                Check(_percent(loss), ratio_of_ratios(both.runs[loss], data.runs[loss]), Bound("ratio", 0.8, 1.25))
                for loss in both.runs
                if loss <= MODERATE
            ],
            reason=(
                f"With losses in both directions: {_ratios(both)}; "
                f"throughput of MPTCP {listed(both.mptcp, _percent)} Mb/s."
            ),
            origin="ours",
        )


class OneLoss(Experiment):
    """Figures 11 and 12."""

    study = NAME
    name = "D4"
    title = "Random loss for the first subflow"
    setup = (
        "The network of experiment D2, with RTTs below 1 ms and random loss. The bridge drops only data packets of the "
        "first subflow of MPTCP."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Variants × losses × seeds."""
        return points(effort, _losses(effort), delay=False, one_sided=True)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims D-4.1a to D-4.1c."""
        losses = _losses(effort)
        found = contests(measured, losses)
        facts = [
            fact(
                self, "D-4.1a", "at a loss rate of at most 0.03%, MPTCP gets more throughput than TCP",
                "greater and more unfair than TCP in the good propagation condition", found, _more, _ratios,
            ),
            fact(
                self, "D-4.1b", (
                    "the ratio of MPTCP's to TCP's throughput falls with each higher loss rate of the first subflow"
                ), "gradually became weaker as the propagation became worse", found,
                lambda one: ratios_fall(one, _percent), _ratios,
            ),
            fact(
                self, "D-4.1c", "at a loss rate of 30%, the first subflow carries at most 5% of MPTCP's data",
                "the bad link has the lower priority (4.3.2)", found,
                lambda one: [
                    Check("first subflow's share", one.each(first_share, max(one.runs)), Bound("share", high=0.05))
                ],
                lambda one: "first subflow's share of the data "
                + ", ".join(f"{_percent(loss)} {value.mean:.1%}" for loss, value in one.first.items()),
            ),
        ]  # fmt: skip
        caption = (
            "Throughput and Jain's index against the loss rate of the first subflow (figures 11 and 12); the second "
            "subflow and TCP have no random loss."
        )
        picture = contest_picture(
            "d4-one-loss", caption, found, x="loss rate of data packets, first subflow", ticks=_ticks(losses),
        )  # fmt: skip
        return Outcome(facts, [picture])


def _losses(effort: Effort) -> tuple[float, ...]:
    every = (0.0, 0.0003, 0.003, 0.03, 0.3)
    return effort.pick((0.0, 0.003, 0.3), every, every)


def _percent(loss: float) -> str:
    return f"{loss * 100:g} %"


def _ticks(losses: tuple[float, ...]) -> list[tuple[float, str]]:
    return [(loss, _percent(loss)) for loss in losses]


def _ratios(one: Contest) -> str:
    return f"MPTCP / TCP {listed(one.ratio, _percent)}"


def _indices(one: Contest) -> str:
    return indices(one, _percent)


def _much_more(one: Contest) -> list[Check]:
    return [Check(_percent(at), found, Bound("ratio", low=1.6)) for at, found in one.ratio.items() if at <= SMALL]


def _more(one: Contest) -> list[Check]:
    return [Check(_percent(at), found, MORE) for at, found in one.ratio.items() if at <= SMALL]


def _fairness(one: Contest) -> list[Check]:
    return [
        Check("0%", one.each(fairness, 0.0), Bound("good", 0.86, 0.94)),
        Check("30%", one.each(fairness, max(one.runs)), Bound("bad", low=0.98)),
    ]
