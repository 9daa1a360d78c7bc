"""The UDP interference test, and commands on results of cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.results.read.result_reader import SavedRun
from mptcplab.results.write.merging import channel_relation
from mptcplab.run.udp_interference import interfaces, interference_test, measure, pair
from mptcplab.util.user_input import BadResult

WIFI = ROOT / "docs" / "examples" / "wifi.toml"


@pytest.fixture(scope="module")
def wifi() -> Scenario:
    return Scenario.load(WIFI)


def test_the_example_runs(wifi: Scenario) -> None:
    run = wifi.run()
    assert all(row["goodput"] > 5e6 for row in run.flow_rows)
    assert {row["path"] for row in run.flow("both")["paths"]} == {"wlan0", "wlan1"}


@pytest.mark.parametrize("direction", ["upload", "download"])
@pytest.mark.parametrize(("channel", "low", "high"), [(11, 1.35, 1.65), (1, 0.5, 0.9), (44, 1.95, 2.05)])
def test_radios_disturb_each_other_as_the_preset_says(
    wifi: Scenario, direction: Literal["upload", "download"], channel: int, low: float, high: float
) -> None:
    changed = wifi.vary(
        {"cells.south.channel": channel} | ({"cells.south.standard": "802.11a"} if channel > 14 else {})
    )
    found = measure(interference_test(changed, every=5, direction=direction).run(), 5)
    if channel > 14:
        assert found.steady == pytest.approx(found.alone, rel=0.02)
        return
    assert low < found.ratio < high
    assert found.share == pytest.approx(0.5, abs=0.07)
    assert (found.lost_both > 0.01) == (channel == 1)
    assert found.lost_alone < 0.001


def test_which_interfaces(wifi: Scenario, two_paths: Scenario) -> None:
    assert interfaces(wifi) == ("client", ["wlan0", "wlan1"])
    assert pair(wifi) == ("wlan0", "wlan1")
    assert pair(wifi, toggle="wlan0") == ("wlan1", "wlan0")
    assert pair(two_paths, "3g") == ("3g", "wifi")
    for wrong, says in ((("wlan0", "wlan0"), "is given twice"), (("wlan7", None), "did you mean")):
        with pytest.raises(BadResult, match=says):
            pair(wifi, *wrong)


def test_over_wires_nothing_is_lost_to_the_other(two_paths: Scenario) -> None:
    found = measure(interference_test(two_paths, "wifi", "3g", every=5).run(), 5)
    assert found.steady == pytest.approx(found.alone, rel=0.02)
    assert (found.lost_alone, found.lost_both) == (0, 0)
    assert found.toggled == pytest.approx(2 * 1472 / 1514, rel=0.02)


def test_the_second_interface_sends_every_second_period(wifi: Scenario) -> None:
    test = interference_test(wifi, every=4, duration=14)
    assert test.duration == 14
    assert test.flows == ["steady", "toggled-1", "toggled-2"]
    text = test.to_toml()
    assert 'start = "12s"' in text
    assert 'start = "4s"' in text
    with pytest.raises(BadResult, match="before wlan1 starts to send"):
        interference_test(wifi, every=4, duration=4)


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    text = cli("udp-interference", WIFI, "--every", "3s", "--output", "out").stdout
    assert "times the rate of wlan0 alone" in text
    assert (tmp_path / "out" / "udp-interference.png").is_file()
    (row,) = json.loads(cli("udp-interference", WIFI, "--steady", "wlan1", "--every", "3s", "--json", "--quiet").stdout)
    assert (row["steady"], row["toggled"]) == ("wlan1", "wlan0")
    assert row["both_mbps"]["total"] == pytest.approx(row["both_mbps"]["wlan0"] + row["both_mbps"]["wlan1"])
    assert row["total_over_alone"] == pytest.approx(row["both_mbps"]["total"] / row["alone_mbps"])
    assert "2 seeds" in cli("udp-interference", WIFI, "--every", "2s", "--seeds", "2").stdout
    cli("plot", "out", "--metric", "throughput,mac_drops", "--output", "a.svg")
    assert "wlan0" in cli("cdf", "out:wlan0", "out:total").stdout
    assert "channel 11" in cli("select", "out", "--channel", "11").stdout
    assert "did you mean wlan1?" in cli("udp-interference", WIFI, "--steady", "wlan9", expect=2).stderr


def test_interfaces_of_cells_have_channels(wifi: Scenario, cli: Cli, tmp_path: Path) -> None:
    tests: dict[str, dict[str, str | int]] = {
        "apart": {},
        "same": {"cells.south.channel": 1},
        "cross": {"cells.south.channel": 36, "cells.south.standard": "802.11a"},
    }
    relations = {}
    for name, values in tests.items():
        run = wifi.vary({"duration": "6s"} | values).run()
        run.save(tmp_path / name)
        saved = SavedRun.of(run)
        relations[name] = channel_relation(saved)
        assert saved.channel("wlan0") == saved.channel("anna") == 1
        assert saved.bit_rate("wlan0") is None
    assert relations == {"apart": "non-overlapping", "same": "same channel", "cross": "cross band"}
    text = cli("select", "apart", "same", "cross", "--channel").stdout
    assert [line for line in text.splitlines() if line.startswith("channel")] == [
        "channel 1", "channel 11", "channel 36"
    ]  # fmt: skip
    assert text.count("apart") == 4
    grouped = cli("group", "apart", "same", "cross", "--by", "channel", "--output", "groups").stdout
    assert "cross band: cross" in grouped
    assert (tmp_path / "groups" / "same-channel" / "samples.parquet").is_file()


def test_the_guide_shows_what_the_command_prints(cli: Cli) -> None:
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    command = "udp-interference docs/examples/wifi.toml --steady wlan0 --toggle wlan1 --every 10s"
    shown = text.split(f"$ mptcplab {command}\n")[1].split("```")[0]
    arguments = [str(WIFI) if word.endswith(".toml") else word for word in command.split()]
    assert cli(*arguments).stdout == shown
