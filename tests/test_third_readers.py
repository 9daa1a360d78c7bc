"""Regression tests from a usability review, without a place in other files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mptcplab import Scenario
from mptcplab.results.model import events
from mptcplab.results.text import reasons
from mptcplab.util.user_input import size_like

ROOT = Path(__file__).parent.parent
FLOW = """
[flows.both]
transport = "mptcp"
congestion = "lia"
direction = "download"
"""
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


def test_the_sender_s_view_counts_after_the_warm_up() -> None:
    """Two flows send little: the one within the warm-up, the other one later. Only the third one has a full window."""
    run = Scenario.parse(
        """
        duration = "10s"
        warmup = "5s"
        [paths.a]
        rate = "10Mbit"
        delay = "50ms"
        queue = "1000p"
        [[events]]
        at = "5s"
        path = "a"
        set.rate = "100Mbit"
        [flows.steady]
        rcvbuf = "30KB"
        [flows.early]
        stop = "2s"
        sndbuf = "100KB"
        [flows.late]
        start = "7s"
        rcvbuf = "30KB"
        """
    ).run(trace=events.REASONS)
    seen = {row["flow"]: row["paths"][0]["sender_limits"] for row in run.flow_rows}
    assert seen["early"] == {}
    for flow in ("steady", "late"):
        assert sum(seen[flow].values()) == pytest.approx(1)
    assert seen["late"]["joining"] == pytest.approx(0.1 / 3, abs=0.005)


def test_the_sender_s_view_forgets_what_was_in_the_warm_up() -> None:
    """The sender repairs losses in the warm-up, and none after it."""
    run = Scenario.parse(
        """
        duration = "20s"
        warmup = "10s"
        [paths.a]
        rate = "10Mbit"
        delay = "20ms"
        loss = "5%"
        queue = "100p"
        [[events]]
        at = "5s"
        path = "a"
        set.loss = "0%"
        [flows.f]
        """
    ).run(trace=events.REASONS)
    [path] = run.flow()["paths"]
    assert path["sender_limits"]["loss"] < 0.05, path["sender_limits"]
    assert path["sender_limits"]["joining"] == 0
    assert sum(path["sender_limits"].values()) == pytest.approx(1)


BUFFERS = """
duration = "12s"
warmup = "2s"
[paths.near]
rate = "20Mbit"
delay = "10ms"
[paths.far]
rate = "5Mbit"
delay = "100ms"
[flows.f]
sndbuf = "{send}"
rcvbuf = "{receive}"
opportunistic_retransmission = false
penalisation = false
"""


@pytest.mark.parametrize(
    ("send", "receive", "full"),
    [
        ("100KB", "6MB", "send_buffer"),
        ("6MB", "100KB", "receive_window"),
        ("100KB", "100KB", "both_buffers"),
        ("100KB", "70KB", "receive_window"),
    ],
)
def test_the_buffer_without_space_is_named_everywhere(send: str, receive: str, full: str) -> None:
    """The oldest data is on the far path, and the near one waits for it."""
    run = Scenario.parse(BUFFERS.format(send=send, receive=receive)).run(trace=events.REASONS)
    row, others = run.flow(), {"send_buffer", "receive_window", "both_buffers"} - {full}
    assert row["full_buffers"][full] > 0.3
    for shares in (row["full_buffers"], *(path["limits"] for path in row["paths"])):
        assert sum(shares[other] for other in others) < 0.05, shares
    for path in row["paths"]:
        assert sum(path["sender_limits"][other] for other in others) < 0.05
    [found] = [one for one in reasons.findings(row) if one.cause in reasons.WORDS and "buffer" in str(one)]
    assert found.cause == full
    assert ("the send buffer and the receive window were full" in run.summary()) == (full == "both_buffers")


def test_the_air_that_other_stations_use_is_cross_traffic() -> None:
    """A download over two cells: neighbours use air of both, and its own acknowledgements are no neighbours."""
    text = (ROOT / "docs" / "examples" / "wifi.toml").read_text()
    shared = Scenario.parse(text).run(trace=events.REASONS).path("wlan0")
    alone = Scenario.parse(text[: text.index("# Two clients")] + FLOW).run(trace=events.REASONS).path("wlan0")
    assert shared is not None
    assert alone is not None
    assert alone["limits"]["cross_traffic"] == 0
    part = shared["bytes_arrived"] / alone["bytes_arrived"]
    assert part < 0.6
    assert shared["limits"]["cross_traffic"] == pytest.approx(1 - part, abs=0.15)
    assert shared["limits"]["bottleneck"] == pytest.approx(part, abs=0.15)


FAR = 'rate = "2Mbit"\ndelay = "75ms"\nqueue = "333p"\n'


def test_no_buffer_is_recommended_that_long_queues_would_fill() -> None:
    """The queue of the path with the long delay fills with any larger buffer, and without M1 the other path waits
    longer.
    """
    text = BUFFERS.replace('"20Mbit"', '"8Mbit"\nqueue = "75p"').replace('rate = "5Mbit"\ndelay = "100ms"', FAR)
    text = text.format(send="175KB", receive="175KB") + 'scheduler = "minrtt"\n'
    run = Scenario.parse(text).run(trace=events.REASONS)
    assert "the send buffer and the receive window were full" in run.summary()
    assert "RFC 6182 recommends" not in run.summary()
