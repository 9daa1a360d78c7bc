"""Controls of study E (Barlow-Bignell et al., UCL, 2013): saturated cells, and a client with two interfaces.

A control is not a claim of the study: it checks the simulator against an RFC, a formula or a scenario value. Here the
references are Bianchi's model of 802.11, RFC 6356's goals, the rate of acknowledgements, and the limit of a queue.
"""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab.scenario.definition import Scenario
from mptcplab.studies import controls
from mptcplab.studies.base import Effort, Key, Measured
from mptcplab.studies.controls import SATURATED, Claim, Claims
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, NAME, SLOTS, Setup, interface, mbps, single
from mptcplab.studies.verdicts import Bound, Check

STATIONS = (1, 5, 20)
"""Saturated stations in a cell."""
CELL = {"wpa2": True, **SLOTS}
ON_AIR = {"wpa2": True, "protection": True}
QUEUE = 100
"""Packets: the queue of an access point."""


class RadioControls(controls.Controls):
    """E-0.1 to E-0.8."""

    study = NAME
    name = "E0"
    title = "Controls on two access points"
    setup = (
        "These claims are not part of the study. E-0.1 to E-0.3 use one 802.11g cell with the study's encryption and "
        "protection, and with 1, 5 or 20 saturated stations. The other claims use downlinks at 2.4 and 5 GHz. A client "
        "with two interfaces and LIA runs alone, a client with TCP runs alone on each network, and all of them run "
        "together. For E-0.7, cards lose nothing. For E-0.8, the RTT of the second network is 100 ms longer, and an "
        "application writes 5 Mb/s."
    )

    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:
        """Saturated cells, and clients."""
        seconds = effort.pick(12, 30, 60)
        found: dict[Key, Scenario] = {(SATURATED, n): controls.saturated(n, CELL) for n in STATIONS}
        for at in BOTH:
            found["alone", at] = Setup("cross", "download", dual=False, singles=(at,), seconds=seconds).scenario()
        found["idle",] = Setup("cross", "download", singles=(), seconds=seconds).scenario()
        found["shared",] = Setup("cross", "download", seconds=effort.pick(12, 40, 60)).scenario()
        full = Setup(
            "cross",
            "download",
            dual=False,
            singles=("1",),
            loss="0%",
            seconds=20,
            flow={"rcvbuf": "4MB", "sndbuf": "4MB"},
        )
        found["full",] = full.scenario()
        slow = Setup("cross", "download", singles=(), loss="0%", seconds=20, flow={"rate": "5Mbit", "blocks": "8KB"})
        found["slow",] = slow.scenario().vary({"links.lan2.delay": "52.5ms"})
        return found

    def claims(self, measured: Measured) -> Claims:
        """The claims, each with the formula, rule or setting that decides it."""
        near = Bound("of Bianchi", controls.BIANCHI_LEAST, controls.BIANCHI_MOST)
        yield Claim(
            "E-0.1",
            "the throughput of 1 and 5 saturated stations follows Bianchi's model",
            "Bianchi 2000, within 5%",
            [controls.saturated_rate(measured, n, near, **ON_AIR) for n in STATIONS[:2]],
        )
        yield Claim(
            "E-0.2",
            "the throughput of 20 saturated stations follows Bianchi's model",
            "Bianchi 2000, within 5%",
            [controls.saturated_rate(measured, n, near, **ON_AIR) for n in STATIONS[2:]],
        )
        yield Claim(
            "E-0.3",
            "the collision probability of 5 and 20 saturated stations follows Bianchi's model",
            "Bianchi 2000, within 3 percentage points",
            [
                controls.collisions(measured, n, Bound("collisions", -controls.COLLIDES, controls.COLLIDES), **ON_AIR)
                for n in STATIONS[1:]
            ],
        )
        best = max(BOTH, key=lambda at: measured.mean(mbps(single(at)), "alone", at))
        gain = measured.ratio(mbps(DUAL), ("idle",), mbps(single(best)), ("alone", best))
        yield Claim(
            "E-0.4",
            "on idle networks, MPTCP with LIA gets at least the rate of TCP on the better network",
            controls.GOAL_1,
            [Check("LIA / TCP on the best network", gain, Bound("improves", low=controls.LEAST))],
        )
        comparison = max(BOTH, key=lambda at: measured.mean(mbps(single(at)), "shared"))
        share = measured.ratio(mbps(DUAL), ("shared",), mbps(single(comparison)), ("shared",))
        yield Claim(
            "E-0.5",
            "if all flows run together, MPTCP with LIA gets at most the rate of the faster single flow",
            controls.GOAL_2,
            [Check("LIA / faster single flow", share, Bound("no harm", high=controls.MOST))],
        )
        yield Claim(
            "E-0.6",
            "a receiver sends one acknowledgement per two segments, and an immediate one after a loss",
            "RFC 5681 section 4.2",
            [
                controls.acks(
                    measured,
                    "lan1",
                    Bound("acks", controls.ACKS_LEAST, controls.ACKS_MOST),
                    "alone",
                    "1",
                    data="backward",
                )
            ],
        )
        full = Bound("of the limit", controls.QUEUE_LEAST, controls.QUEUE_MOST)
        yield Claim(
            "E-0.7",
            "TCP fills the access point's queue of 100 packets up to its limit",
            "the configured limit of the queue",
            [controls.longest_queue(measured, f"if-{single('1')}", QUEUE, full, "full", direction="backward")],
        )
        yield Claim(
            "E-0.8",
            "an application whose rate fits into one network uses only the network with the lower RTT",
            "the scheduler's rule: the path with the lowest RTT first, if its window has space",
            [controls.preferred(measured, interface("1"), Bound("first", low=controls.FIRST), "slow", of=DUAL)],
        )
