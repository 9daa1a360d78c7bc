"""The Makefile works wherever the checkout is."""

from __future__ import annotations

import shlex

from conftest import ROOT


def test_recipes_work_in_a_directory_with_a_space() -> None:
    """A directory of the machine is one word of a recipe: in quotes."""
    recipes = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("\t")]
    with_place = [line.replace("$(CURDIR)", "/a b") for line in recipes if "$(CURDIR)" in line]
    assert with_place
    for line in with_place:
        words = shlex.split(line.strip().removeprefix("@").rstrip("\\"))
        assert all(" " in word for word in words if "/a" in word), line
