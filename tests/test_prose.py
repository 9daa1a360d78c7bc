"""`tools/prose` finds what the writing rules forbid, and only where prose is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from tools_loaded import load


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load("prose")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "RECORD", tmp_path / "prose.json")
    return module


def found(tool: ModuleType, name: str, text: str) -> list[tuple[int, str, str]]:
    """Line, kind and phrase of each finding in a file with this text."""
    path = tool.ROOT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return [(it.line, it.kind, it.phrase) for words in tool.read(name) for it in tool.findings(words)]


def test_words_of_the_table_are_found_in_prose_and_not_in_code(tool: ModuleType) -> None:
    text = "# Page\n\nThe segment\ngoes again.\n\n```sh\nmend it\n```\n\nIt runs `mend` and <https://a.example/mend>.\n"
    assert found(tool, "docs/page.md", text) == [(3, "vocabulary", "goes again")]
    assert found(tool, "docs/page.md", "Run this:\n\n    mend ours\n\nIt ends.\n") == []


def test_a_line_number_is_that_of_the_sentence(tool: ModuleType) -> None:
    assert found(tool, "docs/page.md", "One sentence.\nA second one: it\nstands in the way.\n") == [
        (2, "vocabulary", "stands in")
    ]
    assert found(tool, "docs/page.md", "| a | b |\n|---|---|\n| c | ours |\n") == [(3, "vocabulary", "ours")]


@pytest.mark.parametrize(
    ("text", "headless"),
    [
        ("What somebody changed is kept.", True),
        ("It keeps the mean of what arrived.", True),
        ("Whoever writes calls it.", True),
        ("What limits the path?", False),
        ("See what limited each path.", False),
        ("A reader who has no key stops.", False),
    ],
)
def test_headless_clauses_are_told_from_questions_and_relative_clauses(
    tool: ModuleType, text: str, headless: bool
) -> None:
    assert bool(found(tool, "docs/page.md", text)) is headless


def test_long_sentences_semicolons_and_history(tool: ModuleType) -> None:
    assert [kind for _, kind, _ in found(tool, "docs/page.md", "word " * 28 + "end.")] == ["long"]
    assert found(tool, "docs/page.md", "word " * 27 + "end.") == []
    assert [kind for _, kind, _ in found(tool, "docs/page.md", "One; two; three.")] == ["semicolons"]
    history = "Seed 12 failed at 9c7f64c9, see #52. The defaced facade has 1234567 bytes."
    assert [phrase for _, _, phrase in found(tool, "docs/page.md", history)] == [
        "Seed 12",
        "9c7f64c9",
        "#52",
    ]
    assert found(tool, "docs/research/page.md", history) == []


def test_rust_has_comments_and_messages_but_no_prose_in_code(tool: ModuleType) -> None:
    text = (
        '//! The mend of a\n//! module.\n\nlet ours = "a plain value"; // stays beside it\n'
        '/// ```\n/// let ours = 1;\n/// ```\nreturn Err("the value of this key lies between 1 and 3");\n'
        '#[cfg(test)]\nmod tests { const A: &str = "this text is ours and only for tests"; }\n'
    )
    assert sorted(found(tool, "crates/a/src/a.rs", text)) == [
        (1, "vocabulary", "mend"),
        (4, "vocabulary", "beside"),
        (8, "vocabulary", "lies between"),
    ]


def test_python_has_docstrings_comments_and_messages(tool: ModuleType) -> None:
    text = (
        '"""Mends it."""\nours = {"beside": 1}  # held against a table\n'
        'parser.add_argument("--x", help=f"show the {ours} rates so often as wanted")\n'
    )
    assert sorted(found(tool, "python/a.py", text)) == [
        (1, "vocabulary", "Mends"),
        (2, "vocabulary", "held against"),
        (3, "vocabulary", "so often"),
    ]
    assert "beside" in str(found(tool, "tools/script", "#!/bin/sh\n# runs beside it\nmend=1\n"))


def test_a_help_text_is_short(tool: ModuleType) -> None:
    text = 'parser.add_argument("--x", help="{}")\nprint("{}")\n'
    assert found(tool, "python/a.py", text.format("a word " * 12, "a word " * 12)) == [
        (1, "help", "a word a word a word a word a word a word a word a")
    ]
    assert found(tool, "python/a.py", text.format("a word " * 11, "")) == []


def test_counts_may_fall_and_not_rise(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    finding = tool.Finding("docs/page.md", 7, "vocabulary", "ours", "write: this stack")
    one, two = Counter({"docs: vocabulary": 1}), Counter({"docs: vocabulary": 2})
    assert tool.check(one, {"docs: vocabulary": 1}, [finding]) == 0
    assert tool.check(two, {"docs: vocabulary": 1}, [finding, finding]) == 1
    assert "docs/page.md:7: 'ours': write: this stack" in capsys.readouterr().out
    assert tool.check(one, {}, [finding]) == 1, "a new group has none to begin with"


def test_an_update_lowers_and_moves_but_never_raises_a_total(tool: ModuleType) -> None:
    before = {"crates/a: long": 3, "crates/b: long": 1}
    moved = Counter({"crates/a: long": 1, "crates/b: long": 2})
    assert tool.update(moved, before, moved=False) == 1
    assert not tool.RECORD.exists()
    assert tool.update(moved, before, moved=True) == 0
    assert json.loads(tool.RECORD.read_text(encoding="utf-8")) == dict(moved)
    assert tool.update(Counter({"crates/a: long": 5}), before, moved=True) == 1
    assert tool.update(Counter({"crates/a: long": 0, "crates/b: long": 1}), before, moved=False) == 0
    assert json.loads(tool.RECORD.read_text(encoding="utf-8")) == {"crates/b: long": 1}


def test_each_group_is_a_crate_or_a_folder(tool: ModuleType) -> None:
    assert [tool.group(it) for it in ("README.md", "docs/a.md", "docs/research/b.md", "crates/mptcp/src/lib.rs")] == [
        ".",
        "docs",
        "docs/research",
        "crates/mptcp",
    ]
