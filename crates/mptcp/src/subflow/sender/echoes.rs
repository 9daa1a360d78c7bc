//! What the peer says of marks, and what follows for the window (RFC 3168 section 6.1.2).
//!
//! Owns when a mark counts: as a loss does, once a round trip, but nothing goes again. By how much the window falls is the
//! controller's affair.

use super::{Ack, Recovery, Sender};
use crate::congestion::{Congestion, Echoed};

/// Reductions down to the smallest window, without one acknowledgement between that spoke of no mark since the beginning,
/// after which the path is believed to mark everything: marks say nothing then. Our own number; RFC 9768 section 3.2.2.3 has the
/// sender look for such paths, and leaves the rule to it.
const MEANINGLESS: u8 = 8;

impl Sender {
    /// An acknowledgement came on a subflow with marks; `delivered` bytes are new, in order or not. `over`: it ends a recovery, and
    /// what said CWR is not acknowledged yet.
    #[inline(never)]
    pub(super) fn take_echo(
        &mut self,
        ack: &Ack<'_>,
        delivered: u64,
        over: bool,
        path: usize,
        congestion: &mut Congestion,
    ) {
        let marked = ack.echoes;
        if marked {
            self.marks.delivered += delivered;
        } else if delivered > 0 {
            self.marks.clean = true;
        }
        let (una, next) = (self.board.una, self.board.next);
        congestion.on_echo(path, Echoed { now: ack.now, bytes: delivered, marked, una, next });
        // In recovery, and until what was sent before a reduction is acknowledged, it is the same congestion (RFC 3168 section
        // 6.1.2).
        if marked && !over && matches!(self.state, Recovery::Open | Recovery::Disorder) {
            self.reduce(ack, path, congestion);
        }
    }

    fn reduce(&mut self, ack: &Ack<'_>, path: usize, congestion: &mut Congestion) {
        let smallest = congestion.paths[path].cwnd <= 2 * congestion.paths[path].mss;
        if !self.marks.clean && smallest {
            self.marks.in_vain += 1;
            if self.marks.in_vain >= MEANINGLESS {
                self.marks.end();
                return;
            }
        }
        // A reduction that marks asked for is not taken back.
        self.spurious.forget();
        self.marks.on_reduced();
        self.state = Recovery::Cwr { point: self.board.next };
        self.marks.reductions += 1;
        congestion.on_mark(path, ack.now);
        // At once, not by and by as after a loss (RFC 6937): what left meanwhile would meet the queue that was there and be
        // marked for it, the segment that says CWR first of all.
        let state = &mut congestion.paths[path];
        state.cwnd = state.cwnd.min(state.ssthresh);
    }
}
