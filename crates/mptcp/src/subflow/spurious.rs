//! Losses that were none: how it is found out, and how the window comes back.
//!
//! Owns what the window was before it was reduced, which segments were sent again since, and the trial of F-RTO. It finds
//! out by timestamps (Eifel detection, RFC 3522), by reports of duplicates (RFC 3708) and, after a timeout, by what was never
//! sent again (RFC 5682). What follows is the sender's affair.

use std::collections::BTreeMap;

use mptcp_clock::{Duration, Instant};

use crate::config::SpuriousLoss;
use crate::congestion::Path;
use crate::subflow::receiver::Range;

/// Segments sent again of which duplicates are waited for; with more than that none are.
const MAX_REPEATED: usize = 1024;
/// RFC 5682 section 2.1 step 2b.
const TRIAL_SEGMENTS: u8 = 2;

/// Where F-RTO stands (RFC 5682 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trial {
    #[default]
    None,
    /// A timeout; the first segment goes again.
    Repeated,
    /// That was acknowledged: so many segments of new data go in place of what seems lost.
    NewData { left: u8 },
}

/// What was before a reduction.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// When the first segment went again, and where it begins.
    repeated: Option<(Instant, u64)>,
    /// Segments that went again, by their starts: their ends, and how many duplicates of them are to be reported.
    waiting: BTreeMap<u64, (u64, u32)>,
    /// How many duplicates are to be reported of all of them.
    missing: u32,
    /// Too many to wait for.
    too_many: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Spurious {
    settings: SpuriousLoss,
    before: Option<Before>,
    trial: Trial,
    /// The acknowledgement at hand brings data that was sent once, before the timeout.
    original: bool,
    /// Reductions that were taken back.
    pub(crate) undone: u64,
}

impl Spurious {
    pub(crate) fn new(settings: SpuriousLoss) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Whether reductions are taken back for timestamps and reports of duplicates.
    pub(crate) fn undoes(&self) -> bool {
        self.settings.undo
    }

    /// The window is about to be reduced.
    pub(crate) fn remember(&mut self, path: &Path) {
        self.trial = Trial::None;
        self.before = (self.settings.undo || self.settings.frto).then(|| Before {
            cwnd: path.cwnd,
            ssthresh: path.ssthresh,
            repeated: None,
            waiting: BTreeMap::new(),
            missing: 0,
            too_many: false,
        });
    }

    /// Nothing was lost: gives what was before.
    pub(crate) fn undo_cwnd_reduction(&mut self) -> Option<Before> {
        let before = self.before.take()?;
        self.trial = Trial::None;
        self.undone += 1;
        Some(before)
    }

    /// There is nothing to be taken back any more.
    pub(crate) fn forget(&mut self) {
        (self.before, self.trial) = (None, Trial::None);
    }

    /// Whether there is a reduction that may be taken back.
    pub(crate) fn is_open(&self) -> bool {
        self.before.is_some()
    }

    /// A timeout has come; `fresh` unless it interrupts fast recovery, where nothing is tried (RFC 5682 section 2.1 step 1).
    pub(crate) fn begin_trial(&mut self, fresh: bool) {
        let tried = self.settings.frto && fresh && self.before.is_some();
        self.trial = if tried { Trial::Repeated } else { Trial::None };
    }

    /// An acknowledgement after a timeout did not show that nothing was lost: it was a duplicate, or the first one that was
    /// not, or all that was sent before is acknowledged.
    pub(crate) fn go_on(&mut self, duplicate: bool, advanced: bool, all: bool) {
        self.trial = match self.trial {
            // Steps 2a and 3a: it was a loss.
            Trial::Repeated | Trial::NewData { .. } if duplicate => Trial::None,
            Trial::Repeated if advanced && !all => Trial::NewData { left: TRIAL_SEGMENTS },
            Trial::Repeated if advanced => Trial::None,
            trial => trial,
        };
    }

    /// Whether new data should go in place of what seems lost (RFC 5682 section 2.1 step 2b).
    pub(crate) fn tries_new_data(&self) -> bool {
        matches!(self.trial, Trial::NewData { .. })
    }

    /// Whether it has not gone yet.
    pub(crate) fn wants_trial_data(&self) -> bool {
        matches!(self.trial, Trial::NewData { left } if left > 0)
    }

    /// There is no new data: recovery goes on as ever. Returns whether it does.
    pub(crate) fn give_up_trial(&mut self) -> bool {
        let untried = self.trial == Trial::NewData { left: TRIAL_SEGMENTS };
        if untried {
            self.trial = Trial::None;
        }
        untried
    }

    /// A duplicate was reported (RFC 2883 section 4).
    pub(crate) fn on_duplicate(&mut self, (left, right): Range) {
        let Some(before) = self.before.as_mut().filter(|_| self.settings.undo) else { return };
        let covered = before.waiting.range_mut(left..right).filter(|(_, (end, _))| *end <= right);
        for (_, (_, copies)) in covered.filter(|(_, (_, copies))| *copies > 0) {
            *copies -= 1;
            before.missing -= 1;
        }
    }

    /// Whether F-RTO looks for data that was sent once.
    pub(crate) fn on_trial(&self) -> bool {
        self.trial != Trial::None
    }

    /// Data came that was sent once, before the timeout.
    pub(crate) fn original_arrived(&mut self) {
        self.original = true;
    }

    /// A segment goes again.
    pub(crate) fn on_repeated(&mut self, now: Instant, (start, end): Range) {
        let Some(before) = &mut self.before else { return };
        before.repeated.get_or_insert((now, start));
        if self.settings.undo && !before.too_many {
            before.waiting.entry(start).or_insert((end, 0)).1 += 1;
            before.missing += 1;
            before.too_many = before.waiting.len() > MAX_REPEATED;
        }
    }

    /// New data goes.
    pub(crate) fn on_new_data(&mut self) {
        if let Trial::NewData { left } = &mut self.trial {
            *left = left.saturating_sub(1);
        }
    }

    /// Whether that happened with the acknowledgement at hand.
    pub(crate) fn take_original(&mut self) -> bool {
        std::mem::take(&mut self.original)
    }

    /// Whether every segment that went again was reported as a duplicate (RFC 3708 section 3).
    pub(crate) fn all_were_duplicates(&self) -> bool {
        let Some(before) = self.before.as_ref().filter(|_| self.settings.undo) else { return false };
        before.missing == 0 && !before.waiting.is_empty() && !before.too_many
    }

    /// Whether an acknowledgement up to `number`, of a segment that left at `echo`, answers one that left before any went again
    /// (RFC 3522 section 3.2).
    pub(crate) fn answers_the_original(&self, number: u64, echo: Option<Instant>) -> bool {
        let before = self.before.as_ref().filter(|_| self.settings.undo);
        let Some((at, start)) = before.and_then(|before| before.repeated) else { return false };
        // Timestamps tick in milliseconds.
        number > start && echo.is_some_and(|echo| echo + Duration::from_millis(1) <= at)
    }
}
