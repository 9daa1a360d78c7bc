"""Regression tests from a usability review: small faults."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.cli.commands.example import FOLDER
from mptcplab.plots.result_plots import plot_metrics
from mptcplab.reproduce import sensitivity, sensitivity_text
from mptcplab.results.model import events
from mptcplab.results.read.result_reader import load
from mptcplab.results.text import reasons

CALL = Scenario.load(FOLDER / "call.toml").vary({"duration": "6s", "warmup": "4s"})


@pytest.fixture
def call(tmp_path: Path) -> Path:
    path = tmp_path / "call.toml"
    path.write_text(CALL.to_toml())
    return path


def test_the_latency_counts_the_blocks_of_its_quantiles() -> None:
    run = CALL.run()
    written, _ = run.block_columns(0)
    assert f"latency of {sum(written >= 4)} blocks: " in run.summary()
    assert sum(written >= 4) < 0.5 * run.flow()["blocks"]


@pytest.mark.usefixtures("call")
def test_a_second_compare_is_refused(cli: Cli, tmp_path: Path) -> None:
    key = "flows.*.scheduler"
    words = ["sweep", "call.toml", "--vary", f"{key}=minrtt,roundrobin", "--seeds", "2", "--output", "out", "--quiet"]
    both = ["--compare", f"{key}=minrtt", "--compare", f"{key}=roundrobin"]
    output = cli(*words, *both, expect=2).stderr
    assert f"--compare is given 2 times ({key}=minrtt, {key}=roundrobin); give it once" in output
    assert not (tmp_path / "out").exists()
    # As the message says: the same runs, compared with another point.
    assert "\nroundrobin " in cli(*words, *both[:2]).stdout.partition("d_z")[2]
    assert "\nminrtt " in cli(*words, *both[2:], "--resume").stdout.partition("d_z")[2]


def test_a_report_of_one_experiment_says_what_was_run(cli: Cli, tmp_path: Path) -> None:
    cli("reproduce", "cs244-wireless/A1", "--quick", "--output", "report", "--quiet")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    commands = re.findall(r"<code>(mptcplab reproduce (?!--mutate).*?)</code>", page)
    assert len(commands) >= 2
    assert set(commands) == {"mptcplab reproduce cs244-wireless/A1 --quick"}
    rows = re.findall(r"<tr><td>([^<]*)</td><td>[^<]*</td>.*?<td class=\"number\">(\d+)</td></tr>", page)
    silent = [name for name, count in rows if count == "0"]
    assert silent
    assert "Each error makes at least one claim fail" not in page
    assert f"No claim of this report fails with: {', '.join(silent)}." in page


def test_what_is_said_of_planted_errors_is_what_their_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    record = sensitivity.read(sensitivity.SHIPPED)
    names = [name for name in record["turned"] if name != sensitivity.CONTROL]
    assert sensitivity_text._unnoticed(record, []) == "Each error makes at least one claim fail."
    monkeypatch.setattr(sensitivity, "unnoticed", lambda _: names[:1])
    assert sensitivity_text._unnoticed(record, names[:1]) == f"No claim of this report fails with: {names[0]}."
    assert sensitivity_text._unnoticed(record, names[:2]).endswith(f"Claims of other experiments fail with {names[1]}.")
    assert sensitivity_text._unnoticed(record, names[1:3]).endswith("Claims of other experiments fail with these.")


def test_a_run_in_python_knows_its_capacity_and_its_limits(tmp_path: Path) -> None:
    run = CALL.run()
    assert (run.flow()["capacity"] or 0) > 20e6
    assert all(sum(path["limits"].values()) == pytest.approx(1) for path in run.flow()["paths"])
    run.save(tmp_path / "saved")
    assert "limit_bottleneck" in pq.read_schema(tmp_path / "saved" / "paths.parquet").names


@pytest.mark.usefixtures("call")
def test_a_result_keeps_no_baselines_of_the_one_before(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "out" / "baselines"
    cli("run", "call.toml", "--set", "flows.call.baselines=true", "--output", "out", "--quiet")
    assert (kept / "flows.parquet").exists()
    cli("run", "call.toml", "--output", "out", "--quiet")
    assert not kept.exists()
    # A directory of that name that holds no result is somebody's.
    kept.mkdir()
    (kept / "notes.txt").write_text("mine")
    cli("run", "call.toml", "--output", "out", "--quiet")
    assert (kept / "notes.txt").read_text() == "mine"


def test_a_metric_of_the_whole_connection_is_drawn_once(tmp_path: Path) -> None:
    CALL.run().save(tmp_path / "out")
    (run,) = load(tmp_path / "out")

    def titles(*metrics: str) -> list[str]:
        figure = plot_metrics(run, metrics)
        return [panel.get_title(loc="left") for panel in figure.axes if panel.get_visible()]

    assert titles("latency") == ["all paths"]
    assert titles("cwnd", "latency") == ["wifi", "lte", "all paths"]


@pytest.mark.parametrize("command", [["study", "C1"], ["study", "c1"], ["reproduce", "C1"]])
def test_an_experiment_without_its_study_is_completed(cli: Cli, command: list[str]) -> None:
    assert "did you mean cs244-rcvbuf/C1?" in cli(*command, expect=2).stderr


def test_copies_in_capacity_that_nothing_waited_for_cost_nothing() -> None:
    run = CALL.vary({"duration": "10s", "warmup": "2s"}).run(trace=events.REASONS)
    row = run.flow()
    assert row["goodput"] == pytest.approx(6e6, rel=0.02)
    assert 8 * (row["duplicates"] or 0) / row["measured_s"] > reasons.LEAST * (row["capacity"] or 0.0)
    assert "copies" not in {finding.cause for finding in reasons.findings(row)}
    assert "M1 sent twice" not in run.summary()
