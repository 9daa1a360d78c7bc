//! Emulated loss, duplication, reordering and ECN marks of packets at a device of the endpoint.
//!
//! Owns the decisions, which depend only on a seed and on the order of packets. The only timer is [`QUIET`],
//! after which a held packet without successors is released. With offload, a decision for one segment applies
//! to all its frames.

use std::time::Duration;

use mptcp::InterfaceId;
use mptcp_clock::Rng;
use mptcp_wire::{Codepoint, Packet, Segment};

/// Idle time of the endpoint after which held packets are released.
pub(crate) const QUIET: Duration = Duration::from_millis(10);

/// Impairments of one direction. Probabilities are 0 to 1, and clamped to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// Loss probability.
    pub loss: f64,
    /// Duplication probability.
    pub duplicate: f64,
    /// Probability that a packet is held until others have overtaken it.
    pub reorder: f64,
    /// Number of packets that overtake a held packet. With fewer successors, it is released after 10 ms
    /// without traffic, so it is late, not lost.
    pub depth: usize,
}

/// Impairments of both directions of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Edge {
    /// The seed of the decisions: the same packets with the same seed have the same result.
    pub seed: u64,
    /// Received packets.
    pub incoming: Impairment,
    /// Sent packets.
    pub outgoing: Impairment,
    /// Probability that an ECN-capable packet is marked, in both directions (RFC 3168).
    pub marks: f64,
}

/// Running impairments.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub incoming: Lane<(InterfaceId, Segment)>,
    /// Sent packets, each with the payload per frame if the device splits the packet (GSO).
    pub outgoing: Lane<(Packet, Option<u16>)>,
    marks: f64,
    random: Rng,
}

impl Lanes {
    pub(crate) fn new(edge: Edge) -> Self {
        Self {
            incoming: Lane::new(edge.incoming, edge.seed, "incoming"),
            outgoing: Lane::new(edge.outgoing, edge.seed, "outgoing"),
            marks: edge.marks,
            random: Rng::new(edge.seed, "marks"),
        }
    }

    /// Marks an ECN-capable segment at random.
    pub(crate) fn mark(&mut self, segment: &mut Segment) {
        if segment.ecn.is_capable() && self.random.unit() < self.marks {
            segment.ecn = Codepoint::Ce;
        }
    }

    /// Whether a packet is held.
    pub(crate) fn hold(&self) -> bool {
        !(self.incoming.held.is_empty() && self.outgoing.held.is_empty())
    }
}

/// One direction.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    what: Impairment,
    random: Rng,
    /// Held packets, with the number of packets that must still overtake each.
    held: Vec<(usize, T)>,
}

impl<T: Clone> Lane<T> {
    pub(crate) fn new(what: Impairment, seed: u64, direction: &str) -> Self {
        Self { what, random: Rng::new(seed, direction), held: Vec::new() }
    }

    /// Handles a packet: passes it on, drops it, duplicates it or holds it. Also releases packets that it has
    /// overtaken.
    pub(crate) fn pass(&mut self, packet: T, mut out: impl FnMut(T)) {
        // All decisions are drawn for each packet, so a change of one probability leaves the other decisions
        // unchanged.
        let [lost, twice, late] = [self.what.loss, self.what.duplicate, self.what.reorder]
            .map(|probability| self.random.unit() < probability);
        if lost {
            return;
        }
        if late && self.what.depth > 0 {
            self.held.push((self.what.depth, packet));
            return;
        }
        if twice {
            out(packet.clone());
        }
        out(packet);
        for (left, _) in &mut self.held {
            *left -= 1;
        }
        self.held.extract_if(.., |(left, _)| *left == 0).for_each(|(_, packet)| out(packet));
    }

    /// Releases all held packets.
    pub(crate) fn release(&mut self, out: impl FnMut(T)) {
        self.held.drain(..).map(|(_, packet)| packet).for_each(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(what: Impairment, seed: u64) -> Vec<u32> {
        let mut lane = Lane::new(what, seed, "test");
        let mut came = Vec::new();
        (0..10_000).for_each(|number| lane.pass(number, |packet| came.push(packet)));
        came
    }

    #[test]
    fn nothing_changes_without_probabilities() {
        assert!(through(Impairment { depth: 3, ..Impairment::default() }, 1).into_iter().eq(0..10_000));
    }

    #[test]
    fn each_kind_comes_as_often_as_is_said() {
        let lost = 10_000 - through(Impairment { loss: 0.1, ..Impairment::default() }, 1).len();
        assert!((900..1_100).contains(&lost), "{lost} lost");
        let more = through(Impairment { duplicate: 0.1, ..Impairment::default() }, 1).len() - 10_000;
        assert!((900..1_100).contains(&more), "{more} doubled");
        assert!(through(Impairment { loss: 1.0, ..Impairment::default() }, 1).is_empty());
    }

    #[test]
    fn what_is_overtaken_is_overtaken_by_as_many_as_is_said() {
        let came = through(Impairment { reorder: 0.1, depth: 3, ..Impairment::default() }, 1);
        let mut late = 0;
        for (at, packet) in came.iter().enumerate() {
            let overtaken_by = came[..at].iter().filter(|earlier| *earlier > packet).count();
            late += usize::from(overtaken_by > 0);
            assert!(overtaken_by == 0 || overtaken_by >= 3, "{packet} was overtaken by {overtaken_by}");
        }
        assert!((900..1_100).contains(&late), "{late} were overtaken");
    }

    #[test]
    fn what_nothing_overtakes_is_late_and_not_lost() {
        let mut lane = Lane::new(Impairment { reorder: 1.0, depth: 3, ..Impairment::default() }, 1, "test");
        let mut came = Vec::new();
        (0..3).for_each(|number| lane.pass(number, |packet| came.push(packet)));
        assert!(came.is_empty());
        lane.release(|packet| came.push(packet));
        lane.release(|packet| came.push(packet));
        assert_eq!(came, [0, 1, 2]);
    }

    #[test]
    fn the_same_seed_decides_the_same() {
        let what = Impairment { loss: 0.2, duplicate: 0.2, reorder: 0.2, depth: 2 };
        assert_eq!(through(what, 7), through(what, 7));
        assert_ne!(through(what, 7), through(what, 8));
    }
}
