"""`mptcplab run --backend kernel`: a scenario's flows on Linux's own sockets, in the tables of the simulator."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Cli
from emulated import TWO_PATHS, Machine, cannot, machine, made_by
from mptcplab import Scenario
from mptcplab.backends import kernel_backend
from mptcplab.cli import real_time_runs
from mptcplab.emulation import emulated_network

__all__ = ["machine"]

KERNEL = 'congestion = "reno"\nopportunistic_retransmission = false\n'
BULK = TWO_PATHS + '[flows.bulk]\ntransport = "mptcp"\n' + KERNEL


@pytest.fixture
def able(machine: Machine) -> Machine:
    """A machine whose kernel has Multipath TCP."""
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    return machine


def write(machine: Machine, toml: str) -> Path:
    path = machine.directory / "network.toml"
    path.write_text(toml)
    return path


def test_the_kernel_s_mptcp_has_the_simulator_s_tables(able: Machine, cli: Cli) -> None:
    file = write(able, BULK)
    output = cli("run", file, "--backend", "kernel", "--closest", "--output", "out", "--pcap").stdout
    assert "bulk (MPTCP): goodput" in output
    assert "bulk: default instead of scheduler ontime" in output
    out = able.directory / "out"
    assert json.loads((out / "run.json").read_text())["backend"] == "kernel"
    report = json.loads((out / "kernel.json").read_text())[0]
    assert report["lacks"] == [{"flow": "bulk", "what": "scheduler ontime", "closest": "default"}]
    assert report["flows"][0]["congestion"] == "reno"
    assert report["links"]["lateness"]["count"] > 1000
    assert report["counters"]["client"]["MPTcpExt"]["MPJoinSynTx"] == 1
    assert "MPCapableSYNTX" not in report["counters"]["server"]["MPTcpExt"], "what stayed 0"
    assert report["counters"]["client"]["TcpExt"]["TCPDelivered"] > 1000
    assert (out / "pcap" / "seed-1.pcapng").stat().st_size > 1_000_000
    assert {path.name for path in out.iterdir()} >= {
        "samples.parquet",
        "flows.parquet",
        "paths.parquet",
        "throughput.svg",
    }


def test_paths_carry_what_they_have(able: Machine) -> None:
    del able
    run, report = kernel_backend.run(Scenario.parse(BULK), closest=True)
    row = run.flow("bulk")
    assert row["multipath"]
    assert row["intact"]
    assert not row["never_joined"]
    shares = {path["path"]: path["bytes_sent"] for path in row["paths"]}
    assert set(shares) == {"wifi", "lte"}
    assert all(path["mean_srtt_s"] > 0.009 for path in row["paths"])
    times, values = run.series("cwnd", flow="bulk", path="wifi")
    assert len(times) >= 6
    assert (values > 0).all()
    links = {(link["link"], link["direction"]): link for link in run.link_rows}
    assert links["wifi", "forward"]["sent_bytes"] > row["bytes_received_total"] / 4
    # No data arrives without a link.
    assert links["wifi", "forward"]["sent_bytes"] + links["lte", "forward"]["sent_bytes"] > row["bytes_received_total"]
    (sockets,) = report.flows
    # socket(7): the kernel doubles the requested size.
    assert sockets.problem is None
    assert sockets.receive_buffer > 0


def test_no_subflow_over_a_path_that_loses_all_is_said(able: Machine) -> None:
    del able
    text = BULK.replace("[paths.lte]", "[paths.lte]\nloss = '100%'")
    assert text != BULK
    run, _ = kernel_backend.run(Scenario.parse(text), closest=True)
    assert "no subflow joined over lte" in run.summary()


@pytest.mark.parametrize("direction", ["upload", "download"])
def test_a_file_over_tcp(machine: Machine, direction: str) -> None:
    del machine
    flow = '[flows.file]\ntransport = "tcp"\ncongestion = "cubic"\npaths = ["lte"]\nbytes = "500kB"\nstart = "1s"\n'
    run, report = kernel_backend.run(Scenario.parse(f'{TWO_PATHS}{flow}direction = "{direction}"\n'))
    row = run.flow("file")
    assert not report.lacks
    assert (report.flows[0].congestion, report.flows[0].problem) == ("cubic", None)
    assert [path["path"] for path in row["paths"]] == ["lte"]
    assert (row["bytes_received_total"], row["intact"], row["closed"]) == (500_000, True, "Finished")
    assert row["completion_s"] is not None
    assert row["completion_s"] > 1.0, "half a megabyte takes a second at 4 Mb/s"
    assert row["handshake_s"] is not None
    assert row["handshake_s"] >= 0.04


def test_without_closest_the_kernel_says_what_it_lacks(able: Machine, cli: Cli) -> None:
    file = write(able, TWO_PATHS + '[flows.bulk]\ncongestion = "lia"\npenalisation = true\n')
    err = cli("run", file, "--backend", "kernel", expect=2).stderr
    assert len(err.splitlines()) == 1
    for what in ("congestion lia (nearest: reno)", "scheduler ontime", "M1", "penalisation (M2)", "--closest"):
        assert what in err


@pytest.mark.parametrize(
    ("flows", "arguments", "says"),
    [
        ('[flows.a]\nblocks = "8KB"\nrate = "1Mbit"\n', [], 'flow "a" sends blocks'),
        ('[flows.a]\n[flows.b]\npaths = ["lte"]\n', [], "use different paths"),
        (f"[flows.a]\n{KERNEL}[flows.b]\n{KERNEL}backup = ['lte']\n", ["--closest"], "have different backups"),
        (f"[flows.a]\n{KERNEL}[flows.b]\n{KERNEL}from = 'server'\nto = 'client'\n", ["--closest"], "accepts MPTCP"),
        ("[flows.a]\n", ["--trace", "loss"], "--trace needs the simulator"),
        ("[flows.a]\n", ["--pcap"], "add --output DIR"),
    ],
)
def test_what_is_wrong_is_one_line(machine: Machine, cli: Cli, flows: str, arguments: list[str], says: str) -> None:
    err = cli("run", write(machine, TWO_PATHS + flows), "--backend", "kernel", *arguments, expect=2).stderr
    assert says in err
    assert len(err.splitlines()) == 1


def test_the_simulator_needs_nothing_near(cli: Cli, scenario_file: Path) -> None:
    assert "--closest needs" in cli("run", scenario_file, "--closest", expect=2).stderr


def test_without_mptcp(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    del machine
    monkeypatch.setattr(kernel_backend, "why_no_mptcp", lambda: "the kernel has no MPTCP sockets")
    with pytest.raises(emulated_network.CannotEmulate, match="the kernel has no MPTCP sockets"):
        kernel_backend.run(Scenario.parse(BULK), closest=True)


def test_without_word_of_paths(able: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    del able
    assert emulated_network.why_no_paths() is None
    monkeypatch.setattr(emulated_network, "_FULL_INFO", 77)
    with pytest.raises(emulated_network.CannotEmulate, match=r"MPTCP_FULL_INFO.*Linux 6.6"):
        kernel_backend.run(Scenario.parse(BULK), closest=True)


@pytest.mark.parametrize("direction", ["upload", "download"])
@pytest.mark.parametrize("keys", ["rcvbuf = '100KB'\nsndbuf = '200KB'\n", "autotuning = true\nrcvbuf = '20KB'\n"])
def test_sockets_have_what_was_asked_for(able: Machine, keys: str, direction: str) -> None:
    del able
    toml = f"{BULK.replace('4s', '2s')}{keys}direction = '{direction}'\n"
    _, report = kernel_backend.run(Scenario.parse(toml), closest=True)
    (sockets,) = report.flows
    assert sockets.problem is None
    assert sockets.congestion == "reno"
    if "sndbuf" in keys:
        assert (sockets.receive_buffer, sockets.send_buffer) == (204_800, 409_600)
    else:
        assert sockets.receive_buffer <= 40_960


def test_what_speaks_against_baselines_is_told() -> None:
    def report(variant: str, doubts: str | None) -> kernel_backend.Report:
        return kernel_backend.Report(1, variant, "6.18", [], [], None, doubts)

    reports = [report("", None), report("TCP over wifi", "it stood still"), report("TCP over lte", None)]
    output = real_time_runs._as_text(reports)
    assert output[1:] == ["    TCP over wifi, seed 1: DOUBTFUL: it stood still"]
    (known,) = real_time_runs._by_run(reports)
    assert [one["doubts"] for one in known["baselines"]] == ["it stood still", None]


def test_a_path_that_goes_is_survived(able: Machine) -> None:
    del able
    gone = '[[events]]\nat = "1500ms"\npath = "wifi"\nset = { up = false }\n'
    run, _ = kernel_backend.run(Scenario.parse(BULK + gone), closest=True)
    links = {(link["link"], link["direction"]): link for link in run.link_rows}
    assert links["wifi", "forward"]["sent_bytes"] <= 8e6 / 8 * 1.5
    row = run.flow("bulk")
    assert row["intact"]
    times, values = run.series("throughput", flow="bulk", path="lte")
    assert values[times > 3].max() > 0


def test_ctrl_c_removes_everything(machine: Machine) -> None:
    file = write(machine, BULK.replace("4s", "60s"))
    command = [sys.executable, "-m", "mptcplab", "run", str(file), "--backend", "kernel", "--closest"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        limit = time.monotonic() + 30
        while len(made_by(process.pid)) < 2:
            assert time.monotonic() < limit
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert not made_by(process.pid)


@pytest.mark.parametrize("transport", ["tcp", "mptcp"])
def test_a_flow_waits_for_its_path(able: Machine, transport: str) -> None:
    del able
    flow = f'[flows.f]\ntransport = "{transport}"\npaths = ["lte"]\nstart = "400ms"\n{KERNEL}'
    events = "".join(
        f'[[events]]\nat = "{at}"\npath = "lte"\nset = {{ up = {up} }}\nhow = "blackhole"\n'
        for at, up in (("200ms", "false"), ("1s", "true"))
    )
    run, report = kernel_backend.run(Scenario.parse(TWO_PATHS + flow + events), closest=True)
    row = run.flow("f")
    assert report.flows[0].problem is None
    assert row["handshake_s"] is not None
    assert row["handshake_s"] > 0.6
    assert row["bytes_received_total"] > 0


@pytest.mark.parametrize("how", ["endpoint", "route"])
def test_a_path_that_is_not_used_for_a_while(able: Machine, how: str) -> None:
    del able
    events = "".join(
        f'[[events]]\nat = "{at}"\npath = "lte"\nset = {{ up = {up} }}\nhow = "{how}"\n'
        for at, up in (("1s", "false"), ("2s", "true"))
    )
    scenario = Scenario.parse(TWO_PATHS + f'[flows.f]\ntransport = "mptcp"\n{KERNEL}' + events)
    run, report = kernel_backend.run(scenario.vary({"duration": "6s"}), closest=True)
    assert report.flows[0].problem is None
    times, carried = run.series("throughput", flow="f", path="lte")
    series = list(zip(times, carried, strict=True))
    before = max(rate for time, rate in series if time <= 1.0)
    # Data in flight at that time is acknowledged, and retransmissions may be counted.
    assert all(rate < before / 20 for time, rate in series if 1.5 < time <= 2.0)
    assert max(rate for time, rate in series if time > 2.0) > before / 3


def test_a_path_that_never_answers_ends_with_the_run(able: Machine) -> None:
    del able
    gone = '[[events]]\nat = "1ns"\npath = "lte"\nset = { up = false }\nhow = "blackhole"\n'
    flow = '[flows.f]\ntransport = "tcp"\npaths = ["lte"]\ncongestion = "reno"\nstart = "300ms"\n'
    run, _ = kernel_backend.run(Scenario.parse(TWO_PATHS + flow + gone))
    assert run.flow("f")["handshake_s"] is None
    assert run.flow("f")["bytes_received_total"] == 0
