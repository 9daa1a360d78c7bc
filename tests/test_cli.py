"""Every command, as a person uses it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import BROKEN, ROOT, Cli
from mptcplab import _core
from mptcplab.cli.main import RENAMED
from mptcplab.results.model import arrow_tables, tables
from mptcplab.results.text import glossary, summary
from mptcplab.studies import LITERATURE, STUDIES

COMMANDS = (
    "list", "reproduce", "run", "sweep", "analyse", "plot", "cdf", "select", "merge", "group", "bench", "schema",
    "events", "link-stats", "send", "receive", "info", "why", "example", "study", "emulate", "validate",
    "compare", "convert-trace", "predict", "measure", "doctor",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(cli: Cli, command: str) -> None:
    assert f"example: mptcplab {command}" in cli(command, "--help").stdout


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version").stdout.strip() == f"mptcplab {_core.__version__}"
    text = cli("--help").stdout
    assert all(command in text for command in COMMANDS)
    output = cli().stdout
    assert all(f"  {command} " in output for command in COMMANDS)
    assert "First steps" in output


def test_list(cli: Cli) -> None:
    assert "cs244-wireless" in cli("list").stdout
    listed = json.loads(cli("list", "--json").stdout)
    letters = [study["letter"] for study in listed]
    assert letters == [study.letter for study in (STUDIES | LITERATURE).values()]
    assert letters[:5] == ["A", "B", "C", "D", "E"]
    assert letters == sorted(set(letters))


def test_schema(cli: Cli) -> None:
    assert json.loads(cli("schema").stdout)["properties"]["duration"]
    assert cli("schema", "--reference").stdout.startswith("# Scenario files")


def test_every_column_of_results_is_told(cli: Cli) -> None:
    """docs/results.md is generated; it lists every column and metric, and no others."""
    assert cli("schema", "--results").stdout == (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert list(glossary.METRICS) == [name for name, _ in _core.metrics()]
    flows = arrow_tables.flow_schema(list(summary.LIMITS)).names
    for told, names in (
        (glossary.FLOWS, flows),
        (glossary.PATHS, arrow_tables.PATH_SCHEMA.names),
        (glossary.LINKS, arrow_tables.LINK_SCHEMA.names),
        (glossary.BLOCKS, arrow_tables.BLOCK_SCHEMA.names),
    ):
        assert list(told) == [name for name in names if name not in glossary.WHO]
    assert tuple(glossary.SOME_LINKS) == tables.LINK_COUNTS


def test_what_never_connects_and_what_is_no_tcp(cli: Cli, tmp_path: Path) -> None:
    text = """
    duration = "2s"
    [paths.wifi]
    rate = "10Mbit"
    delay = "10ms"
    [paths.dead]
    rate = "10Mbit"
    delay = "10ms"
    up = false
    [flows.voice]
    transport = "udp"
    rate = "1Mbit"
    paths = ["wifi"]
    [flows.never]
    paths = ["dead"]
    """
    (tmp_path / "odd.toml").write_text(text)
    output = cli("run", "odd.toml").stdout
    assert "voice (UDP): goodput" in output
    assert "never (MPTCP): never connected" in output


def test_run_tells_what_happened(cli: Cli, scenario_file: Path) -> None:
    text = cli("run", scenario_file).stdout
    assert "goodput" in text
    assert "aggregation benefit" in text
    assert "capacity: " in text
    assert cli("run", scenario_file, "--quiet").stdout == ""


def test_run_writes_everything(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    cli("run", scenario_file, "--seed", "7", "--output", "out")
    out = tmp_path / "out"
    for name in ("scenario.toml", "run.json", "samples.parquet", "flows.parquet", "iperf3.json", "throughput.png"):
        assert (out / name).is_file(), name
    assert json.loads((out / "run.json").read_text())["runs"][0]["seed"] == 7
    baselines = pq.read_table(out / "baselines" / "flows.parquet")
    assert baselines["variant"].to_pylist() == ["TCP over wifi", "TCP over 3g"]


def test_run_as_json(cli: Cli, scenario_file: Path) -> None:
    document = json.loads(cli("run", scenario_file, "--json").stdout)
    assert -1 <= document["mptcplab"]["aggregation_benefit"]["bulk"] <= 1.1
    assert set(document["mptcplab"]["baselines"]["bulk"]) == {"wifi", "3g"}
    several = json.loads(cli("run", scenario_file, "--json", "--seeds", "2").stdout)
    assert [one["mptcplab"]["seed"] for one in several] == [1, 2]


def test_run_with_several_seeds(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    text = cli("run", scenario_file, "--seeds", "3", "--workers", "2", "--output", "out").stdout
    assert "3 seeds" in text
    assert "±" in text
    assert pq.read_table(tmp_path / "out" / "flows.parquet")["seed"].to_pylist() == [1, 2, 3]


def test_sweep(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    vary = ("--vary", "paths.wifi.loss=0%,2%", "--vary", "flows.bulk.congestion=lia,reno")
    lines = cli("sweep", scenario_file, *vary, "--seeds", "2", "--output", "out").stdout.splitlines()
    assert len(lines) == 8, "a head, four points, where it is, what ± means, and that two points have no random loss"
    assert lines[7].startswith("note: at 2 of 4 points, the network has no random events")
    assert lines[0].split() == ["paths.wifi.loss", "flows.bulk.congestion", "bulk", "[Mb/s]"]
    assert (tmp_path / "out" / "sweep.svg").is_file()
    assert pq.read_table(tmp_path / "out" / "flows.parquet").num_rows == 8
    points = json.loads(cli("sweep", scenario_file, *vary, "--json").stdout)
    assert points[3]["point"] == {"paths.wifi.loss": "2%", "flows.bulk.congestion": "reno"}
    assert points[0]["goodput_mbps"]["bulk"]["mean"] > points[3]["goodput_mbps"]["bulk"]["mean"]


def test_many_flows_together_are_no_faster_than_their_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "many.toml").write_text(
        """
        duration = "20s"
        [paths.line]
        rate = "10Mbit"
        rtt = "20ms"
        [flows.f]
        transport = "tcp"
        bytes = "100KB"
        count = 100
        stagger = "100ms"
        """
    )
    [row] = json.loads(cli("bench", "many.toml", "--json", "--repetitions", "1").stdout)
    # 100 files of 102,400 bytes in 20 seconds.
    assert row["goodput_mbps"] == pytest.approx(100 * 102_400 * 8 / 20 / 1e6)
    output = cli("run", "many.toml").stdout
    assert "and 80 more flows with 3.28 Mb/s in total" in output


def test_bench_scale(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from mptcplab.bench import scale

    rows = scale.measure((1, 20))
    assert [(row["transport"], row["connections"]) for row in rows] == [
        (transport, count) for transport in ("tcp", "mptcp") for count in (1, 20)
    ]
    for first, many in (rows[:2], rows[2:]):
        # The links are full with any number of connections.
        assert first["packets"] == pytest.approx(many["packets"], rel=0.2)
        assert first["bytes_per_connection"] is None
        assert many["bytes_per_connection"]
    monkeypatch.setattr(scale, "measure", lambda: rows)
    assert "kB/connection" in cli("bench", "scale").stdout


def test_bench(cli: Cli, scenario_file: Path) -> None:
    rows = json.loads(cli("bench", scenario_file, "S2", "--json", "--repetitions", "1").stdout)
    assert [row["scenario"] for row in rows] == ["two", "S2"]
    assert set(rows[0]) == {"scenario", "packets", "wall_s", "packets_per_s", "goodput_mbps", "peak_rss_mb"}
    assert rows[1]["packets"] > 50_000
    assert rows[1]["peak_rss_mb"] > 1
    assert "packets/s" in cli("bench", scenario_file, "--repetitions", "1").stdout


@pytest.mark.parametrize("file", BROKEN, ids=lambda path: path.stem)
def test_a_broken_scenario_gives_one_message(cli: Cli, file: Path) -> None:
    done = cli("run", file, expect=2)
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert ".toml" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "no-such.toml"], "no-such.toml"),
        (["reproduce", "cs244"], "cs244-wireless"),
        (["bench", "S9"], "S1, S2, S3"),
        (["run", "two.toml", "--backend", "tun"], "--backend sim, --backend kernel or --backend wire"),
        (["sweep", "two.toml", "--vary", "paths.wifi.loss=1%", "--backend", "kernel"], "--backend sim"),
        (["run", "two.toml", "--backend", "ns3"], "--backend sim"),
        (["run", "two.toml", "--seed", "-1"], "is not an integer"),
        (["run", "two.toml", "--workers", "0"], "integer above 0"),
        (["run", "two.toml", "--output", "two.toml"], "two.toml"),
        (["sweep", "two.toml", "--vary", "paths.wifi.loss"], "KEY=VALUE"),
        (["sweep", "two.toml", "--vary", "paths.wifi.loss=1"], "paths.wifi.loss"),
        (["sweep", "two.toml", "--vary", "paths.wify.loss=1%"], "wifi"),
        (["fly"], "unknown command 'fly'"),
    ],
)
def test_bad_input_ends_with_two(cli: Cli, scenario_file: Path, arguments: list[str], says: str) -> None:
    assert scenario_file.is_file()
    assert says in cli(*arguments, expect=2).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal of POSIX here")
def test_ctrl_c_keeps_what_was_finished(scenario_file: Path, tmp_path: Path) -> None:
    text = scenario_file.read_text().replace('"6s"', '"60s"').replace("baselines = true", "")
    scenario_file.write_text(text + '[limits]\nmemory = "100GB"\n')
    # The parent of the tests may ignore SIGINT, as shells do for background processes.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from mptcplab.cli.main import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", start, "run", str(scenario_file), "--seeds", "100000", "--output", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "runs:" in process.stderr.readline()  # Progress, after five seconds.
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    assert process.returncode == 130
    assert "interrupted after" in errors
    assert "Traceback" not in errors
    kept = pq.read_table(tmp_path / "out" / "flows.parquet")["seed"].to_pylist()
    assert kept == sorted(kept)
    assert len(kept) >= 2


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_former_name_of_a_command_works_and_names_the_new_one(cli: Cli, old: str, new: str) -> None:
    done = cli(old, "--help")
    assert done.stdout == cli(new, "--help").stdout
    assert done.stderr == f"mptcplab: {old} is now called {new}; the old name will be removed in the next release\n"
