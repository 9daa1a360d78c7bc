//! Transfer of segments between the network and middleboxes.
//!
//! The network knows frames only by length, and stops them at a tap: the end of a link that has a middlebox.
//! The world, the running simulation, passes their segments to the middleboxes, and sends the resulting
//! segments onward.

use mptcp_clock::Instant;
use mptcp_wire::Codepoint;
use netsim::{DirectionId, Frame, LinkId};

use crate::middlebox::Travelling;
use crate::scenario::names::Side;
use crate::world::datagrams::is_datagram;
use crate::world::ports::label_of;
use crate::world::{ETHERNET, World, host};

impl World {
    /// Handles a frame at a tap: passes its segment through the middleboxes of the link.
    #[inline(never)]
    pub(in crate::world) fn on_tapped(&mut self, now: Instant, direction: DirectionId, frame: Frame<u32>) {
        if self.impairs && self.refuses(frame.payload) {
            return;
        }
        if is_datagram(frame.payload) {
            self.network.pass(now, direction, frame);
            return;
        }
        let mut segment = self.pool.get(frame.payload).clone();
        segment.ecn = Codepoint::from_bits(frame.ecn.bits());
        self.pool.give_back(frame.payload);
        let link = direction.link();
        let side = if direction == link.forward() { Side::Forward } else { Side::Backward };
        let has_data = !segment.payload.is_empty();
        let made = self.middleboxes.take(now, link, side, segment);
        if let Some(attribution) = &mut self.attribution
            && has_data
            && !made.iter().any(|(to, segment)| *to == side && !segment.payload.is_empty())
        {
            attribution.taken(frame.label, direction);
        }
        for travelling in made {
            self.emerge(now, link, travelling);
        }
        self.await_middleboxes();
    }

    /// The timer of a middlebox expired.
    #[cold]
    pub(in crate::world) fn wake_middleboxes(&mut self, now: Instant) {
        for (link, travelling) in self.middleboxes.wake(now) {
            self.emerge(now, link, travelling);
        }
        self.await_middleboxes();
    }

    /// Activates or deactivates a middlebox.
    #[cold]
    pub(in crate::world) fn switch_middlebox(&mut self, number: usize) {
        if let Some(switch) = self.scenario.switches.get(number) {
            self.middleboxes.switch(&switch.middlebox, switch.on);
            self.await_middleboxes();
        }
    }

    fn await_middleboxes(&mut self) {
        if let Some(timer) = self.middleboxes_timer {
            self.network.set_timer(timer, self.middleboxes.due());
        }
    }

    /// Sends a segment of a middlebox into the network.
    fn emerge(&mut self, now: Instant, link: LinkId, (side, segment): Travelling) {
        let Some(destination) = host::lookup(&self.addresses, segment.destination.ip()) else { return };
        let direction = match side {
            Side::Forward => link.forward(),
            Side::Backward => link.backward(),
        };
        let bytes = (segment.packet_length() + ETHERNET) as u32;
        let label = label_of(&self.apps, &segment, self.spreads);
        let ecn = segment.ecn.bits();
        let (payload, place) = self.pool.next();
        *place = segment;
        self.pool.lend();
        let ecn = netsim::Codepoint::from_bits(ecn);
        self.network.pass(now, direction, Frame { bytes, destination, label, ecn, payload });
    }
}
