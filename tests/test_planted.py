"""Planted errors: mutants of the stack, queues and radio, the record of failed claims, and controls."""

from __future__ import annotations

import functools
import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from mptcplab.reproduce import sensitivity, sensitivity_text, verdict_record
from mptcplab.reproduce.mutants import KEPT, MUTANTS, RECORDED, concerned, halved_size, turned
from mptcplab.reproduce.runner import reproduce
from mptcplab.scenario.definition import Cell, Scenario
from mptcplab.stats import formulas
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Effort
from mptcplab.studies.controls import Controls, saturated
from mptcplab.studies.cs244_rcvbuf.network import MAIN, mptcp, paths, tcp
from mptcplab.studies.ro_bottleneck.network import VARIANTS, scenario
from mptcplab.util.user_input import BadResult

ROOT = Path(__file__).parent.parent
DEFAULT: dict[str, Any] = json.loads((ROOT / "docs" / "verdicts" / "default.json").read_text())["facts"]
CONTROLS = [one for study in STUDIES.values() for one in study.experiments if isinstance(one, Controls)]


def flows(of: Scenario, name: str) -> list[Any]:
    """Its flows with an error planted."""
    return list(tomllib.loads(MUTANTS[name].change()(of).to_toml())["flows"].values())


def test_each_error_is_planted_in_what_the_stack_reads() -> None:
    lia, reno = mptcp(paths(MAIN), "M1+M2", 100), tcp(paths(MAIN), "wifi", 100)
    assert flows(lia, "alpha doubled")[0]["congestion"] == {"kind": "lia", "alpha_scale": 2.0}
    assert flows(lia, "alpha halved")[0]["congestion"] == {"kind": "lia", "alpha_scale": 0.5}
    assert flows(reno, "alpha doubled") == flows(reno, "nothing")
    assert flows(lia, "reduction")[0]["congestion"] == {"kind": "lia", "beta": KEPT}
    assert flows(reno, "reduction")[0]["congestion"] == {"kind": "reno", "beta": KEPT}
    assert flows(lia, "highest RTT")[0]["scheduler"] == "maxrtt"
    assert flows(lia, "no M1")[0]["opportunistic_retransmission"] is False
    assert flows(mptcp(paths(MAIN), "none", 100), "no M1")[0]["opportunistic_retransmission"] is False
    assert flows(reno, "every segment")[0]["delayed_ack"] is False


def test_queues_are_halved_whatever_they_are_written_as() -> None:
    assert [halved_size(size) for size in ("53p", "1p", "80ms", "2s", "80kB")] == ["26p", "1p", "40ms", "1s", "40kB"]
    both = tomllib.loads(MUTANTS["half queue"].change()(mptcp(paths(MAIN), "none", 100)).to_toml())["paths"]
    assert {name: path["queue"] for name, path in both.items()} == {"wifi": "26p", "3g": "166p"}
    ports = scenario(VARIANTS["LIA, ports in turn"], Effort("quick"))
    links = tomllib.loads(MUTANTS["half queue"].change()(ports).to_toml())["links"]
    assert links["bottleneck"]["queue"]["limit"] == "500p"


def test_windows_of_the_radio_change() -> None:
    def cell(name: str) -> Any:
        return tomllib.loads(MUTANTS[name].change()(saturated(2, {})).to_toml())["cells"]["ap"]

    assert (cell("CWmin")["cw_min"], cell("no backoff")["cw_max"]) == (4, 15)
    usual = tomllib.loads(saturated(2, {}).to_toml())["cells"]["ap"]
    assert (usual["cw_min"], usual["cw_max"]) == (15, 1023)
    assert Cell(cw_min=7).cw_min == 7


@functools.cache
def alone(letter: str, effort: Effort, name: str = "nothing") -> dict[str, str]:
    """The verdicts of a study's controls with an error planted."""
    study = next(study for study in STUDIES.values() if study.letter == letter)
    only = replace(study, experiments=[one for one in study.experiments if isinstance(one, Controls)])
    found = reproduce([only], effort, quiet=True, change=MUTANTS[name].change())
    return {fact.fact: fact.verdict for fact in found.facts}


@pytest.mark.parametrize(
    ("letter", "name", "facts"),
    [
        ("A", "reduction", {"A-0.3"}),
        ("A", "every segment", {"A-0.3", "A-0.4"}),
        ("A", "highest RTT", {"A-0.5"}),
        ("A", "no M1", {"A-0.6"}),
        ("A", "half queue", {"A-0.8"}),
        ("B", "CWmin", {"B-0.1", "B-0.2", "B-0.3"}),
        ("B", "no backoff", {"B-0.1", "B-0.2", "B-0.3"}),
    ],
)
def test_controls_notice(letter: str, name: str, facts: set[str]) -> None:
    effort = Effort("quick", exactly=5)
    plain, wrong = alone(letter, effort), alone(letter, effort, name)
    assert {plain[fact] for fact in facts} == {"holds"}
    assert {wrong[fact] for fact in facts} == {"fails"}


def test_every_study_has_controls_and_none_is_published() -> None:
    assert [one.study for one in CONTROLS] == list(STUDIES)
    for one in CONTROLS:
        names = [name for name in DEFAULT if name.startswith(f"{one.name[0]}-0.")]
        assert len(names) >= 7
        assert {DEFAULT[name]["origin"] for name in names} == {"ours"}


def test_the_record_is_one_of_these_claims_and_errors() -> None:
    kept = sensitivity.shipped()
    assert sensitivity.outdated(kept, DEFAULT, RECORDED, MUTANTS) == []
    assert set(kept["run"]) >= {"effort", "seeds_from"}


def test_each_recorded_error_turns_three_claims_of_two_studies() -> None:
    studies = {name: row["study"] for name, row in DEFAULT.items()}
    weak = sensitivity.weak(sensitivity.shipped(), studies)
    assert {name: words for name, words in weak.items() if name in RECORDED} == {}


KEPT_RECORD: Any = {
    "run": {"effort": "quick", "seeds_from": 1},
    "before": {"A-1.1": "holds", "A-1.2": "fails", "B-1.1": "holds"},
    "turned": {"CWmin": {"A-1.1": "fails"}, "reduction": {"B-1.1": "undecided"}, "nothing": {}},
}


def test_what_the_record_says() -> None:
    assert sensitivity.turned_by(KEPT_RECORD, "A-1.1") == ["CWmin"]
    assert sensitivity.turned_by(KEPT_RECORD, "A-1.2") is None
    assert sensitivity.turned_by(KEPT_RECORD, "B-1.1") == []
    assert sensitivity.unnoticed(KEPT_RECORD) == ["reduction"]
    studies = {"A-1.1": "a", "A-1.2": "a", "B-1.1": "b"}
    assert sensitivity.weak(KEPT_RECORD, studies) == {
        "CWmin": "1 claims of 1 studies",
        "reduction": "0 claims of 0 studies",
    }
    assert sensitivity.matrix(KEPT_RECORD, studies) == {"CWmin": {"a": 1, "b": 0}, "reduction": {"a": 0, "b": 0}}


def test_an_old_record_is_found() -> None:
    output = sensitivity.outdated(KEPT_RECORD, ["A-1.1", "A-1.2", "C-1.1"], ["CWmin", "no M1"], ["CWmin", "no M1"])
    assert output == [
        "claim C-1.1 is not in the record",
        "the record has an unknown claim B-1.1",
        "planted error no M1 is not in the record",
        "the record has an unknown planted error nothing",
        "the record has an unknown planted error reduction",
    ]


def test_records_grow_and_those_of_other_verdicts_start_anew(tmp_path: Path) -> None:
    path, how = tmp_path / "record.json", {"effort": "quick", "seeds_from": 1}
    sensitivity.keep(path, how, {"A-1.1": "holds"}, {"one": {"A-1.1": "fails"}})
    sensitivity.keep(path, how, {"A-1.1": "holds"}, {"two": {}})
    assert set(sensitivity.read(path)["turned"]) == {"one", "two"}
    sensitivity.keep(path, how, {"A-1.1": "fails"}, {"three": {}})
    assert set(sensitivity.read(path)["turned"]) == {"three"}
    for text in ("", "[]", '{"run": {}}'):
        path.write_text(text)
        with pytest.raises(BadResult, match="not a record of planted errors"):
            sensitivity.read(path)


def test_the_command_records_what_an_error_turns(cli: Cli, tmp_path: Path) -> None:
    base = ("reproduce", "cs244-wireless/A3", "--quick", "--quiet", "--mutate", "nothing")
    assert "records need whole studies" in cli(*base, "--record", "r.json", expect=2).stderr
    whole = ("reproduce", "cs244-wireless", "--quick", "--quiet", "--mutate", "nothing", "--record", "r.json")
    cli(*whole)
    kept = sensitivity.read(tmp_path / "r.json")
    assert kept["turned"] == {"nothing": {}}
    assert kept["run"] == {"effort": "quick", "seeds_from": 1}


def test_only_claims_that_held_can_be_turned() -> None:
    assert turned({"A": "fails", "B": "holds"}, []) == {}


def test_what_the_page_says_of_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitivity_text, "_record", lambda: KEPT_RECORD)
    assert "CWmin" in sensitivity_text.of_claim("A-1.1")
    assert sensitivity_text.of_claim("A-1.2") == "not tested; verdict without errors: fails"
    assert "none of 3 errors makes this claim fail" in sensitivity_text.of_claim("B-1.1")
    assert sensitivity_text.of_claim("Z-1") == "not recorded"
    monkeypatch.setattr(
        sensitivity, "by_seeds", lambda: {"A-1.1": {"1": "holds", "61": "undecided"}, "B-1.1": {"1": "holds"}}
    )
    assert (
        sensitivity_text.of_seeds("A-1.1")
        == "the verdict depends on the seeds: holds with seeds from 1, undecided with seeds from 61"
    )
    assert sensitivity_text.of_seeds("B-1.1") == sensitivity_text.of_seeds("C-1.1") == ""


def test_bianchi_is_that_of_the_tables() -> None:
    """Mb/s of 1500-byte packets, against the Monte-Carlo table of crates/netsim/tests/it/wifi_saturation.rs."""
    for stations, rate, collisions in ((2, 30.8, 0.11), (4, 29.6, 0.23), (8, 27.9, 0.34)):
        packets, share = formulas.saturated_cell(stations)
        assert packets * 12e-3 == pytest.approx(rate, rel=0.03)
        assert share == pytest.approx(collisions, abs=0.03)


def test_the_square_root_law_is_between_its_two_constants() -> None:
    law = formulas.random_loss_law(0.01, 0.1)
    assert 1.22 / 0.1 < law / (formulas.MSS * 8 / 0.1) < 1.42 / 0.1
    assert formulas.random_loss_law(0.01, 0.1, acked=2) == pytest.approx(law / 2**0.5)


def test_agreed_bounds_of_controls_are_listed() -> None:
    agreed = verdict_record.agreed()
    assert {name for name in agreed if "-0." in name} == {name for name in DEFAULT if "-0." in name}


def test_blocks_of_seeds_begin_with_the_recorded_verdicts() -> None:
    rows = sensitivity.by_seeds()
    assert rows
    for fact, found in rows.items():
        assert found["1"] == DEFAULT[fact]["verdict"]
        assert len(set(found.values())) > 1


def test_experiments_that_an_error_does_not_change_are_not_run_again() -> None:
    def left(name: str) -> dict[str, list[str]]:
        studies = concerned(list(STUDIES.values()), MUTANTS[name].change(), Effort("quick"))
        return {study.letter: [one.name for one in study.experiments] for study in studies}

    assert set(left("CWmin")) == {"B", "E"}
    assert "A3" not in left("no M1")["A"], "TCP alone"
    assert left("nothing") == {}
    assert set(left("every segment")) == set("ABCDE")
