"""One process at a time writes into a directory of results; leftovers of killed processes are removed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.results.write import export
from mptcplab.util import files
from mptcplab.util.files import BadFile, only_writer, remove_leftovers, replacing, write_bytes

HOLDER = """
import sys
from mptcplab.util.files import only_writer
with only_writer(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def held(directory: Path) -> Iterator[None]:
    """Another process writes there until the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield


WRITERS = (
    ("run", "two.toml", "--output", "out", "--quiet"),
    ("sweep", "two.toml", "--vary", "paths.wifi.loss=0%,1%", "--output", "out", "--quiet"),
    ("merge", "good", "--output", "out"),
    ("study", "cs244-rcvbuf/C1", "--output", "out"),
    ("udp-interference", "two.toml", "--every", "1s", "--output", "out"),
    ("reproduce", "--quick", "--quiet", "cs244-rcvbuf", "--output", "out"),
)


@pytest.mark.parametrize("arguments", WRITERS, ids=lambda arguments: arguments[0])
def test_a_second_writer_is_refused(cli: Cli, scenario_file: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    Scenario.load(scenario_file).vary({"duration": "2s"}).run().save(tmp_path / "good")
    with held(tmp_path / "out"):
        assert cli(*arguments, expect=2).stderr == (
            "mptcplab: out: another mptcplab process writes there; wait for it, or choose another --output\n"
        )
        assert list((tmp_path / "out").iterdir()) == []
    if arguments[0] != "reproduce":
        cli(*arguments)


def test_results_of_several_at_once_are_of_one(scenario_file: Path, tmp_path: Path) -> None:
    """A rejected process changes nothing: all tables and the list of runs have one seed."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "mptcplab", "run", str(scenario_file), "--seed", str(seed), "--output", "same"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for seed in (1, 2, 3, 4)
    ]
    ended = [(process.communicate()[1], process.returncode) for process in started]
    assert {code for _, code in ended} <= {0, 2}
    assert all(b"another mptcplab process writes there" in output for output, code in ended if code)
    seeds = {row["seed"] for row in json.loads((tmp_path / "same" / "run.json").read_text())["runs"]}
    for table in export.ALWAYS:
        seeds |= set(pq.read_table(tmp_path / "same" / f"{table}.parquet")["seed"].to_pylist())
    assert len(seeds) == 1


def test_the_same_process_may_write_again(tmp_path: Path) -> None:
    with only_writer(tmp_path), only_writer(tmp_path):
        write_bytes(tmp_path / "a", b"1")
    with held(tmp_path), pytest.raises(BadFile, match="another mptcplab process"), only_writer(tmp_path):
        pass
    with only_writer(tmp_path):
        pass


def test_a_result_keeps_no_table_of_the_one_before(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    cli("run", scenario_file, "--trace", "loss", "--output", "out", "--quiet")
    assert (tmp_path / "out" / "events.parquet").exists()
    output = cli("run", scenario_file, "--output", "out").stdout
    assert output.splitlines()[-1] == "written to out/, replacing the previous result"
    assert not (tmp_path / "out" / "events.parquet").exists()


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    (tmp_path / f".samples.parquet.{os.getpid()}.part").write_text("half")
    (tmp_path / ".samples.parquet.4194304.part").write_text("half")
    (tmp_path / ".hidden.part").write_text("somebody's")
    (tmp_path / "notes.12.part").write_text("somebody's")
    (tmp_path / ".link.12.part").symlink_to(tmp_path / "notes.12.part")
    with replacing(tmp_path / "now") as file:
        file.write(b"half")
        remove_leftovers(tmp_path)
        names = {entry.name for entry in tmp_path.iterdir()}
        assert names == {f".now.{os.getpid()}.part", ".hidden.part", "notes.12.part", ".link.12.part"}
    assert (tmp_path / "now").read_bytes() == b"half"


def test_a_killed_sweep_leaves_nothing_when_it_is_finished(scenario_file: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "mptcplab", "sweep", str(scenario_file), "--vary", "paths.wifi.loss=0%,1%"]
    arguments += ["--seeds", "3", "--output", "out", "--quiet"]
    slow = (
        "import sys, os, signal\n"
        "from mptcplab.cli import main as cli\n"
        "original = os.fsync\n"
        "def dies(descriptor):\n"
        "    name = os.readlink(f'/proc/self/fd/{descriptor}')\n"
        f"    if {str(tmp_path / 'out')!r} == os.path.dirname(name) and 'samples' in name:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    original(descriptor)\n"
        "os.fsync = dies\n"
        f"sys.exit(cli.main({arguments[3:]!r}))\n"
    )
    killed = subprocess.run([sys.executable, "-c", slow], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [entry.name for entry in (tmp_path / "out").glob(".*.part")]
    subprocess.run([*arguments, "--resume"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert list((tmp_path / "out").glob(".*")) == []
    assert (tmp_path / "out" / "run.json").is_file()


@pytest.mark.parametrize("file", ["000000-flows.parquet", "000000-samples.parquet", "000000.json"])
@pytest.mark.parametrize("content", [b"", b"PAR1" + bytes(40), b"[{}]"], ids=["empty", "zeros", "other"])
def test_a_damaged_part_is_run_again(
    cli: Cli, scenario_file: Path, tmp_path: Path, file: str, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("sweep", scenario_file, "--vary", "paths.wifi.loss=0%,1%", "--set", "duration=2s", "--quiet")
    whole = cli(*arguments, "--output", "whole").stdout

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("mptcplab.run.sweep_store.Store.join", stop)
        cli(*arguments, "--output", "out", expect=130)
    (tmp_path / "out" / "parts" / file).write_bytes(content)
    assert cli(*arguments, "--output", "out", "--resume").stdout == whole.replace(
        "written to whole/", "written to out/"
    )
    for name in ("run.json", "flows.parquet", "samples.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "out" / "parts").exists()


@pytest.mark.parametrize("letter", ["x", "ä", "漢", "😀"])
def test_a_name_as_long_as_the_file_system_has_room_for(tmp_path: Path, letter: str) -> None:
    name = letter * (253 // len(letter.encode()))
    write_bytes(tmp_path / name, b"whole")
    assert (tmp_path / name).read_bytes() == b"whole"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_leftover_that_is_taken_before_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = files._lock
    taken: list[bool] = []

    def lock(descriptor: int, *, wait: bool = False) -> bool:
        if not taken:
            taken.append(True)
            remove_leftovers(tmp_path)
        return original(descriptor, wait=wait)

    monkeypatch.setattr(files, "_lock", lock)
    write_bytes(tmp_path / "new", b"whole")
    assert (tmp_path / "new").read_bytes() == b"whole"


def test_a_pipe_in_place_of_a_file_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"text")
    with pytest.raises(BadFile, match="not a regular file"):
        files.open_regular(tmp_path / "pipe", 100)
    assert files.read_bytes(tmp_path / "file", 4) == b"text"
    with pytest.raises(BadFile, match="has 4 bytes, more than the maximum of 3"):
        files.read_bytes(tmp_path / "file", 3)


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="needs")
def test_a_file_of_the_kernel_is_not_waited_for() -> None:
    """A regular file of zero length whose reading blocks."""
    if not os.access("/proc/kmsg", os.R_OK):
        pytest.skip("/proc/kmsg cannot be read here")
    assert files.read_bytes(Path("/proc/kmsg"), 1000) == b""
