"""`mptcplab validate`: predictions that nobody changes, and the kernel beside the simulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Cli
from emulated import Machine, machine
from mptcplab import validation

__all__ = ["machine"]

CELL = """
name = "cell"
duration = "4s"
warmup = "1s"
sample = "500ms"
[paths.wifi]
rate = "8Mbit"
delay = "10ms"
queue = "50p"
[flows.bulk]
transport = "tcp"
congestion = "reno"
"""


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    path = tmp_path / "cell.toml"
    path.write_text(CELL)
    return path


def test_predictions_are_written_with_their_hash(cli: Cli, cell: Path, tmp_path: Path) -> None:
    said = cli("validate", cell, "--predict", "one.json", "--seeds", "2").stdout
    known = json.loads((tmp_path / "one.json").read_text())
    assert known["sha256"] in said
    assert len(known["cells"][0]["flows"]["bulk"]["goodput"]) == 2
    again = cli("validate", cell, "--predict", "two.json", "--seeds", "2").stdout
    assert known["sha256"] in again, "the simulator says the same again"


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (lambda text: text.replace('"share"', '"shares"'), [], "no predictions"),
        (lambda text: text.replace('"seeds": [', '"seeds": [ 7,'), [], "their hash is another"),
        (lambda text: text, ["--seed", "2"], "was predicted with the seeds [1], not [2]"),
        (lambda _: "{}", [], "no predictions"),
        (lambda _: "[]", [], "no predictions"),
        (lambda _: "no JSON", [], "no predictions"),
    ],
)
def test_predictions_that_cannot_be_used(
    cli: Cli, cell: Path, tmp_path: Path, change: Callable[[str], str], arguments: list[str], says: str
) -> None:
    cli("validate", cell, "--predict", "one.json")
    path = tmp_path / "one.json"
    path.write_text(change(path.read_text()))
    err = cli("validate", cell, "--against", "one.json", *arguments, expect=2).stderr
    assert says in err
    assert len(err.splitlines()) == 1


def test_another_scenario_was_not_predicted(cli: Cli, cell: Path) -> None:
    cli("validate", cell, "--predict", "one.json")
    cell.write_text(CELL.replace("8Mbit", "9Mbit"))
    assert "was another scenario" in cli("validate", cell, "--against", "one.json", expect=2).stderr


def test_what_is_predicted_is_not_measured(cli: Cli, cell: Path) -> None:
    err = cli("validate", cell, "--predict", "one.json", "--output", "two.json", expect=2).stderr
    assert "--predict measures nothing" in err


def test_the_set_is_checked_and_has_no_name_twice() -> None:
    names = [cell.name for cell in validation.cells()]
    assert len(set(names)) == len(names) >= 10


def test_the_kernel_stands_beside_the_simulator(machine: Machine, cli: Cli, cell: Path) -> None:
    cli("validate", cell, "--predict", "one.json")
    done = cli("validate", cell, "--against", "one.json", "--output", "kernel.json", "--json")
    (row,) = json.loads(done.stdout)
    assert "seed 1: 4 s" in done.stderr
    assert row["flow"] == "bulk"
    assert row["goodput_sim"][0] > 7e6
    # What no link carries nobody receives.
    assert 0 < row["goodput_kernel"][0] < 8e6
    if not row["doubts"]:
        assert row["agrees"]
    assert json.loads((machine.directory / "kernel.json").read_text())["cells"][0]["flows"]["bulk"]["share"] == [1.0]
