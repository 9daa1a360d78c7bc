"""`mptcplab compare`: order, corrected p-values, sentences."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab.stats.statistics import holm

SCENARIO = """
duration = "6s"
warmup = "1s"

[paths.wifi]
rate = "10Mbit"
delay = "5ms"
queue = "60p"

[paths.lte]
rate = "10Mbit"
delay = "60ms"
queue = "200p"

[flows.call]
blocks = "8KB"
rate = "5Mbit"
opportunistic_retransmission = false
"""


def test_holm_multiplies_by_the_number_of_hypotheses_that_are_left() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    corrected = holm([0.5, math.nan, 0.8])
    assert corrected[::2] == pytest.approx([1.0, 1.0])
    assert math.isnan(corrected[1])
    assert holm([]) == []


def test_schedulers_are_ranked_with_a_sentence(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "call.toml").write_text(SCENARIO)
    words = ("compare", "call.toml", "--scheduler", "roundrobin,minrtt,ontime", "--metric", "latency", "--seeds", "4")
    done = cli(*words, "--output", "out").stdout
    lines = done.splitlines()
    assert lines[0].split()[0] == "rank"
    assert "roundrobin" in lines[3] or "roundrobin" in lines[4]
    assert "has the lowest latency_p95_s" in done
    assert re.search(r"The difference from (\w+ and )?roundrobin exceeds chance", done)
    assert {"sweep.png", "sweep.pdf", "flows.parquet"} <= {file.name for file in (tmp_path / "out").iterdir()}
    rows = json.loads(cli(*words, "--json").stdout)
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[-1]["point"] == {"flows.*.scheduler": "roundrobin"}
    assert rows[-1]["exceeds_chance"]
    assert rows[0]["mean"] < rows[-1]["mean"]


def test_both_kinds_of_policies_are_combined(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "call.toml").write_text(SCENARIO.replace('blocks = "8KB"\nrate = "5Mbit"', "bulk = true"))
    words = ("compare", "call.toml", "--scheduler", "minrtt,roundrobin", "--congestion", "lia,reno", "--seeds", "1")
    done = cli(*words).stdout
    assert all(f"{scheduler}" in done for scheduler in ("minrtt", "roundrobin"))
    assert sum(line.split()[0].isdigit() and "lia" in line for line in done.splitlines() if line.strip()) >= 2
    assert "one seed cannot show" in done


def test_one_combination_is_an_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "call.toml").write_text(SCENARIO)
    assert "at least two combinations" in cli("compare", "call.toml", "--scheduler", "minrtt", expect=2).stderr
    assert "--scheduler, --congestion" in cli("compare", "call.toml", expect=2).stderr
    assert "minrtx" in cli("compare", "call.toml", "--scheduler", "minrtt,minrtx", expect=2).stderr
