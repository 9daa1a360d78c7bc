"""Results of runs as Arrow tables, the form in which they are saved and returned to users.

Owns columns and types. Separate from `measured_run`, which works without pyarrow; `export` writes the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mptcplab.results.model.measured_run import MeasuredRun, flow_rows
from mptcplab.results.model.tables import ALL, LINK_COUNTS, metrics_of, units


def array(values: NDArray[Any]) -> pa.Array:
    """A column of numbers, in the memory of the array.

    `pa.array` would import pandas, which takes 0.4 s in each process.
    """
    flat = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(flat.dtype), flat.size, [None, pa.py_buffer(flat)])


def dictionary(indices: NDArray[Any], names: list[str]) -> pa.DictionaryArray:
    """A column of text, encoded as indices into a list."""
    texts = pa.lib.StringBuilder()
    texts.append_values(names)
    return pa.DictionaryArray.from_arrays(array(indices), texts.finish())


def _schema(**columns: pa.DataType) -> pa.Schema:
    who = {"run": pa.string(), "seed": pa.uint64(), "variant": pa.string()}
    return pa.schema(list((who | columns).items()))


def flow_schema(limits: list[str]) -> pa.Schema:
    """The columns of flows, with a share of time for each of these limiting factors."""
    text, count, real, flag = pa.string(), pa.int64(), pa.float64(), pa.bool_()
    return _schema(
        flow=text, multipath=flag, fell_back=flag, fell_back_at_s=real, fell_back_path=text, fell_back_because=text,
        bytes_received=count, bytes_received_total=count, unique_bytes_arrived=count,
        measured_s=real, goodput=real, throughput=real, intact=flag, completion_s=real, handshake_s=real,
        closed=text, reinjected=count, opportunistic=count, penalties=count, duplicates=count, blocks=count,
        latency_p50_s=real, latency_p95_s=real, latency_p99_s=real, late=real,
        datagram_loss=real, jitter_s=real,
        longest_silence_s=real, longest_silence_at_s=real,
        capacity=real, best_capacity=real, receive_buffer=count, send_buffer=count,
        **{f"limit_{name}": real for name in limits},
    )  # fmt: skip


PATH_SCHEMA = _schema(
    flow=pa.string(),
    path=pa.string(),
    subflows=pa.int64(),
    bytes_sent=pa.int64(),
    bytes_arrived=pa.int64(),
    bytes_acked=pa.int64(),
    retransmits=pa.int64(),
    timeouts=pa.int64(),
    reinjected=pa.int64(),
    mean_srtt_s=pa.float64(),
    capacity=pa.float64(),
    best_capacity=pa.float64(),
    base_rtt_s=pa.float64(),
    ack_wait_s=pa.float64(),
    ack_queue=pa.string(),
    dropped_random=pa.int64(),
    dropped_queue=pa.int64(),
    dropped_down=pa.int64(),
    dropped_filter=pa.int64(),
)
LINK_SCHEMA = _schema(
    link=pa.string(),
    direction=pa.string(),
    offered_frames=pa.int64(),
    sent_frames=pa.int64(),
    sent_bytes=pa.int64(),
    queue_drops=pa.int64(),
    random_losses=pa.int64(),
    mac_retries=pa.int64(),
    mac_drops=pa.int64(),
    longest_queue=pa.int64(),
    busy=pa.float64(),
    capacity=pa.float64(),
)
BLOCK_SCHEMA = _schema(flow=pa.string(), written_s=pa.float64(), latency_s=pa.float64())


def samples(run: MeasuredRun) -> pa.Table:
    """The time series, one value per row; numeric columns share the core's memory."""
    columns = run.columns
    names, unit_of = units()
    once = np.zeros(len(columns["time_s"]), dtype=np.uint8)
    return pa.table(
        {
            "run": dictionary(once, [run.name]),
            "seed": array(np.full(once.size, run.seed, dtype=np.uint64)),
            "variant": dictionary(once, [run.variant]),
            "time_s": array(columns["time_s"]),
            "flow": dictionary(columns["flow"], [*run.flow_names, ALL]),
            "path": dictionary(columns["path"], [*run.path_names, ALL]),
            "metric": dictionary(columns["metric"], metrics_of(columns["metric"])),
            "value": array(columns["value"]),
            "unit": dictionary(unit_of[columns["metric"]], names),
        }
    )


def all_samples(runs: Sequence[MeasuredRun]) -> pa.Table:
    """The samples of all runs."""
    tables = [samples(run) for run in runs]
    return pa.concat_tables(tables).unify_dictionaries() if tables else pa.table({})


def flows(runs: Sequence[MeasuredRun]) -> pa.Table:
    """One row per run and flow."""
    limits = list(dict.fromkeys(name for run in runs for row in run.flow_rows for name in row["limits"]))
    return pa.Table.from_pylist(flow_rows(runs), schema=_with_values(flow_schema(limits), runs))


def paths(runs: Sequence[MeasuredRun]) -> pa.Table:
    """One row per run, flow and path."""
    rows, limits = [], dict[str, None]()
    for run in runs:
        for row in run.flow_rows:
            for path in row["paths"]:
                own = path.get("limits", {})
                limits |= dict.fromkeys(own)
                shares = {f"limit_{name}": share for name, share in own.items()}
                seen = path.get("sender_limits", {})
                limits |= dict.fromkeys(f"sender_{name}" for name in seen)
                shares |= {f"limit_sender_{name}": share for name, share in seen.items()}
                rows.append(named(run) | {"flow": row["flow"]} | {**path} | shares)
    # Only runs with an observer have limiting factors.
    more = [pa.field(f"limit_{name}", pa.float64()) for name in limits]
    more += [pa.field("blamed", pa.float64())] if limits else []
    return pa.Table.from_pylist(rows, schema=_with_values(pa.schema([*PATH_SCHEMA, *more]), runs))


def links(runs: Sequence[MeasuredRun]) -> pa.Table:
    """One row per run and direction of a link."""
    rows = [named(run) | {**row} for run in runs for row in run.link_rows]
    some = [name for name in LINK_COUNTS if any(name in row for row in rows)]
    schema = pa.schema([*LINK_SCHEMA, *(pa.field(name, pa.int64()) for name in some)])
    return pa.Table.from_pylist(rows, schema=_with_values(schema, runs))


def blocks(runs: Sequence[MeasuredRun]) -> pa.Table:
    """One row per block of application-limited traffic."""
    tables, schema = [], _with_values(BLOCK_SCHEMA, runs)
    for run in runs:
        for at, row in enumerate(run.flow_rows):
            if row["blocks"]:
                written, latency = run.block_columns(at)
                columns: dict[str, Any] = {
                    key: pa.array([value] * len(written), schema.field(key).type)
                    for key, value in (named(run) | {"flow": row["flow"]}).items()
                }
                columns |= {"written_s": written, "latency_s": latency}
                tables.append(
                    pa.table({name: columns.get(name, pa.nulls(len(written))) for name in schema.names}, schema=schema)
                )
    return pa.concat_tables(tables) if tables else schema.empty_table()


def events(runs: Sequence[MeasuredRun]) -> pa.Table:
    """The events of all runs."""
    from mptcplab.results.model import event_table

    tables = [events_of(run) for run in runs if run.event_columns is not None]
    return pa.concat_tables(tables).unify_dictionaries() if tables else event_table.schema().empty_table()


def events_of(run: MeasuredRun) -> pa.Table:
    """The events of one run; empty without events."""
    from mptcplab.results.model import event_table

    columns = run.event_columns
    if columns is None:
        return event_table.schema().empty_table()
    return event_table.table(columns, run.flow_names, run.path_names, named(run))


def named(run: MeasuredRun) -> dict[str, Any]:
    """The columns that identify a run."""
    return {"run": run.name, "seed": run.seed, "variant": run.variant, **run.values}


def _with_values(schema: pa.Schema, runs: Sequence[MeasuredRun]) -> pa.Schema:
    """The columns of a table, and a column for each key of a sweep, of a type that fits all runs."""
    kinds: dict[str, set[type]] = {}
    for run in runs:
        for key, value in run.values.items():
            kinds.setdefault(key, set()).add(type(value))
    return pa.schema([*schema, *(pa.field(key, _type(found)) for key, found in kinds.items())])


def _type(kinds: set[type]) -> pa.DataType:
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()
