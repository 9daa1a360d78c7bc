//! The states of BBRv3, and the constants of draft-ietf-ccwg-bbr (sections 2.7 and 5.6.1).
//!
//! Owns no changing state except the saved values for an undo.

/// Section 5.6.1: pacing and window gains.
pub(crate) const STARTUP_GAIN: f64 = 2.77;
pub(crate) const DRAIN_GAIN: f64 = 0.5;
pub(crate) const DOWN_GAIN: f64 = 0.9;
pub(crate) const UP_GAIN: f64 = 1.25;
pub(crate) const WINDOW_GAIN: f64 = 2.0;
pub(crate) const UP_WINDOW_GAIN: f64 = 2.25;
pub(crate) const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// BBR.LossThresh: maximum fraction of lost bytes in a round.
pub(crate) const LOSS_THRESHOLD: f64 = 0.02;
/// BBR.Beta: minimum fraction that remains after a round with losses.
pub(crate) const BETA: f64 = 0.7;
/// BBR.Headroom: fraction left for other flows.
pub(crate) const HEADROOM: f64 = 0.15;
/// BBR.MinPipeCwnd, segments.
pub(crate) const MIN_WINDOW: u64 = 4;
/// Initial window, segments (RFC 6928).
pub(crate) const INITIAL: u64 = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState`.
    pub(crate) fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`.
    pub(crate) fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    pub(crate) fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_GAIN,
            Self::Drain => DRAIN_GAIN,
            Self::Down => DOWN_GAIN,
            Self::Up => UP_GAIN,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
        }
    }

    pub(crate) fn window_gain(self) -> f64 {
        match self {
            Self::Up => UP_WINDOW_GAIN,
            Self::ProbeRtt => PROBE_RTT_WINDOW_GAIN,
            _ => WINDOW_GAIN,
        }
    }
}

/// State saved at the first loss of a round (section 5.5.11.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// The state that the losses ended; `None` if they did not change the state.
    pub(crate) state: Option<State>,
    pub(crate) bw_short: f64,
    pub(crate) inflight_short: u64,
    pub(crate) inflight_long: u64,
}
