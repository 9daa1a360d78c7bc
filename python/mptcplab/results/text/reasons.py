"""Limiting factors of a flow: findings and sentences from the use of each path's capacity.

Summaries and `mptcplab why` print them. Owns the thresholds and words. The core attributes the capacity of each path to
causes (docs/events.md), from queues, drops and states of the simulated links.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mptcplab.util.user_input import size_like, size_text

if TYPE_CHECKING:
    from mptcplab._core import FlowRow, PathRow

FULL = 0.9
"""A flow that uses this share of its links' capacity is healthy."""
LEAST = 0.03
"""Minimum share of the links' capacity for which a cause is named."""
BLOATED_S = 0.1
"""Standing queues shorter than this, s, are not bufferbloat: a call still works (ITU-T G.114 allows 150 ms one way)."""
BLOATED_TIMES = 4.0
"""Standing queues shorter than this multiple of the base RTT are not bufferbloat either; the larger bound counts."""
BUFFER_TIMES = 2.0
"""A buffer of this multiple of (sum of the rates) x (longest RTT) keeps all paths busy during recovery.

RFC 6182, section 5.3.
"""
QUEUED_TIMES = 0.5
"""No buffer size is recommended if data waits in queues for more than this multiple of the longest RTT."""
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

_OWN = (
    "lower_rate", "down", "loss", "queue_overflow", "policer", "path_mtu", "middlebox", "ack_loss", "reordering",
    "delay_change", "spurious", "window", "ack_queue", "scheduler", "penalty", "pacing", "local_queue", "joining",
    "closed", "cross_traffic",
)  # fmt: skip
"""Causes that belong to one path."""
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
        part, path, at = f"{self.share:.0%}", self.path, self.place or self.path
        it, its = (path, f"the capacity of {path}") if self.place else ("it", "its capacity")
        on = f" on {at}" if self.place else ""
        sentence = {
            "never_joined": f"no subflow joined over {path}" + (f", behind the middlebox {at}" if self.place else ""),
            "lower_rate": f"the link rate of {at} was lower for a time, which cost {part} of {its}",
            "down": f"{at} was down, which cost {part} of {its}",
            "cross_traffic": f"other flows took {part} of {at}",
            "loss": f"random loss{on} left {part} of {path} idle",
            "queue_overflow": f"drops in the queue of {at} left {part} of {it} idle",
            "policer": f"drops of the policer of {at} left {part} of {it} idle",
            "path_mtu": f"packets larger than the path MTU of {at} were dropped, which left {part} of {it} idle",
            "middlebox": f"the middlebox {at} held or dropped segments, which left {part} of {path} idle",
            "ack_loss": f"random loss of acknowledgements{on} left {part} of {path} idle",
            "reordering": f"reordering{on} left {part} of {path} idle",
            "delay_change": f"a change of delay left {part} of {path} idle",
            "spurious": f"spurious losses, for which the network dropped nothing, left {part} of {path} idle",
            "window": f"{part} of {path} was idle while its congestion window grew",
            "ack_queue": f"acknowledgements waited in the queue of {self.detail}"
            + (f", which left {part} of {path} idle" if self.share else f" (bufferbloat), which delayed {path}"),
            "penalty": f"{part} of {path} was idle because penalisation (M2) had halved its window"
            if path
            else f"penalisation (M2) kept windows small, which cost {part} of capacity",
            "head_of_line": f"other paths waited for older data on {path} (head-of-line blocking), which cost {part} "
            "of capacity",
            "receive_window": f"the receive window was full, which cost {part} of capacity",
            "send_buffer": f"the send buffer was full, which cost {part} of capacity",
            "both_buffers": f"the send buffer and the receive window were full, which cost {part} of capacity",
            "bufferbloat": f"data waited long in the queue of {at} (bufferbloat)",
            "application": f"the application had nothing to send, which left {part} of capacity idle",
            "scheduler": f"{path} is an unused backup: {part} of its capacity was idle"
            if self.is_backup
            else f"the scheduler left {part} of {path} idle"
            if path
            else f"the scheduler cost {part} of capacity",
            "copies": f"data that opportunistic retransmission (M1) sent twice cost {part} of capacity",
            "coupling": f"coupled congestion control kept the windows small, which cost {part} of capacity",
            "nagle": "Nagle's algorithm delayed the ends of blocks"
            if not self.share
            else f"Nagle's algorithm delayed small segments, which cost {part} of capacity",
            "pacing": f"pacing left {part} of {path} idle" if path else f"pacing cost {part} of capacity",
            "local_queue": f"the local queue of this host left {part} of {path} idle",
            "joining": f"{path} carried nothing for {part} of the time, before its handshake was complete",
            "closed": f"{path} had no subflow for {part} of the time",
        }[self.cause]
        if not self.detail or self.cause == "ack_queue":
            return sentence
        return f"{sentence[:-1]}: {self.detail})" if sentence.endswith(")") else f"{sentence} ({self.detail})"


def nominal(row: FlowRow, path: PathRow) -> float:
    """The best capacity of a path, bit/s; for a link without a rate, its rate while busy."""
    if path["best_capacity"]:
        return path["best_capacity"]
    busy = path.get("limits", {}).get("bottleneck", 0.0)
    carried = path["bytes_arrived"] * 8 / row["measured_s"] if row["measured_s"] else 0.0
    return carried / busy if busy > 0 else 0.0


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
    known = path.get("queue_wait_s")
    if known is not None:
        return known
    base = path["base_rtt_s"]
    # A frame in transmission is in no queue.
    frame = FRAME_BITS / path["best_capacity"] if path["best_capacity"] else 0.0
    back = path["ack_wait_s"] or 0.0
    delay = path["mean_srtt_s"] - base - frame - back if base is not None else 0.0
    # Loss recovery lengthens the RTT too, and the mean repeats the last value while nothing arrives.
    return max(0.0, min(delay, path.get("longest_wait_s", delay)))


def is_bloated(path: PathRow) -> bool:
    """Whether data waited long in the queues of a path."""
    return queueing_delay(path) > max(BLOATED_S, BLOATED_TIMES * (path["base_rtt_s"] or 0.0))


def has_late_acknowledgements(path: PathRow) -> bool:
    """Whether acknowledgements of a path waited long in a queue."""
    return (path["ack_wait_s"] or 0.0) > max(BLOATED_S, BLOATED_TIMES * (path["base_rtt_s"] or 0.0))


def is_healthy(row: FlowRow) -> bool:
    """Whether a flow filled its links, and all its paths joined."""
    most = capacity(row)
    return most is not None and rate_of_life(row) >= FULL * most and not row["never_joined"]


def reached(row: FlowRow) -> str:
    """The used share of the links' capacity, as a clause."""
    # Data that arrived out of order during the warm-up can count after it.
    share = min(1.0, rate_of_life(row) / (capacity(row) or 1.0))
    return f"it used {share:.0%} of the capacity of its links"


def findings(row: FlowRow) -> list[Finding]:
    """Limiting factors, the largest first; empty for a flow that filled its links and kept queues short."""
    known = [path for path in row["paths"] if path.get("limits")]
    if not known:
        # The run was not observed.
        return []
    bloated = [_bloated(path) for path in long_queues(known)]
    bloated += [
        Finding("ack_queue", path["path"], 0.0, 0.0, _waited(path)) for path in known if has_late_acknowledgements(path)
    ]
    if is_healthy(row):
        return bloated
    rates = _rates(row, known)
    whole = sum(rates.values()) or 1.0
    found = [finding for path in known for finding in _of_path(path, rates[path["path"]])]
    found += [_absent(row, name, rates[name]) for name in row["never_joined"]]
    found += _of_buffers(row, known, rates)
    idle = sum(path["limits"].get("application", 0.0) * rates[path["path"]] for path in known)
    found.append(Finding("application", None, idle / whole, idle))
    duplicates = row["duplicates"] or 0
    twice = duplicates * 8 / row["measured_s"] if row["measured_s"] else 0.0
    if 2 * row["opportunistic"] > duplicates:
        # Copies in otherwise unused capacity cost nothing.
        twice = max(0.0, twice - idle)
        found.append(Finding("copies", None, twice / whole, twice, f"{twice / 1e6:.2f} Mb/s"))
    else:
        found.append(Finding("scheduler", None, twice / whole, twice, f"{twice / 1e6:.2f} Mb/s of copies"))
    # For a path whose link has no rate, only the share is known.
    enough = [one for one in found if (one.cost / whole if one.cost else one.share) >= LEAST]
    if any(finding.cause == "application" for finding in enough):
        # An unused path costs nothing if there is too little data.
        enough = [finding for finding in enough if finding.cause not in ("scheduler", "window", "closed")]
    enough = _once(sorted(enough, key=lambda finding: (-finding.cost, -finding.share)))
    # No path joins before data has arrived over the first one, so its path MTU comes first.
    enough.sort(key=lambda finding: finding.cause != "path_mtu" or finding.share < NEVER_JOINED)
    named = {(finding.cause, finding.path) for finding in enough}
    return enough + [finding for finding in bloated if (finding.cause, finding.path) not in named]


def _once(found: Sequence[Finding]) -> list[Finding]:
    """Merges the cross traffic of a link that several paths share into one finding."""
    first: dict[tuple[str, str | None, str | None], Finding] = {}
    for finding in found:
        known = first.get(_key(finding))
        first[_key(finding)] = finding if known is None else replace(known, cost=known.cost + finding.cost)
    return sorted(first.values(), key=lambda finding: (-finding.cost, -finding.share))


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


def _rates(row: FlowRow, known: Sequence[PathRow]) -> dict[str, float]:
    """The contribution of each path to the flow's capacity, bit/s; paths that share a link share its rate."""
    rates = {path["path"]: nominal(row, path) for path in known}
    rates |= {name: rate or 0.0 for name, rate in row["never_joined"].items()}
    total, most = sum(rates.values()), capacity(row)
    scale = most / total if most and total else 1.0
    return {name: rate * scale for name, rate in rates.items()}


def _absent(row: FlowRow, name: str, rate: float) -> Finding:
    """The finding for a path without a subflow."""
    if row["never_joined_down"].get(name, 0.0) >= NEVER_JOINED:
        return Finding("down", name, 1.0, rate)
    boxes = row.get("never_joined_boxes", {}).get(name, [])
    return Finding("never_joined", name, 1.0, rate, place=" or ".join(boxes) or None)


def _of_path(path: PathRow, rate: float) -> list[Finding]:
    name, limits = path["path"], path["limits"]
    if _never_joined(path):
        cause = "down" if limits.get("down", 0.0) >= NEVER_JOINED else "never_joined"
        return [Finding(cause, name, 1.0, rate)]
    return [
        Finding(
            cause,
            name,
            limits.get(cause, 0.0),
            limits.get(cause, 0.0) * rate,
            _waited(path) if cause == "ack_queue" else "",
            _place(path, cause),
            path.get("is_backup", False),
        )
        for cause in _OWN
    ]


def long_queues(paths: Sequence[PathRow]) -> list[PathRow]:
    """Paths with long waits in a queue, the longest first; one path per queue."""
    found = [path for path in sorted(paths, key=lambda path: -queueing_delay(path)) if is_bloated(path)]
    first = {path.get("queue_at") or path["path"]: path for path in reversed(found)}
    return [path for path in found if first[path.get("queue_at") or path["path"]] is path]


def _bloated(path: PathRow) -> Finding:
    detail = f"queueing delay {queueing_delay(path) * 1e3:.0f} ms on average"
    at = (path.get("queue_at") or path["path"]).rpartition(" ")[0] or path["path"]
    return Finding("bufferbloat", path["path"], 0.0, 0.0, detail, at if at != path["path"] else None)


def _place(path: PathRow, cause: str) -> str | None:
    """The link of a cause, if its name differs from that of the path."""
    place = path.get("places", {}).get(cause)
    return place if place != path["path"] else None


def _waited(path: PathRow) -> str:
    """The queue in which acknowledgements of a path waited, and the mean wait, as text."""
    return f"{path['ack_queue'] or path['path']} for {(path['ack_wait_s'] or 0.0) * 1e3:.0f} ms on average"


def _never_joined(path: PathRow) -> bool:
    absent = sum(path["limits"].get(cause, 0.0) for cause in ("joining", "closed", "down"))
    return absent >= NEVER_JOINED and not path["bytes_acked"]


def recommended_buffer(row: FlowRow) -> float:
    """The buffer size that RFC 6182 section 5.3 recommends for the paths of a flow, bytes; 0 if unknown."""
    known = row["paths"]
    longest = max((path["base_rtt_s"] or 0.0 for path in known), default=0.0)
    return BUFFER_TIMES * sum(_rates(row, known).values()) / 8 * longest


def _of_buffers(row: FlowRow, known: Sequence[PathRow], rates: Mapping[str, float]) -> list[Finding]:
    """The cause of full buffers: a buffer too small for these paths, or else the path for whose data others waited."""
    whole = sum(rates.values()) or 1.0
    costs = {
        cause: sum(path["limits"].get(cause, 0.0) * rates[path["path"]] for path in known)
        for cause in (*BUFFERS, "head_of_line")
    }
    together = sum(costs.values())
    if not together:
        return []
    # A path that waits for older data on another path is blocked by the same full buffers.
    full = row.get("full_buffers") or costs
    cause = max(BUFFERS, key=lambda name: full.get(name, 0.0))
    sizes = {"send buffer": row["send_buffer"], "receive buffer": row["receive_buffer"]}
    if cause != "both_buffers":
        sizes = {"buffer": row["receive_buffer"] if cause == "receive_window" else row["send_buffer"]}
    longest = max((path["base_rtt_s"] or 0.0 for path in known), default=0.0)
    need = BUFFER_TIMES * whole / 8 * longest
    late = max(known, key=lambda path: path.get("blamed", 0.0))
    share = together / whole
    smallest = min(sizes.values())
    if smallest < need or len(known) < 2 or not late.get("blamed", 0.0):
        detail = ", ".join(f"{name} {size_text(size)}" for name, size in sizes.items())
        # With standing queues, a larger buffer would only lengthen the queues.
        queued = any(queueing_delay(path) > QUEUED_TIMES * longest for path in known)
        if smallest < need and not queued and size_like(need, smallest) != size_text(smallest):
            detail += f", RFC 6182 recommends {size_like(need, smallest)} for these paths"
        return [Finding(cause, None, share, together, detail)]
    blame = "bufferbloat" if is_bloated(late) else "head_of_line"
    if blame == "bufferbloat":
        return [replace(_bloated(late), share=share, cost=together)]
    return [Finding(blame, late["path"], share, together)]


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
    if not any(path.get("limits") for path in row["paths"]):
        return []
    found = findings(row)
    if found:
        return [str(finding) for finding in found[:4]]
    if is_healthy(row):
        return [reached(row)]
    return ["no single cause took more than 3% of capacity"]


def in_words(limits: Mapping[str, float], least: float = 0.05, *, is_backup: bool = False) -> str:
    """The use of one path's capacity as text, with shares of at least `least`."""
    words = {**WORDS, "scheduler": "an unused backup"} if is_backup else WORDS
    shares: Sequence[tuple[float, str]] = sorted(((s, name) for name, s in limits.items() if s >= least), reverse=True)
    return ", ".join(f"{words.get(name, name)} {share:.0%}" for share, name in shares)
