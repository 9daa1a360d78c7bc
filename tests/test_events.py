"""Events: the table, the command, pictures, qlog, and what is said of wrong input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import Cli
from mptcplab import Scenario, event_plots, events, message_plot, plots, qlog, reasons
from mptcplab.batch import Job, run_jobs
from mptcplab.inputs import BadResult
from mptcplab.survey import planted
from mptcplab.traced import Selection, TracedRun, load, told

TWO = """
name = "two"
duration = "2s"
[paths.wifi]
rate = "10Mbit"
delay = "10ms"
queue = "50p"
[paths.lte]
rate = "8Mbit"
delay = "30ms"
loss = "1%"
[flows.a]
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("traced") / "out"
    Scenario.parse(TWO).run(trace="all").save(directory)
    return directory


def test_run_has_a_table() -> None:
    run = Scenario.parse(TWO).run(trace="loss,rtt")
    assert run.events.schema.equals(events.schema())
    assert set(run.events["kind"].to_pylist()) == {"loss", "rtt"}
    samples = run.events.filter(pc.equal(run.events["kind"].cast(pa.string()), "rtt"))
    assert all(0.02 < value < 1 for value in samples["rtt_s"].to_pylist())
    assert samples["bytes"].null_count == samples.num_rows
    assert Scenario.parse(TWO).run().events.num_rows == 0


def test_shares_by_path_stand_in_the_table_of_paths_only_where_they_were_measured() -> None:
    scenario = Scenario.parse(TWO)
    plain = scenario.run()
    assert "limit_loss" not in plain.paths.column_names
    [seen] = run_jobs([Job(scenario.core, 1, trace=events.REASONS)], quiet=True)
    rows = {row["path"]: row for row in seen.paths.to_pylist()}
    assert rows["lte"]["limit_loss"] > 0.2 > rows["wifi"]["limit_loss"]
    assert seen.paths.drop([name for name in seen.paths.column_names if name.startswith(("limit_", "blamed"))]).equals(
        plain.paths
    )


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Scenario.parse(TWO).run(trace="all").save(tmp_path / name)
    assert (tmp_path / "one" / "events.parquet").read_bytes() == (tmp_path / "two" / "events.parquet").read_bytes()


def test_command_lists_counts_and_writes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    cli("run", "two.toml", "--trace", "loss,schedule,window", "--trace-from", "500ms", "--output", "out")
    table = pq.read_table(tmp_path / "out" / "events.parquet")
    assert pc.min(table["time_s"]).as_py() >= 0.5
    said = cli("events", "out", "--path", "lte", "--kind", "loss").stdout
    assert "loss rack" in said
    assert "wifi" not in said
    assert "schedule" in cli("events", "out", "--count").stdout
    assert cli("events", "out", "--csv", "--kind", "loss").stdout.startswith('"run"')
    assert cli("events", "out", "--from", "1999s").stdout == "no such events\n"
    assert "0 rows" not in cli("events", "out", "--picture", "sequence", "--output", "s.png").stdout
    assert (tmp_path / "s.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "two.toml", "--trace", "los"), "did you mean loss"),
        (("run", "two.toml", "--trace", "loss", "--trace-from", "2s", "--trace-until", "1s"), "is not after"),
        (("run", "two.toml", "--trace-from", "2s"), "--trace says of what"),
        (("run", "two.toml", "--trace", "loss", "--trace-from", "5"), "is no time"),
        (("events", "nowhere"), "no such directory"),
        (("events", "plain"), "it has no events; run it again with --trace"),
        (("events", "traced", "--kind", "lost"), "did you mean loss"),
        (("events", "traced", "--path", "lt"), "did you mean lte"),
        (("events", "traced", "--seed", "7"), "there is no run with seed 7"),
        (("events", "traced", "--picture", "sequenc"), "did you mean sequence"),
        (("events", "traced", "--picture", "sequence", "--output", "x.txt"), "a picture is .png or .svg"),
        (("events", "traced", "--output", "x.png"), "--output is for a picture"),
        (("events", "traced", "--picture", "limits"), "trace them with --trace limit"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    Scenario.parse(TWO).run().save(tmp_path / "plain")
    Scenario.parse(TWO).run(trace="loss").save(tmp_path / "traced")
    assert said in cli(*arguments, expect=2).stderr


def test_a_damaged_table_is_one_line(cli: Cli, tmp_path: Path, result: Path) -> None:
    import shutil

    shutil.copytree(result, tmp_path / "bad")
    file = tmp_path / "bad" / "events.parquet"
    file.write_bytes(file.read_bytes()[:1000])
    said = cli("events", "bad", expect=2).stderr
    assert "events.parquet: damaged" in said
    assert said.count("\n") == 1
    pq.write_table(pq.read_table(result / "events.parquet").drop(["kind"]), file)
    assert "no column 'kind'" in cli("events", "bad", expect=2).stderr


def test_memory_is_bounded_and_it_is_said(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO + "[limits]\ntrace = 50\n")
    said = cli("run", "two.toml", "--trace", "all", "--output", "out").stdout
    assert "events found no room" in said
    assert pq.read_metadata(tmp_path / "out" / "events.parquet").num_rows == 50
    (tmp_path / "much.toml").write_text(TWO + "[limits]\ntrace = 1000000000\n")
    assert "limits.trace = 1000000000" in cli("run", "much.toml", "--trace", "all", expect=2).stderr


@pytest.mark.parametrize("picture", ["sequence", "messages", "decisions", "limits", "topology"])
@pytest.mark.parametrize("flows", [1, 50])
def test_pictures_of_one_and_of_fifty_flows(picture: str, flows: int) -> None:
    text = TWO if flows == 1 else TWO.replace("[flows.a]", "[flows.a]\ncount = 50")
    run = TracedRun.of(Scenario.parse(text).run(trace="schedule,reinjection,retransmission,limit,option_in,option_out"))
    figure = event_plots.draw(picture, run, Selection())
    assert plots.png(figure) == plots.png(event_plots.draw(picture, run, Selection()))


def test_each_option_arrives_once(result: Path) -> None:
    rows = load(result).select(Selection(kinds="option_out,option_in")).to_pylist()
    found = message_plot.pair(rows)
    assert [one.label for one in found[:4]] == ["MP_CAPABLE v1", "MP_CAPABLE v1", "MP_CAPABLE v1", "MP_JOIN id 2"]
    assert all(one.came is not None for one in found)


def test_rows_read_as_lines(result: Path) -> None:
    run = load(result)
    text = told(run.select(Selection(kinds="rtt")), most=3)
    assert "rtt sample  rtt 20.131 ms" in text
    assert "more (--most N" in text
    with pytest.raises(BadResult, match="there is no flow"):
        run.select(Selection(flow="b"))


# What draft-ietf-quic-qlog-main-schema says of a file in the sequential schema (QlogFileSeq, TraceSeq, VantagePoint,
# CommonFields, ReferenceTime, Event), and docs/events.md of `data`, as a JSON Schema.
TEXT: dict[str, Any] = {"type": "string"}
HEADER: dict[str, Any] = {
    "type": "object",
    "required": ["file_schema", "serialization_format", "trace"],
    "properties": {
        "file_schema": {"const": "urn:ietf:params:qlog:file:sequential"},
        "serialization_format": {"const": "application/qlog+json-seq"},
        "title": TEXT,
        "description": TEXT,
        "trace": {
            "type": "object",
            "required": ["event_schemas"],
            "properties": {
                "common_fields": {
                    "type": "object",
                    "properties": {
                        "time_format": {"enum": ["relative_to_epoch", "relative_to_previous_event"]},
                        "reference_time": {
                            "type": "object",
                            "required": ["clock_type", "epoch"],
                            "properties": {"clock_type": {"enum": ["system", "monotonic"]}, "epoch": TEXT},
                        },
                    },
                },
                "vantage_point": {
                    "type": "object",
                    "required": ["type"],
                    "properties": {"name": TEXT, "type": {"enum": ["client", "server", "network", "unknown"]}},
                },
                "event_schemas": {"type": "array", "items": {"type": "string", "prefix": "urn:"}},
            },
        },
    },
}
EVENT: dict[str, Any] = {
    "type": "object",
    "required": ["time", "name", "data"],
    "properties": {
        "time": {"type": "number"},
        "name": {"enum": [f"mptcp:{kind}" for kind in events.kinds()]},
        "data": {"type": "object", "required": ["trigger"], "properties": {"trigger": TEXT, "other": TEXT}},
        "group_id": TEXT,
        "tuple": TEXT,
    },
}
TYPES = {"object": dict, "string": str, "array": list, "number": (int, float)}


def check(value: Any, schema: dict[str, Any], at: str = "") -> None:
    if "type" in schema:
        assert isinstance(value, TYPES[schema["type"]]), f"{at}: {value!r}"  # type: ignore[arg-type]
    assert "const" not in schema or value == schema["const"], at
    assert "enum" not in schema or value in schema["enum"], f"{at}: {value!r}"
    assert str(value).startswith(schema.get("prefix", "")) or isinstance(value, dict | list), at
    for key in schema.get("required", []):
        assert key in value, f"{at}.{key}"
    for key, inner in schema.get("properties", {}).items():
        if key in value:
            check(value[key], inner, f"{at}.{key}")
    for item in value if "items" in schema else []:
        check(item, schema["items"], f"{at}[]")


def test_qlog_is_what_the_drafts_say(result: Path, tmp_path: Path) -> None:
    run = load(result)
    files = qlog.write(run, tmp_path)
    assert [file.name for file in files] == ["client.sqlog", "server.sqlog"]
    written = 0
    for file in files:
        records = file.read_bytes().split(b"\x1e")
        assert records[0] == b""
        assert all(record.endswith(b"\n") for record in records[1:])
        values = [json.loads(record) for record in records[1:]]
        check(values[0], HEADER)
        for value in values[1:]:
            check(value, EVENT)
            own = {name.removesuffix("_s") + ("_ms" if name.endswith("_s") else "") for name in events.fields()}
            assert set(value["data"]) <= own | {"trigger", "subflow", "other"}
        times = [value["time"] for value in values[1:]]
        assert times == sorted(times)
        written += len(times)
    assert written == run.events.num_rows


def test_sentences_name_loss_as_loss() -> None:
    [run] = run_jobs([Job(Scenario.parse(TWO).core, 1, trace=events.REASONS)], quiet=True)
    assert any(said.startswith("loss kept lte small") for said in reasons.sentences(run.flow()))
    assert "limited by loss" in run.summary()
    clean = Scenario.parse(TWO.replace('loss = "1%"', 'queue = "60p"')).run(trace=events.REASONS)
    assert reasons.sentences(clean.flow()) == ["nothing held it back: its paths carried what they could"]
    assert reasons.sentences(Scenario.parse(TWO).run().flow()) == []


def test_planted_causes_are_named() -> None:
    verdicts = planted.judge(5, 24, 6)
    named = [verdict for verdict in verdicts if verdict.planted.cause is not None]
    assert sum(verdict.right for verdict in named) >= 22, [v for v in named if not v.right]
    assert all(verdict.right for verdict in verdicts if verdict.planted.cause is None)
