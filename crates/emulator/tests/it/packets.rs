//! Invalid and unroutable packets are dropped without effect.

use crate::scenes::{ms, offer, packet, path, there, until};

#[test]
fn what_is_for_nobody_is_counted_and_forgotten() {
    let mut emulation = path("delay = \"1ms\"");
    let mut six = vec![0; 48];
    six[0] = 0x60;
    let strangers = [
        packet([10, 87, 1, 1], [192, 0, 2, 1], 100, 0, 1),
        packet([10, 87, 1, 1], [255, 255, 255, 255], 100, 0, 1),
        six,
        vec![],
        vec![0x45; 19],
    ];
    for stranger in &strangers {
        offer(&mut emulation, ms(1), 0, stranger);
    }
    offer(&mut emulation, ms(1), 99, &there(100));
    assert_eq!(emulation.ignored(), strangers.len() as u64 + 1);
    assert_eq!(emulation.under_way(), 0);
    assert!(until(&mut emulation, ms(100)).is_empty());
}

#[test]
fn any_bytes_at_all_are_survived() {
    let mut emulation = path("rate = \"1Mbit\"\nqueue = { kind = \"fq_codel\" }\ndelay = \"1ms\"");
    let mut state = 1_u64;
    for now in 0..20_000 {
        let mut bytes: Vec<u8> = (0..(now % 97))
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            })
            .collect();
        if let Some(destination) = bytes.get_mut(16..20) {
            destination.copy_from_slice(&[10, 87, 1, 2]);
        }
        offer(&mut emulation, ms(now), (now % 3) as usize, &bytes);
        until(&mut emulation, ms(now));
    }
    until(&mut emulation, ms(100_000));
    assert_eq!(emulation.under_way(), 0);
}

#[test]
fn a_full_network_takes_no_more_memory() {
    // No packet is delivered for an hour, and only memory limits the packets in flight.
    let mut emulation = path("delay = \"3600s\"\nqueue = \"4000000p\"\nmtu = 65000");
    for _ in 0..20_000 {
        offer(&mut emulation, ms(0), 0, &there(100));
        if emulation.is_full() {
            break;
        }
    }
    assert!(emulation.is_full());
    let under_way = emulation.under_way();
    for refused in 1..=100 {
        assert!(
            emulation.room().len() >= there(100).len(),
            "a packet leaves its device, or nobody would ever sleep"
        );
        offer(&mut emulation, ms(1), 0, &there(100));
        assert_eq!(emulation.refused(), refused);
    }
    assert_eq!(emulation.under_way(), under_way);
}

#[test]
fn doubled_and_damaged_packets_come_out_so() {
    let mut emulation = path("delay = \"1ms\"\nduplicate = \"100%\"\ncorrupt = \"100%\"");
    let sent = there(100);
    offer(&mut emulation, ms(1), 0, &sent);
    let arrived = until(&mut emulation, ms(10));
    assert_eq!(arrived.len(), 2);
    let wrong = |packet: &[u8]| packet.iter().zip(&sent).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    let mut bits: Vec<u32> = arrived.iter().map(|(_, _, packet)| wrong(packet)).collect();
    bits.sort_unstable();
    assert_eq!(bits, [0, 1], "the copy is whole, and the other has one wrong bit");
    assert_eq!(emulation.under_way(), 0);
}
