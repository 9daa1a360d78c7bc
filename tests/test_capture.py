"""Captures, read by Wireshark."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import Cli, need

MP_CAPABLE, MP_JOIN, DSS = "0", "1", "2"


def tshark(*arguments: str | Path) -> str:
    done = subprocess.run(["tshark", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def capture(cli: Cli, file: Path, directory: Path, *, loss: str, version: str = "v1") -> dict[str, Path]:
    """Captures of a small transfer by name."""
    need("tshark")
    text = file.read_text().replace('loss = "0.5%"', f'loss = "{loss}"').replace('"53p"', '"500p"')
    file.write_text(text.replace("baselines = true", f'bytes = "300kB"\nversion = "{version}"'))
    cli("run", file, "--pcap", "--output", "out")
    files = {path.stem: path for path in (directory / "out" / "pcap").glob("*.pcapng")}
    assert set(files) == {"client-wifi", "client-3g", "server-any"}
    return files


def expert(file: Path, severity: str) -> list[str]:
    """The lines of the expert summary at this severity and above."""
    lines = tshark("-r", file, "-q", "-z", f"expert,{severity}").splitlines()
    return [line for line in lines if line.split() and line.split()[0].isdigit()]


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_wireshark_reads_multipath_tcp_without_a_warning(
    cli: Cli, scenario_file: Path, tmp_path: Path, version: str
) -> None:
    files = capture(cli, scenario_file, tmp_path, loss="0%", version=version)
    for name, file in files.items():
        assert expert(file, "warn") == [], name
        assert tshark("-r", file, "-Y", "_ws.malformed") == "", name
    kinds = {
        name: set(tshark("-r", file, "-T", "fields", "-e", "tcp.options.mptcp.subtype").replace(",", " ").split())
        for name, file in files.items()
    }
    assert {MP_CAPABLE, DSS} <= kinds["client-wifi"]
    assert {MP_JOIN, DSS} <= kinds["client-3g"]
    assert {MP_CAPABLE, MP_JOIN, DSS} <= kinds["server-any"]
    spoken = tshark("-r", files["server-any"], "-T", "fields", "-e", "tcp.options.mptcp.version").split()
    assert set(spoken) == {version[1:]}


def test_lost_packets_are_all_that_wireshark_warns_of(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    for name, file in capture(cli, scenario_file, tmp_path, loss="3%").items():
        assert expert(file, "error") == [], name
        assert all("Sequence" in line for line in expert(file, "warn")), name


def test_a_reader_sees_one_connection_of_two_subflows(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    file = capture(cli, scenario_file, tmp_path, loss="0%")["server-any"]
    streams = set(tshark("-r", file, "-T", "fields", "-e", "mptcp.stream").split())
    subflows = set(tshark("-r", file, "-T", "fields", "-e", "tcp.stream").split())
    assert streams == {"0"}
    assert subflows == {"0", "1"}
