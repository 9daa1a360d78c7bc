"""The meaning of each metric and column of the result tables: the source of docs/results.md.

Owns the definitions and the page. A test checks that no column of the tables is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab import _core

METRICS: Mapping[str, str] = {
    "throughput": "payload that the sender put on a path, including retransmissions; without a path, on all paths. "
    "Measured at the queue of the host, so it can exceed the link rate while a queue fills",
    "goodput": "payload that arrived over a path, including duplicates; without a path, payload in order at the "
    "receiving application",
    "cwnd": "congestion window",
    "ssthresh": "slow start threshold; missing in the first slow start",
    "srtt": "smoothed round-trip time (RFC 6298); missing after all data of the flow has arrived",
    "rttvar": "round-trip time variation (RFC 6298); missing after all data of the flow has arrived",
    "in_flight": "bytes in flight (pipe of RFC 6675)",
    "retransmits": "cumulative retransmitted segments on the same path",
    "send_queue": "bytes that the application wrote and the peer has not acknowledged at the data level",
    "receive_window": "receive window beyond the last DATA_ACK",
    "out_of_order": "bytes out of order: at the data level of the receiver, or on a path at its subflow level",
    "reinjected": "cumulative bytes reinjected on another subflow",
    "interface_throughput": "frames that a link sent from its first end to its second, including headers, as bwm-ng "
    "measures at the sending interface",
    "interface_received": "frames that a link delivered at its first end",
    "local_queue": "bytes of a path in the queue of the sending host's interface",
    "mac_retries": "cumulative frames that a wireless link retransmitted",
    "mac_drops": "cumulative frames that a wireless link dropped after its last retry",
    "phy_rate": "transmission rate of the host's next wireless frame",
    "queue": "bytes in the queue of a link",
    "queue_drops": "cumulative frames that the queue of a link dropped",
    "random_losses": "cumulative frames lost at random",
    "queue_marks": "cumulative frames that the queue of a link marked (ECN)",
}
"""Metrics of samples.parquet by name."""

WHO: Mapping[str, str] = {
    "run": "name of the scenario",
    "seed": "seed of the run",
    "variant": "name of the sweep point or baseline",
}
FLOWS: Mapping[str, str] = {
    "flow": "name of the flow",
    "multipath": "Multipath TCP was negotiated, and did not fall back",
    "fell_back": "the connection fell back to TCP",
    "fell_back_at_s": "time of the fallback",
    "fell_back_path": "path of the fallback",
    "fell_back_because": "reason of the fallback",
    "bytes_received": "payload in order at the application after the warm-up",
    "bytes_received_total": "payload in order at the application in the whole run",
    "unique_bytes_arrived": "payload that arrived after the warm-up for the first time, in order or not. "
    "In contrast, bytes_received includes data that arrived out of order during the warm-up. Missing on kernels",
    "measured_s": "measured time. It starts at the end of the warm-up, or of a later handshake, and ends with the last "
    "byte of the flow or with the run. 0 for a flow that ended before the end of the warm-up",
    "goodput": "bytes_received × 8 / measured_s, in bit/s; 0 if measured_s is 0. It can exceed the capacity of the "
    "links if unique_bytes_arrived is less than bytes_received",
    "throughput": "payload sent on all paths in measured_s, in bit/s",
    "intact": "the received bytes are those that were sent",
    "completion_s": "time from the opening to the last byte at the application; missing if data remains",
    "handshake_s": "time from the opening to the end of the handshake; missing if it did not end",
    "closed": "reason of the end; missing if the flow did not end",
    "reinjected": "bytes that were reinjected after the warm-up. With Linux's queues, it also counts data queued "
    "again for the same subflow. On the kernel, it counts only retransmissions after a timeout of Multipath TCP. "
    "Copies of the redundant scheduler are not counted, see `duplicates`",
    "opportunistic": "part of `reinjected` that M1 sent to free a full window",
    "penalties": "number of windows that M2 halved in the whole run",
    "duplicates": "bytes that arrived at the data level twice",
    "blocks": "complete blocks that arrived",
    "latency_p50_s": "median time from the writing of a block, or the sending of a datagram, until it is read, after "
    "the warm-up; missing without any",
    "latency_p95_s": "95th percentile of that time",
    "latency_p99_s": "99th percentile of that time",
    "late": "share of the blocks, datagrams or files that took longer than the `deadline` of the flow. "
    "Datagrams that never arrived and blocks that still wait are late. Missing without a deadline",
    "datagram_loss": "share of the datagrams that never arrived; missing for TCP and MPTCP",
    "jitter_s": "interarrival jitter of datagrams at the end (RFC 3550, section 6.4.1); missing for TCP and MPTCP",
    "longest_silence_s": "longest time without an arrival while the application waited for data",
    "longest_silence_at_s": "start of that time",
    "capacity": "mean payload rate that the links of all paths could carry, in bit/s. A shared link counts once. "
    "Only of observed runs; missing if measured_s is 0",
    "best_capacity": "the same with each link at its highest rate in the run, and never down",
    "receive_buffer": "size of the receive buffer, in bytes",
    "send_buffer": "size of the send buffer, in bytes",
    "limit_application": "share of the time in which the application had nothing to send",
    "limit_send_buffer": "share of the time in which the send buffer was full",
    "limit_congestion_window": "share of the time in which all congestion windows were full",
    "limit_receive_window": "share of the time in which the receive window was full",
    "limit_head_of_line": "share of the time in which it was full because older data waited on a slower path",
    "limit_scheduler": "share of the time in which the scheduler waited for a better path",
    "limit_local_queue": "share of the time in which pacing or the queue of this host limited the flow",
}
PATHS: Mapping[str, str] = {
    "flow": "name of the flow",
    "path": "name of the path",
    "subflows": "number of subflows that were opened over it",
    "bytes_sent": "payload sent on it after the warm-up",
    "bytes_arrived": "payload that arrived over it, including duplicates",
    "bytes_acked": "payload that was acknowledged on it",
    "retransmits": "retransmitted segments",
    "timeouts": "retransmission timeouts",
    "reinjected": "bytes of other paths that were reinjected on it",
    "mean_srtt_s": "mean of the smoothed round-trip time over the samples after the warm-up, until all data has "
    "arrived",
    "capacity": "mean rate that its slowest link could carry, in bit/s of frames. Only of observed runs; missing if "
    "its flow was not measured",
    "best_capacity": "the same at its highest rate in the run, and never down",
    "base_rtt_s": "mean RTT without queues, including jitter; only of observed runs",
    "ack_wait_s": "mean time for which acknowledgements of this path waited in queues. Only of observed runs, "
    "missing over wireless and recorded links and behind middleboxes",
    "ack_queue": "link and direction with the longest such wait",
    "dropped_random": "frames of the flow that were lost at random on the path, in both directions; only of observed "
    "runs",
    "dropped_queue": "such frames that a queue dropped",
    "dropped_down": "such frames that a link dropped because it was down",
    "dropped_filter": "such frames that a filter of the scenario dropped",
}
LINKS: Mapping[str, str] = {
    "link": "name of the link",
    "direction": "forward, from its first end to its second, or backward",
    "offered_frames": "frames that arrived at its queue",
    "sent_frames": "frames that it sent",
    "sent_bytes": "bytes that it sent, including headers",
    "queue_drops": "frames that its queue dropped",
    "random_losses": "frames lost at random",
    "mac_retries": "frames that the wireless MAC retransmitted",
    "mac_drops": "frames that the wireless MAC dropped after its last retry",
    "longest_queue": "maximum of the bytes in its queue",
    "busy": "share of the run in which a frame was waiting or being sent",
    "capacity": "mean rate that it could carry, in bit/s of frames; missing if it has no rate of its own",
}
SOME_LINKS: Mapping[str, str] = {
    "queue_marks": "frames that its queue marked (ECN); only of networks with marks",
    "duplicated": "frames that it duplicated; only of networks with duplication",
    "corrupted": "frames that it damaged; only of networks with bit errors",
}
BLOCKS: Mapping[str, str] = {
    "flow": "name of the flow",
    "written_s": "time at which the application wrote the block",
    "latency_s": "time from then until the last byte of it was read",
}


def page() -> str:
    """The page docs/results.md, in Markdown."""
    units = dict(_core.metrics())
    parts = [
        "# Results\n",
        "`--output` writes Parquet tables with one row per value (`samples`), flow, path of a flow, direction of a "
        "link, and block. [events.md](events.md) describes the table `events`. This page is generated by "
        "`mptcplab schema --results`.\n",
        "Every table starts with `run` (name of the scenario), `seed` and `variant` (name of the sweep point or "
        "baseline).\n",
        "In a sweep, `flows`, `paths`, `links` and `blocks` end with a column for each key of `--vary`, such as "
        "`paths.lte.loss`. `merge` and `group` keep these columns. Their values are:\n",
        "- quantities: numbers in their base unit, which is bit/s, seconds, bytes, packets (`53p`), metres, or 0.01 "
        "for 1%; `unlimited` is infinite,",
        "- counts: integers,",
        "- flags: `true` and `false`,",
        "- all others, and keys with several quantities: text.\n",
        "## samples.parquet\n",
        "`time_s` is the end of a sampling interval in seconds since the start. `flow` and `path` are names, or `*` "
        "for all. `metric` is one of the names below, and `value` is in its `unit`.\n",
        "| metric | unit | meaning |\n|---|---|---|",
        *(f"| `{name}` | {unit} | {METRICS[name]} |" for name, unit in units.items()),
    ]
    tables = (("flows", FLOWS), ("paths", PATHS), ("links", {**LINKS, **SOME_LINKS}), ("blocks", BLOCKS))
    for name, columns in tables:
        parts += [f"\n## {name}.parquet\n", "| column | meaning |\n|---|---|"]
        parts += [f"| `{column}` | {meaning} |" for column, meaning in columns.items()]
        if name == "paths":
            parts.append(
                "\nRuns of `mptcplab run` have further columns for each path. `limit_*` contains the shares of its "
                "capacity by cause, from the state of the links. `limit_sender_*` contains shares of time from the "
                "view of the sender. `blamed` is the share of time in which other paths waited for older data on "
                "this path. See [events.md](events.md)."
            )
    return "\n".join(parts) + "\n"
