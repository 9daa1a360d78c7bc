//! A bad network at the edge of a device: packets that are lost, come twice, or are overtaken.
//!
//! Owns its decisions, which follow from a seed and from the packets' order alone. Time comes in only where nothing
//! follows what is held back: it goes on when the endpoint has been quiet for [`QUIET`]. Segments are whole as the device
//! hands them over: with offload one may be many frames.

use std::time::Duration;

use mptcp::InterfaceId;
use mptcp_clock::Rng;
use mptcp_wire::{Codepoint, Packet, Segment};

/// How long an endpoint is quiet before it gets what is held back.
pub(crate) const QUIET: Duration = Duration::from_millis(10);

/// What happens to packets in one direction. Probabilities are 0 to 1; more counts as 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// How likely a packet is lost.
    pub loss: f64,
    /// How likely it comes twice.
    pub duplicate: f64,
    /// How likely it is held back until others have overtaken it.
    pub reorder: f64,
    /// How many packets overtake one that is held back. One that too few follow goes on when the endpoint has
    /// neither sent nor received for 10 ms: it is late, not lost.
    pub depth: usize,
}

/// What a device does to packets on both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Edge {
    /// Names the sequence of decisions: the same packets with the same seed meet the same fate.
    pub seed: u64,
    /// What the endpoint receives.
    pub incoming: Impairment,
    /// What the endpoint sends.
    pub outgoing: Impairment,
    /// How likely a packet that is ECN-capable is marked, on both ways (RFC 3168).
    pub marks: f64,
}

/// An edge at work.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub incoming: Lane<(InterfaceId, Segment)>,
    /// With the payload of a frame, where the device cuts the packet.
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

    /// Marks a segment that may be marked, now and then.
    pub(crate) fn mark(&mut self, segment: &mut Segment) {
        if segment.ecn.is_capable() && self.random.unit() < self.marks {
            segment.ecn = Codepoint::Ce;
        }
    }

    /// Whether a packet waits to be overtaken.
    pub(crate) fn hold(&self) -> bool {
        !(self.incoming.held.is_empty() && self.outgoing.held.is_empty())
    }
}

/// One direction of an edge.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    what: Impairment,
    random: Rng,
    /// Held back, and how many have yet to overtake each.
    held: Vec<(usize, T)>,
}

impl<T: Clone> Lane<T> {
    pub(crate) fn new(what: Impairment, seed: u64, direction: &str) -> Self {
        Self { what, random: Rng::new(seed, direction), held: Vec::new() }
    }

    /// Takes a packet, and hands on what comes out for it: itself or not, or twice, and those that it has overtaken.
    pub(crate) fn pass(&mut self, packet: T, mut out: impl FnMut(T)) {
        // Each decision is drawn for each packet, so that one probability does not change what the others hit.
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

    /// Hands on what nothing has overtaken in time.
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
