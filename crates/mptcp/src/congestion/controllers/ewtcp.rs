//! EWTCP, equally-weighted TCP (Honda, Nishida, Eggert, Sarolahti, Tokuda: "Multipath Congestion Control for Shared
//! Bottleneck", PFLDNeT 2009; Wischik, Raiciu, Greenhalgh, Handley: NSDI 2011, section 2.1).
//!
//! Each subflow is a TCP with the weight `a`: it increases its window by `a / w` per acknowledgement, and halves it after
//! a loss. With a loss probability `p`, its window is `sqrt(2 a / p)`, which is `sqrt(a)` of TCP's. The subflows of one
//! connection together are as aggressive as one TCP if `n sqrt(a) = 1`, so `a = 1 / n^2`. That is the default. The NSDI
//! paper prints `a = 1 / sqrt(n)`, with which `n` subflows take `n^0.75` of one TCP; `exponent = 0.5` selects it.
//!
//! Owns no state of its own.

use mptcp_clock::math;

use crate::congestion::{Acked, CongestionControl, Path};

/// EWTCP. Slow start and the decrease are those of Reno.
#[derive(Clone, Copy, Debug)]
pub struct Ewtcp {
    /// The weight of each subflow is the number of subflows to the power of minus this value.
    exponent: f64,
}

impl Ewtcp {
    /// Creates a controller with the weight `n^-exponent` for `n` subflows.
    #[must_use]
    pub const fn new(exponent: f64) -> Self {
        Self { exponent }
    }
}

impl Default for Ewtcp {
    fn default() -> Self {
        Self::new(2.0)
    }
}

impl CongestionControl for Ewtcp {
    fn name(&self) -> &'static str {
        "ewtcp"
    }

    fn needs_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let subflows = paths.iter().filter(|state| state.active).count().max(1) as f64;
        let state = &mut paths[path];
        let mut left = acked.bytes;
        if state.in_slow_start() {
            left = state.slow_start(left);
        }
        if left > 0 {
            let weight = math::pow(subflows, -self.exponent);
            state.grow(weight * left as f64 * state.mss as f64 / state.cwnd as f64);
        }
    }
}
