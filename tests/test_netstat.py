"""Counters of the kernel, read."""

from __future__ import annotations

from mptcplab.host.netstat import counters


def test_names_stand_above_values() -> None:
    text = "TcpExt: SyncookiesSent Tricky\nTcpExt: 3 -1\nMPTcpExt: MPJoinSynTx\nMPTcpExt: 2\n"
    assert counters(text) == {"TcpExt": {"SyncookiesSent": 3, "Tricky": -1}, "MPTcpExt": {"MPJoinSynTx": 2}}


def test_what_has_another_form_is_left_out() -> None:
    assert counters("") == {}
    assert counters("TcpExt: One Two\nTcpExt: 1\nIpExt: A\nMPTcpExt: 3\n") == {}
    assert counters("TcpExt: One\nTcpExt: many\n") == {}
