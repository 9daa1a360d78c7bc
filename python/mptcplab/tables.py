"""Columns of the tables of results: their names, types and units, and how numbers become words.

Owns the schemas. Knows no run: rows are the business of `results`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mptcplab import _core

ALL = "*"
"""In the columns `flow` and `path` of the samples: over all of them."""

LINK_METRICS = frozenset(
    {
        "interface_throughput",
        "interface_received",
        "queue",
        "queue_drops",
        "queue_marks",
        "random_losses",
        "mac_retries",
        "mac_drops",
        "phy_rate",
    }
)
"""Metrics of links; no flow has them."""

_FIRST_METRICS = 21
"""Those that every table of samples knows, whether it has them or not."""

SAMPLE_COLUMNS = ("run", "seed", "variant", "time_s", "flow", "path", "metric", "value", "unit")


@functools.cache
def metric_names() -> list[str]:
    """Names of the metrics in the samples."""
    return [name for name, _ in _core.metrics()]


@functools.cache
def units() -> tuple[list[str], NDArray[np.uint8]]:
    """Units, and by metric the place of its own among them."""
    of_metrics = [unit for _, unit in _core.metrics()]
    distinct = list(dict.fromkeys(of_metrics))
    return distinct, np.array([distinct.index(unit) for unit in of_metrics], dtype=np.uint8)


def metrics_of(indices: NDArray[np.uint8]) -> list[str]:
    """The names that a column of metrics counts into, without later ones that it lacks: tables stay what they were."""
    names = metric_names()
    return names[: max(_FIRST_METRICS, int(indices.max(initial=0)) + 1)]


def dictionary(indices: NDArray[Any], names: list[str]) -> pa.DictionaryArray:
    """A column of words by their places in a list."""
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(names, pa.string()))


def _schema(**columns: pa.DataType) -> pa.Schema:
    who = {"run": pa.string(), "seed": pa.uint64(), "variant": pa.string()}
    return pa.schema(list((who | columns).items()))


def flow_schema(limits: list[str]) -> pa.Schema:
    """The columns of flows, with a share for each of these limits."""
    text, count, real, flag = pa.string(), pa.int64(), pa.float64(), pa.bool_()
    return _schema(
        flow=text, multipath=flag, fell_back=flag, fell_back_at_s=real, fell_back_path=text, fell_back_because=text,
        bytes_received=count, bytes_received_total=count,
        measured_s=real, goodput=real, throughput=real, intact=flag, completion_s=real, handshake_s=real,
        closed=text, reinjected=count, opportunistic=count, penalties=count, duplicates=count, blocks=count,
        **{f"limit_{name}": real for name in limits},
    )  # fmt: skip


PATH_SCHEMA = _schema(
    flow=pa.string(),
    path=pa.string(),
    subflows=pa.int64(),
    bytes_sent=pa.int64(),
    bytes_acked=pa.int64(),
    retransmits=pa.int64(),
    timeouts=pa.int64(),
    reinjected=pa.int64(),
    mean_srtt_s=pa.float64(),
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
)
LINK_COUNTS = ("queue_marks", "duplicated", "corrupted")
"""Further counts of links, of networks that have any."""
BLOCK_SCHEMA = _schema(flow=pa.string(), written_s=pa.float64(), latency_s=pa.float64())
