//! NewReno or LIA with an increase or a decrease that is not its RFC's: for experiments on what these constants do.

use mptcp_clock::Instant;

use crate::congestion::controllers::lia::coupled_increase;
use crate::congestion::{Acked, CongestionControl, Mark, Path, Reno};

/// What a loss leaves of the window in RFC 5681 (equation 4).
pub(crate) const BETA: f64 = 0.5;

/// NewReno, or LIA if `alpha_scale` is given.
#[derive(Clone, Copy, Debug)]
pub struct Tuned {
    /// LIA's alpha is multiplied by this; `None` for NewReno.
    alpha_scale: Option<f64>,
    /// The part of the window that a loss leaves, between 0 and 1.
    beta: f64,
}

impl Tuned {
    /// NewReno, of whose window a loss leaves `beta`.
    #[must_use]
    pub const fn reno(beta: f64) -> Self {
        Self { alpha_scale: None, beta }
    }

    /// LIA with alpha times `alpha_scale`, of whose window a loss leaves `beta`.
    #[must_use]
    pub const fn lia(alpha_scale: f64, beta: f64) -> Self {
        Self { alpha_scale: Some(alpha_scale), beta }
    }
}

impl CongestionControl for Tuned {
    fn name(&self) -> &'static str {
        if self.alpha_scale.is_some() { "lia" } else { "reno" }
    }

    fn hears_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let Some(scale) = self.alpha_scale else { return Reno.on_ack(paths, path, acked) };
        coupled_increase(paths, path, acked, scale);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let state = &paths[path];
        ((state.cwnd as f64 * self.beta) as u64).max(2 * state.mss)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        if self.alpha_scale.is_none() && mark.gentle {
            return Reno.on_mark(paths, path, mark);
        }
        self.on_loss(paths, path, mark.now)
    }
}
