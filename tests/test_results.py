"""Tables, files and figures of runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import mptcplab
from conftest import Cli
from mptcplab import Flow, Run, Scenario
from mptcplab import Path as Network
from mptcplab.plots import figure_style
from mptcplab.results.model.tables import ALL, SAMPLE_COLUMNS
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job


@pytest.fixture(scope="module")
def run(two_paths: Scenario) -> Run:
    return two_paths.run(seed=3)


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()
    }


def test_samples_are_tidy(run: Run) -> None:
    table = run.samples
    assert tuple(table.column_names) == SAMPLE_COLUMNS
    assert set(table["run"].to_pylist()) == {"two paths"}
    assert set(table["seed"].to_pylist()) == {3}
    assert set(table["path"].to_pylist()) == {"wifi", "3g", ALL}
    assert set(table["flow"].to_pylist()) == {"bulk", ALL}
    units = dict(zip(table["metric"].to_pylist(), table["unit"].to_pylist(), strict=True))
    assert units["throughput"] == "bit/s"
    assert units["cwnd"] == "B"
    assert units["srtt"] == "s"
    assert max(table["time_s"].to_pylist()) == 6.0


def test_the_numbers_are_not_copied(run: Run) -> None:
    arrow = run.samples["value"].chunk(0).to_numpy(zero_copy_only=True)
    assert np.shares_memory(arrow, run.columns["value"])


def test_series_add_up(run: Run) -> None:
    times, total = run.series("throughput")
    parts = [run.series("throughput", path=path)[1] for path in ("wifi", "3g")]
    assert times.tolist() == [0.5 * step for step in range(1, 13)]
    assert np.allclose(parts[0][-6:] + parts[1][-6:], total[-6:])


def test_summaries_agree_with_samples(run: Run) -> None:
    times, rates = run.series("goodput")
    assert rates[times > 1.0].mean() == pytest.approx(run.flow()["goodput"], rel=1e-6)
    assert run.flow("bulk")["intact"]
    assert run.path("wifi") is not None
    assert run.path("satellite") is None
    assert sum(run.flow()["limits"].values()) == pytest.approx(1)
    with pytest.raises(KeyError, match="bulk"):
        run.flow("blk")


def test_tables(run: Run) -> None:
    assert run.flows.num_rows == 1
    assert run.paths["path"].to_pylist() == ["wifi", "3g"]
    assert run.links.num_rows == 4
    assert run.blocks.num_rows == 0
    assert "limit_congestion_window" in run.flows.column_names


def test_summary_says_what_limited_it(run: Run) -> None:
    text = run.summary()
    assert re.search(r"bulk \(MPTCP\): goodput \d\.\d\d Mb/s", text)
    assert "3g" in text
    assert re.search(r"capacity: .*\d+%", text), "what its links know, though a run in Python is not observed"
    assert "sender's view: limited by the congestion windows" not in text, "that is the sender's guess"
    assert "<table>" in run._repr_html_()
    assert "seed 3" in repr(run)


def test_why_a_connection_fell_back() -> None:
    path = {"rate": "8Mbit", "delay": "10ms"}
    box = {"path": "wifi", "kind": "strip-options", "from": ["syn-ack"]}
    boxed = Scenario(duration="2s", paths={"wifi": path}, flows={"bulk": {}}, middleboxes={"box": box}).run()
    row = boxed.flow()
    assert (row["multipath"], row["fell_back"], row["fell_back_path"]) == (False, True, "wifi")
    assert row["fell_back_at_s"] == pytest.approx(0.025, abs=0.006)
    assert row["fell_back_because"] == "options were removed from the SYN/ACK"
    output = f"fell back to TCP at {row['fell_back_at_s']:.2f} s on path wifi: options were removed from the SYN/ACK"
    assert output in boxed.summary()
    assert boxed.flows["fell_back_because"].to_pylist() == [row["fell_back_because"]]


def test_a_connection_that_did_not_fall_back_gives_no_reason(run: Run) -> None:
    row = run.flow()
    assert (row["fell_back"], row["fell_back_at_s"], row["fell_back_path"], row["fell_back_because"]) == (
        False,
        None,
        None,
        None,
    )
    assert "fell back" not in run.summary()


def test_what_is_saved(run: Run, tmp_path: Path) -> None:
    run.save(tmp_path)
    assert set(files(tmp_path)) == {
        "flows.parquet",
        "iperf3.json",
        "links.parquet",
        "paths.parquet",
        "run.json",
        "samples.parquet",
        "scenario.toml",
    }
    assert pq.read_table(tmp_path / "samples.parquet").num_rows == run.samples.num_rows
    described = json.loads((tmp_path / "run.json").read_text())
    assert described["runs"][0]["seed"] == 3
    again = Scenario.load(tmp_path / "scenario.toml").run(seed=3)
    assert again.samples.equals(run.samples)


def test_the_same_seed_gives_the_same_files(two_paths: Scenario, tmp_path: Path) -> None:
    two_paths.run(seed=5).save(tmp_path / "one")
    two_paths.run(seed=5).save(tmp_path / "two")
    two_paths.run(seed=6).save(tmp_path / "other")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert files(tmp_path / "one")["samples.parquet"] != files(tmp_path / "other")["samples.parquet"]


def test_the_number_of_workers_changes_nothing(two_paths: Scenario, tmp_path: Path) -> None:
    jobs = [Job(two_paths.core, seed, f"seed {seed}") for seed in range(1, 9)]
    run_jobs(jobs, workers=1).save(tmp_path / "one")
    run_jobs(jobs, workers=2).save(tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_sweep_runs_every_combination(two_paths: Scenario) -> None:
    vary = {"paths.wifi.loss": ["0%", "2%"], "flows.bulk.congestion": ["lia", "reno"]}
    runs = two_paths.vary({"duration": "2s"}).sweep(vary, seeds=[1, 2])
    assert len(runs) == 8
    assert runs[0].variant == "paths.wifi.loss=0%, flows.bulk.congestion=lia"
    assert [run.seed for run in runs[:2]] == [1, 2]
    assert runs.flows.num_rows == 8
    assert len(set(runs.samples["variant"].to_pylist())) == 4


def test_blocks_have_latencies(tmp_path: Path) -> None:
    scenario = Scenario(
        duration="3s",
        paths={"wifi": {"rate": "8Mbit", "delay": "10ms"}},
        flows={"app": {"transport": "tcp", "blocks": "8KB", "rate": "1Mbit"}},
    )
    run = scenario.run()
    latencies = run.blocks["latency_s"].to_pylist()
    assert len(latencies) == run.flow()["blocks"] > 30
    assert min(latencies) > 0.01
    run.save(tmp_path)
    assert (tmp_path / "blocks.parquet").is_file()


def test_iperf3_has_the_keys_that_its_readers_use(run: Run) -> None:
    document = json.loads(json.dumps(run.iperf3(), allow_nan=False))
    assert {"start", "intervals", "end"} <= set(document)
    assert document["start"]["test_start"]["protocol"] == "MPTCP"
    assert len(document["intervals"]) == 12
    stream = document["intervals"][4]["streams"][0]
    assert {"socket", "start", "end", "seconds", "bytes", "bits_per_second", "retransmits", "snd_cwnd", "rtt"} <= set(
        stream
    )
    assert {subflow["path"] for subflow in stream["subflows"]} == {"wifi", "3g"}
    assert stream["snd_cwnd"] == sum(subflow["snd_cwnd"] for subflow in stream["subflows"])
    assert 15_000 < stream["rtt"] < 300_000
    assert document["intervals"][0]["sum"]["omitted"]
    end = document["end"]
    assert end["sum_received"]["bits_per_second"] == pytest.approx(run.flow()["goodput"])
    assert end["sum_sent"]["retransmits"] == sum(path["retransmits"] for path in run.flow()["paths"])
    assert end["streams"][0]["subflows"][0]["path"] == "wifi"


def test_figures_are_the_same_each_time(run: Run) -> None:
    for metric in ("throughput", "cwnd", "queue"):
        assert figure_style.png(run.plot(metric)) == figure_style.png(run.plot(metric))
        drawing = figure_style.svg(run.plot(metric))
        assert drawing == figure_style.svg(run.plot(metric))
        assert b"<dc:date>" not in drawing
    with pytest.raises(ValueError, match="unknown metric"):
        run.plot("speed")


def test_pictures_and_tables_show_themselves(run: Run, two_paths: Scenario) -> None:
    """Jupyter asks for `_repr_png_` and `_repr_html_`, and needs no magic command then."""
    assert run.plot()._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    runs = two_paths.vary({"duration": "2s"}).sweep({"paths.wifi.loss": ["0%", "1%"]}, seeds=[1, 2])
    text = runs._repr_html_()
    assert text.count("<tr>") == 3
    assert "±" in text
    assert runs.plot("throughput")._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="did you mean goodput"):
        runs.plot("gootput")


def test_many_flows_are_drawn_and_told_together(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """A thousand flows: a line for each path, a sum for each interval, no gigabyte."""
    scenario = Scenario.parse(
        """
        duration = "1s"
        [paths.a]
        rate = "100Mbit"
        delay = "10ms"
        [paths.b]
        rate = "50Mbit"
        delay = "20ms"
        [flows.f]
        count = 150
        """
    )
    run = scenario.run()
    (axes,) = run.plot().axes
    assert [line.get_label() for line in axes.lines] == ["a", "b", "all paths"]
    assert "sum of 150 flows" in axes.get_title("left")
    (goodput,) = run.plot("goodput").axes
    drawn = np.asarray(goodput.lines[2].get_ydata(), dtype=np.float64)
    intervals = run.iperf3()["intervals"]
    interval = intervals[-1]
    assert len(interval["streams"]) == 100
    written = sum(stream["bytes"] for interval in intervals for stream in interval["streams"])
    assert sum(interval["sum"]["bytes"] for interval in intervals) > written
    last = sum(run.series("goodput", flow=name)[1][-1] for name in run.flow_names)
    assert interval["sum"]["bits_per_second"] == pytest.approx(last)
    assert drawn[-1] * 1e6 == pytest.approx(last)
    assert "mean of 150 flows" in run.plot("srtt").axes[0].get_title("left")
    run.save(tmp_path / "many")
    assert (tmp_path / "many" / "iperf3.json").stat().st_size < 2_000_000
    assert not recwarn.list


@pytest.mark.parametrize("name", ["run-06:30", "s3:x", "file:x", "a%20b", "gs:b c", "hdfs:é"])
def test_names_with_a_colon(cli: Cli, scenario_file: Path, tmp_path: Path, name: str) -> None:
    """A relative name is a directory, and no place on the net that Arrow would look for."""
    cli("run", scenario_file, "--output", name, "--quiet")
    cli("analyse", name, "--means")
    cli("link-stats", name)
    cli("merge", name, "--output", f"{name}-both")
    cli("sweep", scenario_file, "--vary", "paths.wifi.loss=0%,1%", "--output", f"{name}-sweep", "--quiet")
    assert (tmp_path / f"{name}-both" / "flows.parquet").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"metric": "cwnd", "path": "wfi"}, "unknown path 'wfi'; did you mean wifi?"),
        ({"metric": "cwnd", "flow": "bluk"}, "unknown flow 'bluk'; did you mean bulk?"),
        ({"metric": "cwn"}, "unknown metric 'cwn'; did you mean cwnd?"),
    ],
)
def test_a_series_that_is_not_there_is_named(two_paths: Scenario, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        two_paths.vary({"duration": "2s"}).run().series(**arguments)


def test_a_notebook_completes_every_name() -> None:
    assert {"Scenario", "Flow", "Path", "Run", "ScenarioError"} <= set(dir(mptcplab))


def test_the_first_figure_of_a_run_stays_below_the_rates_of_its_links() -> None:
    """Losses and a small buffer: data arrives in bursts at the application, and enters the queues in bursts."""
    rates = {"a": 8.0, "b": 2.0}
    scenario = Scenario(
        duration="10s",
        sample="100ms",
        paths={
            "a": Network(rate="8Mbit", delay="10ms", loss="1%", queue="1000p"),
            "b": Network(rate="2Mbit", delay="150ms", queue="1000p"),
        },
        flows={"f": Flow(sndbuf="8MB", rcvbuf="8MB")},
    )
    run = scenario.run()
    [axes] = run.plot().axes
    assert axes.get_ylabel() == "throughput at the receiver [Mb/s]"
    drawn = {str(line.get_label()): np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines}
    # A frame may end in the next interval.
    frame = 1514 * 8 / 0.1 / 1e6
    assert {path: bool(drawn[path].max() <= rate + frame) for path, rate in rates.items()} == {"a": True, "b": True}
    assert drawn["all paths"].max() <= sum(rates.values()) + 2 * frame
    [sent] = run.plot("throughput").axes
    assert sent.get_ylabel() == "throughput into the sender's queue [Mb/s]"
    highest = max(np.asarray(line.get_ydata(), dtype=np.float64).max() for line in sent.lines)
    assert highest > sum(rates.values()), "which is why this one is not the first"


def test_the_sum_of_all_paths_has_those_that_join_late() -> None:
    late = Network(rate="8Mbit", delay="120ms", queue="200p")
    scenario = Scenario(
        duration="6s", sample="100ms", paths={"a": Network(rate="8Mbit", delay="80ms"), "b": late}, flows={"f": Flow()}
    )
    run = scenario.run()
    assert run.series("goodput", path="b")[0].size < run.series("goodput")[0].size
    [axes] = run.plot().axes
    drawn = {str(line.get_label()): np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines}
    assert drawn["all paths"][-1] == pytest.approx(drawn["a"][-1] + drawn["b"][-1])
    assert drawn["all paths"][0] == pytest.approx(drawn["a"][0])


def test_events_are_marked_in_figures() -> None:
    text = """
        duration = "4s"
        [paths.wifi]
        rate = "8Mbit"
        [flows.f]
        [[events]]
        at = "1s"
        path = "wifi"
        set = { rate = "2Mbit" }
        [[events]]
        at = "3s"
        path = "wifi"
        set = { up = false }
    """
    [axes] = Scenario.parse(text).run().plot().axes
    assert [one.get_text() for one in axes.texts] == ["wifi rate 2Mbit", "wifi down"]
