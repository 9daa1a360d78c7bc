//! What a controller is told that works by the rate at which data arrives.
//!
//! Owns when it is told, and what it is told of the path beside the measurement, which is `rates`'. The window is the
//! controller's own: nothing here moves it.

use mptcp_clock::Instant;

use super::{Recovery, Sender};
use crate::congestion::{Congestion, Lost, PathState, Repair};
use crate::subflow::rates::Rates;

impl Sender {
    /// Whether samples are wanted from here on. Where they end while something is repaired, the threshold is not one that a
    /// window may have: the controller that takes over is asked for another, and the repair begins anew with it.
    pub(crate) fn begin_samples(&mut self, on: bool, path: usize, congestion: &mut Congestion) {
        if on == self.is_sampled() {
            return;
        }
        self.board.rates = on.then(Box::<Rates>::default);
        if !on && self.in_recovery() && congestion.paths[path].active {
            congestion.on_loss(path, self.last_sent.unwrap_or(Instant::ZERO));
            self.begin_proportional_rate();
        }
    }

    /// Whether samples are wanted: recovery leaves the window alone then.
    #[inline]
    pub(crate) fn is_sampled(&self) -> bool {
        self.board.rates.is_some()
    }

    /// `[start, end)` has left, new or again.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Instant, start: u64, end: u64, again: bool) {
        if !self.is_sampled() {
            return;
        }
        let in_flight = self.in_flight();
        match &mut self.board.rates {
            None => {}
            Some(rates) if again => rates.on_repeated(now, start, end, in_flight),
            Some(rates) => rates.on_sent(now, start, end, in_flight),
        }
    }

    /// Something comes that may tell what has arrived or is lost.
    #[inline]
    pub(super) fn begin_sample(&mut self, now: Instant) {
        if let Some(rates) = &mut self.board.rates {
            rates.begin(now);
        }
    }

    /// Tells the controller of each segment that was found lost.
    #[inline(never)]
    pub(super) fn tell_losses(&mut self, path: usize, congestion: &mut Congestion) {
        let Some(losses) = self.board.rates.as_mut().and_then(|rates| rates.take_losses()) else { return };
        let selective = self.sack;
        losses.iter().for_each(|lost| congestion.on_lost(path, &Lost { selective, ..*lost }));
        if let Some(rates) = &mut self.board.rates {
            rates.return_losses(losses);
        }
    }

    /// Tells the controller what the acknowledgement said, and asks it for window and pace.
    #[inline(never)]
    pub(super) fn tell_sample(&mut self, filled: u64, path: usize, congestion: &mut Congestion) {
        self.tell_losses(path, congestion);
        let state = &congestion.paths[path];
        let Some(rates) = &mut self.board.rates else { return };
        let mut sample = rates.sample(state.min_rtt);
        (sample.in_flight_before, sample.selective) = (filled, self.sack);
        sample.in_flight = self.in_flight();
        sample.repair = match self.state {
            Recovery::Open | Recovery::Disorder | Recovery::Cwr { .. } => Repair::None,
            Recovery::Recovery { .. } => Repair::Fast,
            Recovery::Loss { .. } => Repair::Timeout,
        };
        congestion.on_sample(path, &sample);
        if congestion.paths[path].held_back {
            self.note_limited();
        }
    }

    /// There is less to send than the window has room for: the draft's `CheckIfApplicationLimited`.
    pub(crate) fn note_idle_window(&mut self, path: &PathState) {
        let room = self.in_flight() + path.mss <= path.cwnd;
        if room && self.board.lost <= self.board.resent {
            self.note_limited();
        }
    }

    /// Whether what leaves now says little of the path, because there was less to send; so it is where no samples are taken.
    pub(crate) fn is_limited(&self) -> bool {
        self.board.rates.as_ref().is_none_or(|rates| rates.is_limited())
    }

    /// Nothing more goes, and the window would not let it: the draft's `C.is_cwnd_limited`.
    pub(crate) fn note_full_window(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rates) = &mut self.board.rates {
            rates.note_full(in_flight);
        }
    }

    fn note_limited(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rates) = &mut self.board.rates {
            rates.note_limited(in_flight);
        }
    }
}
