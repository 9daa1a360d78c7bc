"""Captures verified against the standards: those of mptcplab and Linux, and some with a changed bit."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from mptcplab.captures.packets import BadCapture, read
from mptcplab.captures.verify import verify

ROOT = Path(__file__).parent.parent
LINUX = sorted((ROOT / "crates/wire/tests/captures").glob("*.txt"))


def ours(cli: Cli, file: Path, directory: Path, version: str) -> list[Path]:
    """The captures of a client with two interfaces and a server, with DSS checksums."""
    text = file.read_text().replace("baselines = true", f'bytes = "200kB"\nversion = "{version}"\nchecksum = true')
    file.write_text(text)
    cli("run", file, "--pcap", "--output", "out")
    return sorted((directory / "out" / "pcap").glob("*.pcapng"))


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_ours_keep_the_standard(cli: Cli, scenario_file: Path, tmp_path: Path, version: str) -> None:
    files = ours(cli, scenario_file, tmp_path, version)
    server = [file for file in files if file.stem.startswith("server")]
    client = [file for file in files if file.stem.startswith("client")]
    for host in (server, client):
        output = json.loads(cli("verify", *host, "--json").stdout)
        assert output["faults"] == []
        assert {"MP_CAPABLE", "MP_JOIN", "DSS"} <= set(output["options"])
        checks: dict[str, Any] = output["checks"]
        assert checks["token"] == {"right": 1, "wrong": 0, "unknown": 0}
        assert checks["MP_JOIN HMAC"]["right"] >= 2
        assert checks["DSS checksum"]["right"] > 100
        assert all(verdicts["unknown"] == 0 for verdicts in checks.values()), checks


def as_pcap(file: Path, directory: Path) -> Path:
    """A text of packets in hexadecimal, one a line, as a pcap of raw IP."""
    packets = [bytes.fromhex(line.split()[-1]) for line in file.read_text().splitlines() if line and line[0] != "#"]
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for at, packet in enumerate(packets):
        data += struct.pack("<IIII", at, 0, len(packet), len(packet)) + packet
    copy = directory / f"{file.stem}.pcap"
    copy.write_bytes(data)
    return copy


@pytest.mark.parametrize("file", LINUX, ids=lambda file: file.stem)
def test_what_linux_sends_is_right(file: Path, tmp_path: Path) -> None:
    findings = verify(read([as_pcap(file, tmp_path)]))
    assert findings.faults == []
    assert {"MP_CAPABLE", "DSS"} <= set(findings.options)
    assert ("DSS checksum", "right") in findings.checks or "checksum" not in file.stem


def flipped(file: Path, directory: Path, find: bytes, at: int) -> Path:
    """A copy with a bit changed, `at` bytes after the first place of `find`."""
    data = bytearray(file.read_bytes())
    data[data.index(find) + at] ^= 1
    copy = directory / f"changed-{at}-{file.name}"
    copy.write_bytes(data)
    return copy


def test_one_wrong_bit_is_found(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    server = next(file for file in ours(cli, scenario_file, tmp_path, "v1") if file.stem.startswith("server"))
    # The second ACK of a join: kind 30, 24 bytes, subtype 1. A SYN/ACK of a join: 16 bytes.
    for find, at, what in ((b"\x1e\x18\x10\x00", 10, "HMAC"), (b"\x1e\x10\x10", 6, "HMAC")):
        findings = verify(read([flipped(server, tmp_path, find, at)]))
        assert any(what in fault.what for fault in findings.faults), (find, findings.checks)
    # A DSS with a short data acknowledgement, a long data sequence number and a checksum: 24 bytes.
    changed = flipped(server, tmp_path, b"\x1e\x18\x20\x0d", 23)
    output = cli("verify", changed, expect=1).stdout
    assert "DSS checksum" in output
    assert "is wrong" in output


def test_a_capture_that_begins_late_is_unknown(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    server = next(file for file in ours(cli, scenario_file, tmp_path, "v1") if file.stem.startswith("server"))
    segments = read([server])
    late = [segment for segment in segments if not segment.syn][20:]
    findings = verify(late)
    assert findings.faults == []
    assert findings.checks["data sequence", "unknown"] > 0
    assert findings.checks["data sequence", "right"] == 0


def test_files_that_are_no_captures(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(b"no capture at all, but long enough for a header")
    assert "neither pcap nor pcapng" in cli("verify", "x.pcap", expect=2).stderr
    assert "y.pcap: no such file" in cli("verify", "y.pcap", expect=2).stderr
    (tmp_path / "z.pcap").write_bytes(as_pcap(LINUX[0], tmp_path).read_bytes()[:-3])
    with pytest.raises(BadCapture, match="cut off at byte"):
        read([tmp_path / "z.pcap"])


def test_a_capture_that_ends_in_the_middle_of_a_packet_is_read_up_to_there(cli: Cli, tmp_path: Path) -> None:
    """As one that tcpdump still writes, or whose disk was full."""
    whole = as_pcap(LINUX[0], tmp_path)
    (tmp_path / "cut.pcap").write_bytes(whole.read_bytes()[:-3])
    done = cli("verify", "cut.pcap", "--json")
    assert "cut off at byte" in done.stderr
    found = json.loads(done.stdout)
    assert len(found["cut"]) == 1
    segments = read([whole])
    assert found["segments"] == len(segments) - 1
    # Later packets of another interface may depend on the missing part.
    (tmp_path / "early.pcap").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    cut: list[str] = []
    early = read([tmp_path / "early.pcap"], cut=cut)
    assert 0 < len(early) < len(segments)
    both = read([tmp_path / "early.pcap", whole], cut=[])
    assert max(segment.time for segment in both) == early[-1].time
    (tmp_path / "header.pcap").write_bytes(whole.read_bytes()[:30])
    assert "cut off at byte" in cli("verify", "header.pcap", expect=2).stderr
