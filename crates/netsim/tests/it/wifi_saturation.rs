//! Saturated cells against theory: ns-3's reference tables for Bianchi's model, an independent solver of its
//! equations, and a Monte Carlo table for few stations.

use crate::wifi::{jain, saturate};
use netsim::{CellParameters, CollisionWait, Countdown, Standard};

const STATIONS: [usize; 10] = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50];

/// The cell of ns-3's tables: unlimited retries, and DIFS after a collision. ACKs use the highest of 6, 12, 24
/// Mb/s not above the data rate.
fn reference_cell() -> CellParameters {
    CellParameters {
        retry_limit: None,
        collision_wait: CollisionWait::Difs,
        ..CellParameters::ideal(Standard::G)
    }
}

/// 1500 bytes of payload, 6 above the MAC and 28 of it; this MAC adds 36 to an IP packet.
const REFERENCE_BYTES: u32 = 1500 + 6 + 28 - 36 + 14;

/// `expected` in Mb/s of 1500-byte payloads, for [`STATIONS`].
fn follows(name: &str, cell: &CellParameters, rate: u64, bytes: u32, expected: [f64; 10]) {
    let secs = (50_000_000 * 20 / rate).clamp(20, 400);
    for (n, expected) in STATIONS.into_iter().zip(expected) {
        let measured = saturate(1, cell, n, rate, bytes, secs).frames_per_second * 12e-3;
        let off = measured / expected - 1.0;
        println!(
            "{name}, {n:2} stations: {measured:6.3} Mb/s, expected {expected:6.3} ({:+.2} %)",
            off * 100.0
        );
        assert!(off.abs() < 0.02, "{name}, {n} stations: {measured} Mb/s, expected {expected}");
    }
}

#[test]
fn saturated_802_11g_cells_carry_what_ns_3_computes_from_bianchi() {
    for (rate, expected) in [
        (54, [29.832, 28.152, 27.095, 26.293, 25.690, 25.143, 24.654, 24.261, 23.935, 23.562]),
        (24, [16.247, 15.143, 14.490, 14.007, 13.650, 13.329, 13.044, 12.816, 12.629, 12.414]),
        (12, [8.952, 8.290, 7.910, 7.632, 7.427, 7.245, 7.083, 6.954, 6.849, 6.728]),
        (6, [4.709, 4.345, 4.140, 3.990, 3.880, 3.782, 3.696, 3.628, 3.571, 3.507]),
    ] {
        follows(&format!("{rate} Mb/s"), &reference_cell(), rate * 1_000_000, REFERENCE_BYTES, expected);
    }
}

#[test]
fn a_collision_that_costs_eifs_costs_what_ns_3_computes() {
    let cell = CellParameters { collision_wait: CollisionWait::DynamicEifs, ..reference_cell() };
    let expected = [29.286, 27.376, 26.208, 25.333, 24.681, 24.094, 23.572, 23.155, 22.810, 22.416];
    follows("EIFS", &cell, 54_000_000, REFERENCE_BYTES, expected);
}

#[test]
fn saturated_802_11b_cells_carry_what_ns_3_computes_from_bianchi() {
    // ACKs at 2 Mb/s for data at 11, at 1 for 1; slots of 20 us, windows from 31, frames of 1536 bytes.
    let cell = CellParameters {
        retry_limit: None,
        collision_wait: CollisionWait::Difs,
        max_ack_rate: 2_000_000,
        ..CellParameters::ideal(Standard::B)
    };
    let at_11 = [6.473, 6.177, 5.955, 5.782, 5.643, 5.529, 5.419, 5.324, 5.245, 5.175];
    let at_1 = [0.844, 0.786, 0.750, 0.723, 0.702, 0.685, 0.669, 0.655, 0.644, 0.634];
    follows("11b, 11 Mb/s", &cell, 11_000_000, 1514, at_11);
    follows("11b, 1 Mb/s", &cell, 1_000_000, 1514, at_1);
}

#[test]
fn few_stations_carry_what_a_monte_carlo_model_carries() {
    let short = CellParameters::ideal(Standard::G);
    let long = CellParameters { short_slot: false, ..short.clone() };
    for (name, cell, rate, rows) in [
        (
            "short slots",
            &short,
            54,
            [(1, 30.5, 0.0), (2, 30.8, 0.11), (3, 30.2, 0.18), (4, 29.6, 0.23), (8, 27.9, 0.34)].as_slice(),
        ),
        ("long slots", &long, 54, &[(1, 24.1, 0.0), (2, 25.8, 0.11), (4, 25.6, 0.23)]),
        ("6 Mb/s", &short, 6, &[(1, 5.37, 0.0), (2, 5.12, 0.11), (4, 4.76, 0.23), (8, 4.40, 0.34)]),
    ] {
        for &(n, expected, collisions) in rows {
            let done = saturate(3, cell, n, rate * 1_000_000, 1514, 100);
            let measured = done.frames_per_second * 12e-3;
            println!(
                "{name}, {n} stations: {measured:6.3} Mb/s ({expected}), p {:.3} ({collisions}), {} given up",
                done.collision_probability, done.retry_drops
            );
            assert!(
                (measured / expected - 1.0).abs() < 0.02,
                "{name}, {n} stations: {measured} Mb/s, expected {expected}"
            );
            assert!((done.collision_probability - collisions).abs() < 0.02);
            assert!(n > 4 || done.retry_drops <= 15, "{} frames given up in 100 s", done.retry_drops);
        }
    }
}

/// Bianchi (2000), equations 7 and 9: transmission and collision probability per slot, for windows of 16 slots
/// that double six times.
fn fixed_point(n: usize) -> (f64, f64) {
    let sends = |p: f64| {
        let (w, m) = (16.0, 6);
        let grown: f64 = (0..m).map(|stage| (2.0 * p).powi(stage)).sum();
        2.0 / (1.0 + w + p * w * grown)
    };
    let collides = |tau: f64| 1.0 - (1.0 - tau).powi(n as i32 - 1);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        if collides(sends(p)) > p { low = p } else { high = p }
    }
    (sends(low), low)
}

/// Frames per second and collision share of this cell from the fixed point. With `rewin`, counters are frozen
/// while the medium is busy. A station that has just sent may choose a backoff of zero and send again first,
/// and the others must wait one slot.
fn theory(n: usize, rewin: bool) -> (f64, f64) {
    let (slot, difs, data, answer) = (9e-6, 28e-6, 254e-6, 44e-6);
    let (tau, p) = fixed_point(n);
    let idle = (1.0 - tau).powi(n as i32);
    let one = n as f64 * tau * (1.0 - tau).powi(n as i32 - 1);
    let (again, after) = if rewin { (16.0 / 15.0, slot) } else { (1.0, 0.0) };
    let success = (data + answer + difs) * again + after;
    let collision = data + difs + after;
    let mean = idle * slot + one * success + (1.0 - idle - one) * collision;
    (one * again / mean, p / (1.0 + (1.0 - p) * (again - 1.0)))
}

#[test]
fn throughput_and_collisions_are_those_of_bianchis_fixed_point() {
    for (countdown, rewin) in [(Countdown::IdleSlots, true), (Countdown::EverySlot, false)] {
        let cell = CellParameters { countdown, ..reference_cell() };
        for n in [2, 5, 10, 20, 50] {
            let done = saturate(2, &cell, n, 54_000_000, 1514, 30);
            let (frames, collisions) = theory(n, rewin);
            println!(
                "{countdown:?}, {n:2} stations: {:7.1} frames/s ({frames:7.1}), p {:.3} ({collisions:.3})",
                done.frames_per_second, done.collision_probability
            );
            assert!((done.collision_probability - collisions).abs() < 0.02, "{n} stations");
            assert!((done.frames_per_second / frames - 1.0).abs() < 0.02, "{n} stations");
        }
    }
}

#[test]
fn every_station_of_a_saturated_cell_gets_the_same() {
    let cell = CellParameters::ideal(Standard::G);
    for n in [2, 3, 4, 6, 8, 12, 16, 25, 35, 50] {
        let shares = saturate(5, &cell, n, 54_000_000, 1514, 30).frames;
        assert!(jain(&shares) >= 0.99, "{n} stations: {} {shares:?}", jain(&shares));
    }
}
