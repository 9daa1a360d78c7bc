"""Limiting factors of a flow in summaries and in `mptcplab why`, and clauses about handshakes and silences.

The core finds the factors from the use of each path's capacity, and writes their sentences, as for the page in a
browser (`mptcp_lab::reasons`). Owns their means over several runs, and those clauses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from mptcplab import _core

if TYPE_CHECKING:
    from mptcplab._core import FlowRow, PathRow

FULL = 0.9
"""A flow that uses this share of its links' capacity is healthy."""
LEAST = 0.03
"""Minimum share of the links' capacity for which a cause is named."""
FRAME_BITS = 1514 * 8
"""A full Ethernet frame, bits."""
WAITED = 0.01
"""Summaries mention data that waited for older data at the end of the warm-up, above this share of all data."""
LONG = 0.05
"""A handshake is long if it took more than this share of the measured time after it."""
NEVER_JOINED = 0.9
"""A path that lacked a subflow for this share of the time, and carried nothing, never joined."""

WORDS = {
    "bottleneck": "path capacity",
    "cross_traffic": "cross traffic",
    "lower_rate": "a lower link rate",
    "down": "a link that was down",
    "loss": "random loss",
    "queue_overflow": "queue overflow",
    "policer": "drops of a policer",
    "path_mtu": "packets larger than the path MTU",
    "middlebox": "a middlebox",
    "ack_loss": "random loss of acknowledgements",
    "reordering": "reordering",
    "delay_change": "a change of delay",
    "spurious": "spurious losses",
    "window": "congestion window growth",
    "ack_queue": "queue of acknowledgements",
    "head_of_line": "head-of-line blocking",
    "receive_window": "receive window",
    "send_buffer": "send buffer",
    "both_buffers": "send buffer and receive window",
    "application": "application",
    "scheduler": "scheduler",
    "penalty": "penalised window (M2)",
    "pacing": "pacing",
    "local_queue": "local queue",
    "joining": "handshake",
    "closed": "no subflow",
}
"""Causes by the core's names, as words for "limited by ..."."""

BUFFERS = ("receive_window", "send_buffer", "both_buffers")
"""Causes that a larger buffer removes."""
_IN_SILENCE = 0.1
"""Activities that took less than this share of a silence are not listed."""
_SILENT = {
    "bottleneck": "{} delivered the data in its queue",
    "cross_traffic": "{} carried other flows",
    "lower_rate": "{} had a lower link rate",
    "down": "{} was down",
    "recovery": "{} was up again, and its sender waited for a timeout",
    "loss": "{} waited after random losses",
    "queue_overflow": "{} waited after drops in {queue}",
    "policer": "{} waited after drops of a policer",
    "path_mtu": "packets larger than the path MTU of {} were dropped",
    "middlebox": "a middlebox of {} held or dropped segments",
    "ack_loss": "{} waited after random losses of acknowledgements",
    "reordering": "{} waited after reordering",
    "delay_change": "{} waited after a change of delay",
    "spurious": "{} waited after spurious losses",
    "window": "{} waited for acknowledgements",
    "ack_queue": "{} waited for acknowledgements that were in a queue",
    "penalty": "{} waited for acknowledgements in a window that penalisation (M2) had halved",
    "receive_window": "the receive window was full, with its oldest data on {},",
    "send_buffer": "the send buffer was full, with its oldest data on {},",
    "both_buffers": "the send buffer and the receive window were full, with their oldest data on {},",
    "head_of_line": "{} waited for older data on another path",
    "application": "{} had sent all available data",
    "scheduler": "the scheduler left {} idle",
    "pacing": "pacing held {} back",
    "local_queue": "{} waited for the queue of its host",
    "joining": "{} waited for its handshake",
    "closed": "{} had no subflow",
}
"""States of a path during a silence, by the core's names of causes."""


@dataclass(frozen=True)
class Finding:
    """A limiting factor of a flow."""

    cause: str
    path: str | None
    """The path with the cause; None for the whole connection."""
    share: float
    """The share of capacity lost: of `path` if there is one, otherwise of all paths."""
    cost: float = 0.0
    """The rate lost, bit/s; 0 if the link has no rate."""
    detail: str = ""
    """A detail for the sentence, or empty."""
    place: str | None = None
    """The link or middlebox with the cause, if its name differs from that of `path`."""
    is_backup: bool = False
    """The path was configured as a backup."""

    def __str__(self) -> str:
        """A clause with subject and verb."""
        return _core.finding_text(astuple(self))


def capacity(row: FlowRow) -> float | None:
    """Payload capacity of the links at their best, bit/s; None if unknown."""
    return row["best_capacity"] or None


def rate_of_life(row: FlowRow) -> float:
    """Payload rate since the start of the flow, bit/s. Unlike goodput, it includes the handshake, as link capacities
    do.
    """
    life = row["measured_s"] + row["waited_s"]
    return (row["bytes_received"] - early_bytes(row)) * 8 / life if life else 0.0


def comparable_rate(row: FlowRow) -> float:
    """The rate for comparisons, bit/s: goodput without `early_bytes`, or `rate_of_life` after a long handshake."""
    if waited_long(row):
        return rate_of_life(row)
    early = early_bytes(row)
    return row["goodput"] * (1 - early / row["bytes_received"]) if early else row["goodput"]


def known_rate(row: FlowRow) -> float:
    """`comparable_rate`; NaN for a flow without a measured rate."""
    return math.nan if ended_early(row) else comparable_rate(row)


def early_bytes(row: FlowRow) -> int:
    """Bytes that count in goodput although they arrived, out of order, before the warm-up ended.

    Excludes bytes that wait at the end of the run. 0 if the receiver does not report them.
    """
    arrived = row.get("unique_bytes_arrived")
    return 0 if arrived is None else max(0, row["bytes_received"] - arrived)


def amount(count: float) -> str:
    """An amount of data as text."""
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def waited_much(row: FlowRow) -> bool:
    """Whether enough data waited at the end of the warm-up to mention it."""
    return early_bytes(row) > WAITED * row["bytes_received"]


def ended_early(row: Mapping[str, object]) -> bool:
    """Whether a flow ended before the warm-up, without a measured rate."""
    return not row["measured_s"] and bool(row["bytes_received_total"])


def early_end(row: FlowRow) -> str:
    """The end of a flow with `ended_early`, as a clause."""
    took = row["completion_s"]
    how = "stopped" if took is None else f"was complete after {took:.3f} s,"
    return f"it {how} before the warm-up ended: no rate was measured"


def waited_long(row: FlowRow) -> bool:
    """Whether the handshake was so long that goodput, which excludes it, is misleading."""
    return row["waited_s"] > LONG * row["measured_s"]


def queueing_delay(path: PathRow) -> float:
    """The mean time that data waited in the queues of a path, s.

    If it was not measured: the mean RTT minus the base RTT, serialisation and the wait of acknowledgements.
    """
    return _core.queueing_delay(path)


def is_healthy(row: FlowRow) -> bool:
    """Whether a flow filled its links, and all its paths joined."""
    return _core.is_healthy(row)


def reached(row: FlowRow) -> str:
    """The used share of the links' capacity, as a clause."""
    # Data that arrived out of order during the warm-up can count after it.
    share = min(1.0, rate_of_life(row) / (capacity(row) or 1.0))
    return f"it used {share:.0%} of the capacity of its links"


def findings(row: FlowRow) -> list[Finding]:
    """Limiting factors, the largest first; empty for a flow that filled its links and kept queues short."""
    return [Finding(*found) for found in _core.findings(row)]


def _key(finding: Finding) -> tuple[str, str | None, str | None]:
    """The key of findings that share a sentence."""
    of_link = finding.place is not None and finding.cause in ("cross_traffic", "bufferbloat")
    return (finding.cause, None if of_link else finding.path, finding.place if of_link else None)


def mean_findings(rows: Sequence[FlowRow]) -> list[Finding]:
    """Mean limiting factors over several runs, the largest first."""
    sums: dict[tuple[str, str | None, str | None], list[Finding]] = {}
    for row in rows:
        for finding in findings(row):
            sums.setdefault(_key(finding), []).append(finding)
    means = []
    for own in sums.values():
        share, cost = (sum(values) / len(rows) for values in zip(*((one.share, one.cost) for one in own), strict=True))
        if share >= LEAST or not any(one.share for one in own):
            means.append(replace(own[0], share=share, cost=cost))
    return sorted(means, key=lambda finding: (-finding.cost, -finding.share))


def long_queues(paths: Sequence[PathRow]) -> list[PathRow]:
    """Paths with long waits in a queue, the longest first; one path per queue."""
    return [paths[at] for at in _core.long_queues(paths)]


def _place(path: PathRow, cause: str) -> str | None:
    """The link of a cause, if its name differs from that of the path."""
    place = path.get("places", {}).get(cause)
    return place if place != path["path"] else None


def recommended_buffer(row: FlowRow) -> float:
    """The buffer size that RFC 6182 section 5.3 recommends for the paths of a flow, bytes; 0 if unknown."""
    return _core.recommended_buffer(row)


def unanswered(row: FlowRow) -> str:
    """Why a connection never opened, as a clause: where its handshake segments were lost."""
    if not row["paths"]:
        return _never_tried(row)
    path = row["paths"][0]
    name = path["path"]
    lost = [
        (path["dropped_down"], f"while {name} was down"),
        (path["dropped_random"], f"at random on {name}"),
        (path["dropped_queue"], f"in the full queue of {name}"),
        (path["dropped_filter"], f"in a filter on {name}"),
    ]
    known = [f"{count} {where}" for count, where in lost if count]
    if known:
        clause = f"segments of its handshake were lost ({', '.join(known)})"
    elif path["dropped_down"] is None:
        clause = f"its handshake over {name} was not completed"
    else:
        clause = f"no link dropped a segment of its handshake over {name}, and no answer came in time"
    if row["closed"]:
        clause += f", and the connection gave up ({row['closed']})"
    clause += _another_first(row, list(row["never_joined"]))
    return clause


def _never_tried(row: FlowRow) -> str:
    """Why no subflow of a connection sent its handshake."""
    first = next(iter(row["never_joined"]), None)
    down = 0.0 if first is None else row["never_joined_down"].get(first, 0.0)
    if first is None:
        return "its handshake was not answered before the end of the run"
    if not down:
        # The link works; an event removed the path from the host.
        return f"no handshake was sent, because an event keeps its host from using {first}"
    clause = f"{first} was down" + ("" if down >= NEVER_JOINED else f" for {down:.0%} of the time")
    clause += _another_first(row, list(row["never_joined"])[1:])
    return clause


def no_data(row: FlowRow) -> str | None:
    """Why no data of a flow arrived, as a clause; None if some did."""
    if row["bytes_received_total"]:
        return None
    if row["handshake_s"] is None:
        return f"it never connected: {unanswered(row)}"
    return "; ".join(sentences(row)[:2]) or "it connected, but no data arrived"


def silence(row: FlowRow) -> str:
    """The state of each path during the longest silence, as clauses; empty if the paths were not observed."""
    return ", ".join(
        f"{_silent(path, cause)} for {share:.0%} of that time"
        for path in row["paths"]
        for cause, share in sorted(path.get("silence", {}).items(), key=lambda item: -item[1])[:2]
        if share >= _IN_SILENCE
    )


def _silent(path: PathRow, cause: str) -> str:
    """The state of a path during a silence, as a clause."""
    place = _place(path, cause)
    queue = f"the queue of {place}" if place else "its queue"
    if cause == "scheduler" and path.get("is_backup"):
        return f"{path['path']} was an unused backup"
    return _SILENT.get(cause, cause).format(path["path"], queue=queue)


def _another_first(row: FlowRow, others: Sequence[str]) -> str:
    """The end of a clause: a hint to start with another path if one of `others` was up."""
    down = row["never_joined_down"]
    working = [name for name in others if down.get(name, 0.0) < NEVER_JOINED]
    if working:
        return f"; with another first path, the connection may open: paths = {_order(row, working)}"
    return "; so were all other paths" if others else ""


def _order(row: FlowRow, first: Sequence[str]) -> str:
    """The paths of a flow, with those in `first` at the start."""
    names = [*row["never_joined"], *(path["path"] for path in row["paths"])]
    names = [*first, *(name for name in names if name not in first)]
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"[{quoted}]"


def sentences(row: FlowRow) -> list[str]:
    """Limiting factors as clauses; empty if the flow was not observed."""
    return _core.reasons_in_words(row)


def in_words(limits: Mapping[str, float], least: float = 0.05, *, is_backup: bool = False) -> str:
    """The use of one path's capacity as text, with shares of at least `least`."""
    words = {**WORDS, "scheduler": "an unused backup"} if is_backup else WORDS
    shares: Sequence[tuple[float, str]] = sorted(((s, name) for name, s in limits.items() if s >= least), reverse=True)
    return ", ".join(f"{words.get(name, name)} {share:.0%}" for share, name in shares)
