"""Events: the table, the command, figures, qlog, and errors for invalid input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import matplotlib.text
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import TRACED, Cli
from mptcplab import Scenario
from mptcplab.live.event_writer import tracing
from mptcplab.plots import event_plots, figure_style, message_plot
from mptcplab.results.model import event_table, events
from mptcplab.results.read.event_log import Selection, TracedRun, load, rows_text
from mptcplab.results.text import reasons
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.survey import consistency, planted_causes
from mptcplab.util.user_input import BadResult


def test_run_has_a_table() -> None:
    run = Scenario.parse(TRACED).run(trace="loss,rtt")
    assert run.events.schema.equals(event_table.schema())
    assert set(run.events["kind"].to_pylist()) == {"loss", "rtt"}
    samples = run.events.filter(pc.equal(run.events["kind"].cast(pa.string()), "rtt"))
    assert all(0.02 < value < 1 for value in samples["rtt_s"].to_pylist())
    assert samples["bytes"].null_count == samples.num_rows
    assert Scenario.parse(TRACED).run().events.num_rows == 0


def test_shares_by_path_stand_in_the_table_of_paths_only_where_they_were_measured() -> None:
    scenario = Scenario.parse(TRACED)
    [plain] = scenario.runs([1])
    assert "limit_loss" not in plain.paths.column_names
    [seen] = run_jobs([Job(scenario.core, 1, trace=events.REASONS)], quiet=True)
    rows = {row["path"]: row for row in seen.paths.to_pylist()}
    assert rows["lte"]["limit_loss"] > 0.2 > rows["wifi"]["limit_loss"]
    known = [
        "capacity",
        "best_capacity",
        "base_rtt_s",
        "ack_wait_s",
        "ack_queue",
        *(f"dropped_{why}" for why in ("random", "queue", "down", "filter")),
    ]
    more = [name for name in seen.paths.column_names if name.startswith(("limit_", "blamed"))]
    assert seen.paths.drop(more + known).equals(plain.paths.drop(known))


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Scenario.parse(TRACED).run(trace="all").save(tmp_path / name)
    assert (tmp_path / "one" / "events.parquet").read_bytes() == (tmp_path / "two" / "events.parquet").read_bytes()


def test_command_lists_counts_and_writes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TRACED)
    cli("run", "two.toml", "--trace", "loss,schedule,window", "--trace-from", "500ms", "--output", "out")
    table = pq.read_table(tmp_path / "out" / "events.parquet")
    assert pc.min(table["time_s"]).as_py() >= 0.5
    output = cli("events", "out", "--path", "lte", "--kind", "loss").stdout
    assert "loss rack" in output
    assert "wifi" not in output
    assert "schedule" in cli("events", "out", "--count").stdout
    assert cli("events", "out", "--csv", "--kind", "loss").stdout.startswith('"run"')
    assert cli("events", "out", "--from", "1999s").stdout == "no matching events\n"
    cli("events", "out", "--picture", "sequence", "--output", "s.png")
    assert (tmp_path / "s.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("run", "two.toml", "--trace", "los"), "did you mean loss"),
        (("run", "two.toml", "--trace", "loss", "--trace-from", "2s", "--trace-until", "1s"), "must be after"),
        (("run", "two.toml", "--trace-from", "2s"), "need --trace KINDS"),
        (("run", "two.toml", "--trace", "loss", "--trace-from", "5"), "is not a duration"),
        (("events", "nowhere"), "directory not found"),
        (("events", "plain"), "contains no events; repeat the run with --trace"),
        (("events", "traced", "--kind", "lost"), "did you mean loss"),
        (("events", "traced", "--path", "lt"), "did you mean lte"),
        (("events", "traced", "--seed", "7"), "no run with seed 7"),
        (("events", "traced", "--picture", "sequenc"), "did you mean sequence"),
        (("events", "traced", "--picture", "sequence", "--output", "x.txt"), "must end with .png, .svg or .pdf"),
        (("events", "traced", "--output", "x.png"), "--output needs a figure"),
        (("events", "traced", "--picture", "limits"), "repeat the run with --trace subflow_blocked"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], output: str) -> None:
    (tmp_path / "two.toml").write_text(TRACED)
    Scenario.parse(TRACED).run().save(tmp_path / "plain")
    Scenario.parse(TRACED).run(trace="loss").save(tmp_path / "traced")
    assert output in cli(*arguments, expect=2).stderr


def test_a_damaged_table_is_one_line(cli: Cli, tmp_path: Path, traced: Path) -> None:
    import shutil

    shutil.copytree(traced, tmp_path / "bad")
    file = tmp_path / "bad" / "events.parquet"
    file.write_bytes(file.read_bytes()[:1000])
    output = cli("events", "bad", expect=2).stderr
    assert "events.parquet: damaged" in output
    assert output.count("\n") == 1
    pq.write_table(pq.read_table(traced / "events.parquet").drop(["kind"]), file)
    assert "no column 'kind'" in cli("events", "bad", expect=2).stderr


def test_memory_is_bounded_and_it_is_said(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TRACED + "[limits]\ntrace = 50\n")
    output = cli("run", "two.toml", "--trace", "all", "--output", "out").stdout
    assert "events exceeded limits.trace" in output
    assert pq.read_metadata(tmp_path / "out" / "events.parquet").num_rows == 50
    (tmp_path / "much.toml").write_text(TRACED + "[limits]\ntrace = 1000000000\n")
    assert "limits.trace = 1000000000" in cli("run", "much.toml", "--trace", "all", expect=2).stderr


DRAWN = {
    "sequence": ["wifi", "lte"],
    "messages": ["MP_CAPABLE", "MP_JOIN"],
    "decisions": ["wifi", "lte"],
    "limits": ["wifi", "lte", "loss"],
    "topology": ["client", "server", "10Mbit", "8Mbit"],
}
"""The texts in a figure."""


@pytest.mark.parametrize("picture", ["sequence", "messages", "decisions", "limits", "topology"])
@pytest.mark.parametrize("flows", [1, 50])
def test_pictures_of_one_and_of_fifty_flows(picture: str, flows: int) -> None:
    text = TRACED if flows == 1 else TRACED.replace("[flows.a]", "[flows.a]\ncount = 50")
    run = TracedRun.of(
        Scenario.parse(text).run(trace="schedule,reinjection,retransmission,subflow_blocked,option_in,option_out")
    )
    figure = event_plots.draw(picture, run, Selection())
    assert figure_style.png(figure) == figure_style.png(event_plots.draw(picture, run, Selection()))
    # The selection changes the figure: one flow, or a time range.
    if picture != "topology":
        early = event_plots.draw(picture, run, Selection(until=0.5))
        assert figure_style.png(early) != figure_style.png(figure)
    output = " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))
    for word in DRAWN[picture]:
        assert word in output, (word, output)


@pytest.mark.parametrize("picture", ["sequence", "messages", "decisions", "limits"])
@pytest.mark.parametrize("flows", [1, 50])
def test_pictures_of_four_hundred_pixels_lose_no_word(
    picture: str, flows: int, recwarn: pytest.WarningsRecorder
) -> None:
    text = TRACED if flows == 1 else TRACED.replace("[flows.a]", "[flows.a]\ncount = 50")
    run = TracedRun.of(
        Scenario.parse(text).run(trace="schedule,reinjection,retransmission,subflow_blocked,option_in,option_out")
    )
    figure = event_plots.draw(picture, run, Selection(), (2.7, 3.4))
    with figure_style.house_style():
        figure.draw_without_rendering()
    assert not recwarn.list, "where nothing fits, matplotlib gives up its layout with a warning"
    assert figure.get_size_inches().tolist() == [2.7, 3.4]
    whole = figure.bbox
    (axes,) = figure.axes
    output = [*axes.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    # Ticks that lie beyond an axis have labels too, which nobody sees.
    output += axes.get_yticklabels() if picture in ("decisions", "limits") else []
    for shown in [*output, *(text for text in axes.get_children() if isinstance(text, matplotlib.text.Text))]:
        box = shown.get_window_extent()
        inside = box.x0 > whole.x0 - 3 and box.x1 < whole.x1 + 3 and box.y0 > whole.y0 - 3 and box.y1 < whole.y1 + 3
        assert inside or not shown.get_text(), (shown.get_text(), box, whole)


def test_each_option_arrives_once(traced: Path) -> None:
    rows = load(traced).select(Selection(kinds="option_out,option_in")).to_pylist()
    found = message_plot.pair(rows)
    assert [one.label for one in found[:4]] == ["MP_CAPABLE v1", "MP_CAPABLE v1", "MP_CAPABLE v1", "MP_JOIN id 2"]
    assert all(one.came is not None for one in found)


def test_rows_read_as_lines(traced: Path) -> None:
    run = load(traced)
    text = rows_text(run.select(Selection(kinds="rtt")), most=3)
    assert "rtt sample  rtt 20.144 ms" in text
    assert "more events (--most N" in text
    with pytest.raises(BadResult, match="unknown flow"):
        run.select(Selection(flow="b"))


def test_one_seed_of_several_is_read_alone(tmp_path: Path) -> None:
    scenario = Scenario.parse(TRACED)
    run_jobs([Job(scenario.core, seed, trace=events.trace("loss")) for seed in (3, 4)], quiet=True).save(tmp_path)
    [first, second] = [load(tmp_path, seed) for seed in (3, 4)]
    assert set(first.events["seed"].to_pylist()) == {3}
    assert first.events.num_rows + second.events.num_rows == pq.read_metadata(tmp_path / "events.parquet").num_rows


@pytest.mark.parametrize("failure", [OSError("no room"), KeyError("a fault of ours")])
def test_a_trace_that_fails_leaves_no_file(tmp_path: Path, failure: Exception) -> None:
    class Broken:
        events_dropped = 0

        def trace(self, wanted: events.Trace, *, limit: int) -> None: ...

        def take_events(self) -> pa.Table:
            raise failure

    with pytest.raises(type(failure)), tracing(cast(Any, Broken()), events.REASONS, tmp_path / "events.parquet"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_datagrams_and_joins_to_come_are_accused_of_nothing() -> None:
    voice = TRACED + '[flows.voice]\ntransport = "udp"\nrate = "64kbit"\n'
    short = TRACED.replace("[flows.a]", '[flows.a]\nbytes = "100kB"')
    for text, flow in ((voice, "voice"), (short, "a")):
        row = Scenario.parse(text).run(trace=events.REASONS).flow(flow)
        assert not [output for output in reasons.sentences(row) if "down" in output or "no subflow" in output]


def test_a_path_that_never_joined_is_named_and_has_no_row() -> None:
    scenario = Scenario.parse(TRACED.replace('loss = "1%"', 'loss = "100%"'))
    run = scenario.run(trace=events.REASONS)
    assert reasons.sentences(run.flow())[0] == "no subflow joined over lte"
    assert run.paths["path"].to_pylist() == scenario.run().paths["path"].to_pylist()


def test_sentences_name_loss_as_loss() -> None:
    [run] = run_jobs([Job(Scenario.parse(TRACED).core, 1, trace=events.REASONS)], quiet=True)
    assert any(output.startswith("random loss left") for output in reasons.sentences(run.flow()))
    assert "capacity: path capacity" in run.summary()
    clean = Scenario.parse(TRACED.replace('loss = "1%"', 'queue = "60p"')).run(trace=events.REASONS)
    assert reasons.sentences(clean.flow()) == [reasons.reached(clean.flow())]
    [plain] = Scenario.parse(TRACED).runs([1])
    assert reasons.sentences(plain.flow()) == []


def test_planted_causes_are_named() -> None:
    verdicts = planted_causes.judge(5, len(planted_causes.KINDS), 6)
    named = [verdict for verdict in verdicts if verdict.planted.cause is not None]
    assert sum(verdict.right for verdict in named) >= len(named) - 1, [v for v in named if not v.right]
    assert all(verdict.right for verdict in verdicts if verdict.planted.cause is None)


def test_no_summary_contradicts_the_samples() -> None:
    assert consistency.check(23, 60) == []


@pytest.mark.parametrize("jitter", ["0ms", "1ms", "2ms", "5ms", "20ms"])
def test_jitter_is_not_taken_for_a_queue(jitter: str) -> None:
    scenario = Scenario.parse(
        f"""
        duration = "8s"
        warmup = "2s"
        [paths.lte]
        rate = "100Mbit"
        rtt = "36ms"
        loss = "0.5%"
        jitter = "{jitter}"
        [flows.a]
        congestion = "cubic"
        """
    )
    row = scenario.run(trace=events.REASONS).flow()
    [first, *_] = reasons.findings(row)
    assert (first.cause, first.path) == ("loss", "lte")
    assert first.share > 0.85
    [path] = row["paths"]
    assert path["limits"]["bottleneck"] == pytest.approx(path["bytes_sent"] * 8 / row["measured_s"] / 100e6, rel=0.1)


def test_a_stall_is_a_sentence() -> None:
    scenario = Scenario.parse(
        """
        duration = "12s"
        [paths.wifi]
        rate = "10Mbit"
        rtt = "20ms"
        [flows.a]
        [[events]]
        at = "4s"
        path = "wifi"
        set.up = false
        how = "blackhole"
        [[events]]
        at = "8s"
        path = "wifi"
        set.up = true
        how = "blackhole"
        """
    )
    run = scenario.run(trace=events.REASONS)
    row = run.flow()
    assert row["longest_silence_s"] > 4
    assert row["longest_silence_at_s"] == pytest.approx(4.0, abs=0.1)
    assert "nothing reached the application for" in run.summary()
    assert reasons.findings(row)[0].cause == "down"


def test_blocks_have_percentiles_of_latency() -> None:
    scenario = Scenario.parse(TRACED.replace("[flows.a]", '[flows.a]\nblocks = "10kB"\nrate = "800kbit"'))
    run = scenario.run(trace=events.REASONS)
    row, latencies = run.flow(), run.block_columns(0)[1]
    assert row["latency_p95_s"] == pytest.approx(np.quantile(latencies, 0.95, method="inverted_cdf"))
    assert row["latency_p50_s"] == pytest.approx(np.quantile(latencies, 0.5, method="inverted_cdf"))
    assert "blocks: median" in run.summary()


def test_no_finding_names_a_path_that_is_none() -> None:
    of_all_paths = (*reasons.BUFFERS, "application", "scheduler", "penalty", "pacing", "copies", "coupling", "nagle")
    for cause in {*reasons.WORDS, *of_all_paths} - {"bottleneck"}:
        known = str(reasons.Finding(cause, "lte", 0.5))
        assert "None" not in known
        assert "_" not in known
    for cause in of_all_paths:
        assert "None" not in str(reasons.Finding(cause, None, 0.5))
        assert "  " not in str(reasons.Finding(cause, None, 0.5))


def test_cross_traffic_is_that_of_the_link_where_frames_wait() -> None:
    scenario = Scenario.parse(
        """
        duration = "10s"
        [links.access]
        ends = ["client", "router"]
        rate = "10Mbit"
        delay = "5ms"
        [links.core]
        ends = ["router", "server"]
        rate = "1Gbit"
        delay = "1ms"
        [links.neighbour]
        ends = ["other", "router"]
        rate = "1Gbit"
        delay = "1ms"
        [flows.own]
        from = "client"
        to = "server"
        paths = ["access"]
        [flows.cross]
        from = "other"
        to = "server"
        paths = ["neighbour"]
        transport = "udp"
        rate = "200Mbit"
        direction = "download"
        [[events]]
        at = "5s"
        link = "core"
        set.rate = "500Mbit"
        """
    )
    [path] = scenario.run(trace=events.REASONS).flow("own")["paths"]
    assert path["limits"]["bottleneck"] > 0.95, path


STREAM = """
name = "stream"
duration = "10s"

[paths.wifi]
rate = "5Mbit"
rtt = "30ms"

[flows.video]
blocks = "20KB"
rate = "1Mbit"
deadline = "100ms"

[flows.file]
bytes = "500KB"
deadline = "2s"

[flows.voice]
transport = "udp"
datagram = "200B"
rate = "64kbit"
deadline = "1ms"
"""


def test_latency_is_a_metric_of_every_command(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "stream.toml").write_text(STREAM)
    output = cli("run", "stream.toml", "--output", "out").stdout
    assert "% of the blocks took longer than the deadline" in output
    assert "the transfer was complete within the deadline" in output
    assert "100.00% of the datagrams missed the deadline or were lost" in output
    assert re.search(r"delay of the datagrams: median \d+ ms, p95 \d+ ms, p99 \d+ ms, jitter \d+ ms", output)
    rows = {row["flow"]: row for row in pq.read_table(tmp_path / "out" / "flows.parquet").to_pylist()}
    blocks = pq.read_table(tmp_path / "out" / "blocks.parquet")
    latency = np.sort(blocks["latency_s"].to_numpy())
    assert rows["video"]["latency_p99_s"] == latency[int(np.ceil(0.99 * latency.size)) - 1]
    assert rows["video"]["late"] == pytest.approx(np.mean(latency > 0.1), abs=0.02)
    [found] = json.loads(cli("cdf", "out:video", "--metric", "latency", "--json").stdout)
    assert found["samples"] == latency.size
    assert found["quantiles"]["0.5"] == pytest.approx(1e3 * np.median(latency), rel=0.02)
    [found] = json.loads(cli("cdf", "out:file", "--metric", "completion_s", "--json").stdout)
    assert found["mean"] == rows["file"]["completion_s"]
    cli("plot", "out", "--metric", "latency", "--flow", "video")
    table = cli("sweep", "stream.toml", "--vary", "paths.wifi.rtt=30ms,90ms", "--seeds", "2",
                "--metric", "latency_p95_s,late", "--compare", "paths.wifi.rtt=30ms").stdout  # fmt: skip
    assert "video latency_p95 [ms]" in table
    assert "sends no blocks" in cli("cdf", "out:file", "--metric", "latency", expect=2).stderr


def test_the_page_states_the_instructions_that_are_counted() -> None:
    """Within 5% of the counts of tools/instructions.py."""
    root = Path(__file__).parent.parent
    counted = json.loads((root / "tools" / "instructions.json").read_text())["instructions_per_data_packet"]
    page = (root / "docs" / "events.md").read_text(encoding="utf-8")
    output = re.search(r"about ([\d,]+) instructions in S1 and ([\d,]+) in S2", page)
    assert output
    for text, name in zip(output.groups(), ("S1", "S2"), strict=True):
        assert float(text.replace(",", "")) == pytest.approx(counted[name], rel=0.05)
