//! Verdicts about losses, silences and thin data.

use std::collections::BTreeSet;

use mptcp_doctor::ConnectionReport;

use crate::common::{Bulk, Flow, MS, MSS, S, Scene, only};

const START: u64 = 100 * S;
const RTT: u64 = 20 * MS;
/// Bursts of a transfer, and the time between them.
const BURSTS: u32 = 80;
const PERIOD: u64 = 50 * MS;

fn names(connection: &ConnectionReport) -> Vec<&str> {
    connection.verdicts.iter().map(|one| one.name.as_str()).collect()
}

/// Pseudo-random numbers (Knuth's MMIX generator).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}

/// A transfer in bursts of 4 to 29 segments. `is_lost` gets the time of a segment at its sender, s.
fn bursts(distance: [u64; 2], mut is_lost: impl FnMut(f64) -> bool) -> ConnectionReport {
    let mut scene = Scene::at(distance[0], distance[1]);
    let flow = Flow::first();
    let end = scene.open_plain(&flow, START + distance[0] / 2) - distance[0] / 2;
    let mut random = Random(1);
    let (gap, mut first) = (MS / 5, 1);
    for burst in 0..BURSTS {
        let start = end + MS + u64::from(burst) * PERIOD;
        let count = 4 + random.below(26);
        let lost = (0..count).filter(|index| is_lost((start + u64::from(*index) * gap - START) as f64 / 1e9));
        let is_lost_before_capture = distance[0] > 0;
        let lost = lost.collect();
        let bulk = Bulk { first, lost, is_lost_before_capture, ..Bulk::plain(&flow, start, count, gap) };
        bulk.play(&mut scene);
        first += count * MSS;
    }
    only(&scene.sorted())
}

#[test]
fn losses_at_an_empty_bucket_are_a_policer() {
    // A bucket of 20 kB that fills with 400 kB/s.
    for distance in [[0, RTT], [RTT, 0]] {
        let (mut tokens, mut before) = (20e3_f64, 0.0);
        let connection = bursts(distance, |time| {
            tokens = (tokens + 400e3 * (time - before)).min(20e3);
            before = time;
            let is_lost = tokens < f64::from(MSS);
            tokens -= if is_lost { 0.0 } else { f64::from(MSS) };
            is_lost
        });
        let found = connection.verdicts.iter().find(|one| one.name == "policer");
        let found = found.unwrap_or_else(|| panic!("{:?} at {distance:?}", names(&connection)));
        assert!(found.summary.contains("is policed to"), "{}", found.summary);
    }
}

#[test]
fn losses_at_any_level_of_a_bucket_are_no_policer() {
    for (distance, one_of) in [([0, RTT], 20), ([0, RTT], 6), ([RTT, 0], 20)] {
        let mut random = Random(7);
        let connection = bursts(distance, |_| random.below(one_of) == 0);
        assert!(!names(&connection).contains(&"policer"), "{:?}", connection.verdicts);
    }
}

#[test]
fn thin_data_behind_a_slow_path_is_late_too() {
    // Every third segment takes the slow path, and the next one waits for it.
    let (fast, slow) = (Flow::first(), Flow::second());
    let mut scene = Scene::at(0, 10 * MS);
    let opened = scene.open(&fast, START);
    scene.distance = [0, 100 * MS];
    let joined = scene.join(&slow, opened + MS, 0, false);
    let mut acknowledgements = Vec::new();
    let mut next = [1; 2];
    for index in 0..200_u32 {
        let time = joined + MS + u64::from(index) * 40 * MS;
        let number = usize::from(index % 3 == 0);
        let (flow, rtt) = [(&fast, 10 * MS), (&slow, 100 * MS)][number];
        scene.add(time, flow.mapped(0, next[number], 1000, u64::from(1 + index * 1000)));
        next[number] += 1000;
        acknowledgements.push((time + rtt, flow, next[number], index));
    }
    acknowledgements.sort_unstable_by_key(|one| one.0);
    let mut received = BTreeSet::new();
    for (time, flow, number, index) in acknowledgements {
        received.insert(index);
        let missing = (0_u32..).find(|one| !received.contains(one)).unwrap_or(0);
        scene.add(time, flow.data_ack(1, number, &[], u64::from(1 + missing * 1000)));
    }
    let connection = only(&scene.sorted());
    let found = connection.verdicts.iter().find(|one| one.name == "scheduler");
    let found = found.unwrap_or_else(|| panic!("{:?}", names(&connection)));
    assert!(found.summary.starts_with("67% of the data"), "{}", found.summary);
    assert_eq!(found.subflow, Some(1));
}

#[test]
fn a_path_that_loses_nothing_and_is_unused_is_not_dead() {
    let (first, second) = (Flow::first(), Flow::second());
    let mut scene = Scene::at(RTT, 0);
    let end = scene.open(&first, START + RTT / 2);
    let joined = scene.join(&second, end + MS, 0, false);
    let (count, gap) = (100, 5 * MS);
    Bulk::new(&second, joined, count, gap).play(&mut scene);
    let start = joined + u64::from(count) * gap + MS;
    let data = Some(1 + u64::from(count * MSS));
    Bulk { data, ..Bulk::new(&first, start, 1000, gap) }.play(&mut scene);
    let connection = only(&scene.sorted());
    assert!(!names(&connection).contains(&"dead-path"), "{:?}", connection.verdicts);
}
