//! All connections of a capture: finds the subflow of each segment and the connection of each subflow.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::capacity::Capacity;
use super::subflow::{Place, Request, Subflow};
use super::view::View;
use crate::capture::{SeenSegment, SourceId};

/// Subflows that are followed at the same time, at most. Later ones are only counted.
const MOST_SUBFLOWS: usize = 20_000;
/// Segments of a join that wait until the connection is known, at most.
const MOST_EARLY: usize = 64;
/// Segments that wait for their views, and acknowledgements on their way, of all connections, at most.
const MOST_EARLY_IN_ALL: usize = 20_000;
const MOST_WAITING: usize = 100_000;
/// Subflows of a connection, at most; further ones appear as connections of their own. Linux allows 9.
const MOST_PER_VIEW: usize = 32;
/// Connections with the same token that are compared, at most.
const MOST_SAME: usize = 16;

/// An interface, and two addresses in order.
type FlowKey = (SourceId, SocketAddr, SocketAddr);

/// All connections of a capture.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    flows: HashMap<FlowKey, usize>,
    pub(crate) subflows: Vec<Subflow>,
    pub(crate) views: Vec<View>,
    /// Views by token, with the side of the host that has it.
    tokens: HashMap<u32, Vec<(usize, usize)>>,
    pub(crate) segments: u64,
    /// Segments that wait for their view, and acknowledgements on their way to senders.
    early: usize,
    waiting: usize,
    /// Segments of subflows beyond the maximum.
    pub(crate) omitted: u64,
    pub(crate) copies: u64,
    pub(crate) first: Option<u64>,
    pub(crate) last: u64,
}

fn key(segment: &SeenSegment) -> FlowKey {
    let (low, high) =
        if segment.from <= segment.to { (segment.from, segment.to) } else { (segment.to, segment.from) };
    (segment.source, low, high)
}

impl Tracker {
    /// Takes the next segment in the order of time.
    pub(crate) fn take(&mut self, segment: SeenSegment) {
        self.segments += 1;
        self.first.get_or_insert(segment.time);
        self.last = self.last.max(segment.time);
        let Some(id) = self.find(&segment) else {
            self.omitted += 1;
            return;
        };
        let subflow = &mut self.subflows[id];
        let side = subflow.side(&segment);
        if subflow.is_copy(&segment, side) {
            self.copies += 1;
            return;
        }
        subflow.take_control(&segment, side);
        let echo = subflow.take_timestamps(&segment, side);
        if subflow.view.is_none() && !self.find_view(id) {
            let early = &mut self.subflows[id].early;
            if early.len() < MOST_EARLY && self.early < MOST_EARLY_IN_ALL {
                self.early += 1;
                early.push(segment);
            }
            return;
        }
        self.deliver_early(id);
        self.process(id, segment, side, echo);
    }

    /// The subflow of a segment: a SYN on a subflow that has ended starts a new one.
    fn find(&mut self, segment: &SeenSegment) -> Option<usize> {
        let key = key(segment);
        let is_syn = segment.flags.syn() && !segment.flags.ack();
        if let Some(&id) = self.flows.get(&key) {
            let known = &self.subflows[id];
            let side = known.side(segment);
            let is_new = known.handshake.initial[side].is_some_and(|initial| initial != segment.sequence);
            let is_other = is_syn && (is_new || known.has_ended());
            if !is_other {
                return Some(id);
            }
        }
        if self.subflows.len() == MOST_SUBFLOWS {
            return None;
        }
        // Without a SYN, the host with the higher port is most likely the one that opened the connection.
        let opener_is_sender = match segment.flags.syn() {
            true => !segment.flags.ack(),
            false => segment.from.port() >= segment.to.port(),
        };
        let id = self.subflows.len();
        self.subflows.push(Subflow::new(segment, opener_is_sender, Capacity::after(id)));
        self.flows.insert(key, id);
        Some(id)
    }

    /// Finds or makes the view of a subflow. Returns false while it is unknown.
    fn find_view(&mut self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        let view = match subflow.handshake.request {
            Request::Join(token) => {
                let waits = subflow.handshake.third.is_none();
                match self.owner(token, id, waits) {
                    Some((view, side)) => {
                        // The token is that of the peer of the host that joins.
                        if side == 0 {
                            self.subflows[id].swap_sides();
                        }
                        view
                    }
                    None if waits => return false,
                    None => self.new_view(id),
                }
            }
            _ => self.new_view(id),
        };
        self.attach(id, view);
        true
    }

    fn new_view(&mut self, id: usize) -> usize {
        let subflow = &self.subflows[id];
        let mut view = View::new(
            &SeenSegment {
                time: subflow.started,
                packet: subflow.handshake.syn.map(|(_, packet)| packet).unwrap_or_default(),
                source: subflow.source,
                from: subflow.ends[0],
                to: subflow.ends[1],
                sequence: 0,
                acknowledgment: 0,
                flags: mptcp_wire::Flags::NONE,
                window: 0,
                payload: 0,
                options: mptcp_wire::Options::default(),
                has_cut_options: false,
            },
            Capacity::after(self.views.len()),
        );
        // A join whose first subflow was not captured.
        view.is_mptcp = matches!(subflow.handshake.request, Request::Join(_));
        if subflow.handshake.syn.is_none() {
            // A subflow whose start was not captured is MPTCP if it has DSS options.
            view.is_mptcp = subflow.has_mptcp;
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn attach(&mut self, id: usize, view: usize) {
        // Each segment examines all subflows of its connection.
        let is_full = self.views[view].subflows.len() >= MOST_PER_VIEW;
        let view = if is_full { self.new_view(id) } else { view };
        let number = u16::try_from(self.views[view].subflows.len()).unwrap_or(u16::MAX);
        self.views[view].subflows.push(id);
        self.subflows[id].view = Some((view, number));
    }

    /// The view that a join belongs to. Two views have the same token if both ends were captured; the place of the
    /// capture decides then. It is known when the handshake is complete.
    fn owner(&self, token: u32, id: usize, waits: bool) -> Option<(usize, usize)> {
        let known = self.tokens.get(&token)?;
        let subflow = &self.subflows[id];
        let here = |view: usize| {
            self.views[view].subflows.iter().any(|&one| self.subflows[one].source.file == subflow.source.file)
        };
        match known.as_slice() {
            [only] => Some(*only),
            _ => {
                if let [only] = known.iter().filter(|(view, _)| here(*view)).collect::<Vec<_>>().as_slice() {
                    return Some(**only);
                }
                if waits {
                    return None;
                }
                let place = subflow.place();
                // A join that the server opens is seen from its other side.
                let fits = |view: usize, side: usize| {
                    let other = match self.views[view].place(&self.subflows) {
                        Place::Opener if side == 0 => Place::Listener,
                        Place::Listener if side == 0 => Place::Opener,
                        same => same,
                    };
                    other == place
                };
                known.iter().find(|(view, side)| fits(*view, *side)).or(known.first()).copied()
            }
        }
    }

    /// Processes the segments that came before the view was known.
    fn deliver_early(&mut self, id: usize) {
        for segment in std::mem::take(&mut self.subflows[id].early) {
            self.early -= 1;
            let side = self.subflows[id].side(&segment);
            self.process(id, segment, side, None);
        }
    }

    fn process(&mut self, id: usize, segment: SeenSegment, side: usize, echo: Option<u64>) {
        let Some((view, index)) = self.subflows[id].view else { return };
        let time = segment.time;
        self.drain(view, time);
        let connection = &mut self.views[view];
        connection.mark(time, segment.packet);
        connection.advance(&mut self.subflows, time);
        for (token, side) in connection.learn_keys(&self.subflows[id]) {
            let same = self.tokens.entry(token).or_default();
            if same.len() < MOST_SAME && !same.contains(&(view, side)) {
                same.push((view, side));
            }
        }
        let subflow = &self.subflows[id];
        if index == 0 && subflow.handshake.is_agreed && subflow.handshake.syn.is_some() {
            connection.is_mptcp = true;
        }
        connection.take_options(subflow, &segment, side, index);
        connection.take_data(&mut self.subflows, id, &segment, side, index);
        self.take_echo(id, side, echo, &segment);
        // The acknowledgement is for data of the other side, and still has to reach it.
        let sender = 1 - side;
        let subflow = &mut self.subflows[id];
        const NEAR: u64 = 200_000;
        if subflow.distance(sender) > NEAR && self.waiting < MOST_WAITING {
            self.waiting += usize::from(subflow.delay(sender, segment));
        } else {
            self.views[view].take_acknowledgement(&mut self.subflows, id, &segment, sender, time);
        }
    }

    /// Uses the echo of a timestamp as RTT where the capture is far from the sender of the data.
    fn take_echo(&mut self, id: usize, side: usize, echo: Option<u64>, segment: &SeenSegment) {
        let subflow = &mut self.subflows[id];
        let other = subflow.distance(1 - side);
        let is_far = subflow.distance(side) > other;
        let Some(round_trip) = echo.filter(|_| is_far) else { return };
        let half = &mut subflow.halves[side];
        // After a pause, a sender echoes a timestamp that is old.
        let was_idle = half.flight() <= u64::from(segment.payload);
        if was_idle || half.credit() > 3 * half.segment_size() || half.is_in_recovery() {
            return;
        }
        let sample = (round_trip + other) as f64 / 1e9;
        half.echoed(sample, segment.time, segment.packet);
        let step = subflow.steps[side].at(segment.time);
        step.rtt_sum += sample as f32;
        step.rtt_count += 1;
        step.rtt_max = step.rtt_max.max(sample as f32);
    }

    /// Delivers the acknowledgements of a view that have arrived at their senders by now.
    fn drain(&mut self, view: usize, now: u64) {
        loop {
            let due = self.views[view].subflows.iter().flat_map(|&id| {
                let subflow = &self.subflows[id];
                (0..2).filter_map(move |side| Some((subflow.next_due(side)?, id, side)))
            });
            let Some((due, id, side)) = due.min().filter(|(due, ..)| *due <= now) else { return };
            let Some(waiting) = self.subflows[id].take_waiting(side) else { return };
            self.waiting -= 1;
            self.views[view].mark(waiting.segment.time, waiting.segment.packet);
            self.views[view].advance(&mut self.subflows, due);
            self.views[view].take_acknowledgement(&mut self.subflows, id, &waiting.segment, side, due);
        }
    }

    /// Ends the capture: segments that still wait arrive.
    pub(crate) fn finish(&mut self) {
        let waiting: Vec<usize> =
            (0..self.subflows.len()).filter(|&id| self.subflows[id].view.is_none()).collect();
        for id in waiting {
            let view = match self.subflows[id].handshake.request {
                Request::Join(token) => {
                    let known = self.tokens.get(&token).map_or(&[][..], Vec::as_slice);
                    // The SYN left the opener, so the view there saw it.
                    let at_opener = |view: usize| self.views[view].place(&self.subflows) == Place::Opener;
                    known.iter().find(|(view, _)| at_opener(*view)).or(known.first()).copied()
                }
                _ => None,
            };
            if let Some((_, 0)) = view {
                self.subflows[id].swap_sides();
            }
            let view = view.map_or_else(|| self.new_view(id), |(view, _)| view);
            self.attach(id, view);
            self.deliver_early(id);
        }
        for view in 0..self.views.len() {
            self.drain(view, u64::MAX);
            for direction in &mut self.views[view].directions {
                direction.finish();
            }
        }
    }
}
