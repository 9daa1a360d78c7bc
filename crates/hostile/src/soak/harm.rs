//! Attacks of hostile callers in a soak run, a day of virtual time in which the heap must not grow.
//!
//! Owns the choice of attack; `soak` owns the schedule.

use std::net::SocketAddr;

use mptcp::InterfaceId;
use mptcp_wire::{Flags, Segment};

use super::{Soak, address};
use crate::peer::Offer;

impl Soak {
    fn hit(&mut self, segment: Segment) {
        self.server.handle_segment(self.now, InterfaceId(0), segment);
        self.settle();
    }

    fn caller(&mut self) -> SocketAddr {
        self.port = self.port.wrapping_add(1).max(1_024);
        ([10, 66, 0, 1], self.port).into()
    }

    /// Opens a hostile connection as far as `number` selects, attacks, and abandons it.
    pub(super) fn attack(&mut self, number: u64) {
        let now = self.now;
        self.peer.offer = Offer {
            multipath: !number.is_multiple_of(7),
            window: if number.is_multiple_of(5) { 0 } else { 60_000 },
            scale: if number.is_multiple_of(5) { None } else { Some(7) },
            checksum: number.is_multiple_of(11),
            ..Offer::default()
        };
        let caller = self.caller();
        let (id, syn) = self.peer.call(now, caller, address(true));
        self.hit(syn);
        if number.is_multiple_of(16) {
            return;
        }
        let third = self.peer.third_ack(now, id);
        self.hit(third);
        let first = self.peer.data(now, id, 10);
        self.hit(first);
        if number.is_multiple_of(3) {
            return self.strand(id);
        }
        for _ in 0..self.random.below(30) {
            self.harm(id);
        }
    }

    /// Sends MP_FAIL after the end of both streams and before the acknowledgement of the host's FIN, so that only a
    /// timer can end the connection.
    fn strand(&mut self, id: usize) {
        let end = self.peer.data_fin(self.now, id);
        self.hit(end);
        let ack = self.peer.bare(self.now, id);
        self.hit(ack);
        let mut fail = self.peer.bare(self.now, id);
        fail.acknowledgment = self.peer.flows[id].host_next - 1;
        fail.options.mptcp.push(self.peer.fail(id, 0));
        self.hit(fail);
        let ack = self.peer.bare(self.now, id);
        self.hit(ack);
    }

    fn harm(&mut self, id: usize) {
        let now = self.now;
        let some = self.random.below(1_000) as u32;
        let segment = match self.random.below(16) {
            0 => self.peer.data_at(now, id, 1 + some, self.peer.payload(0, 700)),
            1 => self.peer.data_at(now, id, 1 + 2 * some, self.peer.payload(0, 1)),
            2 => self.peer.data_fin(now, id),
            3 => self.peer.fin(now, id),
            4 if some < 200 => self.peer.reset(now, id),
            5 | 6 => {
                let link = self.peer.flows[id].link;
                let caller = self.caller();
                let (joined, syn) = self.peer.join(now, link, caller, address(true));
                self.hit(syn);
                if some < 300 {
                    return;
                }
                let third = self.peer.third_ack(now, joined);
                self.hit(third);
                self.peer.data_at(now, joined, 1 + some, self.peer.payload(0, 700))
            }
            7 => {
                let mut segment = self.peer.bare(now, id);
                segment.options.dss = None;
                let option =
                    self.peer.add_address(id, 1 + (some % 9) as u8, [10, 9, 9, some as u8].into(), None);
                segment.options.mptcp.push(option);
                segment
            }
            8 if some < 300 => {
                let mut segment = self.peer.bare(now, id);
                segment.acknowledgment = segment.acknowledgment - 1;
                segment.options.mptcp.push(self.peer.fail(id, 0));
                segment
            }
            9 => {
                let mut segment = self.peer.bare(now, id);
                segment.sequence = segment.sequence + (1 << 30);
                segment
            }
            10 => {
                let mut segment = Segment::new(self.caller(), ([10, 0, 0, 1], 9).into());
                segment.flags = Flags::ACK;
                segment
            }
            11 => {
                let mut segment = self.peer.bare(now, id);
                segment.acknowledgment = self.peer.flows[id].host_iss + 1;
                segment
            }
            12 if some < 200 => {
                let mut segment = self.peer.bare(now, id);
                segment.options.mptcp.push(self.peer.fast_close(id));
                segment
            }
            13 => self.peer.data(now, id, 1),
            _ => self.peer.data(now, id, 700),
        };
        self.hit(segment);
    }
}
