"""The studies run, judge and report. What they find is their own business, and that of the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab.reproduce import Reproduction, reproduce
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Effort, Experiment, Key, assume
from mptcplab.studies.cs244_rcvbuf.network import READINGS, judge

KEYS = ["study", "experiment", "fact", "statement", "published", "measured", "verdict", "reason"]
EXPERIMENTS = [experiment for study in STUDIES.values() for experiment in study.experiments]


@pytest.fixture(scope="module")
def found() -> Reproduction:
    return reproduce(list(STUDIES.values()), Effort("quick"), quiet=True)


def test_every_published_fact_is_judged(found: Reproduction) -> None:
    judged = {fact.fact for fact in found.facts}
    wanted = {"A-1": 6, "A-2": 5, "A-3": 4, "C-1": 5, "C-2": 3, "C-3": 3, "C-4": 1}
    for group, last in wanted.items():
        for number in range(1, last + 1):
            assert f"{group}.{number}" in judged
    assert {"C-1.6a", "C-1.6b"} <= judged


def test_facts_are_complete(found: Reproduction) -> None:
    for fact in found.facts:
        assert fact.verdict in ("holds", "fails", "contradicted")
        assert fact.statement
        assert fact.published
        assert fact.measured
        assert "nan" not in fact.measured
        assert fact.verdict != "contradicted" or fact.reason


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: f"{experiment.study}-{experiment.name}")
def test_more_effort_means_more_runs(experiment: Experiment) -> None:
    quick, default, full = (len(list(experiment.points(Effort(name)))) for name in ("quick", "default", "full"))
    assert 0 < quick <= default <= full


def test_where_something_is_random_five_seeds_or_more() -> None:
    for experiment in EXPERIMENTS:
        seeds: dict[Key, set[int]] = {}
        random: dict[Key, bool] = {}
        for point in experiment.points(Effort("default")):
            seeds.setdefault(point.key, set()).add(point.seed)
            random[point.key] = re.search(r'loss = "0*[1-9.]', point.scenario.to_toml()) is not None
        for key, several in seeds.items():
            assert not random[key] or len(several) >= 5, (experiment.name, key)


def test_the_report(cli: Cli, tmp_path: Path) -> None:
    done = cli("reproduce", "--quick", "--output", "out", expect=None)
    assert "cs244-rcvbuf:" in done.stdout
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert all(list(fact) == KEYS for fact in facts)
    assert done.returncode == int(any(fact["verdict"] == "fails" for fact in facts))
    page = (tmp_path / "out" / "index.html").read_text()
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert page.count("<figure>") == len(list((tmp_path / "out" / "figures").glob("*.svg"))) >= 10
    assert all(fact["fact"] in page for fact in facts)


def test_one_study_alone_and_the_same_report_twice(cli: Cli, tmp_path: Path) -> None:
    for name, workers in (("one", "1"), ("two", "2")):
        cli("reproduce", "cs244-wireless", "--quick", "--workers", workers, "--output", name, "--quiet", expect=None)
    first, second = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == second
    assert {fact["study"] for fact in json.loads(first["facts.json"])} == {"cs244-wireless"}


def test_judging_readings_that_exclude_each_other() -> None:
    first, second = READINGS
    assert judge({first: True, second: True}) == ("holds", "")
    assert judge({first: False, second: False})[0] == "fails"
    verdict, reason = judge({first: True, second: False})
    assert verdict == "contradicted"
    assert f"queues of {first} meet" in reason


def test_judging_where_the_source_is_silent() -> None:
    assert assume({"cubic": True, "lia": False}, "cubic", "the default") == (
        "holds",
        "Judged with cubic: the default. Not met with lia.",
    )
    assert assume({"cubic": False, "lia": True}, "cubic", "the default")[0] == "fails"
