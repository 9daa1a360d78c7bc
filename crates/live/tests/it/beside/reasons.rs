//! Why the stacks differ where they do. A difference that is not here fails `tools/beside-linux`; one that is here and is gone is
//! told.

/// What is said of a situation; empty where the stacks are to be equal.
pub fn reason(name: &str) -> &'static str {
    REASONS.iter().find(|(of, _)| *of == name).map_or("", |(_, why)| why)
}

const REASONS: &[(&str, &str)] = &[
    (
        "acks-lost",
        "The window is full, and only the FIN is left. Ours goes at once: it has no data, which is what RFC 5681 section 3.1 limits. \
         Older kernels did so too (`tcp_cwnd_test`, net/ipv4/tcp_output.c, had an exception for the last FIN); 6.18, as is seen here, \
         holds it back until its tail loss probe brings it. Our choice.",
    ),
    (
        "no-sack-two",
        "At the border of what counts as equal: without SACK ours sends two or three new segments fewer than Linux between the first \
         retransmission and the second. Not looked into further.",
    ),
    (
        "marked-and-lost",
        "The echo of the mark comes before the loss is found. Linux lowers its window by PRR for marks too (`tcp_enter_cwr`, \
         `tcp_cwnd_reduction`, net/ipv4/tcp_input.c): new data goes on, and the first of it says CWR. Ours lowers it at once, as RFC \
         3168 section 6.1.2 says: no new data goes until the loss is repaired. Our choice, as in docs/contributing/conformance.md.",
    ),
    (
        "mtu-told",
        "Segments of the full size have been acknowledged before, so that ours does not believe the router at once (RFC 5927 section \
         7.2): it notes what was said, and shrinks when the retransmission timer runs out. Linux believes it when the number is in \
         flight (`tcp_v4_mtu_reduced`, `tcp_simple_retransmit`). Our choice, for the price of one timeout where a path changes.",
    ),
    (
        "mtu-silent",
        "Ours counts timeouts: segments shrink at the third in a row (RFC 4821 section 7.7 leaves the number open). Linux compares \
         times: `tcp_retries1` = 3 stands for what four timeouts of 200 ms would take (`retransmits_timed_out`, \
         net/ipv4/tcp_timer.c), and with an RTO of 240 ms that is the fourth. How large segments are then differs little.",
    ),
    (
        "mp-syn-lost",
        "Linux repeats the first four SYNs a second apart (`net.ipv4.tcp_syn_linear_timeouts`, since 6.5); ours doubles the timeout from \
         the first on (RFC 6298 section 5.5). Both give up the option at the fourth SYN.",
    ),
    (
        "mp-close",
        "Linux sends the DATA_FIN on an acknowledgement as soon as the application has closed and all data is in the subflows' queues \
         (`__mptcp_check_send_data_fin`, net/mptcp/protocol.c), long before that data goes. Ours sends it when all data has been sent \
         (RFC 8684 section 3.3.3 allows either). The peer waits for the data in both cases.",
    ),
    (
        "mp-altered",
        "The peer drops the data whose checksum is wrong and answers MP_FAIL. Ours goes on with an infinite mapping, and all arrives as \
         TCP (RFC 8684 section 3.7). Linux 6.18 sends the first fragment of 32 KiB (`__mptcp_retrans`) again and again: nothing is \
         acknowledged at the data level any more. In most runs its stream never ends. Seen here; a fault of the kernel's, we think.",
    ),
    (
        "mp-data-fin-lost",
        "Linux 6.18 waits 0.4 s before it repeats a DATA_FIN, and twice as long each time. Ours (`LinuxCompat::quick_data_fin`) waits \
         0.2 s twice, as packetdrill's scripts want it, and doubles then.",
    ),
    (
        "mp-abort",
        "MP_FASTCLOSE is on the RST of both; Linux puts MP_TCPRST beside it (`mptcp_established_options_rst`, net/mptcp/options.c), which \
         RFC 8684 section 3.6 allows and section 3.5 does not ask for.",
    ),
    (
        "mp-two-paths",
        "The same data, and another share of it on each path. Linux's scheduler compares queues by the pacing rate of each subflow \
         (`mptcp_subflow_get_send`), which is measured, and its own runs differ; ours keeps data off a new subflow until some was \
         acknowledged on it (`JOIN_PROBATION`).",
    ),
    (
        "mp-join-reset",
        "Ours tries a pair of addresses that was refused once more a second later (connection/addresses/retry.rs); Linux's path manager does \
         not. RFC 8684 leaves both open.",
    ),
    (
        "mp-silent-path",
        "As above for the shares. What the silent path held goes on the other one in both stacks when the data level has waited for the \
         longest timer of the subflows; how much that is follows from the shares. Before this comparison ours never ended the stream \
         here: its DATA_FIN waited for the silent path's queue (`mptcp/ending::a_queue_that_a_silent_path_keeps_does_not_keep_the_data_fin`).",
    ),
];
