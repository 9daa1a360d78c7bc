//! The single-path runs that every multipath result stands beside.

use crate::scenario::names::Transport;
use crate::scenario::{PathManagement, Scenario};

/// A scenario in which one flow is plain TCP over one path alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The flow.
    pub flow: String,
    /// The path it is left with.
    pub path: String,
    /// What to run.
    pub scenario: Scenario,
}

impl Scenario {
    /// A baseline for each path of each multipath flow that asks for them. All else stays: other
    /// flows, events, buffers, and the congestion control, of which the coupled ones are Reno on a
    /// single path.
    #[must_use]
    pub fn baselines(&self) -> Vec<Baseline> {
        let mut baselines = Vec::new();
        for (at, flow) in self.flows.iter().enumerate() {
            if !flow.baselines || flow.transport != Transport::Mptcp {
                continue;
            }
            for path in &flow.paths {
                let mut scenario = self.clone();
                scenario.name = format!("{} ({}: TCP over {path})", self.name, flow.name);
                let alone = &mut scenario.flows[at];
                alone.transport = Transport::Tcp;
                alone.paths = vec![path.clone()];
                alone.backup.clear();
                alone.path_manager = PathManagement::Fullmesh;
                alone.baselines = false;
                baselines.push(Baseline { flow: flow.name.clone(), path: path.clone(), scenario });
            }
        }
        baselines
    }
}
