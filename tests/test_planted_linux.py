"""Captures of Linux's MPTCP with planted causes: they are readable, complete and those of their case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emulated import Machine, machine
from mptcplab.captures.packets import Segment, read
from mptcplab.doctor.packet_capture import ETHERNET, RAW, SLL, SLL2, CaptureWriter, cooked
from mptcplab.doctor.planted_ends import EndOptions
from mptcplab.doctor.planted_linux import KINDS, PlantedCase, cases, first_verdict, make
from mptcplab.doctor.planted_network import Capture, Setting, Uplink

__all__ = ["machine"]

UPLINKS = (Uplink("dsl", "eth0", 20e6, 0.02, 60), Uplink("lte", "wwan0", 10e6, 0.04, 60))
PACKET = bytes.fromhex("45000028000000004006000001010101020202020001000200000000000000005002000000000000")


def joins(segments: list[Segment]) -> int:
    """SYNs with MP_JOIN."""
    return sum(one.syn and not one.ack and option[0] >> 4 == 1 for one in segments for option in one.mptcp)


def test_a_seed_gives_the_same_cases() -> None:
    first, again = list(cases(1, 40)), list(cases(1, 40))
    assert first == again
    assert first != list(cases(2, 40))
    assert [one.kind for one in first[: len(KINDS)]] == list(KINDS)
    assert {one.setting.captures[0].form for one in first} == {"any", "multi", "each"}


@pytest.mark.parametrize("suffix", ["pcap", "pcap.gz", "pcapng", "pcapng.gz"])
def test_a_capture_of_each_format_is_read(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"one.{suffix}"
    address = ("lo", 0x0800, 4, 1, b"\1\2\3\4\5\6")
    for link, head in (
        (RAW, b""),
        (ETHERNET, bytes(12) + b"\x08\x00"),
        (SLL, cooked(SLL, address)),
        (SLL2, cooked(SLL2, address)),
    ):
        writer = CaptureWriter(file, 128, [("lo", link)])
        writer.packet(0, 1_700_000_000_123_456_000, head + PACKET, 1500)
        writer.close()
        [segment] = read([file])
        assert segment.syn
        assert segment.time == pytest.approx(1_700_000_000.123456, abs=1e-6)


def test_the_first_verdict_of_the_largest_connection_counts() -> None:
    answer = {
        "connections": [
            {"bytes": 10, "verdicts": [{"name": "healthy"}]},
            {"bytes": 99, "verdicts": [{"name": "loss"}, {"name": "healthy"}]},
        ]
    }
    assert first_verdict(json.dumps(answer), "") == "loss"
    assert first_verdict("", "a\nmptcplab: error") == "(mptcplab: error)"
    assert first_verdict('{"connections": []}', "") == "(no verdict)"


def test_a_case_is_captured_on_both_hosts(machine: Machine, tmp_path: Path) -> None:
    del machine
    captures = (
        Capture("client", "any", "pcap", 128, sll=False),
        Capture("client", "multi", "pcapng.gz", 262_144, sll=False),
        Capture("server", "any", "pcap.gz", 128, sll=True),
        Capture("server", "each", "pcapng", 262_144, sll=False),
    )
    end = EndOptions("", seconds=1.0, upload=True, congestion="reno")
    case = PlantedCase(0, "healthy", "healthy", None, Setting(UPLINKS, end, captures))
    described = make(case, tmp_path)
    assert json.loads((tmp_path / "case.json").read_text()) == json.loads(json.dumps(described))
    assert described["lost_by_capture"] == 0
    assert described["received_bytes"] > 500_000
    assert all((tmp_path / name).stat().st_size for name in described["files"] if "pcap" in name or "nstat" in name)
    assert "MPTcpExtMPJoinSynTx             1" in (tmp_path / "client-nstat.txt").read_text()
    assert "tcp-ulp-mptcp" in (tmp_path / "client-ss.txt").read_text()
    every = [read([tmp_path / name]) for name in ("client.pcap", "client.pcapng.gz", "server.pcap.gz")]
    every.append(read(sorted(tmp_path.glob("server-*.pcapng"))))
    assert [joins(segments) for segments in every] == [1, 1, 1, 1]
    assert len({one.sequence for one in every[0]}) == len({one.sequence for one in every[1]})
    assert len(every[2]) == len(every[3])
    longest = max(len(one.payload) for one in every[1])
    assert longest > 1500, "the laptop leaves segmentation to its devices"
    assert max(len(one.payload) for one in every[3]) < 1500
