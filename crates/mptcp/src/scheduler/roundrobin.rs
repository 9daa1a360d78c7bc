//! The round-robin scheduler, a baseline that ignores RTTs: each subflow with an open window in turn.

use crate::scheduler::{Scheduler, SendView};

/// Chooses the available subflow after the one chosen last.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin {
    last: usize,
}

impl Scheduler for RoundRobin {
    fn name(&self) -> &'static str {
        "roundrobin"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let candidates = view.candidates;
        let after = candidates.iter().position(|c| c.subflow > self.last && c.is_available);
        let chosen = after.or_else(|| candidates.iter().position(|c| c.is_available))?;
        self.last = candidates[chosen].subflow;
        Some(chosen)
    }
}
