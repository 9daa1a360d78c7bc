"""Studies as scenario files: a run of the file equals the run of the study."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Effort, Experiment

GUIDE = ROOT / "docs" / "guide.md"
EXPERIMENTS = [experiment for study in STUDIES.values() for experiment in study.experiments]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: f"{experiment.study}-{experiment.name}")
def test_every_scenario_says_all_of_itself(experiment: Experiment) -> None:
    texts = {point.scenario.to_toml() for point in experiment.points(Effort("full"))}
    assert texts
    assert all(Scenario.parse(text).to_toml() == text for text in texts)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: f"{experiment.study}-{experiment.name}")
def test_the_file_gives_the_same_numbers(experiment: Experiment) -> None:
    point = min(experiment.points(Effort("quick")), key=lambda point: point.scenario.duration)
    again = Scenario.parse(point.scenario.to_toml()).run(point.seed)
    assert again.samples.equals(point.scenario.run(point.seed).samples)


def test_one_is_written_and_run(cli: Cli, tmp_path: Path) -> None:
    output = cli("study", "cs244-wireless/A1", "--output", "a1").stdout
    files = sorted(file.name for file in (tmp_path / "a1").iterdir())
    assert files == ["admin.toml", "blackhole.toml"]
    assert "mptcplab run a1/admin.toml" in output
    assert "bulk (MPTCP): goodput" in cli("run", "a1/admin.toml").stdout
    text = cli("study", "cs244-wireless/A1", "--toml", "--set", "paths.3g.delay=50ms").stdout
    assert 'delay = "50ms"' in text
    assert "frto = true" in text, "the stack of the time is written out"
    assert [row["point"] for row in json.loads(cli("study", "cs244-wireless/A1", "--json").stdout)] == [
        "admin",
        "blackhole",
    ]


def test_the_guide_s_scenario_is_one(cli: Cli) -> None:
    lines = [line.split(" > ")[0] for line in GUIDE.read_text().splitlines() if line.startswith("mptcplab study")]
    written = [line.split()[1:] for line in lines if "--toml" in line]
    assert written
    for words in written:
        text = cli(*words).stdout
        assert Scenario.parse(text).core.name
        # It has what the guide varies in it.
        assert "rcvbuf" in text
        assert "sndbuf" in text


def test_the_scenario_that_is_given_has_several_paths(cli: Cli) -> None:
    done = cli("study", "cs244-rcvbuf/C1", "--toml")
    (flow,) = tomllib.loads(done.stdout)["flows"].values()
    assert flow.get("transport", "mptcp") == "mptcp"
    assert flow.get("paths", ["wifi", "3g"]) == ["wifi", "3g"]
    assert "scenario 53-333-packets-none-5, one of 210; --point NAME selects another" in done.stderr
    named = cli("study", "cs244-rcvbuf/C1", "--toml", "--point", "53-333-packets-none-5")
    assert (named.stdout, named.stderr) == (done.stdout, "")
    # TCP alone, over one path, is all that this one has.
    assert "scenario 5, one of 20" in cli("study", "cs244-wireless/A3", "--toml").stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cs244-rcvbuf"], "cs244-rcvbuf/C1"),
        (["cs244-rcvbuff/C1"], "did you mean cs244-rcvbuf?"),
        (["cs244-rcvbuf/Q1"], "unknown experiment"),
        (["cs244-wireless/A1", "--point", "adnim"], "did you mean admin?"),
        (["cs244-wireless/A1", "--point", "admin", "--output", "x"], "remove one of them"),
        (["cs244-wireless/A1", "--toml", "--set", "paths.4g.loss=1%"], 'paths has no "4g"'),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, arguments: list[str], says: str) -> None:
    assert says in cli("study", *arguments, expect=2).stderr


def test_one_experiment_is_reproduced_alone(cli: Cli, tmp_path: Path) -> None:
    output = cli("reproduce", "cs244-wireless/A1", "--quick", "--output", "report").stdout
    assert "cs244-wireless: " in output
    facts = json.loads((tmp_path / "report" / "facts.json").read_text())
    assert {fact["experiment"] for fact in facts} == {"A1"}
    assert "did you mean A1" in cli("reproduce", "cs244-wireless/A11", expect=2).stderr
    assert "unknown study 'cs244'" in cli("reproduce", "cs244/A1", expect=2).stderr
    assert "records need whole studies" in cli("reproduce", "cs244-wireless/A1", "--record", "x.json", expect=2).stderr
