//! Builds `struct tcp_info` of Linux 6.18 (include/uapi/linux/tcp.h), which packetdrill scripts compare.
//!
//! Owns the order and the units of the fields. Fields that this stack does not know are 0.

use mptcp::{ConnectionInfo, Limit, Recovery, SubflowInfo, SubflowState};
use mptcp_clock::{Duration, Instant};

use crate::clocks::Clocks;

/// Linux's value for an unset threshold (TCP_INFINITE_SSTHRESH).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Bits of `tcpi_options`.
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const WINDOW_SCALE: u8 = 4;
const ECN: u8 = 8;
const SYN_DATA: u8 = 32;

/// The encoded fields, in the kernel's order.
#[derive(Default)]
struct Layout(Vec<u8>);

impl Layout {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends 32-bit numbers. Larger numbers become the maximum.
    fn words<const N: usize>(&mut self, words: [u64; N]) {
        for word in words {
            self.bytes(&u32::try_from(word).unwrap_or(u32::MAX).to_ne_bytes());
        }
    }

    fn longs<const N: usize>(&mut self, longs: [u64; N]) {
        longs.iter().for_each(|long| self.bytes(&long.to_ne_bytes()));
    }
}

/// Linux's numbers of the TCP states (include/net/tcp_states.h).
pub(crate) fn state(state: SubflowState) -> u8 {
    match state {
        SubflowState::Established => 1,
        SubflowState::SynSent => 2,
        SubflowState::SynReceived => 3,
        SubflowState::FinWait1 => 4,
        SubflowState::FinWait2 => 5,
        SubflowState::TimeWait => 6,
        SubflowState::Closed => 7,
        SubflowState::CloseWait => 8,
        SubflowState::LastAck => 9,
        SubflowState::Closing => 11,
    }
}

fn recovery(recovery: Recovery) -> u8 {
    match recovery {
        Recovery::Open => 0,
        Recovery::Disorder => 1,
        Recovery::Cwr { .. } => 2,
        Recovery::Recovery { .. } => 3,
        Recovery::Loss { .. } => 4,
    }
}

fn micros(span: Duration) -> u64 {
    span.as_nanos() / 1_000
}

/// The structure of a socket without a connection: all 0 except for the state (CLOSE, 7, or LISTEN, 10).
pub(crate) fn blank(listens: bool) -> Vec<u8> {
    let mut bytes = vec![0; 280];
    bytes[0] = if listens { 10 } else { 7 };
    bytes
}

/// The structure of a subflow of a connection.
pub(crate) fn of(now: Instant, whole: &ConnectionInfo, subflow: &SubflowInfo, clocks: &Clocks) -> Vec<u8> {
    let mss = subflow.mss.max(1);
    let segments = |bytes: u64| bytes.div_ceil(mss);
    let limited = |wanted: Limit| {
        let spans = whole.limits.iter().filter(|(limit, _)| *limit == wanted);
        spans.map(|(_, span)| micros(*span)).sum::<u64>()
    };
    let since = |at: Instant| now.since(at).as_nanos() / 1_000_000;
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    let scaled = subflow.send_scale > 0 || subflow.receive_scale > 0;
    let unsent = whole.bytes_written.saturating_sub(whole.bytes_sent);
    // Linux counts segments and includes the SYN.
    let opened = u64::from(!matches!(subflow.state, SubflowState::SynSent | SubflowState::SynReceived));
    let delivered = opened + segments(subflow.stats.bytes_acked + subflow.sacked);
    let mut layout = Layout::default();
    layout.bytes(&[
        state(subflow.state),
        recovery(subflow.recovery),
        subflow.backoff.min(255) as u8,
        subflow.probes.min(255) as u8,
        subflow.backoff.min(255) as u8,
        bit(subflow.timestamps, TIMESTAMPS)
            | bit(subflow.sack, SACK)
            | bit(scaled, WINDOW_SCALE)
            | bit(subflow.ecn, ECN)
            | bit(subflow.syn_data, SYN_DATA),
        subflow.send_scale | subflow.receive_scale << 4,
        0,
    ]);
    let received = subflow.stats.longest_received.min(subflow.advmss.into()).max(536);
    layout.words([micros(subflow.rto), micros(subflow.ack_delay), mss, received]);
    // tcpi_unacked, tcpi_sacked, tcpi_lost, tcpi_retrans, tcpi_fackets.
    layout.words([
        segments(subflow.unacked),
        segments(subflow.sacked),
        segments(subflow.lost),
        segments(subflow.retrans),
        0,
    ]);
    layout.words([since(clocks.sent), 0, since(clocks.data), since(clocks.heard)]);
    layout.words([
        subflow.pmtu.into(),
        whole.receive_buffer,
        micros(subflow.srtt.unwrap_or_default()),
        micros(subflow.rttvar),
        subflow.ssthresh.map_or(NO_THRESHOLD.into(), |bytes| bytes / mss),
        subflow.cwnd / mss,
        subflow.advmss.into(),
        // Linux's `tcp_reordering`; RACK handles larger reordering.
        3,
    ]);
    layout.words([0, whole.receive_buffer, subflow.retransmissions]);
    let pace = subflow.pacing_rate.map_or(u64::MAX, |rate| rate as u64);
    layout.longs([pace, u64::MAX, subflow.stats.bytes_acked, subflow.stats.bytes_received]);
    layout.words([subflow.stats.segments_sent, subflow.stats.segments_received, unsent]);
    layout.words([
        subflow.min_rtt.map_or(u64::from(u32::MAX), micros),
        subflow.stats.data_segments_received,
        subflow.stats.data_segments_sent,
    ]);
    layout.longs([0, micros(clocks.busy)]);
    layout
        .longs([limited(Limit::ReceiveWindow) + limited(Limit::HeadOfLine), micros(clocks.short_of_buffer)]);
    layout.words([delivered, segments(subflow.delivered_ce)]);
    layout.longs([subflow.stats.bytes_sent, subflow.retransmitted_bytes]);
    layout.words([0, u64::from(subflow.reordering_seen), segments(subflow.out_of_order)]);
    layout.words([whole.peer_window, whole.receive_buffer, 0]);
    layout.bytes(&(subflow.timeouts.min(65_535) as u16).to_ne_bytes());
    layout.bytes(&0_u16.to_ne_bytes());
    // tcpi_total_rto_time, then the counters of AccECN.
    layout.words([0, subflow.received_ce, 0, 0, 0, 0, 0, 0, 0]);
    layout.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_without_a_connection_has_the_length_of_linux_6_18() {
        assert_eq!((blank(true).len(), blank(true)[0], blank(false)[0]), (280, 10, 7));
    }
}
