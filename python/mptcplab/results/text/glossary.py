"""What each metric and column means: the text of docs/results.md.

Owns the definitions and their page; names, types and units are those of the tables. A test sees that none is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab import _core

METRICS: Mapping[str, str] = {
    "throughput": "payload that the sender put on a path, what went again included; without a path, over all. "
    "Counted where it "
    "enters the host's queue, so it can exceed the line's rate while a queue fills",
    "goodput": "payload that arrived over a path, duplicates included; without a path, in order at the receiving "
    "application",
    "cwnd": "congestion window",
    "ssthresh": "slow start threshold; missing in the first slow start",
    "srtt": "smoothed round-trip time (RFC 6298); none once all data of the flow has arrived",
    "rttvar": "round-trip time variation (RFC 6298); none once all data of the flow has arrived",
    "in_flight": "bytes sent and believed to be in the network (RFC 6675's pipe)",
    "retransmits": "segments sent again on the same path so far",
    "send_queue": "bytes written by the application and not yet acknowledged at the data level",
    "receive_window": "the receive window beyond the last data-level acknowledgement",
    "out_of_order": "bytes that wait for older ones: at the receiver's data level, or on a path at its subflow level",
    "reinjected": "bytes that another subflow carried again so far",
    "interface_throughput": "frames that a link put on the line from its first end to its second, headers and all: "
    "what bwm-ng "
    "reads at the sending interface",
    "interface_received": "frames that came out of a link at its first end",
    "local_queue": "a path's bytes that wait in the sending host's own interface",
    "mac_retries": "frames that a wireless link sent again so far",
    "mac_drops": "frames that a wireless link gave up so far",
    "phy_rate": "the rate on the air of the host's next frame",
    "queue": "bytes that wait in a link's queue",
    "queue_drops": "frames that a link's queue dropped so far",
    "random_losses": "frames lost at random so far",
    "queue_marks": "frames that a link's queue marked so far (ECN)",
}
"""By name, of samples.parquet."""

WHO: Mapping[str, str] = {
    "run": "name of the scenario",
    "seed": "seed of the run",
    "variant": "what tells runs of a sweep or a baseline apart",
}
FLOWS: Mapping[str, str] = {
    "flow": "name of the flow",
    "multipath": "Multipath TCP was agreed on and kept",
    "fell_back": "it was agreed on and given up for TCP",
    "fell_back_at_s": "when",
    "fell_back_path": "on which path",
    "fell_back_because": "why",
    "bytes_received": "payload in order at the application after the warm-up",
    "bytes_received_total": "… and from the start",
    "unique_bytes_arrived": "payload that arrived after the warm-up for the first time, in order or not; "
    "bytes_received also has what had arrived out of order before the warm-up ended and is read after it; none on "
    "kernels",
    "measured_s": "how long it was measured: from the end of the warm-up, or of the handshake if later, to the last "
    "byte of a flow that ends or stops, else to the end of the run; 0 for a flow that ended before the warm-up did",
    "goodput": "bytes_received × 8 / measured_s, bit/s; 0 where measured_s is 0. It may be more than its links carry "
    "in that time where unique_bytes_arrived is less than bytes_received",
    "throughput": "payload that was put on all paths in measured_s, bit/s",
    "intact": "every byte arrived as it was sent",
    "completion_s": "from the opening to the last byte at the application; none while data are left",
    "handshake_s": "from the opening to the end of the handshake; none if it never ended",
    "closed": "how it ended; none if it did not",
    "reinjected": "bytes given to a further subflow after the warm-up; with Linux's queues also to the same one again, "
    "counted when they are queued; on the kernel only what a timeout of Multipath TCP retransmits; without the copies "
    "of the redundant scheduler, which `duplicates` has",
    "opportunistic": "… of them to free a full window (M1)",
    "penalties": "how often a window was halved for filling the receive window (M2), in the whole run",
    "duplicates": "bytes that arrived at the data level twice",
    "blocks": "blocks that arrived whole",
    "latency_p50_s": "time from when the application had a block ready, or sent a datagram, until it was read: half of "
    "them took no longer; of those after the warm-up; none without any",
    "latency_p95_s": "... 95% of them",
    "latency_p99_s": "... 99% of them",
    "late": "share of the blocks or datagrams, or of the file, that took longer than the `deadline` of the flow; "
    "datagrams that never arrived and blocks that still wait are late; none without a deadline",
    "datagram_loss": "share of the datagrams that never arrived; none for TCP and MPTCP",
    "jitter_s": "interarrival jitter of datagrams at the end (RFC 3550, section 6.4.1); none for TCP and MPTCP",
    "longest_silence_s": "the longest time in which nothing arrived although the application waited for data",
    "longest_silence_at_s": "when that began",
    "capacity": "payload that the links of all its paths could carry on average, bit/s; a shared link counts once; of "
    "observed runs; none where measured_s is 0",
    "best_capacity": "the same with each link at its highest rate in the run, and never down",
    "receive_buffer": "size of the receive buffer, bytes",
    "send_buffer": "size of the send buffer, bytes",
    "limit_application": "share of the time in which the application had nothing to send",
    "limit_send_buffer": "… in which the send buffer was full",
    "limit_congestion_window": "… in which all congestion windows were full",
    "limit_receive_window": "… in which the receive window was full",
    "limit_head_of_line": "… in which it was full because older data waited on a slower path",
    "limit_scheduler": "… in which the scheduler waited for a better path",
    "limit_local_queue": "… in which pacing or this host's own queue held it back",
}
PATHS: Mapping[str, str] = {
    "flow": "name of the flow",
    "path": "name of the path",
    "subflows": "subflows that were opened over it",
    "bytes_sent": "payload put on it after the warm-up",
    "bytes_arrived": "payload that arrived over it, duplicates included",
    "bytes_acked": "… and acknowledged",
    "retransmits": "segments sent again on it",
    "timeouts": "retransmission timeouts",
    "reinjected": "bytes of other paths that it carried again",
    "mean_srtt_s": "mean of the smoothed round-trip time over the samples after the warm-up, until all data has "
    "arrived",
    "capacity": "what its slowest link could carry on average, bit/s of frames; of observed runs; none where no "
    "time of its flow was measured",
    "best_capacity": "the same at its highest rate in the run, and never down",
    "base_rtt_s": "mean delay to the receiver and back without queues, jitter included; of observed runs",
    "ack_wait_s": "mean time that acknowledgements of this path waited in the queues of their links; of observed runs, "
    "none over wireless and recorded links and behind middleboxes",
    "ack_queue": "the link and its direction in whose queue they waited longest",
    "dropped_random": "frames of the flow that were lost at random on the path, in both directions; of observed runs",
    "dropped_queue": "... that a queue dropped",
    "dropped_down": "... that a link dropped because it was down",
    "dropped_filter": "... that a filter of the scenario dropped",
}
LINKS: Mapping[str, str] = {
    "link": "name of the link",
    "direction": "forward, from its first end to its second, or backward",
    "offered_frames": "frames that came to its queue",
    "sent_frames": "frames that it put on the line",
    "sent_bytes": "… and their bytes, headers and all",
    "queue_drops": "frames that its queue dropped",
    "random_losses": "frames lost at random",
    "mac_retries": "frames that went again on the air",
    "mac_drops": "frames given up on the air",
    "longest_queue": "most bytes that waited",
    "busy": "share of the run in which a frame waited or was in service",
    "capacity": "what it could carry on average, bit/s of frames; none where it has no rate of its own",
}
SOME_LINKS: Mapping[str, str] = {
    "queue_marks": "frames that its queue marked (ECN); of networks that mark",
    "duplicated": "frames that it doubled; of networks that do",
    "corrupted": "frames that it damaged; of networks that do",
}
BLOCKS: Mapping[str, str] = {
    "flow": "name of the flow",
    "written_s": "when the application wrote the block",
    "latency_s": "until the last byte of it was read",
}


def page() -> str:
    """The page, in Markdown."""
    units = dict(_core.metrics())
    parts = [
        "# Results\n",
        "What `--output` writes: Parquet with a row for each value (`samples`), flow, path of a flow, direction of a "
        "link, and "
        "block; [events.md](events.md) has `events`. This page is generated: `mptcplab schema --results`.\n",
        "Every table begins with `run` (name of the scenario), `seed` and `variant` (what tells runs of a sweep "
        "apart).\n",
        "In a sweep, `flows`, `paths`, `links` and `blocks` also end with a column for each key of `--vary`, with "
        "the key as its name: `paths.lte.loss`. A quantity is a number in its base unit: bit/s, seconds, bytes, "
        "packets (`53p`), metres, and 0.01 for 1%; `unlimited` is infinite. Counts are whole numbers, `true` and "
        "`false` are flags, and all else is text, as are keys whose values are of different quantities. `samples` "
        "and `events` have `variant` alone. `merge` and `gather` keep these columns.\n",
        "## samples.parquet\n",
        "`time_s` is the end of a sampling interval, seconds since the start; `flow` and `path` are names, `*` over "
        "all; `metric` "
        "one of these, `value` in `unit`.\n",
        "| metric | unit | meaning |\n|---|---|---|",
        *(f"| `{name}` | {unit} | {METRICS[name]} |" for name, unit in units.items()),
    ]
    tables = (("flows", FLOWS), ("paths", PATHS), ("links", {**LINKS, **SOME_LINKS}), ("blocks", BLOCKS))
    for name, columns in tables:
        parts += [f"\n## {name}.parquet\n", "| column | meaning |\n|---|---|"]
        parts += [f"| `{column}` | {meaning} |" for column, meaning in columns.items()]
        if name == "paths":
            parts.append(
                "\nRuns of `mptcplab run` also have `limit_*` for each path, the shares of its capacity by cause as "
                "the links know them, `limit_sender_*`, the shares of the time as the sender saw them, and `blamed`, "
                "the share of the time in "
                "which other paths "
                "waited for older data on it: [events.md](events.md)."
            )
    return "\n".join(parts) + "\n"
