"""`mptcplab predict`: links as text and their errors, loads, candidates, settings, and the output."""

from __future__ import annotations

import json
import math

import pytest

from conftest import Cli
from mptcplab.predict.links import Link, read_link, read_links
from mptcplab.predict.prediction import MIN_SEEDS, SEEDS, candidates, default_seeds, predict
from mptcplab.predict.settings import changes, try_changes
from mptcplab.predict.traffic import DOWNLOAD, LADDER, LATE, P99, PAGE, TRAFFIC, UPLOAD
from mptcplab.util.user_input import BadResult

DSL, LTE = "dsl:8Mbit/2Mbit,20ms", "lte:6Mbit,60ms,loss=0.1%"
LINKS = read_links([DSL, LTE])


def test_a_link_has_rates_rtt_and_defaults() -> None:
    link = read_link("dsl:50Mbit/10Mbit,20ms,jitter=5ms")
    assert (link.name, link.down, link.up, link.rtt) == ("dsl", 50e6, 10e6, 0.02)
    assert link.keys == {"loss": "0%", "jitter": "5ms", "queue": "100ms"}
    assert read_link("lte:30Mbit,rtt=60ms").up == 30e6
    assert str(link) == "50 Mb/s down, 10 Mb/s up, RTT 20 ms, loss 0%, jitter 5ms, queue 100ms"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no link"),
        ([DSL], "only one link, dsl; Multipath TCP needs at least two"),
        ([DSL, DSL], "two links have this name"),
        ([DSL, "lte"], "'lte': has no name"),
        (["a b:8Mbit,20ms", LTE], "must be a letter"),
        (["dsl:,20ms", LTE], "has no rate"),
        (["dsl:8Mbit", LTE], "has no RTT"),
        (["dsl:8Mb,20ms", LTE], "'8Mb' is not a rate"),
        (["dsl:8Mbit,20", LTE], "'20' is not a duration"),
        (["dsl:8Mbit,0ms", LTE], "RTT 0: must be above 0"),
        (["dsl:8Mbit,20ms,30ms", LTE], "'30ms': has no key"),
        (["dsl:8Mbit,20ms,rtt=30ms", LTE], "has two RTTs"),
        (["dsl:8Mbit,20ms,los=1%", LTE], "did you mean loss?"),
        (["dsl:8Mbit,20ms,loss=1%,loss=2%", LTE], "has loss twice"),
        (["dsl:8Mbit,20ms,loss=", LTE], "loss has no value; write for example loss=0.5%"),
        (["dsl:8Mbit,20ms,loss=1", LTE], "a loss must be in percent"),
        (["dsl:8Mbit,20ms,jitter=11ms", LTE], "must be at most half of the RTT, 10ms"),
        (["dsl:80Gbit,20ms", LTE], "must be at most 10Gbit"),
    ],
)
def test_an_error_states_the_place_and_a_remedy(texts: list[str], message: str) -> None:
    with pytest.raises(BadResult) as caught:
        read_links(texts)
    assert message in str(caught.value)


def test_a_short_link_has_less_jitter_by_default() -> None:
    assert read_link("lan:1Gbit,200us").keys["jitter"] == "100000ns"


def test_fast_links_have_fewer_seeds() -> None:
    fast = [Link("a", 1e9, 1e9, 0.01), Link("b", 1e9, 1e9, 0.01)]
    assert (default_seeds(LINKS), default_seeds(fast)) == (SEEDS, MIN_SEEDS)


def test_mptcp_uses_both_links() -> None:
    results = predict(LINKS, candidates(LINKS, ["linux", "mptcplab"], {}), TRAFFIC, [1, 2], quiet=True)
    assert [result.candidate.name for result in results] == [
        "TCP, dsl", "TCP, lte", "MPTCP, Linux", "MPTCP, mptcplab",
    ]  # fmt: skip
    dsl, lte, linux, own = results
    for metric, sum_of_rates in ((DOWNLOAD, 14.0), (UPLOAD, 8.0)):
        found = [result.of(metric) for result in results]
        assert all(value is not None and 0 < value.mean < sum_of_rates for value in found)
        values = [value.mean for value in found if value is not None]
        assert min(values[2:]) > max(values[:2])
    assert max(dsl.rungs + lte.rungs) <= min(linux.rungs + own.rungs) < len(LADDER)
    page, call, late = dsl.of(PAGE), dsl.of(P99), dsl.of(LATE)
    assert page is not None
    assert page.mean > 2.1e6 * 8 / 8e6
    assert call is not None
    assert 10 <= call.mean < 20
    assert late is not None
    assert late.mean == 0


def test_a_backup_costs_goodput() -> None:
    [result] = predict(LINKS, candidates(LINKS, ["linux"], {})[-1:], ["bulk"], [1, 2], quiet=True)
    found = {one.change.name: one for one in try_changes(LINKS, [result], ["bulk"], [1, 2], quiet=True)}
    effect = found["lte as backup"].of(DOWNLOAD)
    assert effect is not None
    assert not effect.is_better
    assert effect.gain < -0.2


def test_changes_suit_the_stack() -> None:
    linux, own = candidates(LINKS, ["linux", "mptcplab"], {"rcvbuf": "1MiB"})[-2:]
    names = [change.name for change in changes(linux, LINKS)]
    assert "tcp_rmem up to 4 MiB" in names
    assert not any(name.startswith("scheduler") for name in names)
    assert "scheduler minrtt" in [change.name for change in changes(own, LINKS)]


def test_the_command_prints_a_table_and_json(cli: Cli) -> None:
    given = ["predict", "--link", DSL, "--link", LTE, "--seeds", "2", "--traffic", "bulk,calls", "--quiet"]
    text = cli(*given).stdout
    for words in ("TCP, dsl", "MPTCP, mptcplab", "download [Mb/s]", "Settings of MPTCP of Linux", "Accuracy:"):
        assert words in text
    assert "web page" not in text
    document = json.loads(cli(*given, "--json", "--os", "linux").stdout)
    assert [one["name"] for one in document["candidates"]] == ["TCP, dsl", "TCP, lte", "MPTCP, Linux"]
    download = document["candidates"][-1]["metrics"]["download"]
    assert math.isclose(download["mean"], sum(download["values"]) / 2)
    assert document["settings"]


def test_the_command_reports_bad_options(cli: Cli) -> None:
    assert (
        "unknown traffic 'voip'" in cli("predict", "--link", DSL, "--link", LTE, "--traffic", "voip", expect=2).stderr
    )
    assert "Multipath TCP needs at least two" in cli("predict", "--link", DSL, expect=2).stderr
