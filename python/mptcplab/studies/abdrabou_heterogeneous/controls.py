"""Controls of study B (Abdrabou and Prakash, UAE University): a saturated WiFi cell, and four pairs of hosts with a
WiFi path and a dedicated link each.

A control is not a claim of the study: it checks the simulator against an RFC, a formula or a scenario value. Here the
references are Bianchi's model of 802.11, RFC 6356's first goal (`GOAL_1`), and the rate of acknowledgements. M1
(opportunistic retransmission) and M2 (penalisation) must act if buffers are small.
"""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab.scenario.definition import Scenario
from mptcplab.studies import controls
from mptcplab.studies.abdrabou_heterogeneous.network import LARGEST, NAME, Setup, total
from mptcplab.studies.base import Effort, Key, Measured
from mptcplab.studies.controls import SATURATED, Claim, Claims
from mptcplab.studies.verdicts import Bound, Check

STATIONS = (1, 5, 20)
MEGABYTES = 5
SMALL = 40
"""The second smallest receive buffer of the study, KB."""


class PairControls(controls.Controls):
    """B-0.1 to B-0.7."""

    study = NAME
    name = "B0"
    title = "Controls on WiFi and four pairs"
    setup = (
        "Not part of the study. B-0.1 to B-0.3 use one 802.11g cell at 54 Mb/s with 1, 5 and 20 saturated stations. "
        "For the other claims, the study's four pairs transfer files of 5 MB over 802.11n alone, over the dedicated "
        "links alone, and over both. The transfers over both are repeated with receive buffers of 40 KB."
    )

    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:  # noqa: ARG002
        """Saturated cells, and pairs."""
        found: dict[Key, Scenario] = {(SATURATED, n): controls.saturated(n, {}) for n in STATIONS}
        setups = {
            "both": Setup(megabytes=MEGABYTES),
            "wifi": Setup(dedicated=None, megabytes=MEGABYTES),
            "dedicated": Setup(wifi=False, megabytes=MEGABYTES),
            "small": Setup(buffer=SMALL, megabytes=MEGABYTES),
        }
        return found | {(name,): setup.scenario() for name, setup in setups.items()}

    def claims(self, measured: Measured) -> Claims:
        """The claims, each with the formula, rule or setting that decides it."""
        near = Bound("of Bianchi", controls.BIANCHI_LEAST, controls.BIANCHI_MOST)
        yield Claim(
            "B-0.1",
            "the throughput of 1 and 5 saturated stations follows Bianchi's model",
            "Bianchi 2000, within 5%",
            [controls.saturated_rate(measured, n, near) for n in STATIONS[:2]],
        )
        yield Claim(
            "B-0.2",
            "the throughput of 20 saturated stations follows Bianchi's model",
            "Bianchi 2000, within 5%",
            [controls.saturated_rate(measured, n, near) for n in STATIONS[2:]],
        )
        yield Claim(
            "B-0.3",
            "the collision probability of 5 and 20 saturated stations follows Bianchi's model",
            "Bianchi 2000, within 3 percentage points",
            [
                controls.collisions(measured, n, Bound("collisions", -controls.COLLIDES, controls.COLLIDES))
                for n in STATIONS[1:]
            ],
        )
        best = max(("wifi", "dedicated"), key=lambda name: measured.mean(total, name))
        gain = measured.ratio(total, ("both",), total, (best,))
        yield Claim(
            "B-0.4",
            f"with buffers of {LARGEST} KB, pairs with both links get at least the rate of the better link alone",
            controls.GOAL_1,
            [Check("both links / the better link", gain, Bound("improves", low=controls.LEAST))],
        )
        yield Claim(
            "B-0.5",
            f"opportunistic retransmission (M1) sends data with receive buffers of {SMALL} KB",
            controls.MECHANISM,
            [controls.repeated(measured, Bound("M1 acts", low=0, strict=True), "small")],
        )
        yield Claim(
            "B-0.6",
            f"penalisation (M2) halves windows with receive buffers of {SMALL} KB",
            controls.MECHANISM,
            [controls.penalised(measured, Bound("M2 acts", low=1), "small")],
        )
        yield Claim(
            "B-0.7",
            "a receiver sends one acknowledgement per two segments, and an immediate one after a loss",
            "RFC 5681 section 4.2",
            [
                controls.acks(
                    measured,
                    "own1",
                    Bound("acks", controls.ACKS_LEAST, controls.ACKS_MOST),
                    "dedicated",
                    data="backward",
                )
            ],
        )
