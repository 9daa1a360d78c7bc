"""Nagle's algorithm: `why` names it where it makes blocks late, and the guide's comparison does not measure it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.cli.commands.example import FOLDER
from mptcplab.why.explain import explain

HELD = """
duration = "30s"
warmup = "2s"
[paths.wifi]
rate = "12Mbit"
delay = "5ms"
jitter = "3ms"
loss = "0.5%"
queue = "100p"
[paths.lte]
rate = "20Mbit"
delay = "35ms"
queue = "300p"
[flows.call]
direction = "download"
blocks = "16KB"
rate = "6Mbit"
deadline = "50ms"
[[events]]
at = "15s"
path = "wifi"
set = { up = false }
"""


def test_why_names_nagle_where_it_makes_blocks_late() -> None:
    [answer] = explain(Scenario.parse(HELD))
    compared, causes, change = answer.sentences()
    assert re.search(r"40\.\d% of the flow's blocks arrive after their deadline", compared)
    assert re.match(
        r"Nagle's algorithm delayed the ends of blocks \(without this algorithm: 0\.\d%; TCP_NODELAY", causes
    )
    assert re.fullmatch(r"With nagle = false, 0\.\d% of the flow's blocks arrive after their deadline\.", change)


def test_why_names_nagle_where_it_makes_blocks_slow() -> None:
    """Without a deadline the latency counts, after the data that the application did not have."""
    [answer] = explain(Scenario.parse(HELD.replace('deadline = "50ms"\n', "")), seeds=[1])
    assert [finding.cause for finding in answer.findings[:2]] == ["application", "nagle"]
    assert answer.remedy is not None
    assert answer.remedy.settings == {"nagle": False}


@pytest.mark.parametrize("more", ["nagle = false", 'scheduler = "roundrobin"\nopportunistic_retransmission = false'])
def test_why_does_not_blame_nagle_where_it_is_off_or_hardly_matters(more: str) -> None:
    text = HELD.replace('deadline = "50ms"', f'deadline = "30ms"\n{more}')
    [answer] = explain(Scenario.parse(text), seeds=[1])
    assert "nagle" not in {finding.cause for finding in answer.findings}


def test_a_bulk_flow_needs_no_trial_of_nagle() -> None:
    two = Scenario.load(FOLDER / "two.toml").vary({"duration": "4s", "warmup": "1s", "flows.download.rcvbuf": "60KB"})
    [answer] = explain(two, seeds=[1])
    assert answer.tried
    assert "nagle" not in {trial.cause for trial in answer.tried}


def test_the_guide_compares_schedulers_and_not_nagle(cli: Cli, tmp_path: Path) -> None:
    guide = (ROOT / "docs/guide.md").read_text(encoding="utf-8")
    [command] = re.findall(r"^mptcplab (sweep call\.toml .*?) --output call$", guide, re.DOTALL | re.MULTILINE)
    (tmp_path / "call.toml").write_text(cli("example", "call").stdout)
    words = shlex.split(command.replace("\\\n", " "))
    late: dict[str, dict[str, float]] = {}
    for nagle in ("false", "true"):
        found = json.loads(cli(*words, "--set", f"flows.call.nagle={nagle}", "--json", "--quiet").stdout)
        late[nagle] = {point["point"]["flows.*.scheduler"]: point["late"]["call"]["mean"] / 100 for point in found}
    told = " ".join(guide.split())
    off, on = late["false"], late["true"]
    shown = (
        f"and {off['minrtt']:.1%} of its blocks are late",
        f"splits each block, and {off['roundrobin']:.1%} are late",
        f"on both paths, and {off['redundant']:.1%} are late",
        f"the late shares are {on['minrtt']:.1%}, {on['roundrobin']:.1%} and {on['redundant']:.1%}",
    )
    assert [text for text in shown if text not in told] == []
    assert all(abs(off[name] - on[name]) < 0.01 for name in off)
    assert off["redundant"] + 0.3 < off["minrtt"] < off["roundrobin"] - 0.3


@pytest.mark.parametrize("page", ["docs/guide.md", "docs/glossary.md", "python/mptcplab/scenarios/call.toml"])
def test_pages_name_nagle_and_its_socket_option(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "Nagle's" in text
    assert "TCP_NODELAY" in text
