"""The pages about never being slower: the tests and pictures that they name are there."""

from __future__ import annotations

import re

from conftest import ROOT

PAGES = [ROOT / "docs" / name for name in ("never-slower.md", "never-slower-causes.md")]


def test_each_cause_names_tests_that_there_are() -> None:
    known = {name for file in (ROOT / "crates").rglob("*.rs") for name in re.findall(r"fn (\w+)", file.read_text())}
    rows = [line.split(" | ") for line in PAGES[1].read_text().splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in re.findall(r"`(\w+?)(?:_\.\.\.)?`", row[-1])]
    assert len(named) > 90
    assert [name for name in named if not any(one.startswith(name) for one in known)] == []


def test_pictures_are_there() -> None:
    named = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGES[0].read_text())
    assert len(named) >= 4
    assert [name for name in named if not (ROOT / "docs" / name).exists()] == []
