"""The pages about never being slower and about the scheduler: the tests and figures that they name exist."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT

GATE = "crates/lab/tests/it/never_slower.rs"


def test_the_page_of_causes_names_the_gate() -> None:
    assert GATE in (ROOT / "docs" / "research" / "causes.md").read_text()
    assert (ROOT / GATE).exists()


@pytest.mark.parametrize(("page", "least"), [("research/survey.md", 4), ("scheduler.md", 3)])
def test_pictures_are_there(page: str, least: int) -> None:
    named = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "docs" / page).read_text())
    assert len(named) >= least
    assert [name for name in named if not (ROOT / "docs" / page).parent.joinpath(name).exists()] == []
