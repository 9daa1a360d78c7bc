//! A look ahead when a segment has left: whether it was the last one for now.
//!
//! Owns the shortcut past a question whose answer is known, that for the next segment where no window has room. It answers only where
//! nothing but new data could go, and does what the question would have done.

use mptcp_clock::Instant;

use super::Connection;

impl Connection {
    /// Whether nothing follows the new data that was given just now, so that nobody need ask; all that the question would have changed
    /// has changed then. Who observes is asked, and tells why nothing goes.
    #[inline]
    pub(crate) fn rests_at_once(&mut self, now: Instant) -> bool {
        let simple = self.choice.seen == Some(now)
            && self.watch.is_none()
            && self.send.buffer.unsent() > 0
            && self.send.buffer.first_again().is_none()
            && !self.choice.duplicates
            && !self.send.writer.is_closed()
            && self.fate.closed().is_none()
            && self.signals.is_empty()
            && !self.timers.probe_wanted;
        simple && self.is_out_of_room(now)
    }

    /// Looks at the candidates again; where none has room, it rests.
    #[inline]
    fn is_out_of_room(&mut self, now: Instant) -> bool {
        self.choice.fresh = true;
        if self.choice.candidates.is_empty() {
            // There is one subflow, of which none was made.
            let Some(limit) = self.waits_alone(now) else { return false };
            self.choice.seen = None;
            self.rest(now, limit, false);
            return true;
        }
        if self.refresh_candidates(now) {
            return false;
        }
        self.choice.seen = None;
        let limit = self.no_room(now, &self.choice.candidates);
        self.rest(now, limit, false);
        true
    }
}
