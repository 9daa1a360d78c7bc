"""Simulated captures with a planted cause: each type can be generated, and the seed determines it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mptcplab.doctor.cut_captures import Cut, cut
from mptcplab.doctor.planted_captures import COMBINATIONS, COSTS, KINDS, Case, generate

SEED = 7


def one(kind: str, seed: int = SEED) -> Case:
    """The first case of a type."""
    [case] = generate(seed, 1, 0, 0, [kind])
    return case


@pytest.mark.parametrize("kind", KINDS)
def test_each_type_is_generated_and_determined_by_the_seed(kind: str) -> None:
    case = one(kind)
    assert case.kind == kind
    assert kind in case.expected
    assert case.document() == one(kind).document()
    assert case.scenario.to_toml() != one(kind, SEED + 1).scenario.to_toml()


def test_a_cause_reduces_the_goodput() -> None:
    for kind in ("receive-window", "loss", "application", "one-subflow"):
        assert one(kind).cost >= COSTS, kind


def test_pairs_and_healthy_cases_are_generated() -> None:
    *pairs, healthy = generate(SEED, 0, 2, 1)
    assert [case.kind for case in pairs] == ["+".join(pair) for pair in COMBINATIONS[:2]]
    assert all(case.expected & set(case.kind.split("+")) for case in pairs)
    assert healthy.expected == {"healthy"}
    assert healthy.cost == 0.0


def test_a_case_writes_the_captures_of_its_hosts(tmp_path: Path) -> None:
    case = one("fallback")
    files = case.save(tmp_path)
    assert {file.name.split("-")[0] for file in files} <= (
        {"client", "server"} if case.hosts == "both" else {case.hosts}
    )
    document = json.loads((tmp_path / "case.json").read_text())
    assert document["files"] == [file.name for file in files]
    assert document["expected"] == ["fallback"]


def test_a_part_of_a_capture_keeps_the_blocks(tmp_path: Path) -> None:
    whole, *_ = one("backup").capture(tmp_path)
    before = whole.stat().st_size
    cut(whole, Cut(begin=1.0, length=0.5))
    assert 0 < whole.stat().st_size < before
    middle = whole.stat().st_size
    cut(whole, Cut(snap=40))
    assert whole.stat().st_size < middle


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="must be verdicts with captures"):
        list(generate(SEED, 1, 0, 0, ["slow"]))
