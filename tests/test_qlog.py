"""Events as qlog, checked against the drafts' rules of a file, with names written independently of the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from mptcplab.results.read.event_log import TracedRun, load
from mptcplab.results.write import qlog

# What draft-ietf-quic-qlog-main-schema says of a file in the sequential schema (QlogFileSeq, TraceSeq, VantagePoint,
# CommonFields, ReferenceTime, Event), and docs/events.md of `data`, as a JSON Schema.
QLOG_KINDS = [
    "window",
    "rtt",
    "loss",
    "timeout",
    "spurious",
    "retransmission",
    "schedule",
    "reinjection",
    "penalty",
    "connection_blocked",
    "subflow_blocked",
    "subflow",
    "connection",
    "option_in",
    "option_out",
    "dss_in",
    "dss_out",
    "drop",
    "mark",
]
QLOG_DATA = {
    "trigger",
    "subflow",
    "other",
    "offset",
    "seq",
    "bytes",
    "cwnd",
    "ssthresh",
    "in_flight",
    "rtt_ms",
    "srtt_ms",
    "rttvar_ms",
    "rto_ms",
    "consecutive",
    "unsent",
    "number",
    "data_seq",
    "data_ack",
}
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
        "name": {"enum": [f"mptcp:{kind}" for kind in QLOG_KINDS]},
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


def test_qlog_is_what_the_drafts_say(traced: Path, tmp_path: Path) -> None:
    run = load(traced)
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
            assert set(value["data"]) <= QLOG_DATA
        times = [value["time"] for value in values[1:]]
        assert times == sorted(times)
        written += len(times)
    assert written == run.events.num_rows


def test_hosts_whose_names_are_written_alike_have_files_of_their_own(traced: Path, tmp_path: Path) -> None:
    run = load(traced)
    host = pc.if_else(pc.equal(run.events["host"], "client"), "a/b", "a_b")
    at = run.events.column_names.index("host")
    other = TracedRun(run.source, run.seed, run.scenario, run.events.set_column(at, "host", host))
    files = qlog.write(other, tmp_path)
    assert [file.name for file in files] == ["a_b.sqlog", "a_b_.sqlog"]
    assert sum(file.read_bytes().count(b"\x1e") for file in files) == run.events.num_rows + 2
