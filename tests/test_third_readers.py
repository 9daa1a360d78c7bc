"""What a third pair of fresh readers met (docs/first-hour.md), where no other test has it."""

from __future__ import annotations

import math

import pytest

from mptcplab import Scenario, events, reasons
from mptcplab.inputs import size_like

JITTERED = """
duration = "6s"
warmup = "1s"
[paths.a]
rate = "100Mbit"
delay = "{delay}"
jitter = "{jitter}"
[flows.f]
rcvbuf = "100KB"
sndbuf = "8MB"
"""


@pytest.mark.parametrize(
    ("delay", "jitter", "mean_s"), [("30ms", "20ms", 0.060), ("30ms", "0ms", 0.060), ("10ms", "40ms", 0.03125)]
)
def test_the_base_rtt_is_the_mean_with_jitter(delay: str, jitter: str, mean_s: float) -> None:
    """A delay that would be drawn below zero is zero: the mean is then larger than the delay."""
    run = Scenario.parse(JITTERED.format(delay=delay, jitter=jitter)).run(trace=events.REASONS)
    row = run.flow()
    [path] = row["paths"]
    assert path["base_rtt_s"] == pytest.approx(mean_s, rel=1e-6)
    # Of two bandwidth-delay products there is more than the window holds, and the recommendation follows the mean.
    wanted = 2 * (reasons.capacity(row) or math.nan) / 8 * mean_s
    (found,) = (one for one in reasons.findings(row) if one.cause == "receive_window")
    assert size_like(wanted, row["receive_buffer"]) in found.detail
