//! How Linux's own Multipath TCP handles what waits: queues, memory, reinjection. What simulations of it need.
//!
//! Owns the switches, and the numbers of the kernel that they stand on (6.12 to 6.18); the connection asks where it acts.

use mptcp_clock::Duration;

/// Each is a switch of its own. The default, none, is what mptcplab does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxStack {
    /// Data is given to subflows ahead of their congestion windows, in the bursts of the scheduler, as far as their send
    /// buffers and the peer's window have room (net/mptcp/protocol.c, `__mptcp_push_pending`): it waits there, whatever happens to
    /// the path. A window is filled to its last byte; after a silence each buffer of a burst halves the congestion window anew.
    pub subflow_queues: bool,
    /// Buffers are SO_RCVBUF and SO_SNDBUF: memory, of which there is twice as much as was asked for, for the connection and
    /// for each subflow. What waits out of order leaves less of the window (net/mptcp/protocol.h, `__mptcp_space`). A pushed end is
    /// acknowledged once all is read (net/ipv4/tcp.c, `__tcp_cleanup_rbuf`).
    pub buffer_memory: bool,
    /// Data goes again on another subflow only when nothing was acknowledged at the data level for the longest timeout of the
    /// subflows, a fragment at a time, on one that has nothing to send (`__mptcp_retrans`); all of it when a subflow ends, or has
    /// been silent for `stale_loss_cnt` such times. Without, as soon as a subflow times out. Needs `subflow_queues`.
    pub data_level_timer: bool,
    /// The peer's window is what the TCP of the subflow keeps of it, which an acknowledgement that repeats the last one may
    /// only widen (net/ipv4/tcp_input.c, `tcp_may_update_window`), from the data acknowledgement on (net/mptcp/options.c,
    /// `ack_update_msk`): where a window shrinks while a subflow repeats itself, more is sent than was offered. Who receives
    /// acknowledges that on the subflow and drops it (net/mptcp/protocol.c, `mptcp_data_queue_ofo`, MPTcpExtNoDSSInWindow).
    /// Needs `data_level_timer`: nothing else sends it again.
    pub windows_by_subflow: bool,
    /// How often a silent path is asked whether it is back; `None` is never, as in Linux.
    pub failed_path_probe: Option<Duration>,
    /// For how long connections of this endpoint open as TCP, once a SYN was answered only without MP_CAPABLE (net/mptcp/ctrl.c,
    /// `net.mptcp.blackhole_timeout`); twice as long each time in a row that it happens again. `None` is not at all.
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
    /// As Linux has it.
    pub const LINUX: Self = Self {
        subflow_queues: true,
        buffer_memory: true,
        data_level_timer: true,
        windows_by_subflow: true,
        failed_path_probe: None,
        blackhole_timeout: Some(Duration::from_secs(3600)),
    };

    /// The window scale for a receive buffer of `asked` bytes, which may tune itself.
    pub(crate) fn window_scale(&self, asked: u64, tunes: bool) -> u8 {
        if self.buffer_memory { linux_window_scale(asked, tunes) } else { window_scale_for(asked) }
    }

    /// Whether data goes again by the data level's timer: it takes the queues for that.
    pub(crate) fn reinjects_late(&self) -> bool {
        self.data_level_timer && self.subflow_queues
    }
}

/// The shift that lets a buffer of so many bytes be offered (RFC 7323 section 2.3).
fn window_scale_for(buffer: u64) -> u8 {
    (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14)
}

/// The shift that Linux takes (net/ipv4/tcp_output.c, `tcp_select_initial_window`): by the window that the buffer gives before the first
/// packet, or by the most that it may become; what it gives later may be more than can be said.
pub(crate) fn linux_window_scale(asked: u64, tunes: bool) -> u8 {
    let space = if tunes { memory_of(asked).max(RMEM_MAX) } else { window_of(memory_of(asked), 0) };
    space.max(1).ilog2().saturating_sub(15).min(14) as u8
}

/// `net.core.rmem_max`.
const RMEM_MAX: u64 = 212_992;

/// Bytes that a subflow gets in a row: `MPTCP_SEND_BURST_SIZE` (net/mptcp/protocol.c).
pub(crate) const BURST: u64 = 65_536 - 20 - 40 - 40 - 8;
/// Bytes of a fragment, which goes again as a whole: a page fragment of 32 KiB without its head (`mptcp_carve_data_frag`).
pub(crate) const FRAGMENT: u64 = 32_768 - 40;
/// `net.mptcp.stale_loss_cnt`: so many times without an answer make a subflow stale (net/mptcp/ctrl.c).
pub(crate) const STALE_LOSSES: u32 = 4;
/// The data-level timer where no subflow has one: `TCP_RTO_MIN` (include/net/tcp.h).
pub(crate) const MIN_WAIT: Duration = Duration::from_millis(200);
/// The memory of a socket buffer that carries a mapping, without its data: what `skb->truesize` is for an empty one
/// (`alloc_skb_fclone(MAX_TCP_HEADER)`, on x86-64).
const SEND_OVERHEAD: u64 = 832;
/// Segments in one of those that are in flight: `tcp_tso_autosize` takes two at least.
const IN_FLIGHT_SEGMENTS: u64 = 2;
/// Bytes in one that waits: the largest for segmentation offload.
const WAITING_BYTES: u64 = 65_536;
/// Least segments of an autotuned send buffer: `TCP_INIT_CWND` (net/ipv4/tcp_input.c, `tcp_sndbuf_expand`).
const MIN_SEGMENTS: u64 = 10;
/// What a segment takes there: `MAX_TCP_HEADER` and a `skb_shared_info` beside its data, to a power of two, and a `sk_buff`.
const SEGMENT_HEADERS: u64 = 256 + 320;
const SEGMENT_HEAD: u64 = 256;

/// Twice what was asked for (net/core/sock.c, `sk_setsockopt`).
pub(crate) const fn memory_of(asked: u64) -> u64 {
    asked.saturating_mul(2)
}

/// What the data of a subflow takes of its send buffer (`sk_wmem_queued`), by what waits and what is in flight.
pub(crate) const fn send_memory(waiting: u64, in_flight: u64, mss: u64) -> u64 {
    let buffers = waiting.div_ceil(WAITING_BYTES) + in_flight.div_ceil(IN_FLIGHT_SEGMENTS * mss);
    waiting + in_flight + buffers * SEND_OVERHEAD
}

/// An autotuned send buffer of a subflow with this window (`tcp_sndbuf_expand`).
pub(crate) fn tuned_send_memory(window: u64, mss: u64) -> u64 {
    let segment = (mss + SEGMENT_HEADERS).next_power_of_two() + SEGMENT_HEAD;
    2 * (window / mss).max(MIN_SEGMENTS) * segment
}

/// The window that `memory` of receive buffer gives where a packet with `payload` bytes has come: `tcp_win_from_space` with the
/// ratio of payload to memory, of 256 (net/ipv4/tcp_input.c, `tcp_measure_rcv_mss`); half of it before the first.
pub(crate) fn window_of(memory: u64, payload: u64) -> u64 {
    let ratio = if payload == 0 { 128 } else { (payload * 256 / packet_memory(payload)).clamp(1, 255) };
    memory * ratio / 256
}

/// The memory that gives such a window.
pub(crate) fn memory_for_window(window: u64, payload: u64) -> u64 {
    window.saturating_mul(1 << 16) / window_of(1 << 16, payload).max(1)
}

/// The memory of a received packet: data and its `skb_shared_info` in a slab of a power of two, and the `sk_buff` (net/core/skbuff.c).
const fn packet_memory(payload: u64) -> u64 {
    // 72 bytes of headers, 64 of `NET_SKB_PAD`, 320 of `skb_shared_info`.
    (payload + 72 + 64 + 320).next_power_of_two() + 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_what_linux_6_18_gives() {
        // `ss -tim` of a receiver with SO_RCVBUF of 6 MiB: rb12582912, rcv_ssthresh 7764594 to 7766016.
        let memory = memory_of(6 << 20);
        assert_eq!(window_of(memory, 0), 6 << 20);
        assert!((7_700_000..7_800_000).contains(&window_of(memory, 1424)), "{}", window_of(memory, 1424));
    }

    #[test]
    fn what_can_be_said_is_less_than_what_there_is() {
        // Linux 6.18 with SO_RCVBUF of 116 KiB: a window scale of 1, and never more than 131070 bytes on the way.
        assert_eq!(linux_window_scale(118_784, false), 1);
        assert!(window_of(memory_of(118_784), 1424) > 65_535 << 1);
        // 6 MiB, by SO_RCVBUF and by tcp_rmem.
        assert_eq!((linux_window_scale(6 << 20, false), linux_window_scale(3 << 20, true)), (7, 7));
        assert_eq!((linux_window_scale(0, false), linux_window_scale(1 << 40, false)), (0, 14));
    }

    #[test]
    fn send_memory_is_what_linux_6_18_counts() {
        // `ss -tim` of senders: w6406976 with notsent:6290656 unacked:18, w2131536 with notsent:2003888 unacked:54,
        // w603264 with notsent:411776 unacked:100, 1448 bytes each.
        for (memory, waiting, segments) in
            [(6_406_976_u64, 6_290_656, 18), (2_131_536, 2_003_888, 54), (603_264, 411_776, 100)]
        {
            let ours = send_memory(waiting, segments * 1448, 1448);
            assert!(ours.abs_diff(memory) * 100 < memory, "{ours} for {memory}");
        }
        // A new socket has tb46080.
        assert_eq!(tuned_send_memory(0, 1460), 46_080);
    }
}
