//! A deterministic loss model: every nth frame is lost.

use mptcp_lab::netsim::LossModel;
use mptcp_lab::{Instant, Parameters, Rng, ScenarioError};

pub(crate) const ABOUT: &str =
    "Loses every `n`th frame (2 to 1000000, default 100) of at least `least` (default 0B).";

/// Parses `loss_model = { kind = "every-nth", ... }`.
pub(crate) fn read(keys: &mut Parameters<'_>) -> Result<impl Fn() -> EveryNth + use<>, ScenarioError> {
    let n = keys.number("n", 2..=1_000_000, 100)?;
    let least = keys.size("least", 0)?;
    Ok(move || EveryNth { n, least, count: 0 })
}

#[derive(Debug)]
pub(crate) struct EveryNth {
    n: u64,
    least: u64,
    count: u64,
}

impl LossModel for EveryNth {
    fn takes(&mut self, _at: Instant, bytes: u32, _random: &mut Rng) -> bool {
        if u64::from(bytes) < self.least {
            return false;
        }
        self.count += 1;
        self.count.is_multiple_of(self.n)
    }
}
