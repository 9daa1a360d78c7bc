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
    "out_of_order": "bytes that arrived out of order: at the data level of the receiver, or on a path at its subflow "
    "level",
    "reinjected": "cumulative bytes reinjected on another subflow",
    "interface_throughput": "rate of the frames that a link sent from its first end to its second, including headers, "
    "as bwm-ng measures it at the sending interface",
    "interface_received": "rate of the frames that a link delivered at its first end",
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
    "multipath": "whether Multipath TCP was negotiated and the connection did not fall back to TCP",
    "fell_back": "whether the connection fell back to TCP",
    "fell_back_at_s": "time of the fallback",
    "fell_back_path": "path of the fallback",
    "fell_back_because": "reason of the fallback",
    "bytes_received": "payload that arrived in order at the application after the warm-up",
    "bytes_received_total": "payload that arrived in order at the application in the whole run",
    "unique_bytes_arrived": "payload that arrived after the warm-up for the first time, in order or not. In "
    "contrast, bytes_received includes data that arrived out of order during the warm-up. Missing on the kernel's "
    "stack",
    "measured_s": "measured time. It starts at the end of the warm-up, or of a later handshake, and ends with the last "
    "byte of the flow or with the run. 0 for a flow that ended before the end of the warm-up",
    "goodput": "bytes_received × 8 / measured_s, in bit/s; 0 if measured_s is 0. It can exceed the capacity of the "
    "links if unique_bytes_arrived is less than bytes_received",
    "throughput": "payload sent on all paths in measured_s, in bit/s",
    "intact": "whether the received bytes equal the sent bytes",
    "completion_s": "time from the opening of the connection until the application received the last byte; missing "
    "if data remains",
    "handshake_s": "time from the opening of the connection to the end of the handshake; missing if the handshake "
    "did not end",
    "closed": "reason of the end of the connection; missing if the flow did not end",
    "reinjected": "bytes that were reinjected after the warm-up. With Linux's queues, the column also counts data that "
    "was queued again for the same subflow. On the kernel's stack, it counts only retransmissions after a timeout of "
    "Multipath TCP. Copies of the redundant scheduler are not counted, see `duplicates`",
    "opportunistic": "part of `reinjected` that opportunistic retransmission (M1) sent because the receive window "
    "was full",
    "penalties": "number of times that penalisation (M2) halved a congestion window in the whole run",
    "duplicates": "bytes that arrived twice at the data level",
    "blocks": "number of complete blocks that arrived",
    "latency_p50_s": "median latency after the warm-up: the time from the writing of a block, or the sending of a "
    "datagram, until it is read; missing without blocks and datagrams",
    "latency_p95_s": "95th percentile of this latency",
    "latency_p99_s": "99th percentile of this latency",
    "late": "share of the blocks, datagrams or files that took longer than the `deadline` of the flow. "
    "Datagrams that never arrived and blocks that still wait are late. Missing without a deadline",
    "datagram_loss": "share of the datagrams that never arrived; missing for TCP and MPTCP",
    "jitter_s": "interarrival jitter of datagrams at the end of the flow (RFC 3550, section 6.4.1); missing for TCP "
    "and MPTCP",
    "longest_silence_s": "longest time without an arrival while the application waited for data",
    "longest_silence_at_s": "start of `longest_silence_s`",
    "capacity": "mean payload rate that the links of all paths could carry, in bit/s. A shared link counts once. "
    "Only if the run recorded limiting factors, as `mptcplab run` does; missing if measured_s is 0",
    "best_capacity": "mean payload rate that these links could carry if each always had its highest rate of the run "
    "and was never down, in bit/s",
    "receive_buffer": "size of the receive buffer, in bytes",
    "send_buffer": "size of the send buffer, in bytes",
    "limit_application": "share of the time in which the application had nothing to send",
    "limit_send_buffer": "share of the time in which the send buffer was full",
    "limit_congestion_window": "share of the time in which all congestion windows were full",
    "limit_receive_window": "share of the time in which the receive window was full",
    "limit_head_of_line": "share of the time in which the receive window was full because older data waited on a "
    "slower path",
    "limit_scheduler": "share of the time in which the scheduler waited for a better path",
    "limit_local_queue": "share of the time in which pacing or the queue of this host limited the flow",
}
PATHS: Mapping[str, str] = {
    "flow": "name of the flow",
    "path": "name of the path",
    "subflows": "number of subflows that were opened over the path",
    "bytes_sent": "payload sent on the path after the warm-up",
    "bytes_arrived": "payload that arrived over the path, including duplicates",
    "bytes_acked": "payload that was acknowledged on the path",
    "retransmits": "number of retransmitted segments",
    "timeouts": "number of retransmission timeouts",
    "reinjected": "bytes of other paths that were reinjected on this path",
    "mean_srtt_s": "mean of the smoothed round-trip time over the samples after the warm-up, until all data has "
    "arrived",
    "capacity": "mean rate of frames that the slowest link of the path could carry, in bit/s. Only if the run recorded "
    "limiting factors; missing if the flow was not measured",
    "best_capacity": "mean rate that this link could carry if it always had its highest rate of the run and was never "
    "down, in bit/s",
    "base_rtt_s": "mean RTT without queues, including jitter; only if the run recorded limiting factors",
    "ack_wait_s": "mean time for which acknowledgements of this path waited in queues. Only if the run recorded "
    "limiting factors; missing over wireless and recorded links and behind middleboxes",
    "ack_queue": "link and direction in whose queue acknowledgements of this path waited longest",
    "dropped_random": "frames of the flow that were lost at random on the path, in both directions; only if the run "
    "recorded limiting factors",
    "dropped_queue": "frames of the flow that a queue on the path dropped, in both directions",
    "dropped_down": "frames of the flow that a link of the path dropped because the link was down",
    "dropped_filter": "frames of the flow that a filter of the scenario dropped on the path",
}
LINKS: Mapping[str, str] = {
    "link": "name of the link",
    "direction": "forward (from the first end of the link to its second end) or backward",
    "offered_frames": "frames that arrived at the queue of the link",
    "sent_frames": "frames that the link sent",
    "sent_bytes": "bytes that the link sent, including headers",
    "queue_drops": "frames that the queue of the link dropped",
    "random_losses": "frames that were lost at random on the link",
    "mac_retries": "frames that the wireless MAC retransmitted",
    "mac_drops": "frames that the wireless MAC dropped after its last retry",
    "longest_queue": "maximum number of bytes in the queue of the link",
    "busy": "share of the run in which a frame was waiting or being sent",
    "capacity": "mean rate of frames that the link could carry, in bit/s; missing if the link has no rate of its own",
}
SOME_LINKS: Mapping[str, str] = {
    "queue_marks": "frames that the queue of the link marked (ECN); only for networks with marks",
    "duplicated": "frames that the link duplicated; only for networks with duplication",
    "corrupted": "frames that the link damaged; only for networks with bit errors",
}
BLOCKS: Mapping[str, str] = {
    "flow": "name of the flow",
    "written_s": "time at which the application wrote the block",
    "latency_s": "time from `written_s` until the last byte of the block was read",
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
                "\nRuns of `mptcplab run` have further columns for each path. `limit_*` contains the shares of the "
                "path's capacity by cause, from the state of the links. `limit_sender_*` contains shares of time from "
                "the view of the sender. `blamed` is the share of time in which other paths waited for older data on "
                "this path. See [events.md](events.md)."
            )
    return "\n".join(parts) + "\n"
