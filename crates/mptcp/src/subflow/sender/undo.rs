//! A reduction of the window is taken back when nothing was lost.
//!
//! Owns the answer, which is Linux's: window and threshold are what they were (RFC 4015 says a little less). How it is found
//! out is the affair of `spurious`.

use super::{Ack, Recovery, Sender};
use crate::congestion::Congestion;

impl Sender {
    /// What the acknowledgement tells of the last reduction.
    #[inline]
    pub(super) fn take_back(
        &mut self,
        ack: &Ack<'_>,
        advanced: u64,
        path: usize,
        congestion: &mut Congestion,
    ) {
        let usual = matches!(self.state, Recovery::Open | Recovery::Disorder);
        if !self.spurious.is_open() || usual && ack.blocks.is_empty() && !ack.echoes {
            // After a recovery only reports of duplicates tell more.
            return;
        }
        self.judge_reduction(ack, advanced, path, congestion);
    }

    #[inline(never)]
    fn judge_reduction(&mut self, ack: &Ack<'_>, advanced: u64, path: usize, congestion: &mut Congestion) {
        if self.marks.is_on() && ack.echoes {
            // RFC 4015 section 3.2: where marks tell of congestion, nothing is taken back.
            return self.spurious.forget();
        }
        let original = self.spurious.take_original();
        let by_trial = original && matches!(self.state, Recovery::Loss { .. });
        let recovering = matches!(self.state, Recovery::Recovery { .. } | Recovery::Loss { .. });
        let echo = || ack.echo.and_then(|echo| echo.sent_at(ack.now));
        let by_echo = recovering && advanced > 0 && self.spurious.answers_the_original(ack.number, echo());
        if by_trial || by_echo || self.spurious.all_were_duplicates() {
            return self.undo(path, congestion);
        }
        if let Recovery::Loss { point } = self.state {
            let duplicate = advanced == 0 && (ack.bare || !ack.blocks.is_empty());
            self.spurious.go_on(duplicate, advanced > 0, self.board.una >= point);
        }
    }

    fn undo(&mut self, path: usize, congestion: &mut Congestion) {
        let Some(before) = self.spurious.take_back() else { return };
        self.board.forgive();
        self.marks.on_undone();
        let state = &mut congestion.paths[path];
        state.cwnd = state.cwnd.max(before.cwnd);
        state.ssthresh = state.ssthresh.max(before.ssthresh);
        let delivered = self.board.rates.as_ref().map_or(0, |rates| rates.delivered());
        congestion.on_undo(path, delivered);
        if matches!(self.state, Recovery::Recovery { .. } | Recovery::Loss { .. }) {
            self.state = Recovery::Open;
            self.duplicates = 0;
            if !self.sack {
                self.board.sacked = 0;
            }
        }
    }
}
