//! Baselines of MPTCP flows: the same scenario with plain TCP over one path, to compare MPTCP with.
//!
//! Owns their creation, and the check that runs with baselines stay within `[limits]`.

use mptcp::path_manager::FullMesh;

use crate::scenario::names::Transport;
use crate::scenario::{Flow, Policy, Scenario};

/// A scenario in which one flow is plain TCP over one path.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// Name of the flow that is plain TCP.
    pub flow: String,
    /// Name of the only path of that flow.
    pub path: String,
    /// The scenario to run.
    pub scenario: Scenario,
}

/// Memory of a flow in a scenario, bytes.
const FLOW: f64 = 1_000.0;

/// An excess over the limits on runs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TooManyRuns {
    /// The number of runs exceeds `limits.runs`.
    #[error("{0} runs including baselines, but limits.runs is {1} (use fewer runs, or raise limits.runs)")]
    Runs(u64, u64),
    /// The results exceed `limits.memory`.
    #[error(
        "the results of {0} runs including baselines would take {1:.1} GB, but limits.memory is {2:.1} GB (use fewer \
         runs, or raise limits.memory)"
    )]
    Memory(u64, f64, f64),
    /// The events exceed `limits.memory`.
    #[error(
        "the events of {0} runs would take {1:.1} GB in addition to the results, but limits.memory is {2:.1} GB (use fewer runs, \
         lower limits.trace, or raise limits.memory)"
    )]
    Events(u64, f64, f64),
}

impl Scenario {
    /// Number of baselines.
    #[must_use]
    pub fn baseline_count(&self) -> u64 {
        self.flows.iter().filter(|flow| asks(flow)).map(|flow| flow.paths.len() as u64).sum()
    }

    /// Checks that `runs` runs and their baselines do not exceed `limits.runs`; returns the total number of
    /// runs.
    ///
    /// # Errors
    /// The excess.
    pub fn check_run_count(&self, runs: u64) -> Result<u64, TooManyRuns> {
        let all = runs.saturating_mul(self.baseline_count() + 1);
        if all > self.limits.runs {
            return Err(TooManyRuns::Runs(all, self.limits.runs));
        }
        Ok(all)
    }

    /// Checks that the results of `runs` runs and their baselines do not exceed the limits.
    ///
    /// # Errors
    /// The excess.
    pub fn check_runs(&self, runs: u64) -> Result<(), TooManyRuns> {
        let all = self.check_run_count(runs)?;
        let baselines = self.baseline_count();
        let own = self.flows.len() as f64 * FLOW * baselines as f64;
        let bytes = all as f64 * self.estimate().results + own;
        if bytes > self.limits.memory as f64 {
            return Err(TooManyRuns::Memory(all, bytes / 1e9, self.limits.memory as f64 / 1e9));
        }
        Ok(())
    }

    /// As [`Self::check_runs`], for runs that record events. The events stay in memory until all runs end;
    /// baselines record none.
    ///
    /// # Errors
    /// The excess.
    pub fn check_traced_runs(&self, runs: u64) -> Result<(), TooManyRuns> {
        self.check_runs(runs)?;
        let estimate = self.estimate();
        let all = runs.saturating_mul(self.baseline_count() + 1);
        let events = runs as f64 * estimate.traced;
        if events + all as f64 * estimate.results > self.limits.memory as f64 {
            return Err(TooManyRuns::Events(runs, events / 1e9, self.limits.memory as f64 / 1e9));
        }
        Ok(())
    }

    /// One baseline for each path of each MPTCP flow with `baselines = true`. Everything else stays the same:
    /// other flows, events, buffers, and congestion control. A coupled controller acts as Reno on one path.
    #[must_use]
    pub fn baselines(&self) -> Vec<Baseline> {
        let mut baselines = Vec::new();
        for (at, flow) in self.flows.iter().enumerate() {
            if !asks(flow) {
                continue;
            }
            for path in &flow.paths {
                let mut scenario = self.clone();
                scenario.name = format!("{} ({}: TCP over {path})", self.name, flow.name);
                let alone = &mut scenario.flows[at];
                alone.transport = Transport::Tcp;
                alone.paths = vec![path.clone()];
                alone.backup.clear();
                alone.path_manager = Policy::own(FullMesh.into());
                alone.baselines = false;
                baselines.push(Baseline { flow: flow.name.clone(), path: path.clone(), scenario });
            }
        }
        baselines
    }
}

fn asks(flow: &Flow) -> bool {
    flow.baselines && flow.transport == Transport::Mptcp
}
