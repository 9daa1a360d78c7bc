"""`tools/blocks` prints claims whose verdicts differ, and fails if they contradict each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mptcplab.util.user_input import BadResult
from tools_loaded import load


def block(folder: Path, name: str, **verdicts: str) -> Path:
    """A record with these verdicts."""
    facts = {fact: {"verdict": verdict, "measured": f"{verdict} in {name}"} for fact, verdict in verdicts.items()}
    where = folder / f"{name}.json"
    where.write_text(json.dumps({"studies": {}, "facts": facts}))
    return where


def test_blocks_that_say_the_opposite_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [
        block(tmp_path, "one", alike="holds", against="holds", unclear="fails", alone="holds"),
        block(tmp_path, "two", alike="holds", against="fails", unclear="undecided"),
    ]
    assert load("blocks").main(blocks) == 1
    told = capsys.readouterr().out
    assert told.startswith("3 claims; the same verdict in all blocks: 1 (1 holds)\n")
    assert "| against | holds | fails |\n| unclear | fails | undecided |\n" in told
    assert "two: fails: fails in two" in told
    assert "alike" not in told


def test_blocks_that_leave_open_what_another_decides_do_not(tmp_path: Path) -> None:
    blocks = [block(tmp_path, "one", it="holds"), block(tmp_path, "two", it="undecided")]
    assert load("blocks").main(blocks) == 0


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(BadResult, match="not a record of verdicts"):
        load("blocks").main([tmp_path / "none.json"])
