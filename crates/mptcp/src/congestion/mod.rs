//! Congestion control for all paths of a connection.
//!
//! Owns the windows ([`PathState`]) and the algorithms that move them. An algorithm sees every
//! sibling path, so coupled and uncoupled ones have one shape. Never decides what is lost: the
//! subflow does, and tells.

mod balia;
mod cubic;
mod lia;
mod linked;
mod local;
mod olia;
mod reno;
mod send_queue;
mod wvegas;

use mptcp_clock::{Duration, Instant};

use crate::config::{Config, PenaltyRule};
use crate::policy::Registry;
pub use balia::Balia;
pub use cubic::Cubic;
pub use lia::Lia;
pub use linked::Linked;
pub use local::{Departure, LocalQueue};
pub use olia::Olia;
pub use reno::Reno;
pub use send_queue::SendQueueRule;
pub use wvegas::WVegas;

/// The congestion state of one path. Windows count payload bytes.
#[derive(Clone, Debug, Default)]
pub struct PathState {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes.
    pub ssthresh: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
    /// Variation of the round-trip time (RFC 6298's RTTVAR).
    pub rttvar: Duration,
    /// Latest sample of the round-trip time.
    pub latest_rtt: Option<Duration>,
    /// Smallest round-trip time seen.
    pub min_rtt: Option<Duration>,
    /// Bytes sent and not yet acknowledged.
    pub unacked: u64,
    /// The queue of this host's own interface.
    pub local: LocalQueue,
    /// The most bytes a second that the path may send; None for no limit but the window.
    pub pacing: Option<f64>,
    /// Whether the path carries data now; a coupled algorithm leaves the others out.
    pub active: bool,
    /// Growth owed but not yet a whole byte.
    pub credit: f64,
}

/// What an acknowledgement said.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it came.
    pub now: Instant,
    /// Bytes newly acknowledged.
    pub bytes: u64,
}

/// An algorithm that sets the windows of all paths of a connection.
pub trait CongestionControl: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// New data was acknowledged on `path`, whether or not its window was full; comes before `on_ack`.
    fn on_progress(&mut self, paths: &mut [PathState], path: usize, acked: Acked) {
        let _ = (paths, path, acked);
    }

    /// New data was acknowledged on `path` while its window was full.
    fn on_ack(&mut self, paths: &mut [PathState], path: usize, acked: Acked);

    /// The local queue of `path` let go of a packet; `paths[path].local` says what is left.
    fn on_departed(&mut self, paths: &mut [PathState], path: usize, now: Instant) {
        let _ = (paths, path, now);
    }

    /// Data was lost on `path`; called once for each congestion event. Returns the new `ssthresh`
    /// in bytes. Halves the window unless overridden (RFC 5681 equation 4).
    fn on_loss(&mut self, paths: &mut [PathState], path: usize, now: Instant) -> u64 {
        let _ = now;
        (paths[path].cwnd / 2).max(2 * paths[path].mss)
    }

    /// The retransmission timer of `path` ran out; comes after `on_loss`, if that comes at all.
    fn on_timeout(&mut self, paths: &mut [PathState], path: usize) {
        let _ = (paths, path);
    }

    /// A path begins or ends; `paths[path].active` says which. After its end the index may get another path, so
    /// that nothing may be remembered.
    fn on_path_change(&mut self, paths: &mut [PathState], path: usize) {
        let _ = (paths, path);
    }
}

/// The built-in algorithms.
pub(crate) fn built_in() -> Registry<dyn CongestionControl> {
    Registry::new("congestion controller")
        .with("reno", "NewReno on each subflow by itself (RFC 5681)", |_| Ok(Reno.into()))
        .with("cubic", "CUBIC on each subflow by itself (RFC 9438)", |_| Ok(Cubic::default().into()))
        .with("lia", "Linked increases over all subflows (RFC 6356)", |_| Ok(Lia.into()))
        .with("olia", "Opportunistic linked increases (Khalili et al., CoNEXT 2012)", |_| {
            Ok(Olia::default().into())
        })
        .with("balia", "Balanced linked adaptation (Peng et al., 2016)", |_| Ok(Balia.into()))
        .with("wvegas", "Weighted Vegas, which answers to delay (Cao et al., ICNP 2012)", |_| {
            Ok(WVegas::default().into())
        })
}

/// The windows of a connection's paths and the algorithm over them.
#[derive(Debug)]
pub struct Congestion {
    /// One entry for each place of a subflow, in their order.
    pub paths: Vec<PathState>,
    algorithm: Box<dyn CongestionControl>,
    send_queue_rule: Option<SendQueueRule>,
    byte_counting: bool,
    penalties: u64,
}

impl Congestion {
    pub(crate) fn new(config: &Config) -> Self {
        let rule = config.send_queue_rule;
        Self {
            paths: Vec::new(),
            algorithm: with_rule(rule, config.congestion.build()),
            send_queue_rule: rule,
            byte_counting: config.byte_counting,
            penalties: 0,
        }
    }

    /// Replaces the algorithm, keeping the windows and a send-queue rule; a pace that the old one asked for ends with it.
    pub fn set_algorithm(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.paths.iter_mut().for_each(|path| path.pacing = None);
        self.algorithm = with_rule(self.send_queue_rule, algorithm);
    }

    /// The algorithm's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Adds a path with an initial window of `segments` segments; returns its index.
    pub(crate) fn add_path(&mut self, mss: u64, segments: u32) -> usize {
        self.paths.push(PathState::new(mss, segments));
        self.paths.len() - 1
    }

    pub(crate) fn set_active(&mut self, path: usize, active: bool) {
        if self.paths[path].active != active {
            self.paths[path].active = active;
            self.algorithm.on_path_change(&mut self.paths, path);
        }
    }

    pub(crate) fn on_departed(&mut self, path: usize, now: Instant, departure: Departure) {
        let state = &mut self.paths[path];
        state.local.leave(departure, state.mss);
        self.algorithm.on_departed(&mut self.paths, path, now);
    }

    pub(crate) fn on_progress(&mut self, path: usize, acked: Acked) {
        self.algorithm.on_progress(&mut self.paths, path, acked);
    }

    pub(crate) fn on_ack(&mut self, path: usize, mut acked: Acked) {
        if !self.byte_counting {
            // RFC 5681 equation 2: at most one segment's worth for each acknowledgement.
            acked.bytes = acked.bytes.min(self.paths[path].mss);
        }
        self.algorithm.on_ack(&mut self.paths, path, acked);
    }

    /// Lowers `ssthresh` for a congestion event and returns it; the caller moves the window.
    pub(crate) fn on_loss(&mut self, path: usize, now: Instant) -> u64 {
        let ssthresh = self.algorithm.on_loss(&mut self.paths, path, now);
        let state = &mut self.paths[path];
        state.ssthresh = ssthresh;
        state.credit = 0.0;
        ssthresh
    }

    pub(crate) fn on_timeout(&mut self, path: usize) {
        self.algorithm.on_timeout(&mut self.paths, path);
    }

    /// Mechanism M2, penalising a slow subflow (Raiciu et al., NSDI 2012, section 4.2): halves the
    /// window. The threshold follows the window, or is halved where slow start is over already.
    pub(crate) fn penalise(&mut self, path: usize, rule: PenaltyRule) {
        let state = &mut self.paths[path];
        let halved = (state.cwnd / 2).max(state.mss);
        match rule {
            PenaltyRule::Original => state.ssthresh = halved.max(2 * state.mss),
            PenaltyRule::Later if state.cwnd >= state.ssthresh => {
                state.ssthresh = (state.ssthresh / 2).max(2 * state.mss);
            }
            PenaltyRule::Later => {}
        }
        state.cwnd = halved;
        self.penalties += 1;
    }

    /// How often M2 has penalised a path.
    pub(crate) fn penalties(&self) -> u64 {
        self.penalties
    }
}

fn with_rule(
    rule: Option<SendQueueRule>,
    algorithm: Box<dyn CongestionControl>,
) -> Box<dyn CongestionControl> {
    match rule {
        Some(rule) => rule.around(algorithm),
        None => algorithm,
    }
}

impl PathState {
    /// A path with an initial window of `segments` segments.
    pub(crate) fn new(mss: u64, segments: u32) -> Self {
        Self { cwnd: mss * u64::from(segments), ssthresh: u64::MAX, mss, ..Self::default() }
    }

    /// Whether the window grows exponentially.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 section 3.1, counting bytes as RFC 3465): grows by what was
    /// acknowledged up to the threshold; returns the bytes left for congestion avoidance.
    pub fn slow_start(&mut self, bytes: u64) -> u64 {
        let grown = (self.cwnd + bytes).min(self.ssthresh.max(self.cwnd));
        let used = grown - self.cwnd;
        self.cwnd = grown;
        bytes - used
    }

    /// Adds `bytes` of growth, keeping the fraction; a negative growth stops at two segments.
    pub fn grow(&mut self, bytes: f64) {
        self.credit += bytes;
        if self.credit >= 1.0 {
            let whole = self.credit.floor();
            self.cwnd += whole as u64;
            self.credit -= whole;
        } else if self.credit <= -1.0 {
            let whole = self.credit.ceil();
            self.cwnd = self.cwnd.saturating_sub((-whole) as u64).max(self.cwnd.min(2 * self.mss));
            self.credit -= whole;
        }
    }
}
