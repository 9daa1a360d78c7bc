"""Controls of study A (Lim and Valdez, CS244 at Stanford, 2013): one stack on WiFi and 3G.

A control is not a claim of the study: it checks the simulator against an RFC, a formula or a scenario value. Here the
references are TCP's rate at random loss, RFC 6356's goals, and a full queue. M1 (opportunistic retransmission) and M2
(penalisation) must act if buffers are small.
"""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab.scenario.definition import Path, Scenario
from mptcplab.studies import controls
from mptcplab.studies.base import Effort, Key, Measured
from mptcplab.studies.controls import Claim, Claims, LossLimited
from mptcplab.studies.cs244_wireless.network import NAME
from mptcplab.studies.verdicts import Bound

LOSSY = LossLimited((12, 152), (0.006, 0.006 * 12 / 152))
"""The RTTs of WiFi and 3G. The product of loss rate and RTT is the same on both paths, so that each path matters."""
WIFI, CELLULAR = Path(rate="2Mbit", delay="6ms", queue="1000p"), Path(rate="2Mbit", delay="76ms", queue="1000p")
QUEUE, BUFFER = 1000, "200KB"


class WirelessControls(controls.Controls):
    """A-0.1 to A-0.8."""

    study = NAME
    name = "A0"
    title = "Controls on WiFi and 3G"
    setup = (
        "Not part of the study. For A-0.1 to A-0.4, links of 50 Mb/s have the RTTs of WiFi and 3G, and only random "
        "loss limits TCP (Reno) and LIA. The links lose 0.6% and 0.05% of the data, 1% and 0.02% for A-0.2, "
        "and 0.5% for A-0.3. For A-0.5, an application writes 1 Mb/s over WiFi and 3G without loss. For A-0.6 and "
        "A-0.7, buffers have 200 KB; penalisation (M2) is off for A-0.6, and on for A-0.7. For A-0.8, TCP fills WiFi's "
        "queue of 1000 packets."
    )

    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:  # noqa: ARG002
        """Loss-limited paths, an application's rate, a small buffer, a full queue."""
        both = {"wifi": WIFI, "3g": CELLULAR}
        lia = {"transport": "mptcp", "congestion": "lia"}
        found = LOSSY.scenarios() | LOSSY.greedy(0.01)
        found["slow",] = controls.flow("1 Mb/s", both, lia | {"rate": "1Mbit", "blocks": "8KB"}, seconds=30)
        small = lia | {"rcvbuf": BUFFER, "sndbuf": BUFFER}
        found["small",] = controls.flow("200 KB", both, small, seconds=30)
        found["small, no M2",] = controls.flow("200 KB, no M2", both, small | {"penalisation": False}, seconds=30)
        found["full",] = controls.flow("full queue", {"wifi": WIFI}, {"transport": "tcp"}, seconds=30)
        return found

    def claims(self, measured: Measured) -> Claims:
        """The claims, each with the formula, rule or setting that decides it."""
        yield Claim(
            "A-0.1",
            "LIA on both paths gets at least the rate of TCP on the best path",
            controls.GOAL_1,
            [LOSSY.total(measured, Bound("improves", low=controls.LEAST))],
        )
        yield Claim(
            "A-0.2",
            "LIA on both paths gets at most the rate of TCP on the best path",
            "RFC 6356 section 3: alpha makes both rates equal; within the fourth root of two",
            [LOSSY.no_more(measured, Bound("no more", high=controls.MOST))],
        )
        yield Claim(
            "A-0.3",
            "TCP follows the square-root law at random loss",
            controls.LAW,
            LOSSY.law(measured, Bound("of the law", controls.LAW_LEAST, controls.LAW_MOST)),
        )
        yield Claim(
            "A-0.4",
            "a receiver sends one acknowledgement per two segments, and an immediate one after a loss",
            "RFC 5681 section 4.2",
            [controls.acks(measured, "one", Bound("acks", controls.ACKS_LEAST, controls.ACKS_MOST), "tcp", "one")],
        )
        yield Claim(
            "A-0.5",
            "an application that needs half of the WiFi rate uses only WiFi",
            "the scheduler's rule: the path with the lowest RTT first, if its window has space",
            [controls.preferred(measured, "wifi", Bound("first", low=controls.FIRST), "slow")],
        )
        yield Claim(
            "A-0.6",
            "opportunistic retransmission (M1) sends data if buffers of 200 KB are full, without penalisation (M2)",
            controls.MECHANISM,
            [controls.repeated(measured, Bound("M1 acts", low=0, strict=True), "small, no M2")],
        )
        yield Claim(
            "A-0.7",
            "penalisation (M2) halves windows if buffers of 200 KB are full",
            controls.MECHANISM,
            [controls.penalised(measured, Bound("M2 acts", low=1), "small")],
        )
        yield Claim(
            "A-0.8",
            "TCP fills a queue of 1000 packets, up to its limit",
            "the configured limit",
            [
                controls.longest_queue(
                    measured, "wifi", QUEUE, Bound("of the limit", controls.QUEUE_LEAST, controls.QUEUE_MOST), "full"
                )
            ],
        )
