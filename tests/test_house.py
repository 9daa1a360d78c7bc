"""The house's measures: files of one idea, owners of few fields that keep them to themselves."""

from __future__ import annotations

import re
import shlex

import pytest

from conftest import ROOT

LINES = 600
CRATES = ROOT / "crates"


def fields(text: str, name: str) -> list[str]:
    """The fields of a struct, with what stands before their names."""
    found = re.search(rf"struct {name} \{{\n(.*?)^\}}", text, re.DOTALL | re.MULTILINE)
    assert found is not None, name
    return [line.strip() for line in found[1].splitlines() if re.match(r" {4}[a-z(]", line)]


def test_no_source_file_is_longer() -> None:
    sources = [*CRATES.glob("*/src/**/*.rs"), *(ROOT / "python").rglob("*.py")]
    assert len(sources) > 400
    long = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in sources}
    assert {path: lines for path, lines in long.items() if lines > LINES} == {}


@pytest.mark.parametrize(
    ("file", "name", "most"), [("connection/mod.rs", "Connection", 12), ("subflow/mod.rs", "Subflow", 15)]
)
def test_an_owner_has_few_fields_and_none_is_public(file: str, name: str, most: int) -> None:
    found = fields((CRATES / "mptcp" / "src" / file).read_text(), name)
    assert 5 < len(found) <= most
    assert not [field for field in found if field.startswith("pub")]


def test_recipes_work_in_a_directory_with_a_space() -> None:
    """A directory of the machine is one word of a recipe: in quotes."""
    recipes = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("\t")]
    with_place = [line.replace("$(CURDIR)", "/a b") for line in recipes if "$(CURDIR)" in line]
    assert with_place
    for line in with_place:
        words = shlex.split(line.strip().removeprefix("@").rstrip("\\"))
        assert all(" " in word for word in words if "/a" in word), line
