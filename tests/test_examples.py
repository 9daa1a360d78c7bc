"""Each file of `examples/` runs as it stands, in a directory of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SAYS = {
    "buffers": "the default: at least 0.98 of plain TCP",
    "figure": "wrote throughput.svg",
    "learn_scheduler": "mean latency of blocks on 6 unseen networks",
    "scenario": "3G carried up to",
    "scheduler": "wrote scheduler-window.png",
    "sweep": "flows.bulk.rcvbuf=400KB: ",
}
ARGUMENTS = {"learn_scheduler": ["2", "6"]}
"""Seconds of training and networks of the evaluation: the results need more, the test only the end."""


def test_there_are_examples_and_each_is_known() -> None:
    assert [file.stem for file in EXAMPLES] == sorted(SAYS)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_it_runs(file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(file), *ARGUMENTS.get(file.stem, [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert SAYS[file.stem] in done.stdout
    if file.stem == "figure":
        assert {path.name for path in tmp_path.iterdir()} == {"cwnd.svg", "throughput.svg"}
