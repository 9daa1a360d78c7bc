//! Tests of DualPI2 by the rules of RFC 9332 and its appendix A, with the RFC's numbers.

use super::*;
use crate::frame::{Cause, Codepoint};
use crate::queue::tests::{Desk, ms, us};
use crate::rate::Rate;

use Codepoint::{Ce, Ect0, Ect1, NotEct};

fn close(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-12, "{is}, {should} expected");
}

/// A queue with a fixed p'.
fn held(base: f64, settings: DualPi2) -> Desk<DualPi2Queue> {
    let mut desk = Desk::new(DualPi2Queue::new(settings));
    (desk.queue.base, desk.queue.update_at) = (base, ms(1_000_000_000));
    desk
}

/// Figure 6 of appendix A: p' += alpha (delay - target) + beta (delay - previous delay), every 16 ms.
#[test]
fn the_controller_moves_by_the_longest_wait() {
    for ecn in [NotEct, Ect1] {
        let mut desk = Desk::new(DualPi2Queue::new(DualPi2::default()));
        desk.put(ms(1), 0, 1000, ecn);
        desk.queue.catch_up(us(16_999));
        close(desk.queue.base, 0.0);
        // At 17 ms the packet has waited for 16 ms.
        desk.queue.catch_up(ms(17));
        close(desk.queue.base, 0.16 * 0.001 + 3.2 * 0.016);
        desk.queue.catch_up(ms(33));
        close(desk.queue.base, 0.16 * (0.001 + 0.017) + 3.2 * 0.032);
        // The larger delay of the two queues counts.
        desk.put(ms(40), 0, 1000, if ecn == Ect1 { NotEct } else { Ect1 });
        desk.queue.catch_up(ms(49));
        close(desk.queue.base, 0.16 * (0.001 + 0.017 + 0.033) + 3.2 * 0.048);
        desk.queue.catch_up(ms(1000));
        close(desk.queue.base, 1.0);
    }
}

#[test]
fn with_nobody_waiting_the_controller_sinks_to_nothing() {
    // 0.16 times 15 ms at each update.
    for (steps, expected) in [(1, 0.4976), (50, 0.38), (200, 0.02), (300, 0.0)] {
        let [mut once, mut often] = [(); 2].map(|()| DualPi2Queue::new(DualPi2::default()));
        (once.base, often.base) = (0.5, 0.5);
        once.catch_up(ms(1));
        (1..=1 + steps * 16).for_each(|at| often.catch_up(ms(at)));
        once.catch_up(ms(1 + steps * 16));
        assert!((once.base - expected).abs() < 1e-9, "{steps}: {}", once.base);
        assert!((once.base - often.base).abs() < 1e-9, "{steps}: {} {}", once.base, often.base);
        assert_eq!(once.update_at, often.update_at);
    }
    // The departed packet had a delay, which decays first.
    let mut desk = Desk::new(DualPi2Queue::new(DualPi2::default()));
    (desk.queue.base, desk.queue.delay_before) = (0.5, Duration::from_millis(20));
    desk.put(ms(1), 0, 1000, NotEct);
    desk.take(ms(1));
    desk.queue.catch_up(ms(33));
    close(desk.queue.base, 0.5 - 2.0 * 0.16 * 0.015 - 3.2 * 0.02);
}

/// Number of drops and marks for 1600 packets without delay.
fn signals(base: f64, settings: DualPi2, ecn: Codepoint) -> (usize, u64) {
    let mut desk = held(base, settings);
    for _ in 0..1600 {
        desk.put(ms(1), 0, 1000, ecn);
        desk.take(ms(1));
    }
    assert!(desk.dropped.iter().all(|&(_, cause)| cause == Cause::Discipline));
    (desk.dropped.len(), desk.marked())
}

/// Section 2.4: the classic probability is the square of p', the scalable one k times p'.
#[test]
fn scalable_flows_get_k_times_and_classic_ones_the_square() {
    let plain = DualPi2::default();
    assert_eq!(signals(0.0, plain, Ect1), (0, 0));
    assert_eq!(signals(0.0, plain, NotEct), (0, 0));
    // Half of the packets, from the first at which the sum exceeds one.
    assert_eq!(signals(0.25, plain, Ect1), (0, 799));
    // One in sixteen.
    assert_eq!(signals(0.25, plain, NotEct), (99, 0));
    assert_eq!(signals(0.25, plain, Ect0), (0, 99));
    assert_eq!(signals(0.25, DualPi2 { coupling_factor: 1.0, ..plain }, Ect1), (0, 399));
    // DCTCP uses ECT(0), which counts as scalable if configured.
    assert_eq!(signals(0.25, DualPi2 { any_ect: true, ..plain }, Ect0), (0, 799));
    assert_eq!(signals(0.25, DualPi2 { any_ect: true, ..plain }, NotEct), (99, 0));
}

/// Section 2.5.1.1: when all packets would be marked, drops take over for both types.
#[test]
fn under_overload_both_kinds_are_dropped() {
    let plain = DualPi2::default();
    // k p' just below one, and at one.
    let (dropped, marked) = signals(0.499, plain, Ect1);
    assert!(dropped == 0 && marked > 1590, "{dropped} {marked}");
    let (dropped, marked) = signals(0.5, plain, Ect1);
    assert!((398..=400).contains(&dropped) && marked + dropped as u64 >= 1599, "{dropped} {marked}");
    let (dropped, marked) = signals(0.5, plain, Ect0);
    assert!((398..=400).contains(&dropped) && marked == 0, "{dropped} {marked}");
    let (dropped, _) = signals(1.0, plain, NotEct);
    assert!(dropped >= 1599);
}

/// Whether a scalable packet with this delay is marked at p' = 0, with or without a packet behind it.
fn stepped(rate: u64, waited_us: u64, alone: bool) -> bool {
    let mut desk = held(0.0, DualPi2::default());
    desk.rate = Rate::new(rate);
    desk.put(ms(1), 0, 1000, Ect1);
    if !alone {
        desk.put(us(1000 + waited_us), 0, 1000, Ect1);
    }
    desk.take(us(1000 + waited_us)).expect("it leaves");
    desk.marked() > 0
}

/// Section 2.4, native queue: a step at 1 ms, or at the transmission time of two full packets if that is
/// longer; none for a single packet.
#[test]
fn a_scalable_packet_that_waited_too_long_is_marked() {
    assert!(!stepped(80_000_000, 1_000, false));
    assert!(stepped(80_000_000, 1_001, false));
    assert!(!stepped(80_000_000, 90_000, true));
    // At 8 Mb/s, two packets of 1514 bytes take 3028 us.
    assert!(!stepped(8_000_000, 3_028, false));
    assert!(stepped(8_000_000, 3_029, false));
}

/// Shares count bytes.
#[test]
fn classic_flows_keep_their_share_of_the_bytes_and_no_more() {
    for (share, scalable, classic) in
        [(0.1, 1000, 1000), (0.1, 500, 1500), (0.3, 1500, 300), (0.5, 1000, 600), (0.0, 1000, 1000)]
    {
        let mut desk = held(0.0, DualPi2 { classic_protection: share, ..DualPi2::default() });
        let mut sent = [0, 0];
        for _ in 0..5000 {
            desk.put(ms(1), 0, scalable, Ect1);
            desk.put(ms(1), 1, classic, NotEct);
        }
        for _ in 0..3000 {
            let packet = desk.take(ms(1)).expect("both have more");
            sent[packet.label as usize] += packet.bytes;
        }
        let got = f64::from(sent[1]) / f64::from(sent[0] + sent[1]);
        assert!((got - share).abs() < 0.005, "{got} of {share} with {scalable} and {classic} bytes");
    }
}

/// A queue accumulates no debt while the other one is empty.
#[test]
fn who_was_alone_has_used_nothing_up() {
    let mut desk = held(0.0, DualPi2::default());
    for _ in 0..100 {
        desk.put(ms(1), 1, 1000, NotEct);
        assert_eq!(desk.take(ms(1)).map(|packet| packet.label), Some(1));
    }
    for label in [0, 1, 0] {
        desk.put(ms(1), label, 1000, if label == 0 { Ect1 } else { NotEct });
    }
    let order = [(); 4].map(|()| desk.take(ms(1)).map(|packet| packet.label));
    assert_eq!(order, [Some(0), Some(1), Some(0), None], "a tenth of a packet is owed after the first");
}

#[test]
fn marked_packets_are_scalable_and_the_limit_is_of_both() {
    for (limit, fits) in [(QueueLimit::Packets(4), 4), (QueueLimit::Bytes(3_500), 3)] {
        let mut desk = held(0.0, DualPi2 { limit, ..DualPi2::default() });
        for ecn in [NotEct, Ce, Ect0, Ect1, Ect1] {
            desk.put(ms(1), u32::from(ecn.bits()), 1000, ecn);
        }
        let full = (fits..5).map(|place| (place, Cause::QueueFull)).collect::<Vec<_>>();
        assert_eq!(desk.dropped, full);
        assert_eq!(desk.take(ms(1)).map(|packet| packet.ecn), Some(Ce), "it goes before the older ones");
        desk.queue.clear();
        assert!(desk.take(ms(1)).is_none());
    }
}
