//! Tests the basis of the simulator's determinism: random streams and saturating time.

use mptcp_clock::{Duration, Instant, Rng};

#[test]
fn the_same_seed_and_name_give_the_same_stream() {
    let draw = |seed, name| {
        let mut stream = Rng::new(seed, name);
        [stream.next_u64(), stream.next_u64(), stream.next_u64()]
    };
    assert_eq!(draw(1, "link"), draw(1, "link"));
    assert_ne!(draw(1, "link"), draw(2, "link"));
    assert_ne!(draw(1, "link"), draw(1, "knil"));
}

#[test]
fn a_child_does_not_depend_on_what_its_parent_drew() {
    let parent = Rng::new(7, "world");
    let mut drawn = Rng::new(7, "world");
    drawn.next_u64();
    assert_eq!(parent.child("a").next_u64(), drawn.child("a").next_u64());
}

#[test]
fn chance_meets_its_probability() {
    let mut stream = Rng::new(3, "coin");
    let hits = (0..100_000).filter(|_| stream.chance(0.03)).count();
    assert!((2800..3200).contains(&hits), "{hits} of 100000 at 3 %");
    assert!(!stream.chance(0.0) && stream.chance(1.0));
}

#[test]
fn below_covers_its_range_evenly() {
    let mut stream = Rng::new(4, "dice");
    let mut seen = [0u32; 6];
    for _ in 0..60_000 {
        seen[stream.below(6) as usize] += 1;
    }
    assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
    assert_eq!(stream.below(0), 0);
}

#[test]
fn time_saturates_instead_of_wrapping() {
    assert_eq!(Instant::ZERO - Duration::from_secs(1), Instant::ZERO);
    assert_eq!(Instant::ZERO.since(Instant::from_nanos(5)), Duration::ZERO);
    assert_eq!(Instant::FAR_FUTURE + Duration::from_secs(1), Instant::FAR_FUTURE);
    assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
    assert_eq!(
        format!("{} {} {}", Duration::from_millis(20), Duration::from_micros(3), Duration::from_secs(2)),
        "20ms 3us 2s"
    );
}

/// The ChaCha20 keystream for the zero key (RFC 8439 section 2.3.2, appendix A.1, test vector 1). Children depend on
/// the name and the seed only.
#[test]
fn secret_streams() {
    let mut zeros = Rng::secret([0; 32]);
    let mut drawn = [0; 16];
    zeros.fill(&mut drawn);
    assert_eq!(
        drawn,
        [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28]
    );
    let (mut once, mut again) = (zeros.child("connection 1"), Rng::secret([0; 32]).child("connection 1"));
    assert_eq!(once.next_u64(), again.next_u64());
    assert_ne!(zeros.child("connection 2").next_u64(), zeros.child("connection 1").next_u64());
    assert_ne!(Rng::secret([1; 32]).child("connection 1").next_u64(), zeros.child("connection 1").next_u64());
    assert_eq!(format!("{zeros:?}"), "Rng(secret)");
}
