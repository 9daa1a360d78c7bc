"""The answer to why, and the way there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.commands.example import FOLDER
from mptcplab.why import explain, picture

TWO = Scenario.load(FOLDER / "two.toml").vary({"duration": "8s", "warmup": "2s"})


def test_a_small_window_is_named_and_a_larger_one_is_tried() -> None:
    [answer] = explain(TWO.vary({"flows.download.rcvbuf": "60KB", "paths.lte.loss": "0%"}), seeds=[1])
    assert answer.findings[0].cause in ("receive_window", "head_of_line")
    assert answer.remedy is not None
    assert 'rcvbuf = "240KiB"' in answer.remedy.change
    first, second, third = answer.sentences()
    assert "plain TCP over dsl alone" in first
    assert "window" in second
    assert third.startswith("With rcvbuf")
    figure = picture(answer)
    assert [axes.get_title("left") or axes.get_title() for axes in figure.axes] == [
        "download",
        "what held each path back",
    ]


def test_what_carries_all_needs_no_remedy() -> None:
    [answer] = explain(TWO.vary({"paths.lte.loss": "0%"}), seeds=[1])
    assert answer.tried == []
    assert answer.sentences()[1].startswith("It carried")
    assert answer.sentences()[2].startswith("Nothing was tried: less than 10%")


def test_an_application_that_has_little_is_named_and_nothing_is_promised() -> None:
    [answer] = explain(TWO.vary({"flows.download.blocks": "10KB", "flows.download.rate": "1Mbit"}), seeds=[1])
    assert answer.findings[0].cause == "application"
    assert answer.remedy is None


def test_copies_of_a_flow_change_together() -> None:
    scenario = Scenario.parse(
        """
        duration = "4s"
        [paths.a]
        rate = "10Mbit"
        delay = "5ms"
        [paths.b]
        rate = "10Mbit"
        delay = "60ms"
        [flows.bulk]
        count = 2
        rcvbuf = "30KB"
        """
    )
    answers = explain(scenario, seeds=[1])
    assert [answer.flow for answer in answers] == ["bulk-1", "bulk-2"]
    assert all(answer.tried for answer in answers)


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(cli("example").stdout)
    text = cli("why", "two.toml", "--set", "duration=6s", "--seeds", "2", "--output", "why.png").stdout
    assert len(text.splitlines()) == 4
    assert (tmp_path / "why.png").stat().st_size > 10_000
    [found] = json.loads(cli("why", "two.toml", "--set", "duration=6s", "--seeds", "1", "--json").stdout)
    assert set(found["alone_mbps"]) == {"dsl", "lte"}
    assert len(found["sentences"]) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["two.toml", "--flow", "upload"], "there are: download"),
        (["two.toml", "--set", "flows.download.transport=tcp"], "no flow of Multipath TCP"),
        (["two.toml", "--output", "why.eps"], "must end with .png, .svg or .pdf"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path, arguments: list[str], says: str) -> None:
    (tmp_path / "two.toml").write_text((FOLDER / "two.toml").read_text())
    assert says in cli("why", *arguments, expect=2).stderr


def test_every_example_runs(cli: Cli, tmp_path: Path) -> None:
    named = json.loads(cli("example", "--list", "--json").stdout)
    assert set(named) == {"s1", "s2", "s3", "s4", "two"}
    assert all(named.values())
    assert "did you mean two?" in cli("example", "twoo", expect=2).stderr
    (tmp_path / "two.toml").write_text(cli("example", "two").stdout)
    shares = re.findall(r"Mb/s +(\d+)%  RTT", cli("run", "two.toml").stdout)
    assert len(shares) == 2
    assert all(int(share) > 10 for share in shares), "both paths are used"
