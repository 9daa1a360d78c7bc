"""Verdicts follow from intervals and bounds; a record says when one changes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from mptcplab.reproduce import runner as reproduction
from mptcplab.reproduce import verdict_record
from mptcplab.reproduce.mutants import MUTANTS
from mptcplab.reproduce.mutants import table as mutant_table
from mptcplab.stats.statistics import Interval, difference, interval, ratio
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Effort, Fact, Study
from mptcplab.studies.verdicts import Bound, Check, Exclusion, Quote, all_of, every, over_readings
from mptcplab.util.user_input import BadResult

ROOT = Path(__file__).resolve().parent.parent
LITERATURE_RECORD = "literature.json"
"""Its claims are not in agreed.json; `test_literature` compares their bounds with the record."""
RECORDS = sorted(path for path in (ROOT / "docs" / "verdicts").glob("*.json") if path.name != LITERATURE_RECORD)


def given(low: float, high: float, bound: Bound) -> Check:
    return Check("it", Interval((low + high) / 2, low, high, 5), bound)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.1, 1.9, "holds"), (2.1, 3, "fails"), (0, 0.9, "fails"), (1.5, 2.5, "undecided")]
)
def test_inside_outside_and_across(low: float, high: float, verdict: str) -> None:
    assert given(low, high, Bound("b", 1, 2)).verdict == verdict


def test_a_wide_interval_never_helps() -> None:
    for bound in (Bound("b", low=1), Bound("b", high=1), Bound("b", 0.9, 1.1)):
        for middle in (0.5, 1.0, 1.5):
            verdicts = [given(middle - half, middle + half, bound).verdict for half in (0.01, 0.05, 0.3, 1, 10)]
            held = [verdict == "holds" for verdict in verdicts]
            assert held == sorted(held, reverse=True), (bound, middle, verdicts)


def test_one_run_decides_nothing() -> None:
    assert Bound("b", low=0).judge(interval([5.0])) == "undecided"
    assert Bound("b", low=0).judge(ratio([5.0], [1.0], paired=True)) == "undecided"
    assert Bound("b", low=0).judge(difference([5.0], [1.0, 1.0], paired=False)) == "undecided"


def test_more_and_less_exclude_the_end_itself() -> None:
    exact = Interval(0.0, 0.0, 0.0, 5)
    for bound in (Bound("more", low=0), Bound("falls", high=0)):
        assert bound.judge(exact) == "holds"
    for bound in (Bound("more", low=0, strict=True), Bound("falls", high=0, strict=True)):
        assert bound.judge(exact) == "fails"
        assert bound.judge(Interval(0.0, -1.0, 1.0, 5)) == "undecided"
    assert Bound("more", low=0, strict=True).judge(Interval(0.5, 0.0, 1.0, 5)) == "undecided"
    assert str(exact) == "0.00 (no spread)"


def test_for_never_and_always_one_run_outside_fails() -> None:
    bound = Bound("never", high=1)
    assert every("it", [0.2, 0.3, 0.4], bound).verdict == "holds"
    broken = every("it", [0.1] * 99 + [1.1], bound)
    assert broken.verdict == "fails"
    assert str(broken) == "it 0.11 (each run 0.10 to 1.10)"
    assert every("it", [0.1], bound).verdict == "undecided"
    assert every("it", [0.1, float("nan")], bound).verdict == "undecided"


def test_one_failure_fails_and_one_doubt_leaves_undecided() -> None:
    bound = Bound("b", low=1)
    yes, no, doubt = given(2, 3, bound), given(0, 0.5, bound), given(0.5, 1.5, bound)
    assert all_of([yes, yes]) == "holds"
    assert all_of([yes, doubt, no]) == "fails"
    assert all_of([yes, doubt]) == "undecided"
    assert all_of([]) == "undecided"


def test_over_readings_the_one_network_decides_and_an_open_one_depends() -> None:
    assert over_readings({"a": "holds", "b": "fails"}, "a", "it is said") == (
        "holds",
        "The verdict uses a: it is said. Other interpretations: fails with b.",
    )
    verdict, words = over_readings({"a": "holds", "b": "fails"}, None, "which")
    assert verdict == "depends"
    assert words == "The source does not specify which. Holds with a; fails with b."
    assert over_readings({"a": "fails", "b": "fails"}, None, "which")[0] == "fails"
    assert over_readings({"a": "fails", "b": "undecided"}, None, "which")[0] == "undecided"


def test_a_contradiction_has_two_sentences() -> None:
    with pytest.raises(ValueError, match="requires both quoted statements"):
        Exclusion(Quote("a", "it rises"), Quote("b", ""), "both at once")
    words = ("s", "E1", "X-1", "published", "it", "yes", "no")
    with pytest.raises(ValueError, match="two quoted statements"):
        Fact(*words, verdict="contradicted", reason="")  # type: ignore[arg-type]
    both = Exclusion(Quote("a", "it rises"), Quote("b", "it falls"), "the same curve")
    with pytest.raises(ValueError, match="must not have them"):
        Fact(*words, verdict="holds", reason="", exclusion=both)  # type: ignore[arg-type]


def test_ratios_have_intervals_of_ratios() -> None:
    """Against Fieller's interval for paired values without common variance: near, and never symmetric."""
    top, below = [10.0, 11.0, 9.0, 10.5, 9.5], [5.0, 5.5, 4.5, 5.2, 4.8]
    found = ratio(top, below, paired=True)
    assert found.mean == pytest.approx(2)
    assert found.low < 2 < found.high
    assert found.high - 2 > 2 - found.low
    assert ratio(top, below, paired=False).high > found.high
    assert ratio([0.0, 0.0], [1.0, 1.0], paired=True) == Interval(0, 0, 0, 2)
    assert Bound("b", 0.85, 1.15).judge(ratio([1.0, 1.0], [0.0, 0.0], paired=True)) == "fails"
    inverse = ratio(below, top, paired=True)
    assert inverse.low == pytest.approx(1 / found.high)


def test_nothing_over_nothing_is_no_run() -> None:
    alone = ratio([0.0, 0.0, 0.98], [0.0, 0.0, 1.0], paired=True)
    assert (alone.mean, alone.n) == (0.98, 1)
    assert Bound("b", 0.85, 1.15).judge(alone) == "undecided"
    assert ratio([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], paired=True) == Interval(1.0, 1.0, 1.0, 2)
    assert math.isnan(ratio([0.0, 0.0], [0.0, 0.0], paired=True).mean)


def test_a_difference_of_what_does_not_vary_is_exact() -> None:
    assert difference([2.0, 2.0], [1.0, 1.0], paired=False) == Interval(1.0, 1.0, 1.0, 2)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_recorded_facts_are_those_of_the_studies_within_the_agreed_bounds(path: Path) -> None:
    facts = verdict_record.read(path)["facts"]
    studies = {row["study"] for row in facts.values()}
    every = verdict_record.read(ROOT / "docs" / "verdicts" / "default.json")["facts"]
    assert set(every) == set(verdict_record.agreed()) - {"A-2.9", "C-1.2"}
    # The full record is older than the controls, and takes hours.
    missing = {name for name in every if "-0." in name} if path.stem == "full" else set[str]()
    assert set(facts) == {name for name, row in every.items() if row["study"] in studies} - missing
    assert verdict_record.too_wide(facts) == []
    published = {name: row for name, row in facts.items() if row["origin"] == "published"}
    if path.stem != "full":
        return  # a few seeds may leave more undecided
    elsewhere = [row for row in published.values() if row["study"] != "ro-bottleneck"]
    assert sum(row["verdict"] in ("undecided", "depends") for row in elsewhere) <= 14
    assert sum(row["verdict"] == "contradicted" for row in facts.values()) <= 4


def test_what_is_fitted_and_assumed_is_known() -> None:
    every = set(verdict_record.agreed())
    for study in STUDIES.values():
        assert study.assumptions, study.name
        assert study.fitted <= every, study.fitted - every


def test_a_wider_bound_is_found() -> None:
    wide: dict[str, dict[str, dict[str, list[float | None]]]] = {
        "A-2.1": {"bounds": {"rate": [1.5, None], "more": [0, None]}},
        "A-3.2": {"bounds": {}},
        "Z-1": {"bounds": {}},
    }
    assert verdict_record.too_wide(wide) == [
        "A-2.1: `rate` allows 1.5; the agreed minimum is 1.7",
        "A-2.1: the bound `more` is not listed in agreed.json",
        "A-3.2: the agreed bound `of the model` is not checked",
        "Z-1: the claim is not in agreed.json",
    ]


@pytest.mark.parametrize("name", MUTANTS)
def test_each_mutant_swaps_something_in_some_study(name: str) -> None:
    change = MUTANTS[name].change()
    first = [next(study.experiments[1].points(Effort("quick"))).scenario for study in STUDIES.values()]
    changed = [change(scenario).to_toml() != scenario.to_toml() for scenario in first]
    assert any(changed) == (name != "nothing")
    table = mutant_table(
        {"A-1.1": "holds", "A-1.2": "holds", "A-1.3": "fails"}, {name: {"A-1.1": "fails", "A-1.2": "undecided"}}
    )
    assert f"| {name} | {MUTANTS[name].words} | A-1.1 | – | A-1.2 | 1 |" in table
    assert "1 of the 2 claims that hold do not fail with any of these errors (50%): A-1.2." in table


def test_the_null_mutant_turns_nothing_and_efforts_are_not_mixed(cli: Cli) -> None:
    base = ("reproduce", "cs244-wireless", "--quick", "--quiet", "--output", "out")
    told = cli(*base, "--mutate", "nothing").stdout
    assert f"| nothing | {MUTANTS['nothing'].words} | – | – | – | 0 |" in told
    where = str(ROOT / "docs" / "verdicts" / "default.json")
    for more in ((), ("--mutate", "queue")):
        refused = cli(*base, *more, "--compare", where, expect=2).stderr
        assert "was recorded with effort default, not quick" in refused
    for seeds in (("--seeds-from", "21"), ("--seeds", "20")):
        other = cli("reproduce", "cs244-wireless", *seeds, "--mutate", "queue", "--compare", where, expect=2).stderr
        assert "cs244-wireless is not recorded with these seeds" in other


def test_the_verdicts_of_study_a_are_the_recorded_ones(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest study, with the effort of the record; .ci/run compares all of them."""
    # Its figures take longer than its runs, and are not checked here.
    monkeypatch.setattr("mptcplab.reproduce.report.write_report", lambda *_: None)
    where = ROOT / "docs" / "verdicts" / "default.json"
    cli("reproduce", "cs244-wireless", "--quiet", "--output", "out", "--compare", str(where))


def test_a_changed_verdict_fails_until_somebody_says_why(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first time it runs; the same points give the same.
    run, asked = reproduction.reproduce, list[Any]()
    found, reports = list[reproduction.Reproduction](), list[reproduction.Reproduction]()

    def remembered(studies: list[Study], effort: Effort, **more: Any) -> reproduction.Reproduction:
        more.pop("settled")
        asked.append(([study.name for study in studies], effort, more))
        if not found:
            found.append(run(studies, effort, **more))
        assert asked[-1] == asked[0]
        return found[0]

    monkeypatch.setattr(reproduction, "reproduce", remembered)
    # Its figures take longer than its runs, and are not checked here.
    monkeypatch.setattr("mptcplab.reproduce.report.write_report", lambda each, *_: reports.append(each))
    base = ("reproduce", "cs244-wireless", "--quick", "--quiet", "--output", "out")
    cli(*base, "--record", "verdicts.json")
    path = tmp_path / "verdicts.json"
    kept = json.loads(path.read_text())
    cli(*base, "--compare", "verdicts.json")
    recorded = kept["facts"]["A-1.6"]["verdict"]
    kept["facts"]["A-1.6"]["verdict"] = "fails"
    path.write_text(json.dumps(kept))
    told = cli(*base, "--compare", "verdicts.json", expect=1).stderr
    assert f"verdict changed: A-1.6: fails in the record, {recorded} in this run" in told
    assert "--because" in told
    assert "give the reason with --because" in cli(*base, "--record", "verdicts.json", expect=2).stderr
    cli(*base, "--record", "verdicts.json", "--because", "a test")
    changes = json.loads(path.read_text())["changes"]
    assert changes == [{"fact": "A-1.6", "from": "fails", "to": recorded, "because": "a test"}]
    assert len(asked) == len(reports) == 5


@pytest.mark.parametrize("text", ["", "[]", '{"facts": 3}', "{"])
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(BadResult, match="not a record of verdicts"):
        verdict_record.read(path)
    with pytest.raises(BadResult, match="cannot read the record of verdicts"):
        verdict_record.read(tmp_path / "none")
