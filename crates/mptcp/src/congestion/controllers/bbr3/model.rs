//! The BBRv3 model of a path: estimates of its bandwidth and its in-flight limits, long-term and short-term.
//!
//! Owns the rounds, the maximum bandwidth of two cycles, the limits set by losses, the full-pipe detection,
//! and the extra acknowledged data (draft-ietf-ccwg-bbr sections 5.5 and 5.3.1.2). Never decides when to
//! probe: `cycle` does.

use mptcp_clock::Instant;

use crate::congestion::controllers::bbr3::state::{BETA, HEADROOM, LOSS_THRESHOLD, MIN_WINDOW, Undo};
use crate::congestion::controllers::windowed_max::WindowedMax;
use crate::congestion::{Path, Sample};

/// The pipe is full if the bandwidth grows by less than 25% in three rounds.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// BBR.ExtraAckedFilterLen, rounds.
const EXTRA_ROUNDS: u64 = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub rounds: u64,
    /// `next_round_delivered`.
    pub round_end: u64,
    pub round_start: bool,
    /// Total bytes delivered, as last reported.
    pub delivered: u64,
    /// Maximum bandwidth of the previous and of the present cycle.
    max_bw: [f64; 2],
    /// Short-term limit of the bandwidth, set by losses.
    pub bw_short: f64,
    /// The minimum of the maximum bandwidth and the short-term limit.
    pub bw: f64,
    bw_latest: f64,
    pub inflight_latest: u64,
    /// Long-term limit: maximum bytes in flight without excessive losses; `u64::MAX` if unset.
    pub inflight_long: u64,
    /// Short-term limit of the bytes in flight, set by recent losses; `u64::MAX` if unset.
    pub inflight_short: u64,
    loss_round_end: u64,
    pub loss_round_start: bool,
    pub loss_in_round: bool,
    full_bw: f64,
    full_rounds: u32,
    pub full_now: bool,
    pub full_reached: bool,
    pub extra_from: Instant,
    extra_delivered: u64,
    extra: WindowedMax,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            rounds: 0,
            round_end: 0,
            round_start: false,
            delivered: 0,
            max_bw: [0.0; 2],
            bw_short: f64::INFINITY,
            bw: 0.0,
            bw_latest: 0.0,
            inflight_latest: 0,
            inflight_long: u64::MAX,
            inflight_short: u64::MAX,
            loss_round_end: 0,
            loss_round_start: false,
            loss_in_round: false,
            full_bw: 0.0,
            full_rounds: 0,
            full_now: false,
            full_reached: false,
            extra_from: Instant::ZERO,
            extra_delivered: 0,
            extra: WindowedMax::default(),
        }
    }
}

/// `IsInflightTooHigh`: whether `lost` of `in_flight` bytes exceed the loss threshold.
pub(crate) fn is_inflight_too_high(lost: u64, in_flight: u64, selective: bool) -> bool {
    lost as f64 > in_flight as f64 * LOSS_THRESHOLD || lost > 0 && !selective
}

impl Model {
    pub(crate) fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// `StartRound`.
    pub(crate) fn start_round(&mut self) {
        self.round_end = self.delivered;
    }

    /// `UpdateLatestDeliverySignals`.
    pub(crate) fn update_latest(&mut self, sample: &Sample) {
        self.delivered = sample.total_delivered;
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(sample.rate.unwrap_or(0.0));
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.delivered_before.is_some_and(|before| before >= self.loss_round_end) {
            (self.loss_round_end, self.loss_round_start) = (self.delivered, true);
        }
    }

    /// `UpdateRound` and `UpdateMaxBw`.
    pub(crate) fn update_max_bw(&mut self, sample: &Sample) {
        self.round_start = sample.delivered_before.is_some_and(|before| before >= self.round_end);
        if self.round_start {
            self.start_round();
            self.rounds += 1;
        }
        if let Some(rate) = sample.rate
            && (rate >= self.max_bw() || !sample.app_limited)
        {
            self.max_bw[1] = self.max_bw[1].max(rate);
        }
    }

    /// `AdvanceMaxBwFilter`. A cycle without a sample keeps the previous maximum.
    pub(crate) fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    /// `AdaptLowerBoundsFromCongestion`, once per round.
    pub(crate) fn adapt_lower_bounds(&mut self, state: &Path, is_probing: bool) {
        if std::mem::take(&mut self.loss_in_round) && !is_probing {
            if self.bw_short.is_infinite() {
                self.bw_short = self.max_bw();
            }
            if self.inflight_short == u64::MAX {
                self.inflight_short = state.cwnd;
            }
            self.bw_short = self.bw_latest.max(BETA * self.bw_short);
            self.inflight_short = self.inflight_latest.max((BETA * self.inflight_short as f64) as u64);
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(crate) fn advance_latest(&mut self, sample: &Sample) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (sample.rate.unwrap_or(0.0), sample.delivered);
        }
    }

    /// `ResetCongestionSignals`.
    pub(crate) fn reset_signals(&mut self) {
        (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0);
    }

    /// `ResetShortTermModel`.
    pub(crate) fn reset_short(&mut self) {
        (self.bw_short, self.inflight_short) = (f64::INFINITY, u64::MAX);
    }

    /// `BoundBWForModel`.
    pub(crate) fn bound(&mut self) {
        self.bw = self.max_bw().min(self.bw_short);
    }

    /// `NoteLoss`. Returns whether it is the first loss of the round.
    pub(crate) fn note_loss(&mut self, delivered: u64) -> bool {
        let first = !self.loss_in_round;
        if first {
            self.loss_round_end = delivered;
        }
        self.loss_in_round = true;
        first
    }

    /// `ResetFullBW`, starting from `rate`.
    pub(crate) fn reset_full(&mut self, rate: f64) {
        (self.full_bw, self.full_rounds, self.full_now) = (rate, 0, false);
    }

    /// `CheckFullBWReached`.
    pub(crate) fn check_full(&mut self, sample: &Sample) {
        if self.full_now || !self.round_start || sample.app_limited {
            return;
        }
        let rate = sample.rate.unwrap_or(0.0);
        if rate >= self.full_bw * FULL_GROWTH {
            return self.reset_full(rate);
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= FULL_ROUNDS;
        self.full_reached |= self.full_now;
    }

    /// `InflightWithHeadroom`.
    pub(crate) fn with_headroom(&self, state: &Path) -> u64 {
        if self.inflight_long == u64::MAX {
            return u64::MAX;
        }
        let headroom = ((HEADROOM * self.inflight_long as f64) as u64).max(state.mss);
        self.inflight_long.saturating_sub(headroom).max(MIN_WINDOW * state.mss)
    }

    /// `UpdateACKAggregation`, section 5.5.9.
    pub(crate) fn update_aggregation(&mut self, state: &Path, sample: &Sample) {
        let mut expected = (self.bw * sample.now.since(self.extra_from).as_secs_f64()) as u64;
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_from, expected) = (0, sample.now, 0);
        }
        self.extra_delivered += sample.newly_delivered;
        let extra = self.extra_delivered.saturating_sub(expected).min(state.cwnd);
        let rounds = if self.full_reached { EXTRA_ROUNDS } else { 1 };
        self.extra.update(rounds, self.rounds, extra as f64);
    }

    pub(crate) fn extra_acked(&self) -> u64 {
        self.extra.get() as u64
    }

    /// Restores the limits to at least their saved values.
    pub(crate) fn undo(&mut self, before: &Undo) {
        self.loss_in_round = false;
        self.reset_full(0.0);
        self.bw_short = self.bw_short.max(before.bw_short);
        self.inflight_short = self.inflight_short.max(before.inflight_short);
        self.inflight_long = self.inflight_long.max(before.inflight_long);
    }
}

#[cfg(test)]
mod tests;
