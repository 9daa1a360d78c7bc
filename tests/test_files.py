"""Files are written whole or not at all, follow no link, and say why when they cannot be written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.util.files import BadFile, folder, read_bytes, replacing, write_bytes


def test_what_fails_half_way_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "table"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as file:
            file.write(b"half of the new")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert target.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["table"]


def test_nobody_sees_a_file_before_it_is_whole(tmp_path: Path) -> None:
    with replacing(tmp_path / "new") as file:
        file.write(b"whole")
        file.flush()
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new").read_bytes() == b"whole"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~os.umask(0o022)
    os.umask(0o022)


def test_links_are_replaced_and_never_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("untouched")
    for name in ("result", f".result.{os.getpid()}.part"):
        (tmp_path / name).symlink_to(precious)
    write_bytes(tmp_path / "result", b"new")
    assert precious.read_text() == "untouched"
    assert not (tmp_path / "result").is_symlink()


def test_results_do_not_leave_by_a_link(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    precious = tmp_path / "precious"
    precious.write_text("untouched")
    names = ("scenario.toml", "run.json", "samples.parquet", "throughput.png", "iperf3.json")
    for name in names:
        (out / name).symlink_to(precious)
    cli("run", scenario_file, "--output", "out", "--quiet")
    assert precious.read_text() == "untouched"
    assert not any((out / name).is_symlink() for name in names)
    for name in ("pcap", "other/baselines"):
        (out.parent / "other").mkdir(exist_ok=True)
        base = out if name == "pcap" else out.parent / "other"
        (base / Path(name).name).symlink_to(elsewhere)
        output = cli("run", scenario_file, "--output", base, "--pcap", expect=2).stderr
        assert "is a link to another place" in output
    assert list(elsewhere.iterdir()) == []


def test_a_directory_is_made_with_those_above(tmp_path: Path) -> None:
    assert folder(tmp_path / "a" / "b", "c").is_dir()


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(BadFile, match="not a regular file"):
            read_bytes(path, 1000)
    (tmp_path / "long").write_bytes(bytes(1001))
    with pytest.raises(BadFile, match="has 1001 bytes, more than the maximum of 1000"):
        read_bytes(tmp_path / "long", 1000)


def limited(directory: Path, size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs mptcplab with a maximum file size, which acts like a full disk."""
    return subprocess.run(
        [sys.executable, "-m", "mptcplab", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )


def test_a_disk_that_is_full_is_said(scenario_file: Path, tmp_path: Path) -> None:
    done = limited(tmp_path, 100_000, "run", str(scenario_file), "--pcap", "--output", "out")
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "cannot write the capture" in done.stderr
    assert "File too large" in done.stderr
    assert list((tmp_path / "out" / "pcap").iterdir()) == []
    done = limited(tmp_path, 3_000, "run", str(scenario_file), "--output", "small")
    assert (done.returncode, done.stdout) == (1, "")
    assert "small/samples.parquet: File too large" in done.stderr
    assert not (tmp_path / "small" / "run.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="takes /dev/full")
def test_output_that_nobody_takes_is_said(scenario_file: Path, tmp_path: Path) -> None:
    for arguments in (["list"], ["schema"], ["run", str(scenario_file)], ["run", str(scenario_file), "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "mptcplab", *arguments],
                cwd=tmp_path,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
                check=False,
            )
        assert (done.returncode, done.stderr) == (1, "mptcplab: No space left on device\n"), arguments


def test_a_terminal_that_knows_few_letters(tmp_path: Path, two_paths: Scenario) -> None:
    text = two_paths.vary({"duration": "2s"}).to_toml().replace("[flows.bulk]", '[flows."größe"]')
    (tmp_path / "größe.toml").write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for arguments, code, out in (
        (["run", "größe.toml"], 0, "gr\\xf6\\xdfe"),
        (["run", "größe.toml", "--json"], 0, "gr\\u00f6\\u00dfe"),
        (["run", "fehlt-ß.toml"], 2, ""),
        (["sweep", "größe.toml", "--vary", "flows.größe.congestion=lia,reno"], 0, "gr\\xf6\\xdfe"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "mptcplab", *arguments],
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
            check=False,
            env=environment,
        )
        assert done.returncode == code, done.stderr
        assert out.encode() in done.stdout
        assert b"Traceback" not in done.stderr
    closed = f"{sys.executable} -m mptcplab run größe.toml >&-"
    done = subprocess.run(["sh", "-c", closed], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in done.stderr
