"""Regression tests from a usability review: unavailable remedies, random effects, missing counters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.backends.kernel_backend import Report, report_text
from mptcplab.cli.commands import emulate
from mptcplab.results.text import summary
from mptcplab.results.text.summary import limits_in_words
from mptcplab.stats.statistics import estimate
from mptcplab.why.answer import Answer, Trial
from mptcplab.why.explain import explain

HOME = """
duration = "20s"
warmup = "5s"
[paths.dsl]
rate = "50Mbit"
rtt = "20ms"
[paths.lte]
rate = "30Mbit"
rtt = "60ms"
jitter = "8ms"
loss = "0.3%"
queue = "1000ms"
[flows.download]
stack = "linux"
rcvbuf = "200kB"
"""


def test_a_flow_on_linux_gets_what_linux_has_and_the_buffer_that_is_recommended() -> None:
    [answer] = explain(Scenario.parse(HOME, "home"), seeds=[1, 2])
    tried = {key for trial in answer.tried for key in trial.settings}
    assert not tried & {"scheduler", "opportunistic_retransmission", "penalisation", "pacing"}, tried
    assert answer.findings[0].cause == "receive_window"
    assert answer.remedy is not None
    assert list(answer.remedy.settings) == ["rcvbuf"], answer.remedy
    assert answer.remedy.goodput.mean > 2.5 * answer.goodput.mean


def _answer(*tried: Trial) -> Answer:
    return Answer("f", [], estimate([60.0, 61.0]), {"a": estimate([90.0])}, [], tried=list(tried))


def test_what_the_seeds_tell_comes_before_what_may_be_more() -> None:
    sure = Trial('paths = ["a"]', estimate([94.0, 94.0]))
    unsure = Trial('congestion = "bbr"', estimate([165.0, 80.0]), is_sure=False)
    answer = _answer(unsure, sure)
    assert answer.remedy is sure
    assert answer.unsure is unsure
    alone = _answer(unsure)
    assert alone.remedy is unsure, "better than nothing, and it is said that it may be chance"
    assert alone.unsure is None
    assert _answer(sure).unsure is None


def test_linux_s_count_of_data_that_came_twice_is_told() -> None:
    counters = {"server": {"MPTcpExt": {"DuplicateData": 3693}}}
    text = report_text(Report(1, "", "6.18", [], [], None, None, counters))
    assert "duplicate segments in the whole run, counted by the receiver: 3693" in text
    assert "arrived twice" not in report_text(Report(1, "", "6.18", [], [], None, None, {}))


def test_nothing_is_said_to_have_arrived_twice_where_nobody_counts() -> None:
    run = Scenario.parse(HOME, "home").vary({"duration": "4s", "warmup": "1s"}).run()
    row = {**run.flow(), "reinjected": 5_000_000}
    [line] = summary._reinjected(run, row)  # type: ignore[arg-type]
    assert "arrived twice" in line
    [line] = summary._reinjected(run, {**row, "duplicates": None})  # type: ignore[typeddict-item]
    assert "arrived twice" not in line


class _Host:
    """A host whose namespace has a controller."""

    def __init__(self, name: str) -> None:
        self.namespace, self.name = self, name

    def read(self, path: str) -> str:
        assert path.endswith("tcp_congestion_control")
        return f"{self.name}\n"


class _Network:
    """Two of them."""

    def __init__(self, *names: str) -> None:
        self.hosts = [_Host(name) for name in names]


def test_the_controller_of_the_host_is_told_where_scenarios_take_another() -> None:
    assert emulate._controller(_Network("cubic", "cubic")) is None  # type: ignore[arg-type]
    output = emulate._controller(_Network("bbr", "bbr"))  # type: ignore[arg-type]
    assert output is not None
    assert "congestion control: bbr, as on this host" in output
    assert "cubic" in output


@pytest.mark.skipif(sys.platform != "linux", reason="emulated networks need Linux namespaces")
def test_a_word_of_the_shell_is_no_program_to_install(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(cli("example").stdout)
    peer = "cd x && python3 -m http.server 8000"
    told_of = cli("emulate", "two.toml", "--peer", peer, "--", "true", expect=2).stderr
    assert "it is a shell builtin; write sh -c" in told_of


def test_what_was_not_measured_is_nobody_s_view() -> None:
    assert limits_in_words({}) == "limiting factors were not measured"
