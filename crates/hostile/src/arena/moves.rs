//! Regular actions of the attacking peer: connects, joins, answers, data, closes and new settings.
//!
//! Owns the choice of these actions in a random case, a simulated attack whose steps random bytes control.
//! `Arena` holds the state of the case. Each segment is valid for the peer's state, but may arrive at an
//! unexpected time.

use super::{Arena, settings};
use crate::peer::{BLOCK, Stage};

impl Arena<'_> {
    /// Sends the peer's automatic answer on a subflow. Returns whether it sent a segment.
    pub(super) fn answer(&mut self, id: usize) -> bool {
        let flow = &self.peer.flows[id];
        let answer = match flow.stage {
            Stage::Dead | Stage::Asked => None,
            // Answers the host's SYN until the host's third ACK arrives.
            Stage::Called if self.manners.shakes && flow.owes_ack && flow.host_next == flow.host_iss + 1 => {
                Some(self.peer.syn_ack(self.now, id))
            }
            Stage::Called => None,
            // Sends the third ACK while the host has sent only its SYN/ACK.
            Stage::Open if flow.calls && flow.owes_ack && flow.host_next == flow.host_iss + 1 => {
                self.manners.shakes.then(|| self.peer.third_ack(self.now, id))
            }
            Stage::Open => (self.manners.acknowledges && flow.owes_ack).then(|| self.peer.bare(self.now, id)),
        };
        let said = answer.is_some();
        if said {
            self.peer.flows[id].owes_ack = false;
        }
        answer.into_iter().for_each(|answer| self.deliver(answer));
        said
    }

    /// Performs one action of the peer.
    pub(super) fn play(&mut self) {
        let now = self.now;
        let what = self.draw.byte() % 32;
        match what {
            0..=4 => {
                let (peer, host) = self.fresh_pair();
                let (_, mut syn) = self.peer.call(now, peer, host);
                self.open_fast(&mut syn);
                self.deliver(syn);
            }
            5..=9 => {
                let links = self.peer.links.len();
                if links > 0 {
                    let link = links - 1 - self.draw.below(links.min(8));
                    let (peer, host) = self.fresh_pair();
                    let (_, syn) = self.peer.join(now, link, peer, host);
                    self.deliver(syn);
                }
            }
            10 => {
                self.manners.shakes = self.draw.flag();
                self.manners.acknowledges = self.draw.flag();
            }
            11 => self.peer.offer = settings::offer(&mut self.draw),
            12 => {
                let size = self.draw.pick(&[65_536, BLOCK, 1_500]);
                self.peer.renew_block(size);
            }
            13 => self.peer.offer.window = self.draw.pick(&[60_000, 65_535, 0, 1, 100, 2_000]),
            14 => {
                let stray = self.stray();
                self.deliver(stray);
            }
            _ => self.play_on(what),
        }
    }

    fn play_on(&mut self, what: u8) {
        let now = self.now;
        let Some(id) = self.open_flow() else { return };
        let segment = match what {
            15 => self.peer.syn_ack(now, id),
            16 => self.peer.third_ack(now, id),
            17 => self.peer.syn(now, id),
            18 | 19 => self.peer.bare(now, id),
            20 => self.peer.data_fin(now, id),
            21 => self.peer.fin(now, id),
            22 if self.draw.flag() => self.peer.reset(now, id),
            22 => {
                // Closes both levels at once.
                let segment = self.peer.data_fin(now, id);
                self.deliver(segment);
                self.peer.fin(now, id)
            }
            23 => {
                let mut segment = self.peer.bare(now, id);
                let option = self.signal(id);
                // ADD_ADDR does not fit next to a DSS.
                if self.draw.flag() {
                    segment.options.dss = None;
                }
                segment.options.mptcp.push(option);
                segment
            }
            24 => {
                let length = self.draw.scaled(15) as usize;
                let mut segment = self.peer.data(now, id, length);
                if let Some(dss) = segment.options.dss.as_mut() {
                    // A DATA_FIN at the end of data.
                    if let Some(mapping) = dss.mapping.as_mut().filter(|mapping| mapping.checksum.is_none()) {
                        mapping.length = mapping.length.saturating_add(1);
                        dss.data_fin = true;
                    }
                }
                segment
            }
            25 | 26 => {
                self.peer.rewind(id);
                let length = self.draw.pick(&[1_400, 1, 20_000, 65_000]);
                self.peer.data(now, id, length)
            }
            27 => {
                // A regular close whose last step is replaced by another segment.
                self.peer.rewind(id);
                for segment in [self.peer.data_fin(now, id), self.peer.bare(now, id)] {
                    self.deliver(segment);
                }
                let mut segment = self.peer.bare(now, id);
                segment.acknowledgment = segment.acknowledgment - 1;
                let option = self.signal(id);
                segment.options.mptcp.push(option);
                segment
            }
            _ => {
                let length = self.draw.pick(&[1_400, 1, 100, 536, 20_000, 65_000]);
                self.peer.data(now, id, length)
            }
        };
        self.deliver(segment);
    }
}
