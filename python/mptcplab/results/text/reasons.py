"""Why a flow did not send more: from the use of each path's capacity to findings and sentences.

Owns the thresholds and the words. Measures nothing: the core gives the share of each path's capacity that each cause
took (docs/events.md), from the queues, drops and states of the simulated links.
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
"""A flow that reaches this part of its links' capacity is healthy: nothing held it back."""
LEAST = 0.03
"""A cause is named from this part of the links' capacity on."""
BLOATED_S = 0.1
"""Standing queues shorter than this are no bufferbloat: a call still works (ITU-T G.114 allows 150 ms one way)."""
BLOATED_TIMES = 4.0
"""... and so are those that last less than this many times the path's own delay: the larger one counts."""
BUFFER_TIMES = 2.0
"""So many times (sum of the rates) x (longest delay) keeps all paths busy during a recovery (RFC 6182, section 5.3)."""
QUEUED_TIMES = 0.5
"""... unless queues hold data for this many times the longest delay: then no size is recommended."""
FRAME_BITS = 1514 * 8
"""A full Ethernet frame."""
WAITED = 0.01
"""More than this part of the data that is read waited for older data at the end of the warm-up: words say so."""
LONG = 0.05
"""A handshake of more than this part of the time after it is long."""
NEVER_JOINED = 0.9
"""A path that had no subflow for this part of the time, and carried nothing, never joined."""

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
    "local_queue": "queue of this host",
    "joining": "handshake",
    "closed": "no subflow",
}
"""Causes by the core's names, as "limited by ..."."""

_OWN = (
    "lower_rate", "down", "loss", "queue_overflow", "policer", "path_mtu", "middlebox", "ack_loss", "reordering",
    "delay_change", "spurious", "window", "ack_queue", "scheduler", "penalty", "pacing", "local_queue", "joining",
    "closed", "cross_traffic",
)  # fmt: skip
BUFFERS = ("receive_window", "send_buffer", "both_buffers")
"""Causes that a larger buffer removes."""
_IN_SILENCE = 0.1
"""What a path did for less than this part of a silence does not explain it."""
_SILENT = {
    "bottleneck": "{} carried what its queue held",
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
    "penalty": "{} waited for acknowledgements in a window that M2 had halved",
    "receive_window": "the receive window was full, with its oldest data on {},",
    "send_buffer": "the send buffer was full, with its oldest data on {},",
    "both_buffers": "the send buffer and the receive window were full, with their oldest data on {},",
    "head_of_line": "{} waited for older data on another path",
    "application": "{} had sent all that there was",
    "scheduler": "the scheduler left {} idle",
    "pacing": "pacing held {} back",
    "local_queue": "{} waited for the queue of its host",
    "joining": "{} waited for its handshake",
    "closed": "{} had no subflow",
}
"""What a path did in a time without data, by the core's names of causes."""


@dataclass(frozen=True)
class Finding:
    """A reason why a flow did not carry more."""

    cause: str
    path: str | None
    """The path to blame; None for a cause that concerns the whole connection."""
    share: float
    """The part of the capacity of its paths that it cost; of `path` alone, where there is one."""
    cost: float = 0.0
    """What it cost, bit/s; 0 where a link has no rate of its own."""
    detail: str = ""
    """More about it, for its sentence."""
    place: str | None = None
    """The link of `path` where it was found, if that has another name than the path, or a middlebox."""
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
            "penalty": f"{part} of {path} was idle because M2 had halved its window"
            if path
            else f"M2 kept windows small, which cost {part} of capacity",
            "head_of_line": f"other paths waited for older data on {path} (head of line): {part} of capacity",
            "receive_window": f"the receive window was full, which cost {part} of capacity",
            "send_buffer": f"the send buffer was full, which cost {part} of capacity",
            "both_buffers": f"the send buffer and the receive window were full, which cost {part} of capacity",
            "bufferbloat": f"the queue of {at} held data for a long time (bufferbloat)",
            "application": f"the application had nothing to send, which left {part} of capacity idle",
            "scheduler": f"{path} is a backup, and not used: {part} of it was idle"
            if self.is_backup
            else f"the scheduler left {part} of {path} idle"
            if path
            else f"the scheduler cost {part} of capacity",
            "copies": f"data that M1 sent twice cost {part} of capacity",
            "coupling": f"coupled congestion control kept the windows small, which cost {part} of capacity",
            "nagle": "Nagle's algorithm held the end of blocks back"
            if not self.share
            else f"Nagle's algorithm held small segments back, which cost {part} of capacity",
            "pacing": f"pacing left {part} of {path} idle" if path else f"pacing cost {part} of capacity",
            "local_queue": f"this host's own queue left {part} of {path} idle",
            "joining": f"{path} carried nothing before its handshake was complete, {part} of the time",
            "closed": f"{path} had no subflow for {part} of the time",
        }[self.cause]
        if not self.detail or self.cause == "ack_queue":
            return sentence
        return f"{sentence[:-1]}: {self.detail})" if sentence.endswith(")") else f"{sentence} ({self.detail})"


def nominal(row: FlowRow, path: PathRow) -> float:
    """What a path could carry at its best, bit/s; of a link without a rate of its own, what it carried while busy."""
    if path["best_capacity"]:
        return path["best_capacity"]
    busy = path.get("limits", {}).get("bottleneck", 0.0)
    carried = path["bytes_arrived"] * 8 / row["measured_s"] if row["measured_s"] else 0.0
    return carried / busy if busy > 0 else 0.0


def capacity(row: FlowRow) -> float | None:
    """Payload that the links of a flow could carry at their best, bit/s; None where that is not known."""
    return row["best_capacity"] or None


def rate_of_life(row: FlowRow) -> float:
    """Payload that arrived, over the whole time since the start of the flow: with its handshake, unlike goodput, bit/s.

    What links could carry is known over this time.
    """
    life = row["measured_s"] + row["waited_s"]
    return (row["bytes_received"] - early_bytes(row)) * 8 / life if life else 0.0


def comparable_rate(row: FlowRow) -> float:
    """The rate by which flows are compared, bit/s: goodput without `early_bytes`, or `rate_of_life` where the handshake
    was long.
    """
    if waited_long(row):
        return rate_of_life(row)
    early = early_bytes(row)
    return row["goodput"] * (1 - early / row["bytes_received"]) if early else row["goodput"]


def known_rate(row: FlowRow) -> float:
    """`comparable_rate`; NaN of a flow of which no rate was measured."""
    return math.nan if ended_early(row) else comparable_rate(row)


def early_bytes(row: FlowRow) -> int:
    """Bytes that count in goodput, and had arrived before the warm-up ended: they waited for older ones. Without those
    that wait at the end of the run; 0 where the receiver does not tell.
    """
    arrived = row.get("unique_bytes_arrived")
    return 0 if arrived is None else max(0, row["bytes_received"] - arrived)


def amount(count: float) -> str:
    """An amount of data for people."""
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def waited_much(row: FlowRow) -> bool:
    """Whether so much waited at the end of the warm-up that words say so."""
    return early_bytes(row) > WAITED * row["bytes_received"]


def ended_early(row: Mapping[str, object]) -> bool:
    """Whether a flow ended before the warm-up did: no rate of it was measured."""
    return not row["measured_s"] and bool(row["bytes_received_total"])


def early_end(row: FlowRow) -> str:
    """Says of such a flow that it ended, and when, as a clause."""
    took = row["completion_s"]
    how = "stopped" if took is None else f"was complete after {took:.3f} s,"
    return f"it {how} before the warm-up ended: no rate was measured"


def waited_long(row: FlowRow) -> bool:
    """Whether the handshake took so long that goodput, which counts from its end, says too much of the whole time."""
    return row["waited_s"] > LONG * row["measured_s"]


def queueing_delay(path: PathRow) -> float:
    """How long data waited in the queues of a path on average, s.

    Where that was not measured: what RTTs took longer than its delay, without what acknowledgements waited.
    """
    known = path.get("queue_wait_s")
    if known is not None:
        return known
    base = path["base_rtt_s"]
    # A frame on the line is in no queue.
    frame = FRAME_BITS / path["best_capacity"] if path["best_capacity"] else 0.0
    back = path["ack_wait_s"] or 0.0
    delay = path["mean_srtt_s"] - base - frame - back if base is not None else 0.0
    # An RTT is also longer for repairs, and while nothing comes the last one counts.
    return max(0.0, min(delay, path.get("longest_wait_s", delay)))


def is_bloated(path: PathRow) -> bool:
    """Whether data waited in the queues of a path for long."""
    return queueing_delay(path) > max(BLOATED_S, BLOATED_TIMES * (path["base_rtt_s"] or 0.0))


def has_late_acknowledgements(path: PathRow) -> bool:
    """Whether acknowledgements of a path waited in a queue for long."""
    return (path["ack_wait_s"] or 0.0) > max(BLOATED_S, BLOATED_TIMES * (path["base_rtt_s"] or 0.0))


def is_healthy(row: FlowRow) -> bool:
    """Whether a flow carried what its links could."""
    most = capacity(row)
    return most is not None and rate_of_life(row) >= FULL * most and not row["never_joined"]


def reached(row: FlowRow) -> str:
    """The part of its links' capacity that a flow carried, as a clause."""
    # Data that arrived out of order before the end of the warm-up is read, and counts, after it.
    share = min(1.0, rate_of_life(row) / (capacity(row) or 1.0))
    return f"it carried {share:.0%} of what its links could"


def findings(row: FlowRow) -> list[Finding]:
    """What held a flow back, the most costly first; nothing for one that filled its links and kept queues short."""
    known = [path for path in row["paths"] if path.get("limits")]
    if not known:
        # Nobody observed the run.
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
        # Copies in capacity that there was nothing else for cost nothing.
        twice = max(0.0, twice - idle)
        found.append(Finding("copies", None, twice / whole, twice, f"{twice / 1e6:.2f} Mb/s"))
    else:
        found.append(Finding("scheduler", None, twice / whole, twice, f"{twice / 1e6:.2f} Mb/s of copies"))
    # Of a path whose link has no rate of its own only the share is known.
    enough = [one for one in found if (one.cost / whole if one.cost else one.share) >= LEAST]
    if any(finding.cause == "application" for finding in enough):
        # A path that is left unused is not missed where there is too little to send.
        enough = [finding for finding in enough if finding.cause not in ("scheduler", "window", "closed")]
    enough = _once(sorted(enough, key=lambda finding: (-finding.cost, -finding.share)))
    # No path joins before data has arrived over the first one.
    enough.sort(key=lambda finding: finding.cause != "path_mtu" or finding.share < NEVER_JOINED)
    named = {(finding.cause, finding.path) for finding in enough}
    return enough + [finding for finding in bloated if (finding.cause, finding.path) not in named]


def _once(found: Sequence[Finding]) -> list[Finding]:
    """Findings in which the other traffic of one link, which several paths share, is one."""
    first: dict[tuple[str, str | None, str | None], Finding] = {}
    for finding in found:
        known = first.get(_key(finding))
        first[_key(finding)] = finding if known is None else replace(known, cost=known.cost + finding.cost)
    return sorted(first.values(), key=lambda finding: (-finding.cost, -finding.share))


def _key(finding: Finding) -> tuple[str, str | None, str | None]:
    """Findings that are told in one sentence have the same."""
    of_link = finding.place is not None and finding.cause in ("cross_traffic", "bufferbloat")
    return (finding.cause, None if of_link else finding.path, finding.place if of_link else None)


def mean_findings(rows: Sequence[FlowRow]) -> list[Finding]:
    """What held a flow back on average over several runs, the most costly first."""
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
    """What each path adds to the capacity of its flow, bit/s: paths that share a link share its rate."""
    rates = {path["path"]: nominal(row, path) for path in known}
    rates |= {name: rate or 0.0 for name, rate in row["never_joined"].items()}
    total, most = sum(rates.values()), capacity(row)
    scale = most / total if most and total else 1.0
    return {name: rate * scale for name, rate in rates.items()}


def _absent(row: FlowRow, name: str, rate: float) -> Finding:
    """Why a path has no subflow."""
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
    """Paths whose data waited in a queue for long, the longest wait first; of several with one queue only that one."""
    found = [path for path in sorted(paths, key=lambda path: -queueing_delay(path)) if is_bloated(path)]
    first = {path.get("queue_at") or path["path"]: path for path in reversed(found)}
    return [path for path in found if first[path.get("queue_at") or path["path"]] is path]


def _bloated(path: PathRow) -> Finding:
    detail = f"queueing delay {queueing_delay(path) * 1e3:.0f} ms on average"
    at = (path.get("queue_at") or path["path"]).rpartition(" ")[0] or path["path"]
    return Finding("bufferbloat", path["path"], 0.0, 0.0, detail, at if at != path["path"] else None)


def _place(path: PathRow, cause: str) -> str | None:
    """Where a cause was found, if that is not the link whose name the path has."""
    place = path.get("places", {}).get(cause)
    return place if place != path["path"] else None


def _waited(path: PathRow) -> str:
    """Where the acknowledgements of a path waited, and for how long."""
    return f"{path['ack_queue'] or path['path']} for {(path['ack_wait_s'] or 0.0) * 1e3:.0f} ms on average"


def _never_joined(path: PathRow) -> bool:
    absent = sum(path["limits"].get(cause, 0.0) for cause in ("joining", "closed", "down"))
    return absent >= NEVER_JOINED and not path["bytes_acked"]


def recommended_buffer(row: FlowRow) -> float:
    """What RFC 6182 section 5.3 recommends as the buffer of a flow over its paths, bytes; 0 where that is not known."""
    known = row["paths"]
    longest = max((path["base_rtt_s"] or 0.0 for path in known), default=0.0)
    return BUFFER_TIMES * sum(_rates(row, known).values()) / 8 * longest


def _of_buffers(row: FlowRow, known: Sequence[PathRow], rates: Mapping[str, float]) -> list[Finding]:
    """Full buffers: a buffer that is too small for these paths is to blame, else the path that others waited for."""
    whole = sum(rates.values()) or 1.0
    costs = {
        cause: sum(path["limits"].get(cause, 0.0) * rates[path["path"]] for path in known)
        for cause in (*BUFFERS, "head_of_line")
    }
    together = sum(costs.values())
    if not together:
        return []
    # A path that waits for older data on another one does so because the same buffers are full.
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
        # Data that waits in queues needs more than that, and a buffer that fills them without more may carry less.
        queued = any(queueing_delay(path) > QUEUED_TIMES * longest for path in known)
        if smallest < need and not queued and size_like(need, smallest) != size_text(smallest):
            detail += f", RFC 6182 recommends {size_like(need, smallest)} for these paths"
        return [Finding(cause, None, share, together, detail)]
    blame = "bufferbloat" if is_bloated(late) else "head_of_line"
    if blame == "bufferbloat":
        return [replace(_bloated(late), share=share, cost=together)]
    return [Finding(blame, late["path"], share, together)]


def unanswered(row: FlowRow) -> str:
    """Why a connection never opened, as a clause: what became of the segments of its handshake."""
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
        clause += f", and it gave up ({row['closed']})"
    clause += _another_first(row, list(row["never_joined"]))
    return clause


def _never_tried(row: FlowRow) -> str:
    """Why a connection had no subflow that sent its handshake."""
    first = next(iter(row["never_joined"]), None)
    down = 0.0 if first is None else row["never_joined_down"].get(first, 0.0)
    if first is None:
        return "its handshake was not answered before the end of the run"
    if not down:
        # Its link works, and an event took the path from the host.
        return f"no handshake was sent, for an event does not let its host use {first}"
    clause = f"{first} was down" + ("" if down >= NEVER_JOINED else f" for {down:.0%} of the time")
    clause += _another_first(row, list(row["never_joined"])[1:])
    return clause


def no_data(row: FlowRow) -> str | None:
    """Why nothing of a flow arrived, as a clause; None where something did."""
    if row["bytes_received_total"]:
        return None
    if row["handshake_s"] is None:
        return f"it never connected: {unanswered(row)}"
    return "; ".join(sentences(row)[:2]) or "it connected, and no data arrived"


def silence(row: FlowRow) -> str:
    """What each path did in the longest time without data, as clauses; empty where nobody observed the paths."""
    return ", ".join(
        f"{_silent(path, cause)} for {share:.0%} of that time"
        for path in row["paths"]
        for cause, share in sorted(path.get("silence", {}).items(), key=lambda item: -item[1])[:2]
        if share >= _IN_SILENCE
    )


def _silent(path: PathRow, cause: str) -> str:
    """What a path did in a time without data, as a clause."""
    place = _place(path, cause)
    queue = f"the queue of {place}" if place else "its queue"
    if cause == "scheduler" and path.get("is_backup"):
        return f"{path['path']} is a backup, not used,"
    return _SILENT.get(cause, cause).format(path["path"], queue=queue)


def _another_first(row: FlowRow, others: Sequence[str]) -> str:
    """The hint to begin with another path, where one of `others` was up; as the end of a clause."""
    down = row["never_joined_down"]
    working = [name for name in others if down.get(name, 0.0) < NEVER_JOINED]
    if working:
        return f"; with another first path it may open, as in paths = {_order(row, working)}"
    return "; so were all other paths" if others else ""


def _order(row: FlowRow, first: Sequence[str]) -> str:
    """The paths of a flow, those that may open it first."""
    names = [*row["never_joined"], *(path["path"] for path in row["paths"])]
    names = [*first, *(name for name in names if name not in first)]
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"[{quoted}]"


def sentences(row: FlowRow) -> list[str]:
    """What held a flow back, as clauses; empty where the flow was not observed."""
    if not any(path.get("limits") for path in row["paths"]):
        return []
    found = findings(row)
    if found:
        return [str(finding) for finding in found[:4]]
    if is_healthy(row):
        return [reached(row)]
    return ["no single cause took more than 3% of capacity"]


def in_words(limits: Mapping[str, float], least: float = 0.05, *, is_backup: bool = False) -> str:
    """What one path's capacity went to, as shares."""
    words = {**WORDS, "scheduler": "a backup, not used"} if is_backup else WORDS
    shares: Sequence[tuple[float, str]] = sorted(((s, name) for name, s in limits.items() if s >= least), reverse=True)
    return ", ".join(f"{words.get(name, name)} {share:.0%}" for share, name in shares)
