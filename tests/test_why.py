"""The answer to why, and the way there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.cli.commands.example import FOLDER
from mptcplab.results.model import events
from mptcplab.results.text import reasons
from mptcplab.why.explain import explain
from mptcplab.why.figure import picture

TWO = Scenario.load(FOLDER / "two.toml").vary({"duration": "8s", "warmup": "2s"})


def test_a_small_window_is_named_and_a_larger_one_is_tried() -> None:
    [answer] = explain(TWO.vary({"flows.download.rcvbuf": "60KB", "paths.lte.loss": "0%"}), seeds=[1])
    assert answer.findings[0].cause in ("receive_window", "head_of_line")
    assert answer.remedy is not None
    assert answer.remedy.change == 'rcvbuf = "240KB"', "the smallest that suffices"
    first, second, third = answer.sentences()
    assert "plain TCP over dsl alone" in first
    assert "window" in second
    assert third.startswith("With rcvbuf")
    figure = picture(answer)
    assert [axes.get_title("left") or axes.get_title() for axes in figure.axes] == [
        "download",
        "limiting factors of each path",
    ]


def test_what_carries_all_needs_no_remedy() -> None:
    [answer] = explain(TWO.vary({"paths.lte.loss": "0%"}), seeds=[1])
    assert answer.tried == []
    assert answer.sentences()[1].startswith("It used")
    assert answer.sentences()[2].startswith("No change was tested: less than 10%")


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
        (["two.toml", "--flow", "upload"], "choose from: download"),
        (["two.toml", "--set", "flows.download.transport=tcp"], "no MPTCP flow"),
        (["two.toml", "--output", "why.eps"], "must end with .png, .svg or .pdf"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path, arguments: list[str], says: str) -> None:
    (tmp_path / "two.toml").write_text((FOLDER / "two.toml").read_text())
    assert says in cli("why", *arguments, expect=2).stderr


def test_every_example_runs(cli: Cli, tmp_path: Path) -> None:
    named = json.loads(cli("example", "--list", "--json").stdout)
    assert set(named) == {"call", "s1", "s2", "s3", "s4", "two"}
    assert all(named.values())
    assert "did you mean two?" in cli("example", "twoo", expect=2).stderr
    (tmp_path / "two.toml").write_text(cli("example", "two").stdout)
    shares = re.findall(r"Mb/s +(\d+)%  RTT", cli("run", "two.toml").stdout)
    assert len(shares) == 2
    assert all(int(share) > 10 for share in shares), "both paths are used"


SHARED = """
name = "shared"
duration = "10s"

[links.wifi]
ends = ["client", "router"]
rate = "8Mbit"
rtt = "20ms"

[links.lte]
ends = ["client", "router"]
rate = "{lte}"
rtt = "20ms"

[links.uplink]
ends = ["router", "server"]
rate = "10Mbit"
rtt = "10ms"

[flows.a]
"""


@pytest.mark.parametrize(("lte", "together"), [("8Mbit", 10e6), ("1Mbit", 9e6)])
def test_paths_over_a_common_link_carry_no_more_than_it_does(lte: str, together: float) -> None:
    row = Scenario.parse(SHARED.format(lte=lte)).run(trace=events.REASONS).flow("a")
    assert row["best_capacity"] is not None
    assert 0.93 * together < row["best_capacity"] < 0.97 * together, "payload of frames"
    assert sum(finding.cost for finding in reasons.findings(row)) < row["best_capacity"]


def test_a_connection_that_never_opened_has_its_cause() -> None:
    paths = '[paths.a]\nrate = "5Mbit"\nloss = "{loss}"\nup = {up}\n[paths.b]\nrate = "5Mbit"\n[flows.main]\n'
    lossy = Scenario.parse('duration = "5s"\n' + paths.format(loss="100%", up="true"))
    output = lossy.run(trace=events.REASONS).summary()
    assert re.search(r"never connected: segments of its handshake were lost \(\d at random on a\)", output), output
    assert 'with another first path, the connection may open: paths = ["b", "a"]' in output
    down = Scenario.parse('duration = "5s"\n' + paths.format(loss="0%", up="false"))
    assert "while a was down" in down.run(trace=events.REASONS).summary()
    [answer] = explain(lossy, seeds=[1])
    assert "at random on a" in answer.sentences()[1]
    assert answer.sentences()[2].startswith('With paths = ["b"')


def test_a_rate_that_a_link_has_after_the_end_of_a_flow_is_no_capacity() -> None:
    text = """
        duration = "10s"
        [paths.a]
        rate = "5Mbit"
        [flows.main]
        stop = "5s"
        [[events]]
        at = "6s"
        path = "a"
        set = { rate = "50Mbit" }
    """
    row = Scenario.parse(text).run(trace=events.REASONS).flow("main")
    assert row["paths"][0]["best_capacity"] == 5e6
    assert reasons.is_healthy(row)


def test_a_flow_that_never_gets_a_byte_is_silent() -> None:
    text = """
        duration = "10s"
        [paths.a]
        rate = "5Mbit"
        rtt = "100ms"
        [flows.main]
        [[events]]
        at = "160ms"
        path = "a"
        how = "blackhole"
        set = { up = false }
    """
    run = Scenario.parse(text).run(trace=events.REASONS)
    assert run.flow("main")["handshake_s"] is not None
    assert run.flow("main")["bytes_received_total"] == 0
    assert "nothing reached the application for 9." in run.summary()


OPERATOR = """
duration = "15s"
[paths.dsl]
rate = "20Mbit"
rtt = "20ms"
queue = "60ms"
up = {dsl}
[paths.lte]
rate = "30Mbit"
rtt = "50ms"
queue = "200ms"
up = {lte}
[flows.download]
[[events]]
at = "5s"
path = "{path}"
set = {{ up = true }}
"""


def test_a_path_that_is_down_at_the_start_is_called_down() -> None:
    late = Scenario.parse(OPERATOR.format(dsl="true", lte="false", path="lte")).run(trace=events.REASONS)
    [first, second] = late.flow("download")["paths"]
    assert second["limits"]["down"] == pytest.approx(1 / 3, abs=0.01)
    output = reasons.sentences(late.flow("download"))
    assert output[0].startswith("lte was down")
    assert "before its handshake was complete" in output[1]
    never = OPERATOR.format(dsl="true", lte="false", path="dsl")
    assert "lte was down, which cost 100%" in Scenario.parse(never).run(trace=events.REASONS).summary()
    assert first["limits"]["bottleneck"] > 0.95


def test_a_long_handshake_is_said_and_no_middlebox_is_blamed() -> None:
    run = Scenario.parse(OPERATOR.format(dsl="false", lte="true", path="dsl")).run(trace=events.REASONS)
    output = run.summary()
    assert re.search(
        r"goodput 18\.\d\d Mb/s after a handshake of 7\.0\d s \(10\.\d\d Mb/s including the handshake\) of 41", output
    )
    assert "several SYNs were not answered, so the next one had no options of Multipath TCP" in output


def test_every_cause_has_a_look(cli: Cli, tmp_path: Path) -> None:
    from mptcplab.plots.event_plots import LIMIT_LOOKS

    assert set(reasons.WORDS) <= set(LIMIT_LOOKS)
    (tmp_path / "handoff.toml").write_text((ROOT / "docs" / "examples" / "handoff.toml").read_text())
    cli("why", "handoff.toml", "--seeds", "1", "--output", "why.png")


def test_lateness_counts_where_there_is_a_deadline() -> None:
    scenario = Scenario.packaged("call").vary({"flows.call.opportunistic_retransmission": False, "duration": "10s"})
    [answer] = explain(scenario, seeds=[1])
    assert re.search(
        r"\d% of the flow's blocks arrive after their deadline\. With plain TCP: .* over wifi", answer.sentences()[0]
    )
    assert answer.remedy is not None
    assert answer.delay is not None
    assert answer.remedy.delay is not None
    assert answer.remedy.delay.mean < answer.delay.mean


def test_copies_count_after_the_warm_up() -> None:
    text = (FOLDER / "two.toml").read_text()
    run = Scenario.parse(text).vary({"flows.download.scheduler": "redundant"}).run(trace=events.REASONS)
    row = run.flow("download")
    rates = sum(path["bytes_arrived"] for path in row["paths"]) - row["bytes_received"]
    assert row["duplicates"] == pytest.approx(rates, rel=0.02)


@pytest.mark.parametrize("window", ["60KB", "120KB", "200KB"])
def test_no_more_is_named_than_is_missing(window: str) -> None:
    """Of changes that win back the same capacity one is the cause."""
    rules: dict[str, str | bool] = {
        "scheduler": "minrtt",
        "opportunistic_retransmission": False,
        "penalisation": False,
        "coupling_scope": "all",
    }
    small: dict[str, str | bool] = {"rcvbuf": window, "sndbuf": window}
    keys = {f"flows.download.{key}": value for key, value in {**rules, **small}.items()}
    (answer,) = explain(TWO.vary({**keys, "paths.lte.delay": "150ms"}), seeds=[1, 2], quiet=True)
    assert answer.capacity is not None
    missing = answer.capacity - answer.goodput.mean
    named = [finding.cost / 1e6 for finding in answer.findings]
    assert named
    assert sum(named) <= 1.05 * missing
