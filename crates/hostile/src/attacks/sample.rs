//! What an attack costs, and the tools that attacks have in common.

use crate::meter;
use crate::scene::Scene;

/// What an attack of one size did.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How large the attack was.
    pub size: u64,
    /// Bytes that the host holds after it, beyond what it held before.
    pub held: i64,
    /// Packets that the host was given, or timers that ran.
    pub packets: u64,
    /// Processor time of the host, nanoseconds.
    pub nanos: u64,
    /// Segments that the host said.
    pub answers: u64,
}

/// Runs the attack proper on a scene that is prepared, and says what it cost.
pub(super) fn measured(size: u64, scene: &mut Scene, attack: impl FnOnce(&mut Scene)) -> Sample {
    scene.collect();
    let before = meter::live();
    (scene.packets, scene.answers, scene.nanos) = (0, 0, 0);
    attack(scene);
    let (packets, answers, nanos) = (scene.packets, scene.answers, scene.nanos);
    Sample { size, held: meter::live() - before, packets, nanos, answers }
}

/// Packets that are made before the clock of the host begins to run.
const BATCH: u64 = 64;

/// Gives the host `count` segments in batches, each made by `make` of its number.
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

/// The number that `i` becomes in a fixed shuffle of 0..count.
pub(super) fn shuffled(i: u64, count: u64) -> u64 {
    // A prime larger than every count shares no factor with it.
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
