//! BBR version 1, uncoupled (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5),
//! 2016; draft-cardwell-iccrg-bbr-congestion-control-00; net/ipv4/tcp_bbr.c).
//!
//! Owns the model of each path, which is its bottleneck bandwidth and its minimum RTT, and the states that
//! measure them. Losses change the window during recovery, but never the model. Omits the policer detection
//! ("long-term bandwidth") and the estimate of aggregated acknowledgements, which only Linux has.

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::controllers::pace::pace;
use crate::congestion::controllers::windowed_max::WindowedMax;
use crate::congestion::{Acked, CongestionControl, Mark, Path, Repair, Sample};
use crate::path::PerPath;

/// 2 / ln 2: the minimum gain that doubles the rate in each round (draft section 4.2.1).
const HIGH_GAIN: f64 = 2.885;
/// Window in units of the bandwidth-delay product. The value of two prevents delayed acknowledgements from
/// stalling the flow.
const WINDOW_GAIN: f64 = 2.0;
/// Pacing gains of PROBE_BW, one per minimum RTT (draft section 4.2.3).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Index of the phase in [`CYCLE`] that drains the queue of the probing phase.
const DRAINING_PHASE: usize = 1;
/// Length of the bandwidth filter in rounds: one cycle and two rounds.
const RATE_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// Lifetime of a minimum RTT.
const MIN_RTT_LIFETIME: Duration = Duration::from_secs(10);
/// Minimum duration of PROBE_RTT with a window of [`MIN_WINDOW`]; it lasts at least one round.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// Minimum window, segments.
const MIN_WINDOW: u64 = 4;
/// The pipe is full if the rate grows by less than 25% in three rounds.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Linux's `bbr_pacing_margin_percent`.
pub(crate) const MARGIN: f64 = 0.99;
/// RTT assumed before the first sample (draft section 4.2.1).
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
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    rounds: u64,
    /// Delivered bytes at the start of the round. The round ends when data that was sent later arrives.
    round_end: u64,
    round_start: bool,
    /// Maximum rate when it last grew, and the rounds since then.
    full_rate: f64,
    full_rounds: u32,
    pipe_full: bool,
    /// Index in [`CYCLE`], and the start time of that phase.
    phase: usize,
    phase_at: Instant,
    /// Earliest end of PROBE_RTT, set once at most four segments are in flight, and whether a round has
    /// passed since.
    probe_ends: Option<Instant>,
    probe_round: bool,
    /// Window to restore after recovery and PROBE_RTT.
    prior: u64,
    repair: Repair,
    /// Packet conservation: the first round of a recovery sends as much as was delivered.
    packet_conservation: bool,
    /// Whether the flow restarts after an idle time.
    idle_restart: bool,
    /// Whether the initial pacing rate comes from a measured RTT.
    measured: bool,
    /// Subflows that share the bandwidth outside of probing phases (`coupled_bbr`); 0 means 1.
    sharing: u32,
}

/// BBR version 1, with its state per path.
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    paths: PerPath<PathMemory>,
    jitter: JitterRng,
}

impl Bbr {
    fn path(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }

    /// Maximum bandwidth of `path`, bytes per second; 0 before the first sample.
    pub(crate) fn max_rate(&self, path: usize) -> f64 {
        self.paths.get(path).map_or(0.0, |own| own.rates.get())
    }

    /// Index of the phase in the cycle of PROBE_BW. `None` in other modes.
    pub(crate) fn cycle_phase(&self, path: usize) -> Option<usize> {
        self.paths.get(path).filter(|own| own.mode == Mode::ProbeBw).map(|own| own.phase)
    }

    /// Sets the number of subflows that share the bandwidth of `path` outside of probing phases.
    pub(crate) fn set_sharing(&mut self, path: usize, subflows: u32) {
        self.path(path).sharing = subflows;
    }
}

impl PathMemory {
    /// Bandwidth to use, bytes per second: the maximum, or the part that other subflows leave.
    fn rate(&self) -> f64 {
        let is_shared = self.mode == Mode::ProbeBw && self.phase > DRAINING_PHASE;
        self.rates.get() / f64::from(if is_shared { self.sharing.max(1) } else { 1 })
    }

    /// Bandwidth-delay product multiplied by `gain`, plus an allowance for aggregation (draft section
    /// 4.2.3.2).
    fn inflight(&self, state: &Path, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return 10 * state.mss };
        let bdp = (self.rate() * min_rtt.as_secs_f64() * gain).ceil() as u64;
        // Linux's `bbr_quantization_budget`: three quanta, and two segments in the first phase of a cycle.
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        bdp + 3 * state.quantum.max(state.mss) + if probing { 2 * state.mss } else { 0 }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw => CYCLE[self.phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Draft section 4.1.1: updates the round count and the maximum rate.
    fn update_rate(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some(before) = sample.delivered_before else { return };
        if before >= self.round_end {
            self.round_end = sample.total_delivered;
            self.rounds += 1;
            (self.round_start, self.packet_conservation) = (true, false);
        }
        let Some(rate) = sample.rate else { return };
        if !sample.app_limited || rate >= self.rates.get() {
            self.rates.update(RATE_ROUNDS, self.rounds, rate);
        }
    }

    /// Draft section 4.2.3.1: whether the phase of the cycle is over.
    fn is_phase_over(&self, state: &Path, sample: &Sample) -> bool {
        let min_rtt_passed = self.min_rtt.is_none_or(|min_rtt| sample.now.since(self.phase_at) > min_rtt);
        let gain = CYCLE[self.phase];
        if gain > 1.0 {
            // Lasts until the data in flight matches the gain, or something is lost.
            min_rtt_passed && (sample.newly_lost > 0 || sample.in_flight_before >= self.inflight(state, gain))
        } else if gain < 1.0 {
            min_rtt_passed || sample.in_flight_before <= self.inflight(state, 1.0)
        } else {
            min_rtt_passed
        }
    }

    /// Draft section 4.2.2: the pipe is full when the rate stops growing.
    fn check_full(&mut self, sample: &Sample) {
        if self.pipe_full || !self.round_start || sample.app_limited {
            return;
        }
        if self.rates.get() >= self.full_rate * FULL_GROWTH {
            (self.full_rate, self.full_rounds) = (self.rates.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.pipe_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Starts in a random phase, except the draining one.
    fn enter_probe_bw(&mut self, now: Instant, jitter: &mut JitterRng) {
        self.mode = Mode::ProbeBw;
        let last = CYCLE.len() - 1;
        self.phase = (last - jitter.below(now, last as u64) as usize + 1) % CYCLE.len();
        self.phase_at = now;
    }

    fn leave_probe_rtt(&mut self, state: &mut Path, now: Instant, jitter: &mut JitterRng) {
        self.min_rtt_at = now;
        state.cwnd = state.cwnd.max(self.prior);
        state.held_back = false;
        if self.pipe_full {
            self.enter_probe_bw(now, jitter);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_window(&mut self, state: &Path) {
        let is_valid = self.repair == Repair::None && self.mode != Mode::ProbeRtt;
        self.prior = if is_valid { state.cwnd } else { self.prior.max(state.cwnd) };
    }

    /// Draft sections 4.1.2 and 4.2.4: updates the minimum RTT, and enters or leaves PROBE_RTT.
    fn update_min_rtt(&mut self, state: &mut Path, sample: &Sample, jitter: &mut JitterRng) {
        let expired = sample.now > self.min_rtt_at + MIN_RTT_LIFETIME;
        if let Some(rtt) = sample.rtt
            && (expired || self.min_rtt.is_none_or(|min_rtt| rtt < min_rtt))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), sample.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window(state);
            (self.mode, self.probe_ends) = (Mode::ProbeRtt, None);
        }
        if self.mode == Mode::ProbeRtt {
            state.held_back = true;
            match self.probe_ends {
                None if sample.in_flight <= MIN_WINDOW * state.mss => {
                    self.probe_ends = Some(sample.now + PROBE_RTT_DURATION);
                    (self.probe_round, self.round_end) = (false, sample.total_delivered);
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
        self.idle_restart &= sample.delivered == 0;
    }

    fn set_pacing(&mut self, state: &mut Path, gain: f64) {
        if !self.measured && state.srtt.is_some() {
            self.init_pacing(state);
        }
        let rate = self.rate() * gain * MARGIN;
        if self.pipe_full || state.pacing.is_none_or(|pace| rate > pace) {
            pace(state, rate);
        }
    }

    /// The initial pacing rate: the initial window per RTT, multiplied by the gain.
    fn init_pacing(&mut self, state: &mut Path) {
        self.measured = state.srtt.is_some();
        let rtt = state.srtt.unwrap_or(NOMINAL).as_secs_f64().max(1e-6);
        pace(state, HIGH_GAIN * MARGIN * state.cwnd as f64 / rtt);
    }

    /// Draft section 4.2.3.4: adjusts the window during recovery. Returns whether packet conservation
    /// applies.
    fn modulate(&mut self, state: &mut Path, sample: &Sample) -> bool {
        let before = std::mem::replace(&mut self.repair, sample.repair);
        state.cwnd = state.cwnd.saturating_sub(sample.newly_lost).max(state.mss);
        let conserved = sample.in_flight + sample.newly_delivered;
        if sample.repair == Repair::Fast && before != Repair::Fast {
            (self.packet_conservation, self.round_end) = (true, sample.total_delivered);
            state.cwnd = conserved;
        } else if sample.repair == Repair::None && before != Repair::None {
            self.packet_conservation = false;
            state.cwnd = state.cwnd.max(self.prior);
        }
        if self.packet_conservation {
            state.cwnd = state.cwnd.max(conserved);
        }
        self.packet_conservation
    }

    /// Draft section 4.2.3: sets the congestion window.
    fn set_window(&mut self, state: &mut Path, sample: &Sample) {
        let gain = match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => WINDOW_GAIN,
            Mode::ProbeRtt => 1.0,
        };
        if sample.newly_delivered > 0 && !self.modulate(state, sample) {
            let target = self.inflight(state, gain);
            if self.pipe_full {
                state.cwnd = (state.cwnd + sample.newly_delivered).min(target);
            } else if state.cwnd < target || sample.total_delivered < 10 * state.mss {
                state.cwnd += sample.newly_delivered;
            }
            state.cwnd = state.cwnd.max(MIN_WINDOW * state.mss);
        }
        if self.mode == Mode::ProbeRtt {
            state.cwnd = state.cwnd.min(MIN_WINDOW * state.mss);
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
            own.init_pacing(state);
        }
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        if own.min_rtt.is_none() {
            (own.min_rtt, own.min_rtt_at) = (state.min_rtt, sample.now);
        }
        own.update_rate(sample);
        if own.mode == Mode::ProbeBw && own.is_phase_over(state, sample) {
            (own.phase, own.phase_at) = ((own.phase + 1) % CYCLE.len(), sample.now);
        }
        own.check_full(sample);
        if own.mode == Mode::Startup && own.pipe_full {
            own.mode = Mode::Drain;
        }
        if own.mode == Mode::Drain && sample.in_flight <= own.inflight(state, 1.0) {
            own.enter_probe_bw(sample.now, jitter);
        }
        own.update_min_rtt(state, sample, jitter);
        own.set_pacing(state, own.pacing_gain());
        own.set_window(state, sample);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        self.path(path).save_window(&paths[path]);
        paths[path].ssthresh
    }

    /// Marks are ignored, but the window is saved, as Linux does when it enters CWR: `on_loss` is not called
    /// for losses in the same round.
    fn on_mark(&mut self, paths: &mut [Path], path: usize, _mark: Mark) -> u64 {
        self.path(path).save_window(&paths[path]);
        paths[path].ssthresh
    }

    fn on_timeout(&mut self, _paths: &mut [Path], path: usize) {
        let own = self.path(path);
        (own.repair, own.full_rate, own.packet_conservation) = (Repair::Timeout, 0.0, false);
    }

    fn on_undo(&mut self, _paths: &mut [Path], path: usize, _delivered: u64) {
        let own = self.path(path);
        (own.full_rate, own.full_rounds) = (0.0, 0);
    }

    /// Draft section 4.2.4: an idle time drains the queue as PROBE_RTT would.
    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, _idle: Duration) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        own.idle_restart = true;
        match own.mode {
            Mode::ProbeBw => own.set_pacing(state, 1.0),
            Mode::ProbeRtt if own.probe_ends.is_some_and(|ends| now > ends) => {
                own.leave_probe_rtt(state, now, jitter);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
