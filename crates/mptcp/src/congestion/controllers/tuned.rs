//! NewReno or LIA with other constants than those of the RFCs, for experiments.
//!
//! Owns the two constants. Never keeps state per path.

use mptcp_clock::Instant;

use crate::congestion::controllers::lia::coupled_increase;
use crate::congestion::{Acked, CongestionControl, Mark, Path, Reno};

/// Fraction of the window that remains after a loss in RFC 5681 (equation 4).
pub(crate) const BETA: f64 = 0.5;

/// NewReno, or LIA if `alpha_scale` is given.
#[derive(Clone, Copy, Debug)]
pub struct Tuned {
    /// Factor of LIA's alpha; `None` for NewReno.
    alpha_scale: Option<f64>,
    /// Fraction of the window that remains after a loss, 0 to 1.
    beta: f64,
}

impl Tuned {
    /// NewReno whose window keeps the fraction `beta` after a loss.
    #[must_use]
    pub const fn reno(beta: f64) -> Self {
        Self { alpha_scale: None, beta }
    }

    /// LIA with alpha multiplied by `alpha_scale`, whose window keeps the fraction `beta` after a loss.
    #[must_use]
    pub const fn lia(alpha_scale: f64, beta: f64) -> Self {
        Self { alpha_scale: Some(alpha_scale), beta }
    }
}

impl CongestionControl for Tuned {
    fn name(&self) -> &'static str {
        if self.alpha_scale.is_some() { "lia" } else { "reno" }
    }

    fn needs_progress(&self) -> bool {
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
        if self.alpha_scale.is_none() && mark.abe {
            return Reno.on_mark(paths, path, mark);
        }
        self.on_loss(paths, path, mark.now)
    }
}
