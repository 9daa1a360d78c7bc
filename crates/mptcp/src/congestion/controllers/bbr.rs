//! BBR version 1 (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; net/ipv4/tcp_bbr.c), on each path by itself.
//!
//! Owns the model of each path, the rate of its bottleneck and its shortest round trip, and the states in which it finds them
//! out. Losses move the window while they are repaired, and never the model. Left out: the detector of policers ("long-term
//! bandwidth") and the estimate of aggregated acknowledgements, which are Linux's and not the paper's or the draft's.

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::controllers::pace::pace;
use crate::congestion::controllers::windowed_max::WindowedMax;
use crate::congestion::{Acked, CongestionControl, Mark, Path, Repair, Sample};
use crate::path::PerPath;

/// 2 / ln 2: the least gain with which the rate doubles in each round trip (draft section 4.2.1).
const HIGH_GAIN: f64 = 2.885;
/// Twice the product of rate and round trip, so that delayed acknowledgements do not stop it.
const WINDOW_GAIN: f64 = 2.0;
/// Gains of PROBE_BW, one for each shortest round trip (draft section 4.2.3).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds in which the best rate counts: a cycle and two.
const RATE_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// How long a shortest round trip counts.
const SHORTEST_LASTS: Duration = Duration::from_secs(10);
/// At least so long, and for a round trip, PROBE_RTT keeps the window at [`LEAST`].
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Segments: the least window.
const LEAST: u64 = 4;
/// The rate has to grow by a quarter, or the pipe is full after three rounds.
const GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Linux's `bbr_pacing_margin_percent`.
pub(crate) const MARGIN: f64 = 0.99;
/// The round trip before one is known (draft section 4.2.1).
pub(crate) const NOMINAL: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

#[derive(Clone, Copy, Debug, Default)]
struct PathMemory {
    mode: Mode,
    rates: WindowedMax,
    shortest: Option<Duration>,
    shortest_at: Instant,
    rounds: u64,
    /// The round is over when something arrives that left after so much had arrived.
    round_end: u64,
    round_start: bool,
    /// The best rate when it grew last, and rounds since then.
    full_rate: f64,
    full_rounds: u32,
    full: bool,
    /// Where in [`CYCLE`], and since when.
    phase: usize,
    phase_at: Instant,
    /// When PROBE_RTT may end, once the window is small; and whether a round of it is over.
    probe_ends: Option<Instant>,
    probe_round: bool,
    /// The window that repairs and PROBE_RTT have to give back.
    prior: u64,
    repair: Repair,
    /// As much leaves as arrives: the first round of a recovery.
    conserves: bool,
    /// It begins after a pause.
    restarts: bool,
    measured: bool,
}

/// BBR's memory of each path.
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    paths: PerPath<PathMemory>,
    jitter: JitterRng,
}

impl Bbr {
    fn path(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }
}

impl PathMemory {
    /// Rate times round trip times `gain`, with room for what is put together on the way (draft section 4.2.3.2).
    fn inflight(&self, state: &Path, gain: f64) -> u64 {
        let Some(shortest) = self.shortest else { return 10 * state.mss };
        let product = (self.rates.get() * shortest.as_secs_f64() * gain).ceil() as u64;
        // Linux's `bbr_quantization_budget`: three quanta, and in the first phase of a cycle two segments.
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        product + 3 * state.quantum.max(state.mss) + if probing { 2 * state.mss } else { 0 }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw => CYCLE[self.phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Draft section 4.1.1: rounds, and the best rate of them.
    fn update_rate(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some(before) = sample.delivered_before else { return };
        if before >= self.round_end {
            self.round_end = sample.delivered_in_all;
            self.rounds += 1;
            (self.round_start, self.conserves) = (true, false);
        }
        let Some(rate) = sample.rate else { return };
        if !sample.app_limited || rate >= self.rates.get() {
            self.rates.take(RATE_ROUNDS, self.rounds, rate);
        }
    }

    /// Draft section 4.2.3.1: whether a phase of the cycle is over.
    fn is_phase_over(&self, state: &Path, sample: &Sample) -> bool {
        let whole = self.shortest.is_none_or(|shortest| sample.now.since(self.phase_at) > shortest);
        let gain = CYCLE[self.phase];
        if gain > 1.0 {
            // Until there is so much under way as it is for, or does not fit.
            whole && (sample.newly_lost > 0 || sample.in_flight_before >= self.inflight(state, gain))
        } else if gain < 1.0 {
            whole || sample.in_flight_before <= self.inflight(state, 1.0)
        } else {
            whole
        }
    }

    /// Draft section 4.2.2: the pipe is full when the rate no longer grows.
    fn check_full(&mut self, sample: &Sample) {
        if self.full || !self.round_start || sample.app_limited {
            return;
        }
        if self.rates.get() >= self.full_rate * GROWTH {
            (self.full_rate, self.full_rounds) = (self.rates.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Any phase but the one that drains.
    fn enter_probe_bw(&mut self, now: Instant, jitter: &mut JitterRng) {
        self.mode = Mode::ProbeBw;
        let last = CYCLE.len() - 1;
        self.phase = (last - jitter.below(now, last as u64) as usize + 1) % CYCLE.len();
        self.phase_at = now;
    }

    fn leave_probe_rtt(&mut self, state: &mut Path, now: Instant, jitter: &mut JitterRng) {
        self.shortest_at = now;
        state.cwnd = state.cwnd.max(self.prior);
        state.held_back = false;
        if self.full {
            self.enter_probe_bw(now, jitter);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_window(&mut self, state: &Path) {
        let good = self.repair == Repair::None && self.mode != Mode::ProbeRtt;
        self.prior = if good { state.cwnd } else { self.prior.max(state.cwnd) };
    }

    /// Draft sections 4.1.2 and 4.2.4.
    fn update_shortest(&mut self, state: &mut Path, sample: &Sample, jitter: &mut JitterRng) {
        let expired = sample.now > self.shortest_at + SHORTEST_LASTS;
        if let Some(rtt) = sample.rtt
            && (expired || self.shortest.is_none_or(|shortest| rtt < shortest))
        {
            (self.shortest, self.shortest_at) = (Some(rtt), sample.now);
        }
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.save_window(state);
            (self.mode, self.probe_ends) = (Mode::ProbeRtt, None);
        }
        if self.mode == Mode::ProbeRtt {
            state.held_back = true;
            match self.probe_ends {
                None if sample.in_flight <= LEAST * state.mss => {
                    self.probe_ends = Some(sample.now + PROBE_RTT);
                    (self.probe_round, self.round_end) = (false, sample.delivered_in_all);
                }
                None => {}
                Some(ends) => {
                    self.probe_round |= self.round_start;
                    if self.probe_round && sample.now > ends {
                        self.leave_probe_rtt(state, sample.now, jitter);
                    }
                }
            }
        }
        self.restarts &= sample.delivered == 0;
    }

    fn set_pace(&mut self, state: &mut Path, gain: f64) {
        if !self.measured && state.srtt.is_some() {
            self.begin_pace(state);
        }
        let rate = self.rates.get() * gain * MARGIN;
        if self.full || state.pacing.is_none_or(|pace| rate > pace) {
            pace(state, rate);
        }
    }

    /// What an initial window would be in a round trip, times the gain.
    fn begin_pace(&mut self, state: &mut Path) {
        self.measured = state.srtt.is_some();
        let rtt = state.srtt.unwrap_or(NOMINAL).as_secs_f64().max(1e-6);
        pace(state, HIGH_GAIN * MARGIN * state.cwnd as f64 / rtt);
    }

    /// Draft section 4.2.3.4: what repairs make of the window, and whether nothing else does.
    fn modulate(&mut self, state: &mut Path, sample: &Sample) -> bool {
        let before = std::mem::replace(&mut self.repair, sample.repair);
        state.cwnd = state.cwnd.saturating_sub(sample.newly_lost).max(state.mss);
        let kept = sample.in_flight + sample.newly_delivered;
        if sample.repair == Repair::Fast && before != Repair::Fast {
            (self.conserves, self.round_end) = (true, sample.delivered_in_all);
            state.cwnd = kept;
        } else if sample.repair == Repair::None && before != Repair::None {
            self.conserves = false;
            state.cwnd = state.cwnd.max(self.prior);
        }
        if self.conserves {
            state.cwnd = state.cwnd.max(kept);
        }
        self.conserves
    }

    /// Draft section 4.2.3.
    fn set_window(&mut self, state: &mut Path, sample: &Sample) {
        let gain = match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => WINDOW_GAIN,
            Mode::ProbeRtt => 1.0,
        };
        if sample.newly_delivered > 0 && !self.modulate(state, sample) {
            let target = self.inflight(state, gain);
            if self.full {
                state.cwnd = (state.cwnd + sample.newly_delivered).min(target);
            } else if state.cwnd < target || sample.delivered_in_all < 10 * state.mss {
                state.cwnd += sample.newly_delivered;
            }
            state.cwnd = state.cwnd.max(LEAST * state.mss);
        }
        if self.mode == Mode::ProbeRtt {
            state.cwnd = state.cwnd.min(LEAST * state.mss);
        }
    }
}

impl CongestionControl for Bbr {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        let own = self.path(path);
        *own = PathMemory::default();
        let state = &mut paths[path];
        (state.pacing, state.quantum, state.held_back) = (None, 0, false);
        if state.active {
            own.begin_pace(state);
        }
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        if own.shortest.is_none() {
            (own.shortest, own.shortest_at) = (state.min_rtt, sample.now);
        }
        own.update_rate(sample);
        if own.mode == Mode::ProbeBw && own.is_phase_over(state, sample) {
            (own.phase, own.phase_at) = ((own.phase + 1) % CYCLE.len(), sample.now);
        }
        own.check_full(sample);
        if own.mode == Mode::Startup && own.full {
            own.mode = Mode::Drain;
        }
        if own.mode == Mode::Drain && sample.in_flight <= own.inflight(state, 1.0) {
            own.enter_probe_bw(sample.now, jitter);
        }
        own.update_shortest(state, sample, jitter);
        own.set_pace(state, own.pacing_gain());
        own.set_window(state, sample);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        self.path(path).save_window(&paths[path]);
        paths[path].ssthresh
    }

    /// Marks say nothing to it; but no `on_loss` comes where losses follow them in the same round trip. Linux too saves the
    /// window where it enters CWR.
    fn on_mark(&mut self, paths: &mut [Path], path: usize, _mark: Mark) -> u64 {
        self.path(path).save_window(&paths[path]);
        paths[path].ssthresh
    }

    fn on_timeout(&mut self, _paths: &mut [Path], path: usize) {
        let own = self.path(path);
        (own.repair, own.full_rate, own.conserves) = (Repair::Timeout, 0.0, false);
    }

    fn on_undo(&mut self, _paths: &mut [Path], path: usize, _delivered: u64) {
        let own = self.path(path);
        (own.full_rate, own.full_rounds) = (0.0, 0);
    }

    /// Draft section 4.2.4: a pause has drained the queue as PROBE_RTT would have.
    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, _idle: Duration) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        own.restarts = true;
        match own.mode {
            Mode::ProbeBw => own.set_pace(state, 1.0),
            Mode::ProbeRtt if own.probe_ends.is_some_and(|ends| now > ends) => {
                own.leave_probe_rtt(state, now, jitter);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
