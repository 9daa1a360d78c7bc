"""docs/contributing/security-audit.md names a test for each finding, and each test exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (
    (ROOT / "docs" / "contributing" / "security-audit.md")
    .read_text(encoding="utf-8")
    .split("## Cost of each attack")[0]
)
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and not re.match(r"\|[ -]*(item|---)", line)]


def _tests(row: str) -> list[str]:
    """The tests of the last column: `::name` is in the file before it, a bare file name in crates/lab/tests/it."""
    named = re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1])
    full, file = [], ""
    for name in named:
        file = name.split("::")[0] or file
        full.append(file + name[name.index("::") :] if "::" in name else name)
    return full


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:60])
def test_each_row_names_tests_that_exist(row: str) -> None:
    """A file, or a function in one."""
    tests = _tests(row)
    assert tests, "no test is named"
    for test in tests:
        file, _, function = test.partition("::")
        places = [ROOT / file, ROOT / "crates" / "lab" / "tests" / "it" / file]
        found = next((place for place in places if place.is_file()), None)
        assert found is not None, f"{file} does not exist"
        if function:
            text = found.read_text(encoding="utf-8")
            assert re.search(rf"\b(fn|def) {re.escape(function)}\b", text), f"{function} is not in {file}"
