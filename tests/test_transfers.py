"""The printed state of a transfer."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import pytest

from mptcplab.live import transfers

if TYPE_CHECKING:
    from mptcplab._core import ConnectionInfo

DEVICES = {0: "wlan", 1: "lte"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(transfers, "time", clock)
    return clock


def info(*acked: int, closed: str | None = None) -> ConnectionInfo:
    """A connection with a path for each number; the last one may be over."""
    paths: list[dict[str, Any]] = [
        {
            "number": number,
            "interface": number,
            "bytes_acked": count,
            "bytes_received": 0,
            "rtt_s": 0.0215,
            "snd_cwnd": 64_000,
            "total_retrans": 3,
            "timeouts": 1,
            "backup": number == 1,
            "local": f"10.88.{number}.2:40000",
            "remote": "192.0.2.1:5001",
            "opened_at_s": 1.0,
            "closed_at_s": 3.5,
            "closed_by": closed if number == len(acked) - 1 else None,
        }
        for number, count in enumerate(acked)
    ]
    connection = {
        "paths": paths,
        "bytes_acked": sum(acked),
        "bytes_received": 0,
        "bytes_retrans": 5_000,
        "mode": "mptcp",
        "version": "v1",
        "fallback": False,
        "congestion": "lia",
        "scheduler": "minrtt",
    }
    return cast("ConnectionInfo", connection)


def test_a_terminal_is_drawn_again(clock: Clock) -> None:
    out = Terminal()
    watch = transfers.Watch(DEVICES, sending=True, out=out)
    assert not watch.due()
    clock.now += 0.5
    assert watch.due()
    watch.show(info(3_000_000, 1_000_000))
    first = out.getvalue()
    assert "4.00 MB, 64.00 Mb/s" in first
    assert "wlan              48.00 Mb/s   75%  rtt 21.50 ms, cwnd 64.00 kB, 3 retransmissions" in first
    assert "lte               16.00 Mb/s   25%" in first
    assert "backup" in first.splitlines()[2]
    clock.now += 1
    watch.show(info(3_000_000, 2_000_000))
    assert out.getvalue().startswith(first + "\x1b[3F\x1b[J"), "three lines were taken away"
    assert "8.00 Mb/s  100%" in out.getvalue()
    watch.close()
    assert out.getvalue().endswith("\x1b[3F\x1b[J")


def test_elsewhere_a_line_every_five_seconds(clock: Clock) -> None:
    out = io.StringIO()
    watch = transfers.Watch(DEVICES, sending=True, out=out)
    clock.now += 4
    assert not watch.due()
    clock.now += 1
    assert watch.due()
    watch.show(info(5_000_000, 0, closed="interface gone"))
    watch.close()
    assert out.getvalue() == "5 s, 5.00 MB, 8.00 Mb/s: wlan 8.00 Mb/s\n", "a path that is over is left out"


def test_quiet_shows_nothing(clock: Clock) -> None:
    watch = transfers.Watch(DEVICES, sending=True, quiet=True, out=io.StringIO())
    clock.now += 60
    assert not watch.due()


def test_the_summary_names_paths_that_closed() -> None:
    state = info(6_000_000, 2_000_000, closed="interface gone")
    done = transfers.document(state, DEVICES, count=8_000_000, seconds=4.0, digest="abc", sending=True)
    assert [path["share"] for path in done["connection"]["paths"]] == [0.75, 0.25]
    lines = transfers.summary(done, sending=True).splitlines()
    assert lines[0] == "sent 8.00 MB in 4.00 s: 16.00 Mb/s (MPTCP v1, lia, minrtt)"
    assert "wlan" in lines[1]
    assert lines[2].endswith("3 segments retransmitted, 1 timeouts; interface gone after 2.5 s")
    assert lines[3:] == ["  reinjected on another path: 5.00 kB", "  SHA-256 abc"]
    fallen = {**done, "connection": {**done["connection"], "fallback": True, "remote_token": 7}}
    assert "(TCP, fallen back from MPTCP, lia" in transfers.summary(fallen, sending=False)


def test_a_peer_that_never_spoke_mptcp_is_not_said_to_have_fallen_back() -> None:
    done = transfers.document(info(6_000, 0), DEVICES, count=6_000, seconds=1.0, digest="abc", sending=True)
    plain = {**done, "connection": {**done["connection"], "fallback": True, "remote_token": None, "mode": "tcp"}}
    for sending in (True, False):
        output = transfers.summary(plain, sending=sending)
        assert "(TCP: the peer or a middlebox did not accept MPTCP, lia" in output
        assert "fallen back" not in output
