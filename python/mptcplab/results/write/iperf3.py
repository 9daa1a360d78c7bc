"""A run in the format of `iperf3 --json`, for scripts that read iperf3.

A flow is a stream of that format. Only sums over streams are computed here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mptcplab import _core

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results.model.measured_run import MeasuredRun


MOST_STREAMS = 100
"""Maximum number of streams listed per interval; sums and the end of the document include all streams."""


class _Series:
    """The samples of a run by flow, path and metric, on one time axis."""

    def __init__(self, run: MeasuredRun) -> None:
        columns = run.columns
        self.times: NDArray[np.float64] = np.unique(columns["time_s"])
        self._names = [name for name, _ in _core.metrics()]
        self._rows: dict[tuple[int, int, int], NDArray[np.float64]] = {}
        order = np.lexsort((columns["metric"], columns["path"], columns["flow"]))
        keys = np.stack([columns[key][order].astype(np.int64) for key in ("flow", "path", "metric")])
        starts = np.flatnonzero(np.any(np.diff(keys, axis=1) != 0, axis=0)) + 1
        for rows in np.split(order, starts):
            if rows.size:
                column = np.full(self.times.size, np.nan)
                column[np.searchsorted(self.times, columns["time_s"][rows])] = columns["value"][rows]
                first = rows[0]
                key = (columns["flow"][first], columns["path"][first], columns["metric"][first])
                self._rows[int(key[0]), int(key[1]), int(key[2])] = column

    def get(self, flow: int, path: int, metric: str) -> NDArray[np.float64]:
        empty = np.full(self.times.size, np.nan)
        return self._rows.get((flow, path, self._names.index(metric)), empty)


def iperf3(run: MeasuredRun) -> dict[str, Any]:
    """The document: one stream per flow, with additional `subflows`.

    Rates are bit/s at the application, RTTs microseconds, windows bytes. The rates of subflows are payload sent on the
    path, including retransmissions.
    """
    series = _Series(run)
    times = series.times
    starts = np.concatenate(([0.0], times[:-1]))
    streams = [_stream(run, series, at, row) for at, row in enumerate(run.flow_rows[:MOST_STREAMS])]
    others = _others(run, series)
    intervals = []
    for i, end in enumerate(times):
        span = {"start": float(starts[i]), "end": float(end), "seconds": float(end - starts[i])}
        omitted = bool(end <= run.scenario.warmup)
        rows = [span | stream[i] | {"omitted": omitted, "sender": True} for stream in streams]
        sums = span | _sum([*rows, others[i]], ("bytes", "bits_per_second", "retransmits"))
        intervals.append({"streams": rows, "sum": sums | {"omitted": omitted, "sender": True}})
    return {"start": _start(run), "intervals": intervals, "end": _end(run)}


def _others(run: MeasuredRun, series: _Series) -> list[dict[str, Any]]:
    """The contribution to each sum of the streams beyond `MOST_STREAMS`."""
    seconds = np.diff(np.concatenate(([0.0], series.times)))
    count, rate, again = (np.zeros(series.times.size) for _ in range(3))
    for flow, row in enumerate(run.flow_rows[MOST_STREAMS:], MOST_STREAMS):
        own = np.nan_to_num(series.get(flow, len(run.path_names), "goodput"))
        rate += own
        count += np.rint(own * seconds / 8)
        for path in row["paths"]:
            again += _increments(series.get(flow, run.path_names.index(path["path"]), "retransmits"))
    rows = zip(count, rate, again, strict=True)
    return [
        {"bytes": int(count), "bits_per_second": float(rate), "retransmits": int(again)} for count, rate, again in rows
    ]


def _start(run: MeasuredRun) -> dict[str, Any]:
    return {
        "connected": [
            {"socket": at + 1, "local_host": "client", "remote_host": "server", "remote_port": 5001 + at}
            for at in range(len(run.flow_rows))
        ],
        "version": f"mptcplab {_core.__version__}",
        "system_info": "simulated",
        "cookie": f"{run.name}-{run.seed}",
        "test_start": {
            "protocol": "MPTCP" if any(row["multipath"] for row in run.flow_rows) else "TCP",
            "num_streams": len(run.flow_rows),
            "omit": run.scenario.warmup,
            "duration": run.scenario.duration,
            "reverse": 0,
        },
    }


def _stream(run: MeasuredRun, series: _Series, flow: int, row: FlowRow) -> list[dict[str, Any]]:
    everything = len(run.path_names)
    paths = [run.path_names.index(path["path"]) for path in row["paths"]]
    goodput = np.nan_to_num(series.get(flow, everything, "goodput"))
    seconds = np.diff(np.concatenate(([0.0], series.times)))
    again = [_increments(series.get(flow, path, "retransmits")) for path in paths]
    cwnd = [series.get(flow, path, "cwnd") for path in paths]
    rtt = [series.get(flow, path, "srtt") * 1e6 for path in paths]
    rttvar = [series.get(flow, path, "rttvar") * 1e6 for path in paths]
    sent = [np.nan_to_num(series.get(flow, path, "throughput")) for path in paths]
    rows = []
    for i in range(series.times.size):
        subflows = [
            {
                "path": run.path_names[path],
                "bytes": round(sent[at][i] * seconds[i] / 8),
                "bits_per_second": float(sent[at][i]),
                "retransmits": int(again[at][i]),
                "snd_cwnd": _whole(cwnd[at][i]),
                "rtt": _whole(rtt[at][i]),
                "rttvar": _whole(rttvar[at][i]),
            }
            for at, path in enumerate(paths)
        ]
        quickest = min(subflows, key=lambda one: (one["rtt"] is None, one["rtt"]), default=None)
        rows.append(
            {
                "socket": flow + 1,
                "bytes": round(goodput[i] * seconds[i] / 8),
                "bits_per_second": float(goodput[i]),
                "retransmits": sum(one["retransmits"] for one in subflows),
                "snd_cwnd": sum(one["snd_cwnd"] or 0 for one in subflows),
                "rtt": quickest["rtt"] if quickest else None,
                "rttvar": quickest["rttvar"] if quickest else None,
                "subflows": subflows,
            }
        )
    return rows


def _end(run: MeasuredRun) -> dict[str, Any]:
    streams: list[dict[str, Any]] = []
    for at, row in enumerate(run.flow_rows):
        span = {"start": 0, "end": row["measured_s"], "seconds": row["measured_s"], "socket": at + 1}
        received = {"bytes": row["bytes_received"], "bits_per_second": row["goodput"]}
        sent = {
            "bytes": sum(path["bytes_sent"] for path in row["paths"]),
            "bits_per_second": row["throughput"],
            "retransmits": sum(path["retransmits"] for path in row["paths"]),
        }
        subflows = [
            {
                "path": path["path"],
                "bytes": path["bytes_sent"],
                "bytes_acked": path["bytes_acked"],
                "bits_per_second": _rate(path["bytes_sent"], row["measured_s"]),
                "retransmits": path["retransmits"],
                "timeouts": path["timeouts"],
                "reinjected": path["reinjected"],
                "mean_rtt": _whole(path["mean_srtt_s"] * 1e6),
            }
            for path in row["paths"]
        ]
        sender, receiver = span | sent | {"sender": True}, span | received | {"sender": True}
        streams.append({"flow": row["flow"], "sender": sender, "receiver": receiver, "subflows": subflows})
    seconds = max((row["measured_s"] for row in run.flow_rows), default=0.0)
    span = {"start": 0, "end": seconds, "seconds": seconds}
    senders, receivers = [s["sender"] for s in streams], [s["receiver"] for s in streams]
    return {
        "streams": streams,
        "sum_sent": span | _sum(senders, ("bytes", "bits_per_second", "retransmits")) | {"sender": True},
        "sum_received": span | _sum(receivers, ("bytes", "bits_per_second")) | {"sender": True},
    }


def _sum(rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> dict[str, Any]:
    return {key: sum(row[key] for row in rows) for key in keys}


def _rate(count: int, seconds: float) -> float:
    return count * 8 / seconds if seconds > 0 else 0.0


def _increments(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.diff(np.maximum.accumulate(np.nan_to_num(counts)), prepend=0.0)


def _whole(value: float) -> int | None:
    return round(value) if math.isfinite(value) else None
