"""The studies of further papers run and judge, and a planted error makes at least one of their claims fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mptcplab.reproduce import verdict_record
from mptcplab.reproduce.mutants import MUTANTS, Mutant
from mptcplab.reproduce.runner import Reproduction, reproduce
from mptcplab.studies import LITERATURE, STUDIES
from mptcplab.studies.base import Effort, Study
from mptcplab.studies.verdicts import VERDICTS

RECORD = Path(__file__).resolve().parent.parent / "docs" / "verdicts" / "literature.json"
QUICK = Effort("quick")


def _without_ecf(table: dict[str, Any]) -> None:
    for flow in table["flows"].values():
        if flow.get("scheduler") == "ecf":
            flow["scheduler"] = "redundant"


PLANTED: dict[str, tuple[str, str | Mutant]] = {
    "sigcomm20-tutorial": ("F2", "highest RTT"),
    "nsdi12-latency": ("G2", "opportunistic"),
    "ifip16-blest": ("H1", "opportunistic"),
    "conext17-ecf": ("I1", Mutant("all data on both paths instead of ECF", _without_ecf)),
    "conext12-olia": ("J3", "controller"),
    "nsdi11-wireless": ("K3", "controller"),
    "nsdi11-datacenter": ("L1", "scheduler"),
}
"""By study: an experiment, and the planted error that makes one of its claims fail, one of `MUTANTS` or its own."""


@pytest.fixture(scope="module", params=LITERATURE)
def found(request: pytest.FixtureRequest) -> Reproduction:
    return reproduce([LITERATURE[request.param]], QUICK, quiet=True)


def test_every_claim_has_a_verdict_and_checks(found: Reproduction) -> None:
    (study,) = found.studies
    assert found.missing == 0
    names = [fact.fact for fact in found.facts]
    assert len(names) == len(set(names))
    for fact in found.facts:
        assert fact.fact.startswith(f"{study.letter}-")
        assert fact.verdict in VERDICTS
        assert fact.statement
        assert fact.published
        assert fact.checks, f"{fact.fact} has a verdict without a check"
        assert "nan" not in fact.measured, fact
    assert any(fact.origin == "published" for fact in found.facts)
    assert found.figures
    for outcome in found.outcomes.values():
        assert all(picture.caption for picture in outcome.pictures)


def test_calibrated_claims_exist(found: Reproduction) -> None:
    (study,) = found.studies
    assert study.assumptions
    assert study.fitted <= {fact.fact for fact in found.facts}


def only(study: Study, experiment: str) -> Study:
    return replace(study, experiments=[one for one in study.experiments if one.name == experiment])


def test_a_planted_error_makes_a_claim_fail(found: Reproduction) -> None:
    (study,) = found.studies
    experiment, planted = PLANTED[study.name]
    mutant = MUTANTS[planted] if isinstance(planted, str) else planted
    wrong = reproduce([only(study, experiment)], QUICK, quiet=True, change=mutant.change())
    held = {fact.fact for fact in found.facts if fact.verdict == "holds"}
    assert [fact.fact for fact in wrong.facts if fact.fact in held and fact.verdict == "fails"]


def test_names_and_letters_are_unique() -> None:
    every = [*STUDIES.values(), *LITERATURE.values()]
    assert len({study.letter for study in every}) == len(every)
    assert all(name == study.name for name, study in LITERATURE.items())
    experiments = [one for study in LITERATURE.values() for one in study.experiments]
    assert all(one.study in LITERATURE and one.setup for one in experiments)


def test_the_record_has_every_claim(found: Reproduction) -> None:
    (study,) = found.studies
    kept = verdict_record.read(RECORD)
    assert study.name in kept["studies"], f"record {study.name} with --record docs/verdicts/literature.json"
    facts = {name for name, row in kept["facts"].items() if row["study"] == study.name}
    assert facts == {fact.fact for fact in found.facts}
    assert verdict_record.other_bounds(kept, found.facts) == []
