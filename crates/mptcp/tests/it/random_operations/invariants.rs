//! Invariants that an observer of all segments can check: encoding, options and windows.

use std::collections::HashMap;
use std::net::SocketAddr;

use bytes::Bytes;
use mptcp::Version;
use mptcp_wire::{DataSequence, MptcpOption, Options, Packet, Segment};

use super::Side;

type Tuple = (SocketAddr, SocketAddr);

/// The receive window that one side has offered, as seen by the other.
#[derive(Debug, Default)]
struct Offers {
    /// Window scale per subflow, by the addresses of the offering side.
    scales: HashMap<Tuple, u8>,
    /// TCP: right edge of the window per subflow, relative to its initial sequence number.
    plain: HashMap<Tuple, u32>,
    /// Right edge of the window at the data level.
    data: Option<u64>,
    /// Maximum acknowledged data sequence number.
    acknowledged: Option<u64>,
    /// Data sequence number of the first byte.
    first: Option<u64>,
}

/// Checks every segment when it is sent and when it arrives.
#[derive(Debug, Default)]
pub struct Invariants {
    /// The window offered to each side.
    offered: [Offers; 2],
    /// Initial sequence numbers by the addresses of the sender.
    initial: HashMap<Tuple, u32>,
    scaled: HashMap<Tuple, bool>,
    /// Sides that may exceed the window, as Linux does; their windows are not checked.
    unchecked: [bool; 2],
}

fn later(number: u32, than: u32) -> bool {
    number.wrapping_sub(than) as i32 > 0
}

impl Invariants {
    /// `unchecked`: sides whose windows are not checked.
    pub fn new(unchecked: [bool; 2]) -> Self {
        Self { unchecked, ..Self::default() }
    }

    pub fn on_sent(&mut self, side: Side, segment: &Segment) {
        check_encoding(segment);
        let tuple = (segment.source, segment.destination);
        if segment.flags.syn() {
            self.initial.insert(tuple, segment.sequence.value());
            self.scaled.insert(tuple, segment.options.window_scale.is_some());
        }
        if segment.payload.is_empty() {
            return;
        }
        let offered = &self.offered[side as usize];
        let end = segment.sequence.value().wrapping_add(segment.payload.len() as u32);
        match segment.options.dss.and_then(|dss| dss.mapping).filter(|mapping| mapping.length > 0) {
            Some(mapping) => {
                let DataSequence::Wide(start) = mapping.sequence else {
                    panic!("a short data sequence number")
                };
                let edge = offered.data.unwrap_or(u64::MAX);
                let end = start.wrapping_add(u64::from(mapping.length));
                assert!(
                    edge == u64::MAX || self.unchecked[side as usize] || end.wrapping_sub(edge) as i64 <= 0,
                    "{side:?} sends {} bytes beyond the data-level window",
                    end.wrapping_sub(edge)
                );
            }
            None if keys(segment) => {}
            None => {
                if let Some(&edge) = offered.plain.get(&tuple) {
                    assert!(
                        !later(end, edge),
                        "{side:?} sends {} bytes beyond the window",
                        end.wrapping_sub(edge)
                    );
                }
            }
        }
    }

    /// Updates the window offered to `to` by the sender of the segment.
    pub fn on_arrival(&mut self, to: Side, segment: &Segment) {
        let theirs = (segment.source, segment.destination);
        let ours = (segment.destination, segment.source);
        if segment.flags.rst() {
            return;
        }
        // The keys of the handshake determine the initial data sequence numbers; the SYN/ACK has a window.
        for option in &segment.options.mptcp {
            let MptcpOption::Capable(capable) = option else { continue };
            let version = if capable.version == 0 { Version::V0 } else { Version::V1 };
            if let (Some(sender), Some(receiver)) = (capable.sender_key, capable.receiver_key) {
                self.offered[0].start(version, sender);
                self.offered[1].start(version, receiver);
            } else if let (Version::V0, Some(sender)) = (version, capable.sender_key) {
                self.offered[to.other() as usize].start(version, sender);
            }
        }
        let offered = &mut self.offered[to as usize];
        if let Some(scale) = segment.options.window_scale {
            offered.scales.insert(ours, scale.min(14));
        }
        // Window scaling applies only if both SYNs had the option.
        let both = self.scaled.get(&ours).copied().unwrap_or(false)
            && self.scaled.get(&theirs).copied().unwrap_or(false);
        let scale = match (segment.flags.syn(), both) {
            (false, true) => offered.scales.get(&ours).copied().unwrap_or(0),
            _ => 0,
        };
        let window = u32::from(segment.window) << scale;
        if segment.flags.ack() {
            let edge = segment.acknowledgment.value().wrapping_add(window);
            let known = offered.plain.entry(ours).or_insert(edge);
            if later(edge, *known) {
                *known = edge;
            }
        }
        // With keys and no data acknowledgement, the window starts at the first byte.
        if let Some(near) = offered.acknowledged {
            let whole = match segment.options.dss.and_then(|dss| dss.ack) {
                Some(ack) => ack.expand(near),
                None if keys(segment) => offered.first.unwrap_or(near),
                None => return,
            };
            if whole.wrapping_sub(near) as i64 > 0 {
                offered.acknowledged = Some(whole);
            }
            let edge = whole.wrapping_add(u64::from(window));
            if offered.data.is_none_or(|known| edge.wrapping_sub(known) as i64 > 0) {
                offered.data = Some(edge);
            }
        }
    }
}

impl Offers {
    fn start(&mut self, version: Version, key: u64) {
        let first = version.digest(key).initial_sequence.wrapping_add(1);
        self.first.get_or_insert(first);
        self.acknowledged.get_or_insert(first);
        // A window without a data acknowledgement starts at the first byte; no window exceeds this.
        self.data.get_or_insert(first.wrapping_add(65_535));
    }
}

fn keys(segment: &Segment) -> bool {
    segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::Capable(_)))
}

/// Checks that a segment is unchanged after encoding and decoding.
fn check_encoding(segment: &Segment) {
    let length = segment.options.length();
    assert!(length <= Options::SPACE, "{length} bytes of options: {segment:?}");
    let mut bytes = Vec::new();
    Packet::new(segment.clone()).emit(&mut bytes).unwrap();
    let back = Packet::parse(&Bytes::from(bytes)).unwrap();
    assert_eq!(back.segment, *segment, "encoding changed it");
}
