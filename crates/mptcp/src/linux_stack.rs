//! Queues, memory accounting and reinjection of Linux's MPTCP, for simulations that are compared with Linux.
//!
//! Owns the switches and the constants of the kernel (6.12 to 6.18). The connection acts on them.

use mptcp_clock::Duration;

/// Independent switches. By default all are off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxStack {
    /// Assigns data to subflows ahead of their congestion windows, in bursts of the scheduler, up to their
    /// send buffers and the peer's window (net/mptcp/protocol.c, `__mptcp_push_pending`). The data stays on
    /// its subflow even if the path fails. The congestion window is filled to its last byte. After an idle
    /// time, each socket buffer of a burst halves the congestion window again.
    pub subflow_queues: bool,
    /// Treats buffer sizes as `SO_RCVBUF` and `SO_SNDBUF`: memory of twice the requested size, for the
    /// connection and for each subflow. Out-of-order data reduces the receive window (net/mptcp/protocol.h,
    /// `__mptcp_space`). A segment with PSH is acknowledged once all data is read (net/ipv4/tcp.c,
    /// `__tcp_cleanup_rbuf`).
    pub buffer_memory: bool,
    /// Reinjects only after no DATA_ACK has arrived for the longest RTO of the subflows, one fragment at a
    /// time, on a subflow with an empty queue (`__mptcp_retrans`). All data of a subflow is reinjected when
    /// it ends, or after `stale_loss_cnt` such timeouts without a response. Off: reinjects when a subflow
    /// times out. Needs `subflow_queues`.
    pub data_level_timer: bool,
    /// Keeps the peer's window per subflow, as Linux's TCP does. A duplicate acknowledgement may only widen
    /// that window (net/ipv4/tcp_input.c, `tcp_may_update_window`). The window is counted from the DATA_ACK
    /// (net/mptcp/options.c, `ack_update_msk`).
    ///
    /// If the peer reduces the window by duplicate acknowledgements, this host sends more than the peer
    /// offers. The peer acknowledges the excess on the subflow and drops it (net/mptcp/protocol.c,
    /// `mptcp_data_queue_ofo`, MPTcpExtNoDSSInWindow). Needs `data_level_timer`, which alone retransmits such
    /// data.
    pub windows_by_subflow: bool,
    /// Interval of probes on an unresponsive path; `None` disables them, as in Linux.
    pub failed_path_probe: Option<Duration>,
    /// Time during which new connections use TCP after a SYN was answered only without MP_CAPABLE:
    /// `net.mptcp.blackhole_timeout` (net/mptcp/ctrl.c). It doubles with each consecutive detection. `None`
    /// disables the detection.
    pub blackhole_timeout: Option<Duration>,
}

impl Default for LinuxStack {
    fn default() -> Self {
        Self {
            subflow_queues: false,
            buffer_memory: false,
            data_level_timer: false,
            windows_by_subflow: false,
            failed_path_probe: Some(Duration::from_secs(1)),
            blackhole_timeout: None,
        }
    }
}

impl LinuxStack {
    /// Linux's behaviour.
    pub const LINUX: Self = Self {
        subflow_queues: true,
        buffer_memory: true,
        data_level_timer: true,
        windows_by_subflow: true,
        failed_path_probe: None,
        blackhole_timeout: Some(Duration::from_secs(3600)),
    };

    /// Window scale for a receive buffer of `requested` bytes; `tunes` if autotuning may enlarge the buffer.
    pub(crate) fn window_scale(&self, requested: u64, tunes: bool) -> u8 {
        if self.buffer_memory { linux_window_scale(requested, tunes) } else { window_scale_for(requested) }
    }

    /// Whether the data-level timer controls reinjection; needs the subflow queues.
    pub(crate) fn has_data_level_timer(&self) -> bool {
        self.data_level_timer && self.subflow_queues
    }
}

/// Smallest shift with which a buffer of this size can be announced (RFC 7323 section 2.3).
fn window_scale_for(buffer: u64) -> u8 {
    (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14)
}

/// Linux's window scale (net/ipv4/tcp_output.c, `tcp_select_initial_window`): for the window before the first
/// packet, or with autotuning for the maximum of the buffer. Later windows may exceed the largest window that
/// this scale can announce.
pub(crate) fn linux_window_scale(requested: u64, tunes: bool) -> u8 {
    let space = if tunes { memory_of(requested).max(RMEM_MAX) } else { window_of(memory_of(requested), 0) };
    space.max(1).ilog2().saturating_sub(15).min(14) as u8
}

/// `net.core.rmem_max`.
const RMEM_MAX: u64 = 212_992;

/// Maximum bytes of a burst on one subflow: `MPTCP_SEND_BURST_SIZE` (net/mptcp/protocol.c).
pub(crate) const BURST: u64 = 65_536 - 20 - 40 - 40 - 8;
/// Size of a fragment, the unit of reinjection: a 32 KiB page fragment without its header
/// (`mptcp_carve_data_frag`).
pub(crate) const FRAGMENT: u64 = 32_768 - 40;
/// Unanswered timeouts after which a subflow is stale: `net.mptcp.stale_loss_cnt` (net/mptcp/ctrl.c).
pub(crate) const STALE_LOSSES: u32 = 4;
/// Data-level timeout if no subflow has a timer: `TCP_RTO_MIN` (include/net/tcp.h).
pub(crate) const MIN_DATA_RTO: Duration = Duration::from_millis(200);
/// Memory of a socket buffer with a mapping, without data: `skb->truesize` after
/// `alloc_skb_fclone(MAX_TCP_HEADER)` on x86-64.
const SEND_OVERHEAD: u64 = 832;
/// Segments per socket buffer in flight: the minimum of `tcp_tso_autosize`.
const IN_FLIGHT_SEGMENTS: u64 = 2;
/// Bytes per queued socket buffer: the maximum of segmentation offload.
const WAITING_BYTES: u64 = 65_536;
/// Minimum segments of an autotuned send buffer: `TCP_INIT_CWND` (net/ipv4/tcp_input.c, `tcp_sndbuf_expand`).
const MIN_SEGMENTS: u64 = 10;
/// Memory per segment in `tcp_sndbuf_expand`: `MAX_TCP_HEADER`, `skb_shared_info` and data, rounded up to a
/// power of two, plus a `sk_buff`.
const SEGMENT_HEADERS: u64 = 256 + 320;
const SEGMENT_HEAD: u64 = 256;

/// Memory of a buffer for a requested size: twice the request (net/core/sock.c, `sk_setsockopt`).
pub(crate) const fn memory_of(requested: u64) -> u64 {
    requested.saturating_mul(2)
}

/// Memory of a subflow's send buffer in use (`sk_wmem_queued`), from the queued bytes and the bytes in
/// flight.
pub(crate) const fn send_memory(waiting: u64, in_flight: u64, mss: u64) -> u64 {
    let buffers = waiting.div_ceil(WAITING_BYTES) + in_flight.div_ceil(IN_FLIGHT_SEGMENTS * mss);
    waiting + in_flight + buffers * SEND_OVERHEAD
}

/// Memory of the autotuned send buffer of a subflow with this congestion window (`tcp_sndbuf_expand`).
pub(crate) fn tuned_send_memory(window: u64, mss: u64) -> u64 {
    let segment = (mss + SEGMENT_HEADERS).next_power_of_two() + SEGMENT_HEAD;
    2 * (window / mss).max(MIN_SEGMENTS) * segment
}

/// Receive window for `memory` bytes of buffer after a packet with `payload` bytes: `tcp_win_from_space` with
/// the ratio of payload to memory in 1/256 (net/ipv4/tcp_input.c, `tcp_measure_rcv_mss`). Before the first
/// packet, half of the memory.
pub(crate) fn window_of(memory: u64, payload: u64) -> u64 {
    let ratio = if payload == 0 { 128 } else { (payload * 256 / packet_memory(payload)).clamp(1, 255) };
    memory * ratio / 256
}

/// Memory for which [`window_of`] returns `window`.
pub(crate) fn memory_for_window(window: u64, payload: u64) -> u64 {
    window.saturating_mul(1 << 16) / window_of(1 << 16, payload).max(1)
}

/// Memory of a received packet: data and `skb_shared_info` in a slab of a power of two, and the `sk_buff`
/// (net/core/skbuff.c).
const fn packet_memory(payload: u64) -> u64 {
    // 72 bytes of headers, 64 of `NET_SKB_PAD`, 320 of `skb_shared_info`.
    (payload + 72 + 64 + 320).next_power_of_two() + 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receive_windows_match_linux_6_18() {
        // `ss -tim` of a receiver with SO_RCVBUF of 6 MiB shows rb12582912 and rcv_ssthresh 7764594 to
        // 7766016.
        let memory = memory_of(6 << 20);
        assert_eq!(window_of(memory, 0), 6 << 20);
        assert!((7_700_000..7_800_000).contains(&window_of(memory, 1424)), "{}", window_of(memory, 1424));
    }

    #[test]
    fn window_scale_matches_linux_6_18() {
        // Linux 6.18 with SO_RCVBUF of 116 KiB: window scale 1, and at most 131,070 bytes in flight.
        assert_eq!(linux_window_scale(118_784, false), 1);
        assert!(window_of(memory_of(118_784), 1424) > 65_535 << 1);
        // 6 MiB, set by SO_RCVBUF and by tcp_rmem.
        assert_eq!((linux_window_scale(6 << 20, false), linux_window_scale(3 << 20, true)), (7, 7));
        assert_eq!((linux_window_scale(0, false), linux_window_scale(1 << 40, false)), (0, 14));
    }

    #[test]
    fn send_memory_matches_linux_6_18() {
        // `ss -tim` of senders shows w6406976 with notsent:6290656 unacked:18, w2131536 with notsent:2003888
        // unacked:54, and w603264 with notsent:411776 unacked:100; 1448 bytes each.
        for (memory, waiting, segments) in
            [(6_406_976_u64, 6_290_656, 18), (2_131_536, 2_003_888, 54), (603_264, 411_776, 100)]
        {
            let estimate = send_memory(waiting, segments * 1448, 1448);
            assert!(estimate.abs_diff(memory) * 100 < memory, "{estimate} for {memory}");
        }
        // A new socket shows tb46080.
        assert_eq!(tuned_send_memory(0, 1460), 46_080);
    }
}
