"""Any arguments of a command: one clear line and exit code 2 or 1, never a traceback, always an end."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Cli
from mptcplab import Scenario, _core
from mptcplab.cli import main as command_line
from mptcplab.cli.common import at_most, size

TINY = """
name = "tiny"
duration = "1s"
sample = "100ms"

[paths.wifi]
rate = "2Mbit"
delay = "5ms"

[paths.3g]
rate = "1Mbit"
delay = "20ms"

[flows.bulk]

[limits]
runs = 8
"""

# These make devices, measure for minutes, or open sockets: what is wrong with their arguments is said before, or what
# they do is little.
BUSY = {
    "send": ["nowhere"],
    "receive": ["--listen", "nowhere"],
    "reproduce": ["no-such-study"],
    "bench": ["no-such-benchmark"],
    "emulate": ["no-such.toml"],
    "page": ["no-such.toml"],
    "validate": ["no-such.toml"],
    "survey": ["--networks", "1", "--seeds", "1"],
    "measure": ["nowhere"],
}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["run", "tiny.toml", "--seed", str(2**64 - 1), "--seeds", "3"], 2, "the last seed exceeds 2^64 - 1"),
        (
            ["sweep", "tiny.toml", "--vary", "paths.wifi.loss=1%", "--seed", str(2**64 - 1), "--seeds", "2"],
            2,
            "at most",
        ),
        (["run", "tiny.toml", "--seeds", "1000000000"], 2, "1000000000 runs including baselines, but limits.runs is 8"),
        (["run", "tiny.toml", "--seeds", str(10**30)], 2, "at most --seeds 18446744073709551615"),
        (["sweep", "tiny.toml", "--vary", "flows.bulk.rack=true,false", "--seeds", "5"], 2, "10 runs"),
        (["sweep", "tiny.toml", "--vary", "flows.bulk.a=1,2,3,4", "--seeds", "3"], 2, "12 runs"),
        (["run", "tiny.toml", "--workers", str(10**20)], 2, "100000000000000000000 is above the maximum of 1024"),
        (["run", "tiny.toml", "--workers", "9" * 5000], 2, "is not an integer above 0"),
        (["udp-interference", "tiny.toml", "--every", "20ms", "--duration", "1h"], 2, "periods"),
        (["udp-interference", "tiny.toml", "--seeds", "9"], 2, "limits.runs is 8"),
        (["udp-interference", "tiny.toml", "--every", "1e300h"], 2, "is above the maximum of 2562047h"),
        (["bench", "tiny.toml", "--repetitions", "1000000000"], 2, "is above the maximum of 1000"),
        (["verify", "tiny.toml", "--most", "many"], 2, "is not a size"),
        (
            ["receive", "--listen", ":5001", "--interface", "x", "--output", "nope/x"],
            2,
            "directory nope does not exist",
        ),
        (["receive", "--listen", ":5001", "--interface", "x", "--output", "."], 2, "is a directory"),
        (["run", "pipe"], 2, "not a regular file"),
        (["run", "/dev/zero"], 2, "not a regular file"),
        (["run", "still.toml"], 2, "for ever at one instant"),
        (["run", "stops.toml"], 1, "the simulation makes no progress at"),
        (["bench", "stops.toml"], 1, "the simulation makes no progress at"),
        (["udp-interference", "stops.toml", "--every", "100ms"], 0, ""),
        (["run", "tiny.toml", "--output", "tiny.toml/under"], 2, "tiny.toml"),
        (["analyse", "tiny.toml"], 2, "directory not found"),
        (["verify", "pipe"], 2, "not a regular file"),
        (["verify", "/dev/zero"], 2, "not a regular file"),
    ],
)
def test_each_ends_with_one_line(cli: Cli, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "still.toml").write_text(TINY.replace('"2Mbit"\ndelay = "5ms"', '"unlimited"'))
    event = '[[events]]\nat = "500ms"\npath = "wifi"\nset = { rate = "unlimited", delay = "0s" }\n'
    (tmp_path / "stops.toml").write_text(TINY + event)
    os.mkfifo(tmp_path / "pipe")
    done = cli(*arguments, expect=code)
    # The argument parser prints the usage; other errors are one line.
    assert len([line for line in done.stderr.splitlines() if line.startswith("mptcplab")]) <= 1, done.stderr
    assert says in done.stderr, done.stderr


def test_an_error_of_ours_is_a_line_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from mptcplab.cli.commands import schema

    def fail(_: argparse.Namespace) -> int:
        raise KeyError("what\nnobody thought of")

    monkeypatch.setattr(schema, "execute", fail)
    assert command_line.main(["schema"]) == 1
    output = capsys.readouterr().err
    assert output.startswith("mptcplab: internal error, please report it: KeyError")
    assert len(output.splitlines()) == 1
    monkeypatch.setenv(command_line.TRACEBACK, "1")
    with pytest.raises(KeyError):
        command_line.main(["schema"])


def test_numbers_have_bounds() -> None:
    assert at_most(3)("3") == 3
    for text in ("4", "0", "-1", "x", "1e3", "9" * 5000, ""):
        with pytest.raises(argparse.ArgumentTypeError):
            at_most(3)(text)
    assert size("1.5KiB") == 1536
    for text in ("1", "nanB", "infGB", "-1B", "0B", "1e300GB", "B", ""):
        with pytest.raises(argparse.ArgumentTypeError):
            size(text)


def options(command: str) -> list[str]:
    """The options of a command."""
    action = next(one for one in command_line.parser()._actions if isinstance(one, argparse._SubParsersAction))
    own: argparse.ArgumentParser = action.choices[command]
    return sorted({name for one in own._actions for name in one.option_strings})


def commands() -> list[str]:
    """All of them."""
    action = next(one for one in command_line.parser()._actions if isinstance(one, argparse._SubParsersAction))
    return sorted(action.choices)


WORDS = st.one_of(
    st.sampled_from(
        [
            "tiny.toml", "good", "good:wifi", "good:total", "empty", "missing", "pipe", "wire.pcapng", "/dev/zero",
            "0", "1", "2", "-1", "1.5", "10" * 30, "nan", "inf", "-0", "1e400", "٣", "", " ", "-", "--", "x" * 5000,
            "1s", "100ms", "0s", "1e9h", "nans", "1ns", "2s", "wifi", "3g", "bulk", "throughput", "utilisation",
            "throughput,cwnd", "paths.wifi.loss=1%,2%", "flows.bulk.congestion=lia", "a.b=1", "=", "events.0.at=1s",
            "out", "out.png", "out.svg", "tiny.toml/x", "good/run.json", "lia", "scenario", "channel", "csv", "11",
            "\udcff", "größe", "a\nb", "{}", "[", "%", "%s", "upload", "1GiB", "sim",
        ]
    ),
    st.text(max_size=6).filter(lambda text: "\0" not in text and "/" not in text),
)  # fmt: skip


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with input files for commands."""
    where = tmp_path_factory.mktemp("workshop")
    (where / "tiny.toml").write_text(TINY)
    run = Scenario.parse(TINY, "tiny").run(1, captures=where)
    run.save(where / "good")
    shutil.copy(where / "client-wifi.pcapng", where / "wire.pcapng")
    (where / "empty").mkdir()
    os.mkfifo(where / "pipe")
    return where


def said_of(arguments: list[str]) -> tuple[int, str]:
    """Runs a command in this process; internal errors are raised."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = command_line.main(arguments)
        except SystemExit as left:
            code = int(left.code or 0)
    return code, err.getvalue()


@pytest.mark.parametrize("command", commands())
@pytest.mark.filterwarnings("ignore")
def test_any_arguments(command: str, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workshop)
    monkeypatch.setenv(command_line.TRACEBACK, "1")
    own = [name for name in options(command) if name not in ("--pcap", "--interface")]

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(st.lists(st.one_of(WORDS, st.sampled_from(own)), max_size=7))
    def check(words: list[str]) -> None:
        code, output = said_of([command, *BUSY.get(command, []), *words])
        assert code in (0, 1, 2), output
        assert code == 0 or output.strip(), words
        if code and not output.startswith("usage:"):
            assert len(output.strip().splitlines()) == 1, output

    check()


def test_a_baseline_is_a_run_too(tmp_path: Path) -> None:
    text = TINY.replace("[flows.bulk]", "[flows.bulk]\nbaselines = true")
    core = Scenario.parse(text, "tiny").core
    core.check_runs(2)
    with pytest.raises(_core.ScenarioError, match="9 runs including baselines"):
        core.check_runs(3)
    assert tmp_path.is_dir()
