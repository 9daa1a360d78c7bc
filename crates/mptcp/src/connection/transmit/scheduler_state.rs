//! The scheduler of a connection and the candidates of its last choice.
//!
//! Owns the candidate list, and knows whether it is still valid. Segments that are sent at the same time
//! therefore share one list. Never reads a subflow.

use std::collections::VecDeque;
use std::ops::Range;

use mptcp_clock::Instant;

use crate::ids::SubflowId;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// A copy of data that the scheduler requested.
#[derive(Clone, Debug)]
pub(crate) struct RequestedCopy {
    /// Stream offsets of the data.
    pub data: Range<u64>,
    /// The subflow that carries the copy.
    pub subflow: SubflowId,
}

/// The scheduler, its candidates, and the state of its last choice.
#[derive(Debug)]
pub(crate) struct SchedulerState {
    scheduler: Box<dyn Scheduler>,
    is_redundant: bool,
    /// The subflows that could send when the list was made.
    candidates: Vec<Candidate>,
    /// The time at which the list was made. `None` once anything but new data on `last_sent` has happened since.
    valid_at: Option<Instant>,
    /// The slot that new data was sent on last; `usize::MAX` if the scheduler did not choose it.
    last_sent: usize,
    /// Whether the entry of `last_sent` was updated after the last segment.
    is_refreshed: bool,
    /// Segments and bytes in the retransmission queues of all subflows.
    outstanding: (usize, u64),
    /// Segments that all subflows may have outstanding.
    max_segments: usize,
    makes_copies: bool,
    /// Copies that were requested and not sent yet.
    copies: VecDeque<RequestedCopy>,
    /// Scratch buffer: positions of the candidates that carry a copy.
    copied_on: Vec<usize>,
}

impl SchedulerState {
    pub(crate) fn new(scheduler: Box<dyn Scheduler>, max_segments: usize) -> Self {
        Self {
            is_redundant: scheduler.duplicates(),
            makes_copies: scheduler.makes_copies(),
            copies: VecDeque::new(),
            copied_on: Vec::new(),
            scheduler,
            candidates: Vec::new(),
            valid_at: None,
            last_sent: 0,
            is_refreshed: false,
            outstanding: (0, 0),
            max_segments,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.scheduler.name()
    }

    /// Whether every subflow carries all data.
    #[inline]
    pub(crate) fn is_redundant(&self) -> bool {
        self.is_redundant
    }

    /// See [`Scheduler::makes_copies`].
    #[inline]
    pub(crate) fn makes_copies(&self) -> bool {
        self.makes_copies
    }

    /// Whether a requested copy has not been sent yet.
    #[inline]
    pub(crate) fn has_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Asks the scheduler for copies of `data`, which `chosen` sends.
    pub(crate) fn request_copies(&mut self, view: &SendView<'_>, chosen: usize, data: Range<u64>) {
        self.copied_on.clear();
        self.scheduler.copies(view, chosen, &mut self.copied_on);
        let candidates = self.copied_on.iter().filter_map(|&at| view.candidates.get(at));
        self.copies
            .extend(candidates.map(|candidate| RequestedCopy { data: data.clone(), subflow: candidate.id }));
    }

    /// Takes the oldest requested copy.
    pub(crate) fn next_copy(&mut self) -> Option<RequestedCopy> {
        self.copies.pop_front()
    }

    /// Puts the rest of a copy back to the front.
    pub(crate) fn return_copy(&mut self, copy: RequestedCopy) {
        self.copies.push_front(copy);
    }

    /// Bytes that the subflow chosen last may take as one burst ([`Scheduler::burst`]).
    pub(crate) fn burst(&self) -> u64 {
        self.scheduler.burst()
    }

    /// See [`Scheduler::places_small_segments`].
    pub(crate) fn places_small_segments(&self) -> bool {
        self.scheduler.places_small_segments()
    }

    pub(crate) fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        self.scheduler.choose(view)
    }

    #[inline]
    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    #[inline]
    pub(crate) fn candidates_mut(&mut self) -> &mut Vec<Candidate> {
        &mut self.candidates
    }

    /// Moves the list out while the connection changes; [`Self::restore_candidates`] brings it back.
    #[inline]
    pub(crate) fn take_candidates(&mut self) -> Vec<Candidate> {
        std::mem::take(&mut self.candidates)
    }

    #[inline]
    pub(crate) fn restore_candidates(&mut self, candidates: Vec<Candidate>) {
        self.candidates = candidates;
    }

    /// Whether the list was made at `now`, and only new data on one subflow has changed it.
    #[inline]
    pub(crate) fn is_valid(&self, now: Instant) -> bool {
        self.valid_at == Some(now)
    }

    /// Whether the list is valid, and whether the entry of the last segment's subflow is up to date. Resets both.
    #[inline]
    pub(crate) fn take_validity(&mut self, now: Instant) -> (bool, bool) {
        (self.valid_at.take() == Some(now), std::mem::take(&mut self.is_refreshed))
    }

    /// Marks the list as outdated.
    #[inline]
    pub(crate) fn invalidate(&mut self) {
        self.valid_at = None;
    }

    /// Notes that new data of `bytes` was sent on the chosen subflow in `slot`. The list stays valid.
    #[inline]
    pub(crate) fn on_chosen_sent(&mut self, now: Instant, slot: usize, bytes: u64) {
        (self.valid_at, self.last_sent) = (Some(now), slot);
        self.outstanding.0 += 1;
        self.outstanding.1 += bytes;
    }

    /// Notes that new data was sent on the only subflow, for which no list was made.
    #[inline]
    pub(crate) fn on_single_path_sent(&mut self, now: Instant, slot: usize) {
        (self.valid_at, self.last_sent) = (Some(now), slot);
        self.candidates.clear();
    }

    /// Notes that new data was sent on a subflow that the scheduler did not choose.
    pub(crate) fn on_unscheduled_sent(&mut self) {
        self.last_sent = usize::MAX;
    }

    #[inline]
    pub(crate) fn last_sent(&self) -> usize {
        self.last_sent
    }

    #[inline]
    pub(crate) fn set_refreshed(&mut self) {
        self.is_refreshed = true;
    }

    #[inline]
    pub(crate) fn outstanding(&self) -> (usize, u64) {
        self.outstanding
    }

    #[inline]
    pub(crate) fn set_outstanding(&mut self, segments: usize, bytes: u64) {
        self.outstanding = (segments, bytes);
    }

    /// Marks all candidates unavailable.
    pub(crate) fn block_all(&mut self) {
        self.candidates.iter_mut().for_each(|candidate| candidate.is_available = false);
    }

    #[inline]
    pub(crate) fn max_segments(&self) -> usize {
        self.max_segments
    }
}
