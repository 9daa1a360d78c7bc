"""Surveys behind bottlenecks that flows of others use too."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from mptcplab.cli.main import main
from mptcplab.survey.measure import Policy
from mptcplab.survey.policies import policy
from mptcplab.survey.report import friendliness
from mptcplab.survey.shared_bottleneck import Bottleneck, Share, draw, shares


def test_bottlenecks_lie_in_the_distribution_that_is_described_with_one_to_ten_flows_in_turn() -> None:
    drawn = [draw(5, number) for number in range(200)]
    assert [one.others for one in drawn[:12]] == [*range(1, 11), 1, 2]
    assert all(10e6 <= one.rate <= 50e6 and 0.02 <= one.rtt <= 0.1 and 30 <= one.queue <= 200 for one in drawn)
    assert len({str(one) for one in drawn}) == 200
    assert draw(5, 3) == drawn[3] != draw(6, 3)


def test_uncoupled_subflows_take_two_shares_and_coupled_ones_do_not() -> None:
    neck = Bottleneck("neck", 20e6, 0.04, 60, 2)
    coupled, apart = shares([neck], [policy("default"), policy("reno")], seeds=2, workers=1, quiet=True)
    assert apart.share > 1.5 > 1.3 > coupled.share
    # Its gain over TCP is the loss of the others.
    assert apart.of_tcp > 1.2 > coupled.of_tcp
    assert apart.to_others < 0.87 < coupled.to_others
    # Two flows there, and one here: more of its bytes take the latter.
    assert 0.45 < apart.on_free < 0.9
    rows = friendliness([coupled, apart])
    assert [row["of_historical"] for row in rows] == [None, None]
    assert rows[1]["share"] == rows[1]["least"] == rows[1]["most"] == apart.share


def test_shares_are_held_against_those_of_the_historical_rules() -> None:
    def share(name: str, own: float, others: int) -> Share:
        return Share(Bottleneck(f"{others}", 1e7, 0.02, 30, others), Policy(name), own, 2.0, 4.0, 1.0, others / 4)

    rows = friendliness(
        [share("default", 3.0, 1), share("historical", 2.0, 1), share("default", 2.0, 2), share("historical", 2.0, 2)]
    )
    assert [row["of_historical"] for row in rows] == [1.25, 1.0]
    assert (rows[0]["share"], rows[0]["least"], rows[0]["most"]) == (1.25, 1.0, 1.5)
    assert (rows[0]["of_tcp"], rows[0]["to_others"], rows[0]["on_free"]) == (0.625, 2.0, 0.5)
    assert friendliness([share("default", 3.0, 1)])[0]["on_free"] is None


def test_the_command_prints_what_share_it_takes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = [
        "survey",
        "--shared",
        "--networks",
        "1",
        "--seeds",
        "1",
        "--policy",
        "default",
        "--quiet",
        "--workers",
        "1",
    ]
    assert main([*given, "--output", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert all(word in output for word in ("1 bottlenecks", "goal 3", "default"))
    assert pq.read_table(tmp_path / "shared.parquet").num_rows == 1
    assert main([*given, "--kind", "burst"]) == 2
    assert "--shared generates its own bottlenecks" in capsys.readouterr().err
