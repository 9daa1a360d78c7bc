//! The fastest subflow, and the fastest one with an open window: the two subflows that BLEST and ECF compare.
//!
//! Owns only this selection. Never decides between the two.

use crate::scheduler::Candidate;

/// Positions of the fastest subflow and of the fastest available one, by smoothed RTT. A subflow without an RTT sample
/// is the fastest while it is available, and is ignored otherwise. `None` if no subflow is available.
pub(crate) fn fastest_and_available(candidates: &[Candidate]) -> Option<(usize, usize)> {
    let fastest = |counts: &dyn Fn(&Candidate) -> bool| {
        (0..candidates.len()).filter(|&at| counts(&candidates[at])).min_by_key(|&at| candidates[at].srtt)
    };
    let available = fastest(&|candidate| candidate.is_available)?;
    Some((fastest(&|candidate| candidate.is_available || !candidate.srtt.is_zero())?, available))
}
