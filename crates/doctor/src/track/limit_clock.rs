//! The state of each subflow at each moment: why it carries less than its path could.

use super::steps::Limit;
use super::subflow::Subflow;
use super::view::View;

/// The state is examined at most once in this time, ns.
const RESOLUTION: u64 = 50_000;
/// Segments that a subflow must have carried before its silence means something.
const SILENT: u64 = 20;

impl View {
    /// Accounts the time up to `time` to the states of all subflows.
    pub(crate) fn advance(&mut self, flows: &mut [Subflow], time: u64) {
        if time < self.examined + RESOLUTION {
            return;
        }
        let from = self.examined;
        self.examined = time;
        for side in 0..2 {
            if self.directions[side].first_data.is_some() {
                self.account(flows, side, from, time);
            }
        }
    }

    fn account(&mut self, flows: &mut [Subflow], side: usize, from: u64, to: u64) {
        let stream = &self.directions[side].stream;
        let size = self.subflows.first().map_or(1400, |&id| flows[id].halves[side].segment_size());
        let is_full = stream.window_left().is_some_and(|left| left < 2 * size) && stream.flight() > 0;
        let is_blocked = is_full && stream.out_of_order() * 2 > stream.flight();
        let blocking = stream.oldest();
        let is_idle = stream.flight() == 0;
        let direction = &mut self.directions[side];
        let seconds = (to - from) as f64 / 1e9;
        if is_idle {
            direction.pause += seconds;
        } else {
            direction.busy += seconds;
            direction.flight_time += seconds * direction.stream.flight() as f64;
            direction.idle += std::mem::take(&mut direction.pause);
        }
        // Data is missing for longer than a repair takes: the sender waits for a timeout, not for its application.
        let longest = self
            .subflows
            .iter()
            .filter_map(|&id| flows[id].halves[side].round_trips.smoothed)
            .fold(0.1, f64::max);
        let stalled = to.saturating_sub(self.directions[side].last_progress) as f64 / 1e9 > 2.0 * longest;
        let has_nothing = is_idle || !stalled && self.has_nothing_to_send(flows, side, to);
        for number in 0..self.subflows.len() {
            let subflow = &flows[self.subflows[number]];
            let half = &subflow.halves[side];
            if !subflow.is_established {
                continue;
            }
            let round_trip = half.round_trips.smoothed.unwrap_or(0.3);
            let silence =
                (to.saturating_sub(half.last_progress.max(half.oldest().unwrap_or(to)))) as f64 / 1e9;
            // Far from the sender, data that is here passed the path.
            let is_far = subflow.distance(side) > subflow.distance(1 - side);
            let is_dead = !is_far
                && !subflow.has_ended()
                && half.is_outstanding()
                && silence > 1.0_f64.max(4.0 * round_trip)
                && half.oldest_is_retransmitted();
            // A dead path is only silent there.
            let unheard = to.saturating_sub(half.last_sent) as f64 / 1e9;
            let is_silent = is_far
                && !has_nothing
                && !is_full
                && half.flight() == 0
                && half.totals.delivered > SILENT * half.segment_size()
                && unheard > 1.0_f64.max(8.0 * round_trip);
            let limit = if is_dead || is_silent {
                Limit::Dead
            } else if subflow.has_ended() {
                continue;
            } else if subflow.is_backup() && half.flight() == 0 && self.subflows.len() > 1 {
                Limit::Backup
            } else if is_blocked && blocking != Some(number as u16) {
                Limit::HeadOfLine
            } else if is_full && !is_blocked {
                Limit::Window
            } else if has_nothing {
                Limit::Application
            } else if stalled || half.is_after_loss(to) && half.flight() == 0 {
                // The sender waits for a timeout, or its window is tiny.
                Limit::Loss
            } else if half.flight() == 0 && !half.is_in_recovery() || half.credit() > half.peak() / 2 {
                Limit::Unused
            } else if half.is_after_loss(to) {
                Limit::Loss
            } else {
                Limit::Growth
            };
            let flight = half.flight() as f32;
            let id = self.subflows[number];
            flows[id].steps[side].spread(from, to, |step, seconds| {
                step.limits[limit as usize] += seconds;
                step.flight += flight * seconds;
            });
            let half = &flows[id].halves[side];
            let start = match limit {
                // A path is dead since its last sign of life.
                Limit::Dead if half.is_outstanding() => {
                    (half.last_progress, (half.last_progress, half.progress_packet))
                }
                Limit::Dead => (half.last_sent, (half.last_sent, half.sent_packet)),
                _ => (to, self.last_packet),
            };
            let packet = self.last_packet.1;
            self.directions[side].note_state(number as u16, limit, start, to, packet);
        }
        if is_blocked {
            let direction = &mut self.directions[side];
            // Far from the sender, the missing data shows its subflow when it arrives.
            direction.blocked += (to - from) as f64 / 1e9;
            if let Some(blocking) = blocking {
                direction.blame(blocking);
            }
        }
    }

    /// Whether every usable subflow has space, so that the sender has nothing to send.
    fn has_nothing_to_send(&self, flows: &[Subflow], side: usize, to: u64) -> bool {
        let mut has_space = false;
        for &id in &self.subflows {
            let subflow = &flows[id];
            let half = &subflow.halves[side];
            if !subflow.is_established || subflow.has_ended() || subflow.is_backup() && half.peak() == 0 {
                continue;
            }
            if half.is_in_recovery() {
                return false;
            }
            if half.flight() == 0 {
                has_space |= half.peak() > 0;
                continue;
            }
            // After a loss, TCP may gather a third of a window before it sends; otherwise two segments.
            let slack = if half.is_after_loss(to) { half.peak() * 2 / 5 } else { 2 * half.segment_size() };
            if half.credit() <= slack {
                return false;
            }
            has_space = true;
        }
        has_space
    }

    /// A subflow with at most half of the RTT of `id`, and space for a segment; with the half RTT that it would save.
    pub(super) fn faster_free_subflow(
        &self,
        flows: &[Subflow],
        id: usize,
        side: usize,
        length: u64,
    ) -> Option<(u16, f64)> {
        let own = flows[id].halves[side].round_trips.smoothed?;
        // With more data to send than this, a slow path is used for its capacity.
        if !self.directions[side].is_thin(flows[id].halves[side].segment_size()) {
            return None;
        }
        let mut best: Option<(u16, f64)> = None;
        for (number, &other) in self.subflows.iter().enumerate() {
            let subflow = &flows[other];
            if other == id || !subflow.is_established || subflow.has_ended() || subflow.is_backup() {
                continue;
            }
            let half = &subflow.halves[side];
            let Some(smoothed) = half.round_trips.smoothed else { continue };
            // Queues come and go; the scheduler should know which path is longer.
            let is_longer = |own: Option<f64>, other: Option<f64>| {
                own.zip(other).is_some_and(|(own, other)| own > 2.0 * other)
            };
            if !is_longer(flows[id].halves[side].round_trips.base, half.round_trips.base) {
                continue;
            }
            // An idle subflow may send four segments, as the initial window allows more (RFC 6928).
            let space = (half.peak() / 4).max(4 * half.segment_size());
            let is_free = half.flight() + length <= space && !half.is_in_recovery();
            if is_free && smoothed * 2.0 < own && best.is_none_or(|(_, saved)| own - smoothed > saved * 2.0) {
                best = Some((number as u16, (own - smoothed) / 2.0));
            }
        }
        best
    }
}
