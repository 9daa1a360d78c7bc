//! Behaviour of Linux where the RFCs leave a choice.
//!
//! Test scripts written for Linux expect these choices. Owns the switches: the connection acts on them.

/// Independent switches. By default all are off, also in the simulator. [`LinuxCompat::LINUX`] suits peers
/// that expect a Linux kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinuxCompat {
    /// Announces addresses as soon as the peer's keys are known, not after its first DSS.
    pub early_announcements: bool,
    /// Sends nothing in response to the third ACK. Off: a DSS follows after 40 ms if no data carried one, so
    /// that the peer may join an idle connection (RFC 8684 section 3.2).
    pub quiet_after_handshake: bool,
    /// Echoes an announced address before the SYN of the join to it.
    pub echo_before_join: bool,
    /// Acknowledges a DATA_FIN in a separate segment before the resulting FIN, as older kernels do.
    pub acknowledge_before_fin: bool,
    /// Responds in TIME-WAIT like a TCP without the connection's state, that is without MPTCP options.
    pub plain_time_wait: bool,
    /// Sends a DATA_FIN on all subflows. Off: on the subflow whose response is expected first.
    pub data_fin_everywhere: bool,
    /// Retransmits a DATA_FIN after the shortest RTO, once more after the same time, and then with doubled
    /// intervals. Off: after the longest RTO of the subflows.
    pub quick_data_fin: bool,
    /// Delays a partial segment only while another partial segment is in flight: Minshall's variant of
    /// Nagle's algorithm. Off: while any data is in flight (RFC 9293 section 3.7.4).
    pub minshall: bool,
    /// Sets PSH at the end of each application write, also in retransmissions, and in segments that the
    /// device splits. Off: on the last segment in the queue (RFC 9293 section 3.9.1.2).
    pub push_where_writes_end: bool,
    /// Sends the FIN of a TCP stream with its last data. Off: in a separate segment.
    pub fin_with_data: bool,
    /// Retransmits the third ACK of a join every two RTTs. Off: with the backoff of RFC 6298.
    pub steady_join_ack: bool,
    /// The congestion window grows if it was full at any time of the round; in slow start, if twice the
    /// round's maximum in flight exceeds the window. Off: both conditions use only the data in flight before
    /// the acknowledgement. RFC 7661 section 4.4 leaves the measurement open.
    pub cwnd_limited_per_round: bool,
    /// Delays the acknowledgement of a request, so that the application's response carries it, once the host
    /// has sent data within 40 ms of receiving some: pingpong mode (net/ipv4/tcp_output.c,
    /// `tcp_event_data_sent`). Off: the first 16 segments of a subflow are acknowledged at once.
    pub pingpong: bool,
}

impl LinuxCompat {
    /// All switches on.
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
