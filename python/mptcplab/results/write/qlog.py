"""Writes events as qlog for other tools, one file per host: JSON text sequences (RFC 7464) of the sequential schema.

Owns the format, draft-ietf-quic-qlog-main-schema from -11 on. Times are milliseconds since the start of the run, names
are in the namespace `mptcp`, and the path is the `tuple`. docs/events.md describes the `data` of an event. Memory does
not grow with the file.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.results.model import events
from mptcplab.util.files import folder, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from mptcplab.results.read.event_log import TracedRun

FILE_SCHEMA = "urn:ietf:params:qlog:file:sequential"
FORMAT = "application/qlog+json-seq"
EVENT_SCHEMA = "urn:mptcplab:qlog:mptcp:1"
"""The private namespace of docs/events.md, as the draft allows."""
RECORD = b"\x1e"
ROWS = 4096
"""Rows that are converted at a time."""


def write(run: TracedRun, directory: Path) -> list[Path]:
    """Writes `HOST.sqlog` for each host of a run with events; returns their paths."""
    written: list[Path] = []
    for host in run.names("host"):
        name = _safe(host)
        while (path := folder(directory) / f"{name}.sqlog") in written:
            name += "_"
        title = f"{run.scenario.get('name', 'run')}, seed {run.seed}"
        with replacing(path) as file:
            write_host(file, run.events, host, title=title, role=_role(run.scenario, host))
        written.append(path)
    return written


def write_host(file: IO[bytes], table: pa.Table, host: str, *, title: str, role: str) -> None:
    """Writes the header and the events of one host; `role` is a type of vantage point."""
    header = {
        "file_schema": FILE_SCHEMA,
        "serialization_format": FORMAT,
        "title": title,
        "trace": {
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            },
            "vantage_point": {"name": host, "type": role},
            "event_schemas": [EVENT_SCHEMA],
        },
        "generator": f"mptcplab {_core.__version__}",
    }
    _put(file, header)
    for row in _rows(table):
        if row["host"] == host:
            _put(file, event(row))


def event(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table of events as a qlog event."""
    data: dict[str, Any] = {"trigger": row["what"]}
    for name in events.fields():
        value = row[name]
        if value is not None:
            # qlog times are in milliseconds.
            data[f"{name.removesuffix('_s')}_ms" if name.endswith("_s") else name] = (
                value * 1e3 if name.endswith("_s") else value
            )
    if row["subflow"] is not None:
        data["subflow"] = row["subflow"]
    if row["other"] is not None:
        data["other"] = row["other"]
    found: dict[str, Any] = {"time": row["time_s"] * 1e3, "name": f"mptcp:{row['kind']}", "data": data}
    if row["flow"] is not None:
        found["group_id"] = row["flow"]
    if row["path"] is not None:
        found["tuple"] = row["path"]
    return found


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for at in range(0, table.num_rows, ROWS):
        yield from table.slice(at, ROWS).to_pylist()


def _put(file: IO[bytes], value: dict[str, Any]) -> None:
    file.write(RECORD + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _role(scenario: dict[str, Any], host: str) -> str:
    flows = scenario.get("flows", {}).values()
    opens = any(flow.get("from", "client") == host for flow in flows)
    accepts = any(flow.get("to", "server") == host for flow in flows)
    if opens == accepts:
        return "unknown" if opens else "network"
    return "client" if opens else "server"


def _safe(host: str) -> str:
    name = "".join("_" if letter in "/\\:" or not letter.isprintable() else letter for letter in host)
    return f"_{name}" if name.startswith(".") else name
