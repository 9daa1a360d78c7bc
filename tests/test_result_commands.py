"""The commands on directories of results, as a person uses them."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import TWO_PATHS, Cli
from mptcplab import Scenario
from mptcplab.results.write import parquet_join
from mptcplab.results.write.merging import merge


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three results: two paths, one path, and two seeds of a shorter run."""
    two = Scenario.parse(TWO_PATHS)
    two.run(1).save(tmp_path / "both")
    two.vary({"flows.bulk.transport": "tcp", "duration": "3s"}).run(1).save(tmp_path / "alone")
    two.vary({"duration": "4s"}).runs([2, 3]).save(tmp_path / "seeds")
    return tmp_path


def test_analyse_writes_a_file_for_each_interface(cli: Cli, results: Path) -> None:
    text = cli("analyse", "both", "--interval", "1s").stdout
    assert re.search(r"total +two paths, seed 1 +\d", text)
    lines = (results / "both" / "analysis" / "wifi.txt").read_text().splitlines()
    assert lines[0].startswith("time_s utilisation[%] throughput[Mb/s]")
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3", "4", "5", "6"]
    assert all(len(line.split()) == len(lines[0].split()) for line in lines)
    assert {path.stem for path in (results / "both" / "analysis").iterdir()} == {"wifi", "3g", "total"}


def test_analyse_several_in_other_formats(cli: Cli, results: Path) -> None:
    rows = json.loads(cli("analyse", "alone", "seeds", "--format", "parquet", "--output", "out", "--json").stdout)
    assert [row["interface"] for row in rows] == ["wifi", "total", *["wifi", "3g", "total"] * 2]
    assert rows[0]["utilisation"] == pytest.approx(100)
    assert pq.read_table(results / "out" / "alone" / "wifi.parquet").num_rows == 6
    assert len(list((results / "out" / "seeds").iterdir())) == 2
    cli("analyse", "alone", "--format", "csv", "--output", "csv")
    assert "," in (results / "csv" / "total.csv").read_text().splitlines()[0]


def test_means_alone_are_those_of_the_tables(cli: Cli, results: Path) -> None:
    means = cli("analyse", "both", "seeds", "--means").stdout
    assert not (results / "both" / "analysis").exists()
    whole = cli("analyse", "both", "seeds").stdout
    assert means == whole.partition("written to")[0]
    assert "writes no tables" in cli("analyse", "both", "--means", "--output", "x", expect=2).stderr


@pytest.mark.parametrize("more", [["--scale"], ["--path", "wifi"], ["--path", "total"], ["--flow", "bulk"]])
def test_plot(cli: Cli, results: Path, more: list[str]) -> None:
    cli("plot", "both", "--metric", "throughput,utilisation,cwnd,send_queue", *more, "--output", "a.svg")
    assert (results / "a.svg").read_bytes().startswith(b"<?xml")
    cli("plot", "seeds", "--seed", "3", "--output", "b.png")
    assert (results / "b.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_as_large_as_somebody_wants(cli: Cli, results: Path) -> None:
    for command in (["plot", "both", "--metric", "cwnd"], ["cdf", "both:wifi"]):
        cli(*command, "--size", "3.5x2.25", "--output", "s.png")
        header = (results / "s.png").read_bytes()[16:24]
        # 144 dots in an inch.
        assert struct.unpack(">II", header) == (504, 324)
    for wrong in ("3", "3x", "0.5x2", "3x41", "x", "3x2in", "nanx2"):
        assert "inches, each 1 to 40" in cli("plot", "both", "--size", wrong, expect=2).stderr


def test_cdf(cli: Cli, results: Path) -> None:
    found = json.loads(cli("cdf", "both:wifi", "seeds:total", "alone:wifi", "--metric", "srtt", "--json").stdout)
    assert [row["curve"] for row in found] == ["both wifi", "seeds total", "alone wifi"]
    for row in found:
        quantiles = list(row["quantiles"].values())
        assert quantiles == sorted(quantiles)
    assert (results / "cdf.png").is_file()
    assert "median" in cli("cdf", "both:3g", "--warmup", "2s", "--interval", "1s", "--output", "x.svg").stdout


def test_select_by_path_and_by_channel(cli: Cli, results: Path) -> None:
    text = cli("select", "both", "alone", "seeds", "--path", "--output", "p.png").stdout
    assert text.splitlines()[0] == "path wifi"
    assert "path 3g" in text
    assert text.count("wifi:") == 3
    assert "no cells); use --path" in cli("select", "both", "--channel", "11", expect=2).stderr
    file = results / "both" / "scenario.toml"
    cells = "\n[cells.one]\nchannel = 11\n"
    file.write_text(file.read_text().replace("[paths.wifi]", '[paths.wifi]\ncell = "one"') + cells)
    assert "channel 11" in cli("select", "both", "--channel", "11").stdout
    assert "choose from: 11" in cli("select", "both", "--channel", "6", expect=2).stderr


def test_merge_and_group(cli: Cli, results: Path) -> None:
    assert "4 runs of 3 results" in cli("merge", "both", "alone", "seeds", "--output", "all").stdout
    assert "seed 3" in cli("analyse", "all").stdout
    found = json.loads(
        cli("group", "both", "alone", "seeds", "--by", "congestion", "--output", "groups", "--json").stdout
    )
    assert [(row["group"], row["results"]) for row in found] == [("lia", ["both", "seeds"]), ("reno", ["alone"])]
    assert (results / "groups" / "lia" / "samples.parquet").is_file()


def test_group_by_any_key_of_the_scenarios(cli: Cli, results: Path) -> None:
    found = json.loads(cli("group", "both", "alone", "--by", "flows.*.transport", "--output", "g", "--json").stdout)
    assert [row["group"] for row in found] == ["transport mptcp", "transport tcp"]
    by_word = json.loads(cli("group", "both", "alone", "--by", "duration,seed", "--output", "h", "--json").stdout)
    assert [row["group"] for row in by_word] == ["duration 6s, seed 1", "duration 3s, seed 1"]
    assert (results / "h" / "duration-3s-seed-1" / "samples.parquet").is_file()
    error = cli("group", "both", "--by", "paths.wifi.los", "--output", "i", expect=2).stderr
    assert "did you mean paths.wifi.loss?" in error
    assert "flows.bulk.rcvbuf" in error


def test_merge_never_holds_a_table_whole(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0
    whole = parquet_join._write

    def measure(writer: pq.ParquetWriter, tables: list[pa.Table]) -> None:
        nonlocal most
        most = max(most, sum(table.num_rows for table in tables))
        whole(writer, tables)

    monkeypatch.setattr(parquet_join, "ROWS", 100)
    monkeypatch.setattr(parquet_join, "_write", measure)
    merge([results / "both", results / "alone"], results / "all")
    parts = [pq.read_table(results / name / "samples.parquet") for name in ("both", "alone")]
    assert most <= max(part.num_rows for part in parts)
    together = pq.read_table(results / "all" / "samples.parquet")
    assert together["value"].to_pylist() == [value for part in parts for value in part["value"].to_pylist()]
    assert set(together["variant"].to_pylist()) == {"", "alone"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["analyse", "boht"], "did you mean both?"),
        (["analyse", "."], "run.json is missing"),
        (["analyse", "both", "--interval", "10ms"], "shorter than"),
        (["analyse", "both", "--interval", "5"], "number with its unit"),
        (["analyse", "both", "--flow", "blk"], "did you mean bulk?"),
        (["plot", "both", "--metric", "cwd"], "did you mean cwnd?"),
        (["plot", "both", "--path", "wify"], "did you mean wifi?"),
        (["plot", "both", "--seed", "9"], "seeds: 1"),
        (["plot", "both", "--output", "a.jpg"], "must end with .png, .svg or .pdf"),
        (["cdf", "both"], "DIR:PATH"),
        (["cdf", "both:wify"], "did you mean wifi?"),
        (["cdf", "both:wifi", "--warmup", "60s"], "no samples of"),
        (["cdf", "both:wifi", "--metric", "send_queue"], "no sample"),
        (["select", "both", "--path", "wify"], "did you mean wifi?"),
        (["merge", "both", "nothing", "--output", "all"], "nothing: directory not found"),
        (["merge", "both", "--output", "both"], "itself"),
        (["group", "both", "--by", "chanel", "--output", "g"], "did you mean channel?"),
    ],
)
def test_what_cannot_be_used_is_said(cli: Cli, results: Path, arguments: list[str], says: str) -> None:
    assert results.is_dir()
    assert says in cli(*arguments, expect=2).stderr


def test_a_picture_for_a_paper_is_a_pdf(cli: Cli, traced: Path, tmp_path: Path) -> None:
    """The same bytes each time: no time of making."""
    for name in ("one.pdf", "two.PDF"):
        cli("plot", traced, "--output", name)
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.PDF").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in (tmp_path / "one.pdf").read_bytes()
    assert "must end with .png, .svg or .pdf" in cli("plot", traced, "--output", "one.eps", expect=2).stderr


def test_seeds_that_repeat_nothing_are_told(cli: Cli, tmp_path: Path) -> None:
    text = TWO_PATHS.replace('loss = "0.5%"', "").replace('rate = "8Mbit"', 'trace = "walk.csv"')
    (tmp_path / "walk.csv").write_text("0 8\n3 4\n")
    (tmp_path / "plain.toml").write_text(text.replace("baselines = true", ""))
    output = cli("run", "plain.toml", "--seeds", "2").stdout
    assert "this network has no random events. Seeds change only the small delays of hosts" in output
    assert 'trace_start = "random" starts each run at a random position' in output
    assert "this network has no random" not in cli("run", "plain.toml").stdout
    for more in ("paths.*.loss=1%", "paths.wifi.trace_start=random", "paths.3g.jitter=1ms"):
        assert "this network has no random" not in cli("run", "plain.toml", "--seeds", "2", "--set", more).stdout
    sweep = ("sweep", "plain.toml", "--vary", "flows.bulk.scheduler=ontime,minrtt", "--seeds", "2", "--quiet")
    assert "this network has no random events" in cli(*sweep).stdout
    assert "this network has no random" not in cli(*sweep, "--set", "paths.3g.loss=1%").stdout
