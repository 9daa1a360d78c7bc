"""A command in this process gives what one in a process of its own gives, and leaves nothing behind."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from command import Done, here, processed
from mptcplab.cli.commands import example


def result(done: Done) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["--version"], ["run", "--help"], ["fly"], ["run", "none.toml"], ["run", "two.toml", "--seeds", "2"],
        ["run", "größe\n.toml"], ["list", "--json"], ["example"], ["study", "cs244-wireless/A1", "--toml"],
        ["plot", "nothing"], ["send", "-", "nowhere"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("columns", [None, "40"])
def test_it_is_the_same(
    scenario_file: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], columns: str | None
) -> None:
    # readline sets it for this process too, and Python does not know.
    monkeypatch.setenv("COLUMNS", "1")
    monkeypatch.delenv("COLUMNS")
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert result(here(arguments, scenario_file.parent)) == result(processed(arguments, scenario_file.parent))


def test_what_a_command_does_stays_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    where, words, handlers = Path.cwd(), sys.argv, logging.getLogger().handlers[:]

    def execute(_: argparse.Namespace) -> int:
        print("a ⇒ b", Path.cwd().name, sys.stdin.read())
        for _twice in range(2):
            warnings.warn("mind this", RuntimeWarning, stacklevel=1)
        logging.getLogger("x").warning("logged")
        os.write(1, b"from below\n")
        subprocess.run([sys.executable, "-c", "import sys; print('a child', file=sys.stderr)"], check=True)
        return 3

    monkeypatch.setattr(example, "execute", execute)
    for _ in range(2):
        done = here(["example"], tmp_path)
        assert done.returncode == 3
        assert f"a ⇒ b {tmp_path.name} \n" in done.stdout
        assert "from below\n" in done.stdout
        assert done.stderr.count("mptcplab: warning: mind this") == 1
        assert "logged\n" in done.stderr
        assert done.stderr.endswith("a child\n")
    print("afterwards")
    assert capfd.readouterr() == ("afterwards\n", "")
    assert (Path.cwd(), sys.argv, logging.getLogger().handlers) == (where, words, handlers)


def test_what_it_leaves_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM), dict(os.environ)

    def handle(_: argparse.Namespace) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return 0

    def set_one(_: argparse.Namespace) -> int:
        os.environ["MPTCPLAB_LEFT"] = "1"
        return 0

    for execute in (handle, set_one):
        monkeypatch.setattr(example, "execute", execute)
        with pytest.raises(AssertionError):
            here(["example"], tmp_path)
        assert (signal.getsignal(signal.SIGTERM), dict(os.environ)) == before


@pytest.mark.parametrize(("left", "code", "output"), [(None, 0, ""), (4, 4, ""), ("why", 1, "why\n")])
def test_exits_are_the_interpreter_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: object, code: int, output: str
) -> None:
    def execute(_: argparse.Namespace) -> int:
        raise SystemExit(left)

    monkeypatch.setattr(example, "execute", execute)
    assert result(here(["example"], tmp_path)) == (code, "", output)
