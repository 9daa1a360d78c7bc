//! The scripted link between the stack under test and its peer. A script decides about each segment by content and order.
//!
//! Owns the capture at the stack under test: sent packets before the script acts, received packets afterwards.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use mptcp_wire::{Checksum, Codepoint, Flags, Packet, Segment, Seq};

use super::seen::{Ledger, Seen};
use crate::laboratory::Port;

/// One-way delay.
const DELAY: Duration = Duration::from_millis(20);
/// Spacing of data packets to the peer: 30 Mb/s.
const SPACING: Duration = Duration::from_micros(400);
/// Spacing of data packets from the peer: 8 Mb/s, so that a driver reads them one by one.
const SPACING_BACK: Duration = Duration::from_micros(1_500);
/// Shorter packets take no time.
const BARE: usize = 200;
/// Interval of polling the ports, small compared with the RTT.
const PAUSE: Duration = Duration::from_micros(250);

/// The action of a script on a segment.
pub enum Action {
    Pass,
    Drop,
    /// Delivered after this number of other packets of its direction.
    Behind(u32),
    Twice,
    /// Delayed by this time, without delaying others.
    Late(Duration),
    /// Replaced by an edited segment.
    Becomes(fn(&mut Segment)),
    /// Too long: a router reports this MTU by ICMP.
    TooLong(u16),
    /// The sender gets a RST of the peer, with this offset from the expected number.
    Reset(u32),
}

/// A script, which decides by the content of a segment.
pub type Script = fn(&Seen) -> Action;

/// A captured segment.
pub struct Record {
    pub at: Instant,
    pub seen: Seen,
}

/// One direction of a path.
#[derive(Default)]
struct Queue {
    due: VecDeque<(Instant, Bytes)>,
    behind: Vec<(u32, Bytes)>,
    /// The time at which the link is free.
    free: Option<Instant>,
}

impl Queue {
    /// Delivers a packet at `due`, or when the link is free.
    fn put(&mut self, due: Instant, packet: Bytes, spacing: Duration) {
        let due = self.free.map_or(due, |free| due.max(free));
        let takes = if packet.len() > BARE { spacing } else { Duration::ZERO };
        self.free = Some(due + takes);
        self.due.push_back((due, packet));
    }

    fn push(&mut self, due: Instant, packet: Bytes, spacing: Duration) {
        self.put(due, packet, spacing);
        for waiting in &mut self.behind {
            waiting.0 -= 1;
        }
        while let Some(at) = self.behind.iter().position(|waiting| waiting.0 == 0) {
            let (_, packet) = self.behind.remove(at);
            self.put(due, packet, spacing);
        }
    }
}

/// The paths, each between a port of the stack under test and a port of its peer.
pub struct Link {
    pub paths: Vec<(Port, Port)>,
    pub script: Option<Script>,
}

impl Link {
    /// Forwards packets until `stop`; returns the capture, and whether the script acted.
    pub fn carry(&self, stop: &AtomicBool) -> (Vec<Record>, bool) {
        let (mut records, mut acted) = (Vec::new(), false);
        let (mut sent, mut got) = (Ledger::default(), Ledger::default());
        let mut queues: Vec<[Queue; 2]> = self.paths.iter().map(|_| Default::default()).collect();
        let mut buffer = vec![0; 65_536];
        while !stop.load(Ordering::Relaxed) {
            for (index, (near, far)) in self.paths.iter().enumerate() {
                let path = index as u8 + 1;
                for forth in [true, false] {
                    let from = if forth { near } else { far };
                    while let Some(bytes) = from.take(&mut buffer) {
                        let now = Instant::now();
                        // Only TCP packets reach the script.
                        let Ok(packet) = Packet::parse(&bytes) else { continue };
                        let seen = sent.look(forth, path, &packet.segment);
                        let fate = self.script.map_or(Action::Pass, |script| script(&seen));
                        acted |= !matches!(fate, Action::Pass);
                        if forth {
                            got.look(true, path, &packet.segment);
                            records.push(Record { at: now, seen });
                        }
                        self.decide(fate, packet, bytes, now, &mut queues[index], forth);
                    }
                }
                for forth in [true, false] {
                    let to = if forth { far } else { near };
                    let queue = &mut queues[index][usize::from(forth)].due;
                    // Other packets may overtake a delayed one.
                    let now = Instant::now();
                    while let Some(at) = queue.iter().position(|(due, _)| *due <= now) {
                        let Some((_, bytes)) = queue.remove(at) else { break };
                        if !forth && let Ok(packet) = Packet::parse(&bytes) {
                            let seen = got.look(false, path, &packet.segment);
                            records.push(Record { at: now, seen });
                        }
                        to.put(bytes);
                    }
                }
            }
            std::thread::sleep(PAUSE);
        }
        (records, acted)
    }

    fn decide(
        &self,
        fate: Action,
        mut packet: Packet,
        bytes: Bytes,
        now: Instant,
        queues: &mut [Queue; 2],
        forth: bool,
    ) {
        let due = now + DELAY;
        let (way, back) = (usize::from(forth), usize::from(!forth));
        let spacing = if forth { SPACING } else { SPACING_BACK };
        match fate {
            Action::Pass => queues[way].push(due, bytes, spacing),
            Action::Drop => {}
            Action::Behind(places) => queues[way].behind.push((places, bytes)),
            Action::Twice => {
                queues[way].push(due, bytes.clone(), spacing);
                queues[way].push(due, bytes, spacing);
            }
            Action::Late(more) => queues[way].due.push_back((due + more, bytes)),
            Action::Becomes(edit) => {
                edit(&mut packet.segment);
                queues[way].push(due, emit(&packet), spacing);
            }
            Action::TooLong(mtu) => {
                // The router is at the far end of the link.
                if mtu > 0 {
                    queues[back].push(due + DELAY, too_long(&packet.segment, &bytes, mtu), spacing);
                }
            }
            Action::Reset(off) => {
                let segment = &packet.segment;
                let mut reset = Segment::new(segment.destination, segment.source);
                reset.flags = Flags::RST;
                reset.sequence = segment.acknowledgment + off;
                queues[back].push(due, emit(&Packet::new(reset)), spacing);
                if off > 0 {
                    queues[way].push(due, bytes, spacing);
                }
            }
        }
    }
}

fn emit(packet: &Packet) -> Bytes {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes).unwrap();
    bytes.into()
}

/// "Fragmentation needed" (RFC 792, RFC 1191 section 4) about a packet of IPv4.
fn too_long(segment: &Segment, about: &Bytes, mtu: u16) -> Bytes {
    let (IpAddr::V4(host), IpAddr::V4(router)) = (segment.source.ip(), segment.destination.ip()) else {
        unreachable!("the links carry IPv4");
    };
    let quoted = &about[..about.len().min(28 + 40)];
    let mut message = vec![3, 4, 0, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    message.extend(quoted);
    let mut sum = Checksum::new();
    sum.add(&message);
    message[2..4].copy_from_slice(&sum.value().to_be_bytes());
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + message.len() as u16).to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, 1, 0, 0]);
    bytes.extend(router.octets());
    bytes.extend(host.octets());
    let mut sum = Checksum::new();
    sum.add(&bytes);
    bytes[10..12].copy_from_slice(&sum.value().to_be_bytes());
    bytes.extend(message);
    bytes.into()
}

/// Edits that scripts use.
pub mod edits {
    use super::{Codepoint, Segment, Seq};
    use bytes::Bytes;

    /// A queue marks it (RFC 3168 section 5).
    pub fn mark(segment: &mut Segment) {
        if segment.ecn.is_capable() {
            segment.ecn = Codepoint::Ce;
        }
    }

    /// A device without ECN clears the field.
    pub fn bleach(segment: &mut Segment) {
        segment.ecn = Codepoint::NotEct;
    }

    /// A middlebox removes MPTCP options.
    pub fn strip_mptcp(segment: &mut Segment) {
        segment.options.dss = None;
        segment.options.mptcp.clear();
    }

    /// A middlebox removes SACK-permitted.
    pub fn strip_sack(segment: &mut Segment) {
        segment.options.sack_permitted = false;
    }

    /// A middlebox removes timestamps.
    pub fn strip_timestamps(segment: &mut Segment) {
        segment.options.timestamps = None;
    }

    /// A middlebox changes a byte and corrects the TCP checksum.
    pub fn alter(segment: &mut Segment) {
        let mut payload = segment.payload.to_vec();
        if let Some(byte) = payload.first_mut() {
            *byte ^= 0xff;
        }
        segment.payload = Bytes::from(payload);
    }

    /// An acknowledgement of unsent data (RFC 5961 section 5.2).
    pub fn acknowledge_the_future(segment: &mut Segment) {
        segment.acknowledgment = Seq::new(segment.acknowledgment.value().wrapping_add(1 << 24));
    }
}
