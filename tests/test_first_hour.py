"""Errors, messages and figures that new users meet first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.cli import main as commands
from mptcplab.plots import figure_style, rendering
from mptcplab.plots.message_plot import LETTER, LINE, WIDE, _spot
from mptcplab.plots.result_plots import plot_metrics
from mptcplab.plots.run_plot import BESIDE
from mptcplab.reproduce.report import write_report
from mptcplab.reproduce.runner import reproduce
from mptcplab.results.read.result_reader import SavedRun
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Effort, Study
from mptcplab.studies.cs244_wireless.handoff import Handoff

ROOT = Path(__file__).parent.parent

THREE = """
duration = "4s"
[paths.a]
rate = "10Mbit"
rtt = "20ms"
[paths.b]
rate = "5Mbit"
rtt = "60ms"
[flows.both]
[flows.one]
paths = ["a"]
[flows.other]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "two.toml", "--vary", "flows.*.rcvbuf=1KB", "--output", "file/x"),
        ("run", "two.toml", "--output", "file/x"),
        ("receive", "--listen", ":5001", "--interface", "lo", "--output", "nope/x"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_place_that_cannot_be_written_is_said_before_anything_runs(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "two.toml").write_text(cli("example").stdout)
    monkeypatch.chdir(tmp_path)

    def ran(*_: object, **__: object) -> None:
        raise AssertionError("something was run before")

    monkeypatch.setattr("mptcplab._core.Batch", ran)
    monkeypatch.setattr("mptcplab.live.driver.listen", ran, raising=False)
    assert commands.main(list(arguments)) == 2


def test_a_file_is_not_held_back_after_its_end() -> None:
    short = Scenario.parse(THREE.replace("[flows.both]", '[flows.both]\nbytes = "500KB"'))
    runs = [short.vary({"duration": duration}).run() for duration in ("4s", "40s")]
    (row, same) = (run.flow("both") for run in runs)
    assert row["completion_s"] == same["completion_s"] is not None
    assert row["limits"] == same["limits"]
    assert sum(row["limits"].values()) == pytest.approx(1)


def test_a_flow_is_drawn_where_it_was() -> None:
    run = SavedRun.of(Scenario.parse(THREE).run())

    def drawn(flow: str) -> list[str]:
        return [axes.get_title(loc="left") for axes in plot_metrics(run, ["throughput"], flow=flow).axes]

    assert drawn("one") == ["a"]
    assert drawn("both") == ["a", "b"]


def test_a_picture_of_one_of_several_runs_says_so(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "three.toml").write_text(THREE)
    cli("run", "three.toml", "--seeds", "2", "--output", "out")
    titles: list[str] = []
    monkeypatch.chdir(tmp_path)
    real = figure_style.png

    def seen(figure: Any) -> bytes:
        titles.append(figure.get_suptitle() or figure.axes[0].get_title(loc="left"))
        return real(figure)

    for module in (figure_style, rendering):
        monkeypatch.setattr(module, "png", seen)
    assert commands.main(["plot", "out", "--seed", "2", "--output", "x.png"]) == 0
    assert commands.main(["run", "three.toml", "--seeds", "2", "--output", "again", "--quiet"]) == 0
    assert titles == ["three, seed 2: one of 2 runs", "three, seed 1: one of 2 runs"]


def test_no_two_curves_of_a_legend_look_alike() -> None:
    found = figure_style.looks([f"curve {at}" for at in range(BESIDE)])
    assert len({(look.color, str(look.line)) for look in found.values()}) == BESIDE


def test_a_quick_look_says_what_it_is_and_lists_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = STUDIES["cs244-wireless"]
    only = Study(study.name, study.letter, study.title, study.source, study.summary, [Handoff()])
    found = reproduce([only], Effort("quick"), quiet=True)
    monkeypatch.setattr("mptcplab.reproduce.runner.reproduce", lambda *_, **__: found)
    assert commands.main(["reproduce", study.name, "--quick", "--output", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out
    assert "--quick runs few seeds" in output
    assert not re.search(r"^  \w+: A-", output, re.MULTILINE)


def test_the_paths_of_the_readme_carry_something() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - it is our own
    carried = {row["path"]: row["bytes_acked"] for row in names["run"].flow()["paths"]}
    assert set(carried) == {"wifi", "3g"}
    assert all(carried.values()), carried


def test_a_rate_without_a_unit_is_read_as_it_was_meant(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(THREE.replace('"10Mbit"', "8000000"))
    assert 'try "8Mbit"' in cli("run", "x.toml", expect=2).stderr


def test_the_page_of_real_packets_makes_what_it_sends() -> None:
    text = (ROOT / "docs" / "wire.md").read_text(encoding="utf-8")
    made = set(re.findall(r"> (\S+\.tar)$", text, re.MULTILINE))
    sent = set(re.findall(r"mptcplab send (\S+)", text)) - {"-"}
    assert sent == made


def test_a_capture_without_a_place_says_where_it_went(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(THREE)
    assert "written to results/" in cli("run", "x.toml", "--pcap").stdout
    assert "(default DIR: results)" in " ".join(cli("run", "--help").stdout.split())


def test_labels_of_arrows_that_cross_do_not_hide_each_other() -> None:
    """Segments of which every other one is lost: arrows of two slopes, close to each other."""
    taken: list[tuple[float, float, float]] = []
    for at in range(6):
        for end in ((0.5, at + 0.6), (1.0, at + 6.0)):
            _spot(LETTER / WIDE * len("2 × DSS with data, 2848 B"), (0.0, float(at)), end, taken)
    for number, (x, y, wide) in enumerate(taken):
        assert wide / 2 <= x <= 1 - wide / 2
        others = taken[number + 1 :]
        assert all(abs(y - its) >= 0.9 * LINE or abs(x - there) >= wide for there, its, _ in others), number


def test_a_report_s_figures_are_legible_on_a_phone(tmp_path: Path) -> None:
    study = STUDIES["cs244-wireless"]
    only = Study(study.name, study.letter, study.title, study.source, study.summary, [Handoff()])
    found = reproduce([only], Effort("quick"), quiet=True)
    write_report(found, tmp_path)
    text = (tmp_path / "index.html").read_text()
    least = [
        int(width) for width in re.findall(r'<div class="drawing" tabindex="0"><img style="min-width:(\d+)px"', text)
    ]
    assert len(least) == 2
    # Letters of 9.5 points are then 8 pixels high and more, and the page does not grow wider than the screen.
    pictures = [picture for outcome in found.outcomes.values() for picture in outcome.pictures]
    for width, picture in zip(least, pictures, strict=True):
        assert width / picture.figure.get_figwidth() * 9.5 / 72 > 8
    assert ".drawing { overflow-x: auto;" in text
