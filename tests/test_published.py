"""A person's own runs of a study's experiment, with what was published over them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import TWO_PATHS, Cli
from mptcplab import Scenario
from mptcplab.plots import PUBLISHED
from mptcplab.published_plot import experiment_of, plot_published
from mptcplab.saved import load
from mptcplab.studies import STUDIES
from mptcplab.studies.published import mark, marked

KNOWN = {f"{study.name}/{one.name}": one for study in STUDIES.values() for one in study.experiments}
C1 = KNOWN["cs244-rcvbuf/C1"]


def test_a_sweep_of_what_study_wrote(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c1.toml").write_text(cli("study", "cs244-rcvbuf/C1", "--toml", "--set", "duration=11s").stdout)
    cli("sweep", "c1.toml", "--vary", "flows.*.{rcvbuf,sndbuf}=50KB,200KB", "--seeds", "2", "--output", "mine")
    said = cli("plot", "mine", "--published", "--output", "mine.svg").stdout
    assert "cs244-rcvbuf/C1" in said
    assert "published: maximum reached" in said
    assert (tmp_path / "mine.svg").read_bytes().startswith(b"<?xml")
    (axes,) = plot_published(load(tmp_path / "mine"), C1).axes
    drawn = {str(line.get_label()): line for line in axes.lines}
    own = [line for label, line in drawn.items() if label.startswith("yours")]
    assert [np.asarray(line.get_xdata()).tolist() for line in own] == [[51.2, 204.8]]
    gold = {
        label: float(np.asarray(line.get_xdata())[0]) for label, line in drawn.items() if line.get_color() == PUBLISHED
    }
    assert gold == {label: pytest.approx(at * 1.024) for label, at in zip(gold, (400, 300), strict=True)}


def test_who_names_no_experiment_is_told_how(cli: Cli, tmp_path: Path) -> None:
    scenario = Scenario.parse(TWO_PATHS)
    scenario.vary({"duration": "2s"}).run().save(tmp_path / "mine")
    error = cli("plot", "mine", "--published", expect=2).stderr
    assert "--published STUDY/EXPERIMENT" in error
    assert "cs244-rcvbuf/C1" in error
    cli("plot", "mine", "--published", "cs244-rcvbuf/C1", "--output", "a.png")
    assert "did you mean" in cli("plot", "mine", "--published", "cs244-rcvbuff/C1", expect=2).stderr
    assert "words and no number" in cli("plot", "mine", "--published", "cs244-rcvbuf/C2", expect=2).stderr


def test_the_mark_goes_and_comes_back(tmp_path: Path) -> None:
    for experiment in KNOWN.values():
        assert mark(f"{experiment.study}/{experiment.name}: {experiment.title}") in KNOWN
    marked(Scenario.parse(TWO_PATHS).vary({"duration": "2s"}), C1).run().save(tmp_path / "one")
    assert experiment_of(load(tmp_path / "one"), KNOWN, "") is C1
    assert mark("my own: scenario") is None
