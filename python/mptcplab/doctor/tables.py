"""Writes Parquet tables of a capture: connections, subflows, verdicts, values over time, and all segments.

Owns the columns. Segments are streamed, so that memory does not depend on the size of the captures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mptcplab.doctor.segments import Batch, Flow, batches
from mptcplab.results.write.export import write_parquet
from mptcplab.util.files import only_writer, replacing

Json = Mapping[str, Any]
SIDES = ("client", "server")

_TEXT, _WHOLE, _REAL, _FLAG = pa.string(), pa.uint64(), pa.float64(), pa.bool_()
_INDEX = pa.uint32()
CONNECTIONS = pa.schema(
    [
        ("connection", _INDEX),
        ("protocol", _TEXT),
        ("version", pa.uint8()),
        ("client", _TEXT),
        ("server", _TEXT),
        ("client_token", _INDEX),
        ("server_token", _INDEX),
        ("place", _TEXT),
        ("has_both_ends", _FLAG),
        ("start", _REAL),
        ("seconds", _REAL),
        ("sender", _TEXT),
        ("verdict", _TEXT),
        *((f"{side}_{name}", kind) for side in SIDES for name, kind in (
            ("bytes", _WHOLE), ("seconds", _REAL), ("goodput", _REAL), ("potential", _REAL), ("reinjected", _WHOLE),
            ("needless", _WHOLE), ("largest_window", _WHOLE), ("largest_flight", _WHOLE),
            ("largest_out_of_order", _WHOLE), ("longest_stall", _REAL),
        )),
    ]
)  # fmt: skip
_DATA = (
    ("bytes", _WHOLE), ("segments", _WHOLE), ("share", _REAL), ("retransmissions", _WHOLE), ("lost", _WHOLE),
    ("loss_rate", _REAL), ("timeouts", _WHOLE), ("reordered", _WHOLE), ("uncaptured", _WHOLE),
    ("short_segments", _WHOLE), ("base_rtt", _REAL), ("median_rtt", _REAL), ("p95_rtt", _REAL), ("capacity", _REAL),
)  # fmt: skip
SUBFLOWS = pa.schema(
    [
        ("connection", _INDEX),
        ("subflow", _INDEX),
        ("sender", _TEXT),
        ("opener", _TEXT),
        ("opener_end", _TEXT),
        ("other_end", _TEXT),
        ("handshake", _TEXT),
        ("start", _REAL),
        ("end", _REAL),
        ("repeated_syns", _WHOLE),
        ("is_backup", _FLAG),
        ("handshake_rtt", _REAL),
        ("reset", _TEXT),
        ("reset_by", _TEXT),
        *_DATA,
    ]
)
VERDICTS = pa.schema(
    [
        ("connection", _INDEX),
        ("rank", _INDEX),
        ("name", _TEXT),
        ("subflow", _INDEX),
        ("share", _REAL),
        ("cost", _REAL),
        ("cost_seconds", _REAL),
        ("summary", _TEXT),
    ]
)
SUBFLOW_SERIES = pa.schema(
    [
        ("connection", _INDEX), ("subflow", _INDEX), ("sender", _TEXT), ("time", _REAL), ("rate", _REAL),
        ("retransmitted", _REAL), ("lost", _WHOLE), ("sent", _WHOLE), ("rtt", _REAL), ("flight", _WHOLE),
    ]
)  # fmt: skip
DATA_SERIES = pa.schema(
    [
        ("connection", _INDEX), ("sender", _TEXT), ("time", _REAL), ("goodput", _REAL), ("flight", _WHOLE),
        ("window", _WHOLE), ("out_of_order", _WHOLE), ("reinjected", _REAL),
    ]
)  # fmt: skip
_NAME = pa.dictionary(pa.int32(), pa.string())
SEGMENTS = pa.schema(
    [
        ("time", pa.timestamp("ns", tz="UTC")),
        ("file", pa.uint16()),
        ("packet", _WHOLE),
        ("connection", _INDEX),
        ("subflow", _INDEX),
        ("sender", _NAME),
        ("from", _NAME),
        ("to", _NAME),
        ("sequence", _INDEX),
        ("acknowledgment", _INDEX),
        ("flags", pa.uint16()),
        ("window", pa.uint16()),
        ("payload", _INDEX),
        ("data_sequence", _WHOLE),
        ("data_length", _INDEX),
        ("data_ack", _WHOLE),
        ("timestamp", _INDEX),
    ]
)
_MAPPED = ("data_sequence", "data_length", "data_ack", "timestamp")
"""Columns in which the core writes 0 for an absent value."""


def write(
    report: Json, captures: Sequence[Path], directory: Path, progress: Callable[[int], bool] = lambda _: True
) -> list[str]:
    """Writes the tables; returns their names. `progress` gets the number of segments."""
    tables = {
        "connections": (CONNECTIONS, _connections(report)),
        "subflows": (SUBFLOWS, _subflows(report)),
        "verdicts": (VERDICTS, _verdicts(report)),
        "subflow_series": (SUBFLOW_SERIES, _subflow_series(report)),
        "data_series": (DATA_SERIES, _data_series(report)),
    }
    with only_writer(directory) as target:
        for name, (schema, rows) in tables.items():
            write_parquet(pa.Table.from_pylist(list(rows), schema=schema), target / f"{name}.parquet")
        with (
            replacing(target / "segments.parquet") as file,
            pq.ParquetWriter(file, SEGMENTS, compression="zstd", version="2.6") as writer,
        ):
            count = 0
            for batch in batches(captures, report):
                writer.write_table(_segments(batch))
                count += len(batch.columns["time"])
                progress(count)
    return [*tables, "segments"]


def _connections(report: Json) -> Iterator[Json]:
    for number, one in enumerate(report["connections"]):
        names = ("protocol", "version", "client", "server", "place", "has_both_ends", "start", "seconds", "sender")
        row: dict[str, Any] = {"connection": number} | {name: one[name] for name in names}
        row |= {f"{side}_token": token for side, token in zip(SIDES, one["tokens"], strict=True)}
        row["verdict"] = one["verdicts"][0]["name"] if one["verdicts"] else None
        for side, data in zip(SIDES, one["data"], strict=True):
            row |= {f"{side}_{name}": value for name, value in data.items() if name != "series"}
        yield row


def _each_subflow(report: Json) -> Iterator[tuple[Json, Json, Json]]:
    """Keys, subflow and data of each subflow and sender."""
    for number, connection in enumerate(report["connections"]):
        for place, one in enumerate(connection["subflows"]):
            for side, data in zip(SIDES, one["data"], strict=True):
                yield {"connection": number, "subflow": place, "sender": side}, one, data


def _subflows(report: Json) -> Iterator[Json]:
    names = ("opener", "handshake", "start", "end", "repeated_syns", "is_backup", "handshake_rtt", "reset", "reset_by")
    for keys, one, data in _each_subflow(report):
        own = {name: one[name] for name in names} | {name: data[name] for name, _ in _DATA}
        yield {**keys, **own, "opener_end": one["ends"][0], "other_end": one["ends"][1]}


def _verdicts(report: Json) -> Iterator[Json]:
    for number, connection in enumerate(report["connections"]):
        for rank, one in enumerate(connection["verdicts"], 1):
            yield {"connection": number, "rank": rank} | {name: one[name] for name in VERDICTS.names[2:]}


def _steps(keys: Json, series: Json, names: Sequence[str]) -> Iterator[Json]:
    for step, values in enumerate(zip(*(series[name] for name in names), strict=True)):
        yield {**keys, "time": series["start"] + step * series["step"], **dict(zip(names, values, strict=True))}


def _subflow_series(report: Json) -> Iterator[Json]:
    for keys, _, data in _each_subflow(report):
        if data["segments"]:
            yield from _steps(keys, data["series"], SUBFLOW_SERIES.names[4:])


def _data_series(report: Json) -> Iterator[Json]:
    for number, connection in enumerate(report["connections"]):
        for side, data in zip(SIDES, connection["data"], strict=True):
            if data["bytes"]:
                keys = {"connection": number, "sender": side}
                yield from _steps(keys, data["series"], DATA_SERIES.names[3:])


def _segments(batch: Batch) -> pa.Table:
    numbers, inverse = np.unique(batch.columns["flow"], return_inverse=True)
    flows = [batch.flows[int(number)] for number in numbers]
    text = inverse.astype(np.int32)

    def names(value: Callable[[Flow], str | None]) -> pa.DictionaryArray:
        known = list(dict.fromkeys(name for flow in flows if (name := value(flow)) is not None))
        places = {name: place for place, name in enumerate(known)}
        own = [places.get(value(flow) or "", -1) for flow in flows]
        codes = np.array(own, dtype=np.int32)[text]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(known, pa.string()))

    def index(value: Callable[[Flow], int | None]) -> pa.Array:
        return pa.array([value(flow) for flow in flows], _INDEX).take(pa.array(text))

    columns: dict[str, Any] = {
        "connection": index(lambda flow: flow.connection),
        "subflow": index(lambda flow: flow.subflow),
        "sender": names(lambda flow: None if flow.side is None else SIDES[flow.side]),
        "from": names(lambda flow: flow.sender),
        "to": names(lambda flow: flow.receiver),
        "time": pa.array(batch.columns["time"].astype(np.int64)).cast(SEGMENTS.field("time").type),
    }
    for field in SEGMENTS:
        if field.name not in columns:
            values = batch.columns[field.name]
            mask = values == 0 if field.name in _MAPPED else None
            columns[field.name] = pa.array(values, mask=mask).cast(field.type)
    return pa.table({name: columns[name] for name in SEGMENTS.names}, schema=SEGMENTS)
