"""`mptcplab validate`: protected predictions, and the kernel compared with the simulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Cli
from emulated import Machine, machine
from mptcplab.cli import main as command_line
from mptcplab.cli.commands.validate import tell
from mptcplab.emulation.namespaces import CannotMake
from mptcplab.validation import comparison, fixed_set
from mptcplab.validation.comparison import Answer, Row
from mptcplab.validation.generated_set import drawn

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
    message = cli("validate", cell, "--predict", "one.json", "--seeds", "2").stdout
    known = json.loads((tmp_path / "one.json").read_text())
    assert known["sha256"] in message
    assert len(known["cells"][0]["flows"]["bulk"]["goodput"]) == 2
    again = cli("validate", cell, "--predict", "two.json", "--seeds", "2").stdout
    assert known["sha256"] in again, "the simulator says the same again"


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (lambda text: text.replace('"share"', '"shares"'), [], "no predictions"),
        (lambda text: text.replace('"kind"', '"kinds"'), [], "no predictions"),
        (lambda text: text.replace('"prediction"', '"measurement"'), [], "is a measurement, not a prediction"),
        (lambda text: text, ["--sha256", "12ab"], "not 12ab: the file contains other predictions"),
        (lambda text: text.replace('"seeds": [', '"seeds": [ 7,'), [], "hash mismatch"),
        (lambda text: text, ["--seed", "2"], "the predictions use seeds [1], not [2]"),
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
    assert "its scenario has changed" in cli("validate", cell, "--against", "one.json", expect=2).stderr


def test_what_is_predicted_is_not_measured(cli: Cli, cell: Path) -> None:
    err = cli("validate", cell, "--predict", "one.json", "--output", "two.json", expect=2).stderr
    assert "--predict runs nothing on the kernel" in err


@pytest.mark.parametrize("option", ["--predict", "--output"])
def test_what_was_written_down_stays(cli: Cli, cell: Path, tmp_path: Path, option: str) -> None:
    cli("validate", cell, "--predict", "one.json")
    before = (tmp_path / "one.json").read_bytes()
    err = cli("validate", cell, option, "one.json", expect=2).stderr
    assert "one.json already exists" in err
    assert (tmp_path / "one.json").read_bytes() == before


def test_a_hash_is_that_of_predictions(cli: Cli, cell: Path) -> None:
    assert "--against FILE" in cli("validate", cell, "--sha256", "12ab", expect=2).stderr


def test_what_cannot_fail_is_counted_apart() -> None:
    good, other = Answer([8e6], []), Answer([1e6], [])
    doubtful, broken = Answer([8e6], [], doubts=["late"]), Answer([0.0], [], problems=["seed 1: refused"])
    rows = [
        Row("full", "f", good, good, 8.3e6),
        Row("free", "f", good, good, 20e6),
        Row("shared", "f", Answer([5e6], [0.5]), Answer([5e6], [0.7])),
        Row("off", "f", good, other),
        Row("late", "f", good, doubtful),
        Row("broken", "f", good, broken),
    ]
    message = tell(rows)
    assert "2 of 3 flows without saturated paths, 1 of 1 flow that saturate their paths" in message
    assert "within 0.05: 0 of 1 flow" in message
    assert "excluded flows: 1 failed, 1 doubtful" in message


def test_capacity_is_that_of_fixed_paths() -> None:
    cells = {cell.name: cell for cell in fixed_set.cells()}
    answers = {name: {"bulk": Answer([1.0], [])} for name in cells}
    rows = {row.cell: row.capacity for row in comparison.compare(cells.values(), answers, answers)}
    assert (rows["tcp reno wifi"], rows["even reno sndbuf 1MB"], rows["handoff admin reno"]) == (8e6, 10e6, None)


def test_the_set_is_checked_and_has_no_name_twice() -> None:
    names = [cell.name for cell in fixed_set.cells()]
    assert len(set(names)) == len(names)
    multipath = [cell for cell in fixed_set.cells() if not cell.name.startswith("tcp ")]
    assert len(multipath) >= 60
    assert not any(cell.blind for cell in multipath)


def test_scenarios_are_drawn_by_a_number() -> None:
    cells = drawn(40, 7)
    assert [cell.scenario.to_toml() for cell in drawn(3, 7)] == [cell.scenario.to_toml() for cell in cells[:3]]
    assert drawn(1, 8)[0].scenario.to_toml() != cells[0].scenario.to_toml()
    assert all(cell.blind for cell in cells)
    texts = [cell.scenario.to_toml() for cell in cells]
    assert 0 < sum("paths.three" in text for text in texts) < 20
    assert 5 < sum(text.count('loss = "') - text.count('loss = "0%"') for text in texts) < 40
    assert len({cell.name for cell in cells}) == 40


def test_blind_scenarios_and_stalls_are_counted_apart() -> None:
    steady, late = Answer([5e6], [0.5], [0.1]), Answer([5e6], [0.5], [0.6])
    message = tell([Row("built with", "f", steady, steady), Row("blind", "f", steady, late, blind=True)])
    stalls = "longest stall within 0.3 s of the kernel's: "
    assert f"{stalls}1 of 2 flows with MPTCP; 0 of 1 flow with a stall of more than 0.3 s" in message
    assert "blind *" in message
    assert message.splitlines()[-1].strip().startswith(f"{stalls}0 of 1 flow with")


def _on(monkeypatch: pytest.MonkeyPatch, problem: str) -> None:
    """The simulator in place of the kernel, with a problem in the cell of that name."""

    def run(cell: fixed_set.Cell, seed: int) -> comparison.Outcome:
        if problem in cell.name:
            raise CannotMake("no such machine")
        return cell.scenario.run(seed), None, {"bulk": "congestion reno was asked for"}

    monkeypatch.setattr(comparison, "on_kernel", run)


def test_what_went_wrong_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cell: Path
) -> None:
    _on(monkeypatch, "none")
    assert command_line.main(["validate", str(cell), "--quiet"]) == 1
    message = capsys.readouterr()
    assert "FAILED: seed 1: congestion reno was asked for" in message.out
    assert "excluded flows: 1 failed, 0 doubtful" in message.out
    assert "congestion reno was asked for" in message.err


def test_each_cell_is_written_when_it_is_over(monkeypatch: pytest.MonkeyPatch, cell: Path, tmp_path: Path) -> None:
    _on(monkeypatch, "other")
    other, output = tmp_path / "other.toml", tmp_path / "kernel.json"
    other.write_text(CELL)
    assert command_line.main(["validate", str(cell), str(other), "--quiet", "--output", str(output)]) == 1
    known = json.loads(output.read_text())
    assert (known["complete"], known["against"]) == (False, None)
    assert [one["cell"] for one in known["cells"]] == [str(cell)]


def test_the_kernel_stands_beside_the_simulator(machine: Machine, cli: Cli, cell: Path) -> None:
    cli("validate", cell, "--predict", "one.json")
    predicted = json.loads((machine.directory / "one.json").read_text())["sha256"]
    done = cli("validate", cell, "--against", "one.json", "--sha256", predicted, "--output", "kernel.json", "--json")
    (row,) = json.loads(done.stdout)
    assert "seed 1: runs for 4 s" in done.stderr
    assert row["flow"] == "bulk"
    assert row["goodput_sim"][0] > 7e6
    assert row["goodput_kernel"][0] > 0
    known = json.loads((machine.directory / "kernel.json").read_text())
    assert (known["kind"], known["against"], known["complete"]) == ("measurement", predicted, True)
    assert known["kernel"]
    assert known["began"]
    assert known["cells"][0]["flows"]["bulk"]["share"] == []
    err = cli("validate", cell, "--against", "kernel.json", expect=2).stderr
    assert "is a measurement, not a prediction" in err
