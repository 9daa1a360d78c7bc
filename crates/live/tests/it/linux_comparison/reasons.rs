//! The explanations of all differences. `tools/compare-linux` fails if an explanation is missing, and reports one that is
//! not needed.

/// The explanation of a situation; empty if the stacks are equal.
pub fn reason(name: &str) -> &'static str {
    REASONS.iter().find(|(of, _)| *of == name).map_or("", |(_, why)| why)
}

const REASONS: &[(&str, &str)] = &[
    (
        "acks-lost",
        "The window is full, and only the FIN is left. mptcplab sends it at once, because it has no data, which RFC \
         5681 section 3.1 limits. Older kernels did the same (an exception in `tcp_cwnd_test`, net/ipv4/tcp_output.c). \
         Linux 6.18 sends it with the tail loss probe. Design choice.",
    ),
    (
        "no-sack-two",
        "The pace is at the limit of equality: without SACK, mptcplab sends two or three new segments fewer than Linux \
         between both retransmissions. The cause is unknown.",
    ),
    (
        "marked-and-lost",
        "The echo of the mark arrives before the loss is detected. Linux reduces its window by PRR for marks as well \
         (`tcp_enter_cwr`, `tcp_cwnd_reduction`, net/ipv4/tcp_input.c), so new data with CWR continues. mptcplab \
         reduces it at once (RFC 3168 section 6.1.2) and sends no new data until the loss is repaired. Design choice, \
         as in docs/contributing/conformance.md.",
    ),
    (
        "mtu-reported",
        "Full segments were acknowledged before, so mptcplab does not believe the router at once (RFC 5927 section \
         7.2). It shrinks segments when the retransmission timer expires. Linux believes a message about data in flight \
         (`tcp_v4_mtu_reduced`, `tcp_simple_retransmit`). Design choice, which costs one timeout after a route change.",
    ),
    (
        "mtu-silent",
        "mptcplab counts timeouts and shrinks segments at the third (RFC 4821 section 7.7 leaves the number open). \
         Linux compares times: `tcp_retries1` = 3 means the duration of four timeouts of 200 ms \
         (`retransmits_timed_out`, net/ipv4/tcp_timer.c), and with an RTO of 240 ms that is the fourth.",
    ),
    (
        "mp-syn-lost",
        "Linux repeats the first four SYNs one second apart (`net.ipv4.tcp_syn_linear_timeouts`, since 6.5). mptcplab \
         doubles the timeout from the first one on (RFC 6298 section 5.5). Both omit the option from the fourth SYN on.",
    ),
    (
        "mp-close",
        "Linux sends the DATA_FIN on an acknowledgement as soon as the application has closed and all data is queued at \
         the subflows (`__mptcp_check_send_data_fin`, net/mptcp/protocol.c). mptcplab sends it after all data. RFC 8684 \
         section 3.3.3 allows both, and the peer waits for the data.",
    ),
    (
        "mp-altered",
        "The peer drops the data with the wrong checksum and answers MP_FAIL. mptcplab continues with an infinite \
         mapping, and all data arrives as TCP (RFC 8684 section 3.7). Linux 6.18 reinjects the first fragment of 32 KiB \
         (`__mptcp_retrans`) repeatedly without progress at the data level. In most runs the stream never ends, which \
         looks like a fault of the kernel.",
    ),
    (
        "mp-data-fin-lost",
        "Linux 6.18 waits 0.4 s before it retransmits a DATA_FIN, and doubles that. mptcplab \
         (`LinuxCompat::quick_data_fin`) waits 0.2 s twice, as the scripts of packetdrill expect, and then doubles.",
    ),
    (
        "mp-abort",
        "Both have MP_FASTCLOSE on the RST. Linux adds MP_TCPRST (`mptcp_established_options_rst`, \
         net/mptcp/options.c), which RFC 8684 section 3.6 allows and section 3.5 does not require.",
    ),
    (
        "mp-two-paths",
        "Both send the same data with other shares of the paths. The scheduler of Linux compares queues by the measured \
         pacing rate of each subflow (`mptcp_subflow_get_send`), and its own runs differ. mptcplab sends no data on a \
         new subflow until some was acknowledged there (`JOIN_PROBATION`).",
    ),
    (
        "mp-join-reset",
        "mptcplab retries a refused pair of addresses once after a second (connection/addresses/retry.rs), and the path \
         manager of Linux does not. RFC 8684 leaves both open.",
    ),
    (
        "mp-silent-path",
        "The shares differ as above. Both stacks reinject the data of the silent path on the other one after the \
         longest timer of the subflows. The amount follows from the shares. \
         `mptcp/closing::a_queue_that_a_silent_path_keeps_does_not_keep_the_data_fin` tests the end of the stream.",
    ),
];
