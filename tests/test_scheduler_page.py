"""The table of constants in docs/scheduler.md names constants that exist."""

from __future__ import annotations

import re

from conftest import ROOT

SOURCE = ROOT / "crates" / "mptcp" / "src"


def test_each_constant_is_in_its_file() -> None:
    rows = re.findall(
        r"^\| (.*?) \| .*? \| (.*?) \| .* \|$", (ROOT / "docs" / "scheduler.md").read_text(), re.MULTILINE
    )
    named = [(name, file) for names, files in rows for name in re.findall(r"`([A-Z_]{3,})`", names) for file in [files]]
    assert len(named) > 25
    for name, files in named:
        texts = [(SOURCE / file).read_text() for file in re.findall(r"`([a-z_/]+\.rs)`", files)]
        assert any(re.search(rf"const {name}:", text) for text in texts), f"{name} is not in {files}"
