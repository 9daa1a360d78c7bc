//! What Linux's kernel does where the RFCs leave a choice.
//!
//! Owns the switches; the connection asks them where it acts.

/// Each is a switch of its own. The default, none, is what the simulator runs; [`LinuxCompat::LINUX`] is for peers
/// that expect a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinuxCompat {
    /// Announce addresses as soon as the peer's keys are here, not after its first DSS.
    pub early_announcements: bool,
    /// Say nothing to the third ACK of a connection; without, a DSS follows after 40 ms if no data has brought one, so that
    /// the peer may join an idle connection (RFC 8684 section 3.2).
    pub quiet_after_handshake: bool,
    /// Echo an announced address before the SYN of the join to it.
    pub echo_before_join: bool,
    /// Acknowledge a DATA_FIN by a segment of its own before the FIN that follows from it, as older kernels do.
    pub acknowledge_before_fin: bool,
    /// Answer in TIME-WAIT as a TCP that has forgotten the connection, without MPTCP options.
    pub plain_time_wait: bool,
    /// Send a DATA_FIN on all subflows, not on the one that answers soonest.
    pub data_fin_everywhere: bool,
    /// Send a DATA_FIN again after the shortest retransmission timeout, that again, and then doubled; without, after
    /// the longest timeout of the subflows.
    pub quick_data_fin: bool,
    /// Hold a small segment back only while another small one is in flight (Minshall's variant of Nagle's algorithm); without,
    /// while anything is (RFC 9293 section 3.7.4).
    pub minshall: bool,
    /// Push where a write of the application ended, also when that goes again, and segments that the device cuts into
    /// several; without, whatever nothing waits behind (RFC 9293 section 3.9.1.2).
    pub push_where_writes_end: bool,
    /// Where a TCP's stream has ended, its last data brings the FIN; without, that goes by itself.
    pub fin_with_data: bool,
    /// Send the third ACK of a join again every two round trips; without, as RFC 6298 backs off.
    pub steady_join_ack: bool,
    /// A window grows where it was full in the round, and in slow start where twice the most that was under way in the round is more;
    /// without, where that is so of what was under way before the acknowledgement (RFC 7661 section 4.4 leaves open how it is measured).
    pub cwnd_limited_per_round: bool,
    /// Delay the acknowledgement of a request, so that the application's answer carries it, once the host has sent data within 40 ms
    /// of receiving some (net/ipv4/tcp_output.c, `tcp_event_data_sent`: pingpong mode); without, the first 16 segments of a subflow are
    /// acknowledged at once.
    pub pingpong: bool,
}

impl LinuxCompat {
    /// All of them.
    pub const LINUX: Self = Self {
        early_announcements: true,
        quiet_after_handshake: true,
        echo_before_join: true,
        acknowledge_before_fin: true,
        plain_time_wait: true,
        data_fin_everywhere: true,
        quick_data_fin: true,
        minshall: true,
        push_where_writes_end: true,
        fin_with_data: true,
        steady_join_ack: true,
        cwnd_limited_per_round: true,
        pingpong: true,
    };
}
