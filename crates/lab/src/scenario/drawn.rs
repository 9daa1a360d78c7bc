//! Adds random delays to the start times of flows, so that runs with different seeds are independent.

use mptcp_clock::{Duration, Rng};

use super::model::{Flow, Scenario};

impl Scenario {
    /// The scenario of the run with this seed: its flows have random start times, and its start jitter is 0.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Self {
        let mut drawn = self.clone();
        for flow in &mut drawn.flows {
            flow.start = self.start_of(flow, seed);
        }
        drawn.jitter.start = Duration::ZERO;
        drawn
    }

    /// The start time of `flow`, which does not depend on other flows.
    fn start_of(&self, flow: &Flow, seed: u64) -> Duration {
        let until = flow.stop.unwrap_or(self.duration).min(self.duration);
        let left = until.as_nanos().saturating_sub(flow.start.as_nanos());
        let most = self.jitter.start.as_nanos().min(left / 100);
        let later = Rng::new(seed, "lab").child("start").child(&flow.name).below(most.saturating_add(1));
        flow.start + Duration::from_nanos(later)
    }
}
