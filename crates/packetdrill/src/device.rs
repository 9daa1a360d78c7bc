//! The network device from which packetdrill reads the packets of the endpoint under test.
//!
//! Owns the queue of packets, and the effect of segmentation offload on PSH. Linux sets PSH on each segment that the
//! device splits (`__tcp_transmit_skb`), and only the last part carries it. Never changes anything else.

use std::collections::VecDeque;

use mptcp::SubflowInfo;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, IpHeader, Packet, Segment};

/// A packet that left the stack.
#[derive(Debug)]
pub(crate) struct Left {
    /// Time of departure.
    pub(crate) at: Instant,
    /// The packet's bytes.
    pub(crate) packet: Vec<u8>,
}

/// The queue of outgoing packets.
#[derive(Debug, Default)]
pub(crate) struct Device {
    left: VecDeque<Left>,
    /// A held segment, because PSH depends on the next one; its traffic class, and its number in the burst from 1.
    last: Option<(Segment, u8, u64)>,
}

impl Device {
    /// Sends a segment. Linux would hand at most `most` such segments to the device in one burst.
    pub(crate) fn send(&mut self, now: Instant, segment: Segment, class: u8, most: u64) {
        let mut count = 1;
        match self.last.take() {
            Some((before, class, so_far)) if so_far < most && continues(&before, &segment) => {
                self.emit(now, before, class);
                count += so_far;
            }
            last => {
                self.last = last;
                self.flush(now);
            }
        }
        self.last = Some((segment, class, count));
    }

    /// Sends the held segment, which ends its burst.
    pub(crate) fn flush(&mut self, now: Instant) {
        if let Some((mut segment, class, count)) = self.last.take() {
            if count > 1 {
                segment.flags |= Flags::PSH;
            }
            self.emit(now, segment, class);
        }
    }

    fn emit(&mut self, at: Instant, segment: Segment, class: u8) {
        let mut packet = Packet::new(segment);
        match &mut packet.ip {
            IpHeader::V4(header) => header.traffic_class = class,
            IpHeader::V6(header) => header.traffic_class = class,
        }
        let mut bytes = Vec::new();
        if packet.emit(&mut bytes).is_ok() {
            self.left.push_back(Left { at, packet: bytes });
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Left> {
        self.left.pop_front()
    }
}

/// Maximum number of segments that Linux hands to a device in one burst (`tcp_tso_autosize`, `tcp_cwnd_test`).
///
/// The burst holds the data of one millisecond, more if the RTT is short, and at least `least` segments. Half of the
/// window is the maximum, so that two bursts can be in flight. `least` is `tcp_min_tso_segs`.
pub(crate) fn burst(subflow: &SubflowInfo, least: u64) -> u64 {
    /// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, in percent.
    const PACES: (u64, u64) = (200, 120);
    /// Linux's `tcp_tso_rtt_log`.
    const ROUND_TRIP_LOG: u32 = 9;
    let mss = subflow.mss.max(1);
    let micros = |span: Duration| span.as_nanos() / 1_000;
    let starting = subflow.ssthresh.is_none_or(|ssthresh| subflow.cwnd < ssthresh / 2);
    let pace = if starting { PACES.0 } else { PACES.1 };
    let second = subflow.cwnd.saturating_mul(pace * 10_000);
    let rate = subflow.srtt.map_or(u64::MAX, |srtt| second / micros(srtt).max(1));
    let near = subflow.min_rtt.map_or(u64::MAX, micros) >> ROUND_TRIP_LOG;
    let more = if near < 32 { 65_536 >> near } else { 0 };
    let bytes = (rate >> 10).saturating_add(more).min(65_536);
    (bytes / mss).max(least).min((subflow.cwnd / mss / 2).max(1))
}

/// Whether a kernel would send both segments as one. The second must continue the first, which has no PSH; all other
/// fields must be equal.
fn continues(before: &Segment, next: &Segment) -> bool {
    let length = before.payload.len() as u32;
    let plain = before.flags == Flags::ACK && !next.flags.syn() && !next.flags.rst();
    plain
        && length > 0
        && !next.payload.is_empty()
        && next.payload.len() <= before.payload.len()
        && (before.source, before.destination) == (next.source, next.destination)
        && next.sequence == before.sequence + length
        && next.acknowledgment == before.acknowledgment
        && next.options == before.options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(from: u32, length: usize) -> Segment {
        let (host, peer) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let mut segment = Segment::new(host, peer);
        segment.flags = Flags::ACK;
        segment.sequence = mptcp_wire::Seq::new(from);
        segment.payload = vec![0; length].into();
        segment
    }

    fn pushes(segments: Vec<Segment>) -> Vec<bool> {
        let mut device = Device::default();
        segments.into_iter().for_each(|segment| device.send(Instant::ZERO, segment, 0, 3));
        device.flush(Instant::ZERO);
        let packets = std::iter::from_fn(|| device.pop());
        packets
            .map(|left| Packet::parse(&left.packet.into()).unwrap().segment.flags.contains(Flags::PSH))
            .collect()
    }

    #[test]
    fn the_last_of_a_burst_is_pushed() {
        assert_eq!(pushes(vec![data(0, 10), data(10, 10), data(20, 5)]), [false, false, true]);
        assert_eq!(pushes(vec![data(0, 10)]), [false]);
        // A burst is limited to three segments.
        let five = (0..5).map(|at| data(10 * at, 10)).collect();
        assert_eq!(pushes(five), [false, false, true, false, true]);
    }

    #[test]
    fn a_burst_ends_where_a_segment_was_pushed_or_another_begins() {
        let mut pushed = data(10, 10);
        pushed.flags |= Flags::PSH;
        assert_eq!(pushes(vec![data(0, 10), pushed, data(20, 10)]), [false, true, false]);
        assert_eq!(pushes(vec![data(0, 10), data(10, 10), data(30, 10)]), [false, true, false]);
    }
}
