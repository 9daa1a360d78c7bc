//! Tests durations against values of the standard, and values computed by hand from its formulas.

use super::super::parameters::Channel;
use super::*;

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn phy(standard: Standard) -> Phy {
    Phy::new(&CellParameters::ideal(standard))
}

fn n(streams: u8, short_guard: bool, channel: u8) -> CellParameters {
    CellParameters { streams, short_guard, channel: Channel(channel), ..CellParameters::ideal(Standard::N) }
}

/// IEEE 802.11-2016: tables 16-4, 17-21 and 18-5; DIFS is SIFS and two slots.
#[test]
fn slots_and_silences_are_the_standards() {
    let times = |cell: &CellParameters| {
        let phy = Phy::new(cell);
        (phy.slot, phy.difs)
    };
    for (standard, slot, difs) in
        [(Standard::B, 20, 50), (Standard::G, 9, 28), (Standard::A, 9, 34), (Standard::N, 9, 28)]
    {
        assert_eq!(times(&CellParameters::ideal(standard)), (us(slot), us(difs)), "{standard:?}");
    }
    let long = |standard| CellParameters { short_slot: false, ..CellParameters::ideal(standard) };
    assert_eq!(times(&long(Standard::G)), (us(20), us(50)));
    assert_eq!(times(&long(Standard::A)), (us(9), us(34)), "5 GHz has no long slots");
    let short = CellParameters { short_slot: true, ..CellParameters::ideal(Standard::B) };
    assert_eq!(times(&short), (us(20), us(50)), "802.11b has no short slots");
    assert_eq!(times(&n(1, false, 36)), (us(9), us(34)));
}

/// EIFS is 364 us for 802.11b and 94 us for 802.11a, as textbooks state.
#[test]
fn after_a_collision_everybody_waits_for_the_slowest_answer() {
    for (standard, eifs) in [(Standard::B, 364), (Standard::A, 94), (Standard::G, 88)] {
        let phy = phy(standard);
        assert_eq!(phy.collision_wait(CollisionWait::Eifs, us(1000)), us(eifs), "{standard:?}");
        assert_eq!(phy.collision_wait(CollisionWait::DynamicEifs, us(44)), phy.difs + us(44));
        assert_eq!(phy.collision_wait(CollisionWait::Difs, us(44)), phy.difs);
    }
}

/// A frame of 1500 bytes of IP, plus 36 bytes of MAC overhead.
#[test]
fn a_full_frame_takes_what_its_symbols_take() {
    let times = |cell: &CellParameters| {
        let phy = Phy::new(cell);
        phy.rates.iter().map(|rate| phy.duration(1536, rate)).collect::<Vec<_>>()
    };
    // 192 us of preamble, and 12288 bits at 1, 2, 5.5, 11 Mb/s.
    let b = CellParameters::ideal(Standard::B);
    assert_eq!(times(&b), [12_480, 6_336, 2_427, 1_310].map(us));
    let short = CellParameters { short_preamble: true, ..b };
    assert_eq!(times(&short), [12_384, 6_240, 2_331, 1_214].map(us));
    // 20 us of preamble and 12310 bits in symbols of 4 us; 6 us more at 2.4 GHz.
    let a = [2_072, 1_388, 1_048, 704, 536, 364, 280, 248];
    assert_eq!(times(&CellParameters::ideal(Standard::A)), a.map(us));
    assert_eq!(times(&CellParameters::ideal(Standard::G)), a.map(|time| us(time + 6)));
    // 36 us of preamble for one stream and 40 for two.
    let one = [1_932, 984, 668, 512, 352, 276, 248, 228];
    assert_eq!(times(&n(1, false, 36)), one.map(us));
    assert_eq!(times(&n(1, false, 6)), one.map(|time| us(time + 6)));
    // 130 Mb/s: 24 symbols. 12310 bits in 520 each.
    assert_eq!(times(&n(2, false, 36)).last(), Some(&us(40 + 96)));
    // 48 symbols of 3.6 us take 172.8 us, rounded up to a multiple of 4 us.
    assert_eq!(times(&n(1, true, 36)).last(), Some(&us(36 + 176)));
    assert_eq!(times(&n(2, true, 36)).last(), Some(&us(40 + 88)));
}

/// Table 19-27 ff.
#[test]
fn rates_are_the_standards() {
    let kbit = |cell: &CellParameters| cell.rates().iter().map(|rate| rate / 1000).collect::<Vec<_>>();
    assert_eq!(kbit(&CellParameters::ideal(Standard::B)), [1_000, 2_000, 5_500, 11_000]);
    let ofdm = [6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];
    assert_eq!(kbit(&CellParameters::ideal(Standard::G)), ofdm);
    assert_eq!(kbit(&CellParameters::ideal(Standard::A)), ofdm);
    let one = [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000];
    assert_eq!(kbit(&n(1, false, 36)), one);
    assert_eq!(kbit(&n(0, false, 36)), one, "at least one stream");
    assert_eq!(kbit(&n(1, true, 36)), [7_222, 14_444, 21_666, 28_888, 43_333, 57_777, 65_000, 72_222]);
    let mut both = [one.to_vec(), one.map(|rate| 2 * rate).to_vec()].concat();
    both.sort_unstable();
    assert_eq!(kbit(&n(2, false, 36)), both);
    assert_eq!(kbit(&n(9, false, 36)), both, "at most two streams");
}

/// Section 10.7.6.5: an ACK uses the highest basic rate not above the data rate, after SIFS.
#[test]
fn answers_go_at_the_basic_rate_below_their_data() {
    let answers = |cell: &CellParameters| {
        let phy = Phy::new(cell);
        phy.rates.iter().map(|rate| (rate.answer, rate.block_answer)).collect::<Vec<_>>()
    };
    let acks =
        |cell: &CellParameters| answers(cell).into_iter().map(|(answer, _)| answer).collect::<Vec<_>>();
    let b = CellParameters::ideal(Standard::B);
    // 14 bytes at 1, 2, 5.5 and 11 Mb/s.
    assert_eq!(acks(&b), [10 + 304, 10 + 248, 10 + 213, 10 + 203].map(us));
    let slow = CellParameters { max_ack_rate: 2_000_000, ..b };
    assert_eq!(acks(&slow), [314, 258, 258, 258].map(us));
    // 44 us at 6 Mb/s, 32 at 12, 28 at 24.
    let a = CellParameters::ideal(Standard::A);
    assert_eq!(acks(&a), [60, 60, 48, 48, 44, 44, 44, 44].map(us));
    let g = CellParameters::ideal(Standard::G);
    assert_eq!(acks(&g), [60, 60, 48, 48, 44, 44, 44, 44].map(us), "SIFS + extension: 10 + 6 us, not 16");
    let slow = CellParameters { max_ack_rate: 6_000_000, ..g };
    assert_eq!(acks(&slow), [us(60); 8]);
    let slower = CellParameters { max_ack_rate: 1_000_000, ..slow };
    assert_eq!(acks(&slower), [us(60); 8], "no ACK is below the lowest basic rate");
    // A block acknowledgement is 32 bytes: 32 us at 24 Mb/s, 44 at 12, 68 at 6.
    let blocks = answers(&n(1, false, 36)).into_iter().map(|(_, block)| block).collect::<Vec<_>>();
    assert_eq!(blocks, [84, 60, 60, 48, 48, 48, 48, 48].map(us));
}

/// MAC overhead of a packet: 24 bytes of header, 8 of LLC/SNAP, 4 of check sequence; QoS 2, CCMP 16.
#[test]
fn the_mac_adds_its_bytes() {
    let overhead =
        |standard, wpa2| Phy::new(&CellParameters { wpa2, ..CellParameters::ideal(standard) }).overhead;
    for standard in [Standard::A, Standard::B, Standard::G] {
        assert_eq!((overhead(standard, false), overhead(standard, true)), (36, 52));
    }
    assert_eq!((overhead(Standard::N, false), overhead(Standard::N, true)), (38, 54));
}

/// Section 10.3.2.11: a CTS and SIFS precede each frame, if 802.11b stations may be near.
#[test]
fn protection_is_a_cts_and_only_where_it_makes_sense() {
    let protection = |cell: CellParameters| Phy::new(&CellParameters { protection: true, ..cell }).protection;
    let g = CellParameters::ideal(Standard::G);
    assert_eq!(Phy::new(&g).protection, Duration::ZERO);
    assert_eq!(protection(g.clone()), us(192 + 11 + 10));
    assert_eq!(protection(CellParameters { protection_rate: 1_000_000, ..g.clone() }), us(192 + 112 + 10));
    assert_eq!(protection(CellParameters { short_preamble: true, ..g }), us(96 + 11 + 10));
    assert_eq!(protection(CellParameters::ideal(Standard::B)), Duration::ZERO);
    assert_eq!(protection(CellParameters::ideal(Standard::A)), Duration::ZERO);
    assert_eq!(protection(n(1, false, 6)), us(213));
}

#[test]
fn a_rate_at_most_is_the_highest_below_or_the_lowest() {
    let phy = phy(Standard::G);
    let at_most = |rate| phy.rates[phy.rate_at_most(rate)].bits_per_second / 1_000_000;
    assert_eq!([5, 6, 11, 12, 53, 54, 999].map(|rate| at_most(rate * 1_000_000)), [6, 6, 9, 12, 48, 54, 54]);
}

/// Tables 17-18 and 19-23: a faster rate needs a stronger signal, and a second stream 3 dB more.
#[test]
fn faster_rates_ask_for_more() {
    for standard in [Standard::A, Standard::B] {
        let thresholds: Vec<f64> = phy(standard).rates.iter().map(|rate| rate.threshold_db).collect();
        assert!(thresholds.is_sorted());
    }
    let cell = n(2, false, 36);
    let phy = Phy::new(&cell);
    let of = |streams: u32| {
        let mine = phy
            .rates
            .iter()
            .filter(move |rate| matches!(rate.coding, Coding::Ht { streams: own, .. } if own == streams));
        mine.map(|rate| rate.threshold_db).collect::<Vec<_>>()
    };
    assert_eq!(of(2), of(1).iter().map(|threshold| threshold + 3.0).collect::<Vec<_>>());
}
