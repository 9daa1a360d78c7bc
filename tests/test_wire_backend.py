"""`mptcplab run --backend wire`: a scenario's flows on our own stack in real time, without any privilege."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario

if sys.platform != "linux":
    pytest.skip("our stack on real packets is Linux's", allow_module_level=True)

from mptcplab.backends import live_backend

PATHS = """
duration = "3s"
warmup = "1s"
sample = "200ms"
[paths.near]
rate = "20Mbit"
rtt = "20ms"
queue = "60p"
[paths.far]
rate = "10Mbit"
rtt = "60ms"
queue = "100p"
"""


def test_it_gives_what_the_simulator_predicts() -> None:
    scenario = Scenario.parse(PATHS + "[flows.bulk]\n")
    (real, report), simulated = live_backend.run(scenario), scenario.run(seed=1)
    got, predicted = real.flow("bulk"), simulated.flow("bulk")
    assert got["intact"]
    assert got["multipath"]
    if report.doubts is None:
        assert got["goodput"] == pytest.approx(predicted["goodput"], rel=0.2)
    assert {path["path"] for path in real.flow("bulk")["paths"]} == {"near", "far"}
    assert real.backend == "wire"
    assert real.samples.column_names == simulated.samples.column_names
    assert len(real.series("cwnd", flow="bulk", path="near")[0]) == 15


def test_a_file_arrives_whole_in_either_direction() -> None:
    flow = "[flows.{way}]\ndirection = '{way}'\nbytes = '2MB'\n"
    scenario = Scenario.parse(PATHS + flow.format(way="upload") + flow.format(way="download"))
    run, _ = live_backend.run(scenario, seed=2)
    for way in ("upload", "download"):
        row = run.flow(way)
        assert (row["bytes_received_total"], row["intact"], row["closed"]) == (2_000_000, True, "Finished")
        assert row["completion_s"] is not None
        assert 0.5 < row["completion_s"] < 3.0


def test_a_run_until_it_is_done_ends_with_the_last_file() -> None:
    text = (
        "until_done = true\n" + PATHS.replace('warmup = "1s"', "") + "[flows.file]\nbytes = '500kB'\n[flows.endless]\n"
    )
    scenario = Scenario.parse(text)
    for run in (live_backend.run(scenario)[0], scenario.run(seed=1)):
        assert run.flow("file")["completion_s"] is not None
        last = max(run.samples["time_s"].to_pylist())
        assert last < 2.9
        endless = run.flow("endless")
        assert endless["goodput"] * (last + 0.21) / 8 >= endless["bytes_received_total"], "by the time that it had"


def test_a_link_that_goes_and_comes_back_is_left_and_joined_again() -> None:
    events = "[[events]]\nat = '{at}'\npath = 'near'\nset = {{ up = {up} }}\n"
    scenario = Scenario.parse(
        PATHS + events.format(at="1s", up="false") + events.format(at="2s", up="true") + "[flows.bulk]\n"
    )
    run, _ = live_backend.run(scenario)
    assert run.flow("bulk")["intact"]
    near = run.path("near", flow="bulk")
    assert near is not None
    assert near["subflows"] == 2
    times, rates = run.series("throughput", flow="bulk", path="near")
    assert rates[(times > 1.3) & (times < 1.9)].max() < 1e5
    assert rates[times > 2.5].max() > 1e6


def test_the_command_writes_tables_and_a_capture(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(PATHS + "[flows.bulk]\nbaselines = true\n")
    output = cli("run", tmp_path / "two.toml", "--backend", "wire", "--output", "out", "--pcap").stdout
    assert "bulk (MPTCP): goodput" in output
    assert "plain TCP alone: near" in output
    assert "on mptcplab's own stack, in real time" in output
    out = next(tmp_path.rglob("wire.json")).parent
    (known,) = [one for one in json.loads((out / "wire.json").read_text()) if not one["variant"]]
    assert known["links"]["lateness"]["count"] > 1000
    assert json.loads((out / "run.json").read_text())["backend"] == "wire"
    # Each option is valid; an invalid one ends with another code.
    output = cli("verify", out / "pcap" / "seed-1.pcapng").stdout
    assert "MP_JOIN" in output


@pytest.mark.parametrize(
    ("flow", "says"),
    [
        ("blocks = '8KiB'\nrate = '1Mbit'", "flow 'bulk' sends blocks: on real sockets, flows support only bulk"),
        ("small_queues = '10KB'", "has small_queues: only the simulator knows the queue of the local interface"),
    ],
)
def test_what_only_the_simulator_has_is_refused(cli: Cli, tmp_path: Path, flow: str, says: str) -> None:
    (tmp_path / "two.toml").write_text(PATHS + f"[flows.bulk]\n{flow}\n")
    output = cli("run", tmp_path / "two.toml", "--backend", "wire", expect=2).stderr
    assert says.replace("'bulk'", '"bulk"') in output
    assert output.count("\n") == 1
    output = cli("run", tmp_path / "two.toml", "--backend", "wire", "--closest", expect=2).stderr
    assert "--closest needs --backend kernel" in output


def test_a_path_without_a_subflow_is_named() -> None:
    run, _ = live_backend.run(
        Scenario.parse(PATHS.replace('rtt = "60ms"', 'rtt = "60ms"\nloss = "100%"') + "[flows.f]\n")
    )
    assert "no subflow joined over far" in run.summary()


def test_a_run_in_real_time_tells_of_silence_and_of_its_links() -> None:
    text = """
        duration = "4s"
        [paths.wifi]
        rate = "8Mbit"
        rtt = "20ms"
        [flows.f]
        [[events]]
        at = "1s"
        path = "wifi"
        how = "blackhole"
        set = { up = false }
    """
    run, _ = live_backend.run(Scenario.parse(text))
    assert run.flow("f")["longest_silence_s"] == pytest.approx(3.0, abs=0.3)
    output = run.summary()
    assert "nothing reached the application for" in output
    assert "its link was busy" in output
