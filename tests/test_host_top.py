"""`mptcplab host top`: the limiting factors of subflows, and the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from emulated import Machine, machine
from mptcplab.doctor.planted_ends import EndOptions
from mptcplab.doctor.planted_network import Setting, Uplink, laboratory
from mptcplab.host import top_view
from mptcplab.host.socket_diag import ESTABLISHED, MptcpSocket, TcpSocket
from mptcplab.host.top_view import Interval, Sample, limiting_factor, text

__all__ = ["machine"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="the sockets of Linux")
SUBFLOW = TcpSocket(
    state=ESTABLISHED, local=("10.0.0.1", 40_000), remote=("10.0.0.2", 5001), token=7, backup=False,
    congestion="cubic", mss=1000, cwnd=20_000, ssthresh=None, in_flight=10_000, srtt=0.02, rttvar=0.01, min_rtt=0.02,
    retransmits=0, bytes_sent=0, bytes_acked=0, bytes_received=0, unacked=10_000, peer_window=65_536,
    receive_limited=0.0, send_buffer_limited=0.0, receive_buffer=100_000,
)  # fmt: skip
CONNECTION = MptcpSocket(
    state=ESTABLISHED, token=7, fallback=False, unacked=10_000, bytes_acked=0, bytes_received=0,
    bytes_retransmitted=0, receive_buffer=100_000, send_buffer=100_000, send_queued=10_000,
)  # fmt: skip


@pytest.mark.parametrize(
    ("subflow", "connection", "factor"),
    [
        ({"in_flight": 0}, {"unacked": 0}, "idle"),
        ({"in_flight": 19_000}, {"unacked": 90_000}, "congestion window"),
        ({"peer_window": 10_500}, {"unacked": 90_000}, "receive window"),
        ({}, {"unacked": 90_000}, "scheduler"),
        ({}, {"send_queued": 70_000}, "send buffer"),
        ({}, {}, "application"),
        ({"not_sent": 5000}, {"fallback": True}, "scheduler"),
        ({}, {"fallback": True}, "application"),
    ],
)
def test_limiting_factors(subflow: Mapping[str, Any], connection: Mapping[str, Any], factor: str) -> None:
    one = replace(SUBFLOW, **subflow)
    assert limiting_factor(one, [one], replace(CONNECTION, **connection)) == factor


def test_the_receive_window_is_that_of_all_subflows() -> None:
    """Each has little in flight, but both together have all that the window permits."""
    two = [replace(SUBFLOW, peer_window=21_000), replace(SUBFLOW, peer_window=20_000)]
    assert limiting_factor(two[0], two, CONNECTION) == "receive window"


def test_an_interval_has_rates_and_shares() -> None:
    first = Sample.of(1.0, [SUBFLOW, replace(SUBFLOW, token=None)], [CONNECTION])
    interval = Interval(first)
    full = replace(SUBFLOW, in_flight=20_000, bytes_acked=50_000, retransmits=2, busy=0.25)
    interval.add(Sample.of(1.25, [SUBFLOW], [CONNECTION]))
    interval.add(Sample.of(1.5, [full], [CONNECTION]))
    [row] = interval.rows(lambda _: "eth0")
    [one] = row.subflows
    assert (row.send_rate, one.retransmitted, one.busy) == (800_000, 4, 0.5)
    assert one.limits == {"application": 0.5, "congestion window": 0.5}
    lines = text([row], 200)
    assert "10.0.0.1:40000 > 10.0.0.2:5001 eth0" in lines[2]
    assert "congestion window 50%" in lines[2]
    assert text([row], 40, 2) == [lines[0][:40].rstrip(), "and 2 more lines"]
    assert text([], 80) == ["no MPTCP connections"]


def test_a_receiver_has_no_limiting_factor() -> None:
    interval = Interval(Sample.of(1.0, [replace(SUBFLOW, unacked=0)], [CONNECTION]))
    interval.add(Sample.of(2.0, [replace(SUBFLOW, unacked=0, bytes_received=10**6)], [CONNECTION]))
    [row] = interval.rows(lambda _: None)
    assert row.subflows[0].limits == {}
    assert row.receive_rate == 8e6


UPLINKS = (Uplink("dsl", "eth0", 20e6, 0.04, 100), Uplink("lte", "wwan0", 10e6, 0.06, 80))


@pytest.mark.parametrize(
    ("options", "factor"),
    [
        ({}, top_view.CWND),
        ({"server_receive_buffer": 30_000}, top_view.RECEIVE_WINDOW),
        ({"client_send_buffer": 30_000}, top_view.SEND_BUFFER),
        ({"write_bytes": 20_000, "write_interval": 0.02}, top_view.APPLICATION),
    ],
)
def test_it_names_the_limit_of_linux(machine: Machine, options: dict[str, Any], factor: str) -> None:
    del machine
    end = EndOptions("10.87.1.2", seconds=12.0, upload=True, congestion="cubic", **options)
    with laboratory(Setting(UPLINKS, end, ()), 1) as lab, lab.transfer(end) as (server, client):
        assert client.stdout is not None
        assert "connected" in client.stdout.readline()
        looked = []
        # The sockets of the connection and of its subflows are read one after the other, so a sample can be wrong.
        for host in (lab.laptop, lab.laptop, lab.laptop, lab.server):
            command = host.command(sys.executable, "-m", "mptcplab", "host", "top", "--once", "--json")
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            [connection] = json.loads(done.stdout)["connections"]
            looked.append(connection)
        assert server.poll() is None
    here, there = looked[0], looked[-1]
    assert [one["device"] for one in here["subflows"]] == ["eth0", "wwan0"]
    assert here["send_rate"] > 1e6
    assert there["receive_rate"] > 1e6
    assert all(not one["limits"] for one in there["subflows"])
    best: dict[str, float] = {}
    for one in [subflow for connection in looked[:-1] for subflow in connection["subflows"]]:
        for name, share in one["limits"].items():
            best[name] = best.get(name, 0) + share
    assert max(best, key=lambda name: best[name]) == factor, looked


@linux
def test_once_without_a_terminal(cli: Cli) -> None:
    done = cli("host", "top", "--once", "--interval", "50ms")
    assert "\x1b" not in done.stdout
    assert "no MPTCP connections" in done.stdout or "CONNECTION" in done.stdout


@linux
def test_q_ends_it_and_restores_the_terminal(tmp_path: Path) -> None:
    import pty
    import termios

    main, terminal = pty.openpty()
    try:
        before = termios.tcgetattr(terminal)
        command = [sys.executable, "-m", "mptcplab", "host", "top", "--interval", "100ms"]
        with subprocess.Popen(
            command, cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, text=True
        ) as process:
            seen = b""
            while seen.count(b"q quits") < 2:
                piece = os.read(main, 4096)
                assert piece
                seen += piece
            os.write(main, b"q")
            assert process.wait(30) == 0
        assert termios.tcgetattr(terminal) == before
        while b"\x1b[?1049l" not in seen:
            seen += os.read(main, 4096)
        assert seen.startswith(b"\x1b[?1049h")
    finally:
        os.close(main)
        os.close(terminal)
