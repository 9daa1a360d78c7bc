//! The cost of an attack, and helpers that attacks share.
//!
//! A sample is the cost of one attack at one size: heap, processor time and answers. Owns their measurement. Never
//! chooses an attack, and never judges a cost.

use crate::meter;
use crate::scene::Scene;

/// The cost of an attack of one size.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Size of the attack.
    pub size: u64,
    /// Additional heap of the host after the attack, in bytes.
    pub held: i64,
    /// Packets delivered to the host, or timers that ran.
    pub packets: u64,
    /// Processor time of the host, in nanoseconds.
    pub nanos: u64,
    /// Segments sent by the host.
    pub answers: u64,
}

/// Runs an attack on a prepared scene (a host with one attacking peer), and measures the cost.
pub(super) fn measured(size: u64, scene: &mut Scene, attack: impl FnOnce(&mut Scene)) -> Sample {
    scene.collect();
    let before = meter::live();
    (scene.packets, scene.answers, scene.nanos) = (0, 0, 0);
    attack(scene);
    let (packets, answers, nanos) = (scene.packets, scene.answers, scene.nanos);
    Sample { size, held: meter::live() - before, packets, nanos, answers }
}

/// Packets per batch. Their creation is not measured.
const BATCH: u64 = 64;

/// Delivers `count` segments to the host in batches; `make` creates each from its number.
pub(super) fn volley(
    scene: &mut Scene,
    count: u64,
    mut make: impl FnMut(&mut Scene, u64) -> mptcp_wire::Segment,
) {
    let mut at = 0;
    while at < count {
        let end = (at + BATCH).min(count);
        let batch = (at..end).map(|i| make(scene, i)).collect();
        scene.strike(batch);
        at = end;
    }
}

/// Position of `i` in a fixed shuffle of `0..count`.
pub(super) fn shuffled(i: u64, count: u64) -> u64 {
    // The prime exceeds every count, so the two have no common factor.
    ((u128::from(i) * 2_654_435_761 + 17) % u128::from(count)) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::shuffled;

    #[test]
    fn a_shuffle_loses_nothing() {
        let all: BTreeSet<u64> = (0..1_000).map(|i| shuffled(i, 1_000)).collect();
        assert_eq!(all.len(), 1_000);
    }
}
