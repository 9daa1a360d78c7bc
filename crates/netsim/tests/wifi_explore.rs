mod wifi;
use netsim::*;
use wifi::*;
const NS: [usize; 10] = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50];
fn row(name: &str, cell: &CellParameters, rate: u64, bytes: u32, expected: &[f64; 10]) {
    print!("{name:28}");
    for (i, n) in NS.into_iter().enumerate() {
        let s = saturate(1, cell, n, rate, bytes, 20);
        print!(" {:6.3}({:+5.2}%)", s.frames_per_second * 12e-3, (s.frames_per_second * 12e-3 / expected[i] - 1.0) * 100.0);
    }
    println!();
}
#[test]
fn explore() {
    let g = CellParameters { retry_limit: None, collision_wait: CollisionWait::Difs, ..CellParameters::ideal(Standard::G) };
    let e54 = [29.832, 28.152, 27.095, 26.293, 25.690, 25.143, 24.654, 24.261, 23.935, 23.562];
    let e24 = [16.247, 15.143, 14.490, 14.007, 13.650, 13.329, 13.044, 12.816, 12.629, 12.414];
    let e12 = [8.952, 8.290, 7.910, 7.632, 7.427, 7.245, 7.083, 6.954, 6.849, 6.728];
    let e6 = [4.709, 4.345, 4.140, 3.990, 3.880, 3.782, 3.696, 3.628, 3.571, 3.507];
    let b11 = [6.473, 6.177, 5.955, 5.782, 5.643, 5.529, 5.419, 5.324, 5.245, 5.175];
    let b1 = [0.844, 0.786, 0.750, 0.723, 0.702, 0.685, 0.669, 0.655, 0.644, 0.634];
    let eifs = [29.286, 27.376, 26.208, 25.333, 24.681, 24.094, 23.572, 23.155, 22.810, 22.416];
    for ack in [24_000_000, 12_000_000, 6_000_000] {
        for cd in [Countdown::IdleSlots, Countdown::EverySlot] {
            let c = CellParameters { max_ack_rate: ack, countdown: cd, ..g.clone() };
            println!("ack {ack} {cd:?}");
            row("54", &c, 54_000_000, 1512, &e54);
            row("24", &c, 24_000_000, 1512, &e24);
            row("12", &c, 12_000_000, 1512, &e12);
            row("6", &c, 6_000_000, 1512, &e6);
            row("54 eifs", &CellParameters { collision_wait: CollisionWait::Eifs, ..c.clone() }, 54_000_000, 1512, &eifs);
        }
    }
    for ack in [11_000_000, 1_000_000] {
        for cd in [Countdown::IdleSlots, Countdown::EverySlot] {
            for cw in [15, 31] {
            let c = CellParameters { max_ack_rate: ack, countdown: cd, retry_limit: None, collision_wait: CollisionWait::Difs, cw_min: cw, ..CellParameters::ideal(Standard::B) };
            println!("b ack {ack} {cd:?} {cw}");
            row("11", &c, 11_000_000, 1512, &b11);
            row("1", &c, 1_000_000, 1512, &b1);
            }
        }
    }
}
