"""Controls of study C (the CS244 report of 2014 on receive buffers): one stack on its WiFi and 3G paths.

A control is not a claim of the study: it checks the simulator against an RFC, a formula or a scenario value. Here the
references are TCP's rate at random loss, RFC 6356's goals, and full queues. M1 (opportunistic retransmission) and M2
(penalisation) must act at a window of 100 KB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mptcplab.results.run import Run
from mptcplab.scenario.definition import Scenario
from mptcplab.studies import controls
from mptcplab.studies.base import Effort, Key, Measured, goodput
from mptcplab.studies.controls import Claim, Claims, LossLimited
from mptcplab.studies.cs244_rcvbuf.network import MAIN, MECHANISMS, NAME, READINGS, mptcp, paths, tcp
from mptcplab.studies.verdicts import Bound, Check

LOSSY = LossLimited((20, 150), (0.006, 0.006 * 20 / 150))
"""The study's RTTs. The product of loss rate and RTT is the same on both paths, so that each path matters."""
EQUAL = LossLimited((20, 20), (0.012, 0.003))
"""Equal RTTs, and a path with four times the loss: on it, TCP gets half the rate, and LIA a quarter."""
SHIFTS = 2.8
"""The bound between LIA's rate ratio of four and TCP's of two: the root of eight."""
SIZE = 100
"""Window in KB: the paths need 187 KB together, and 3G's queue alone holds 500 KB."""
QUEUES = dict(zip(("wifi", "3g"), READINGS[MAIN], strict=True))


class BufferControls(controls.Controls):
    """C-0.1 to C-0.10."""

    study = NAME
    name = "C0"
    title = "Controls on two paths"
    setup = (
        "Not part of the study. For C-0.1, C-0.2, C-0.4 and C-0.5, links of 50 Mb/s have the study's RTTs, and only "
        "random loss limits TCP (Reno) and LIA. The links lose 0.6% and 0.08% of the data, 0.6% and 0.03% for C-0.2, "
        "and 0.5% for C-0.4. For C-0.3, two paths with RTTs of 20 ms lose 1.2% and 0.3%. For C-0.6, an application "
        "writes 2 Mb/s over the study's paths. C-0.7 to C-0.9 are runs of C1 with a window of 100 KB. For C-0.10, TCP "
        "fills each queue."
    )

    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:  # noqa: ARG002
        """Loss-limited paths, an application's rate, the mechanisms at one window, full queues."""
        lia = {"transport": "mptcp", "congestion": "lia"}
        found = LOSSY.scenarios() | LOSSY.greedy(0.006)
        both = {"one": EQUAL.path(0), "two": EQUAL.path(1)}
        found["equal",] = controls.flow("LIA, one path loses more", both, lia)
        found["slow",] = controls.flow("2 Mb/s", paths(MAIN), lia | {"rate": "2Mbit", "blocks": "8KB"}, seconds=30)
        for mechanisms in MECHANISMS:
            found["mechanisms", mechanisms] = mptcp(paths(MAIN), mechanisms, SIZE)
        for path in QUEUES:
            found["full", path] = tcp(paths(MAIN), path, 1000)
        return found

    def claims(self, measured: Measured) -> Claims:
        """The claims, each with the formula, rule or setting that decides it."""
        yield Claim(
            "C-0.1",
            "LIA on both paths gets at least the rate of TCP on the best path",
            controls.GOAL_1,
            [LOSSY.total(measured, Bound("improves", low=controls.LEAST))],
        )
        yield Claim(
            "C-0.2",
            "LIA on both paths gets at most the rate of TCP on the best path",
            "RFC 6356 section 3: alpha makes both rates equal; within the fourth root of two",
            [LOSSY.no_more(measured, Bound("no more", high=controls.MOST))],
        )
        found = measured.ratio(_sent("two"), ("equal",), _sent("one"), ("equal",))
        yield Claim(
            "C-0.3",
            "on two paths whose loss rates are 4 to 1, the ratio of LIA's rates is closer to 4 than to 2",
            "RFC 6356 goal 3: windows of LIA scale with 1 / p, those of TCP with 1 / sqrt(p)",
            [Check("LIA's rate on the better path / on the worse path", found, Bound("shifts", low=SHIFTS))],
        )
        yield Claim(
            "C-0.4",
            "TCP follows the square-root law at random loss",
            controls.LAW,
            LOSSY.law(measured, Bound("of the law", controls.LAW_LEAST, controls.LAW_MOST)),
        )
        yield Claim(
            "C-0.5",
            "a receiver sends one acknowledgement per two segments, and an immediate one after a loss",
            "RFC 5681 section 4.2",
            [controls.acks(measured, "one", Bound("acks", controls.ACKS_LEAST, controls.ACKS_MOST), "tcp", "one")],
        )
        yield Claim(
            "C-0.6",
            "an application that needs a quarter of the WiFi rate uses only WiFi",
            "the scheduler's rule: the path with the lowest RTT first, if its window has space",
            [controls.preferred(measured, "wifi", Bound("first", low=controls.FIRST), "slow")],
        )
        yield Claim(
            "C-0.7",
            "with a window of 100 KB, opportunistic retransmission (M1) sends data, with and without penalisation (M2)",
            controls.MECHANISM,
            [
                controls.repeated(measured, Bound("M1 acts", low=0, strict=True), "mechanisms", name)
                for name in ("M1", "M1+M2")
            ],
        )
        gain = measured.ratio(goodput, ("mechanisms", "M1"), goodput, ("mechanisms", "none"))
        yield Claim(
            "C-0.8",
            "with a window of 100 KB, opportunistic retransmission (M1) raises goodput",
            "the purpose of the mechanism (NSDI 2012, section 4.2)",
            [Check("goodput with M1 / without M1", gain, Bound("M1 helps", low=1, strict=True))],
        )
        more = measured.ratio(goodput, ("mechanisms", "M1+M2"), goodput, ("mechanisms", "M1"))
        yield Claim(
            "C-0.9",
            "with a receive window of 100 KB, penalisation (M2) halves windows, and goodput exceeds that with M1 alone",
            "the purpose of the mechanism (NSDI 2012, section 4.2)",
            [
                controls.penalised(measured, Bound("M2 acts", low=1), "mechanisms", "M1+M2"),
                Check("goodput with M1 and M2 / with M1 alone", more, Bound("M2 helps", low=1, strict=True)),
            ],
        )
        full = Bound("of the limit", controls.QUEUE_LEAST, controls.QUEUE_MOST)
        yield Claim(
            "C-0.10",
            "TCP fills the queues of 53 and 333 packets up to their limits",
            "the configured limits",
            [controls.longest_queue(measured, path, packets, full, "full", path) for path, packets in QUEUES.items()],
        )


def _sent(path: str) -> Callable[[Run], float]:
    def value(run: Run) -> float:
        row = run.path(path)
        return float(row["bytes_acked"]) if row else 0.0

    return value
