//! The rules of the distributed coordination function (IEEE 802.11-2016 section 10.3.4).

use super::super::parameters::Standard;
use super::*;

/// Slots of 9 us, DIFS 28 us, windows from 15 to 1023.
fn access() -> Access {
    access_of(Countdown::IdleSlots)
}

fn access_of(countdown: Countdown) -> Access {
    let cell = CellParameters { countdown, ..CellParameters::ideal(Standard::G) };
    Access::new(&cell, &Phy::new(&cell), Instant::ZERO)
}

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

const DIFS: Duration = Duration::from_micros(28);

fn stream() -> Rng {
    Rng::new(1, "backoff")
}

#[test]
fn who_finds_the_medium_idle_for_long_enough_sends_at_once() {
    let mut late = access();
    late.want(us(100), &mut stream());
    assert_eq!(late.fires, us(100));
    let mut early = access();
    early.want(us(10), &mut stream());
    assert_eq!(early.fires, us(28), "DIFS has to pass");
    early.want(us(20), &mut stream());
    assert_eq!(early.fires, us(28), "it already has a frame to send");
    early.rest();
    assert_eq!(early.fires, Instant::FAR_FUTURE);
}

/// The backoff after the last frame counts down even without a frame to send.
#[test]
fn a_backoff_after_the_last_frame_holds_for_the_next() {
    let after = |wants: u64| {
        let mut access = access();
        (access.slots, access.drawn) = (5, true);
        access.want(us(wants), &mut stream());
        (access.fires, access.drawn)
    };
    assert_eq!(after(30), (us(28 + 45), true));
    assert_eq!(after(73), (us(73), true));
    assert_eq!(after(74), (us(74), false), "it has passed");
}

/// Section 10.3.4.3: the counter is frozen while the medium is busy, and resumes after DIFS.
#[test]
fn a_backoff_is_frozen_while_others_send() {
    for (countdown, left) in [(Countdown::IdleSlots, 7), (Countdown::EverySlot, 6)] {
        let mut access = access_of(countdown);
        access.slots = 10;
        access.want(us(0), &mut stream());
        assert_eq!(access.fires, us(28 + 90));
        // After three slots and a fraction.
        access.seize(us(28 + 27 + 4), &mut stream());
        assert_eq!((access.slots, access.fires), (left, Instant::FAR_FUTURE));
        // A second, overlapping transmission: both must end.
        access.seize(us(70), &mut stream());
        access.release(us(300), DIFS);
        assert_eq!(access.fires, Instant::FAR_FUTURE);
        access.release(us(400), DIFS);
        assert_eq!(access.fires, us(428 + 9 * u64::from(left)));
    }
}

#[test]
fn nothing_is_counted_before_the_silence_is_over() {
    for countdown in [Countdown::IdleSlots, Countdown::EverySlot] {
        let mut access = access_of(countdown);
        access.slots = 10;
        access.seize(us(27), &mut stream());
        assert_eq!(access.slots, 10);
    }
    let mut access = access_of(Countdown::EverySlot);
    access.slots = 10;
    access.seize(us(28), &mut stream());
    assert_eq!(access.slots, 9, "the slot that begins counts there");
    let mut access = access_of(Countdown::IdleSlots);
    access.slots = 2;
    access.seize(us(1000), &mut stream());
    assert_eq!(access.slots, 0, "more than all have passed");
}

/// Section 10.3.4.2: a station whose DIFS is interrupted chooses a backoff.
#[test]
fn who_is_interrupted_before_the_first_slot_draws_a_backoff() {
    let drew = |interrupted: u64, wants: bool, drawn: bool| {
        let mut stream = stream();
        (0..64)
            .map(|_| {
                let mut access = access();
                if wants {
                    access.want(us(10), &mut stream);
                }
                access.drawn |= drawn;
                access.seize(us(interrupted), &mut stream);
                access.slots
            })
            .max()
    };
    assert_eq!(drew(20, true, false), Some(15));
    assert_eq!(drew(28, true, false), Some(0), "both begin at once: it sends");
    assert_eq!(drew(20, false, false), Some(0), "it has nothing to send");
    assert_eq!(drew(20, true, true), Some(0), "it has drawn a backoff of zero");
}

#[test]
fn who_wants_to_send_while_others_do_draws_once() {
    let mut stream = stream();
    let slots: Vec<u32> = (0..200)
        .map(|_| {
            let mut access = access();
            access.seize(us(50), &mut stream);
            access.want(us(60), &mut stream);
            assert_eq!(access.fires, Instant::FAR_FUTURE);
            let drawn = access.slots;
            access.want(us(61), &mut stream);
            assert_eq!(access.slots, drawn);
            access.release(us(100), DIFS);
            assert_eq!(access.fires, us(128 + 9 * u64::from(drawn)));
            drawn
        })
        .collect();
    assert_eq!((slots.iter().min(), slots.iter().max()), (Some(&0), Some(&15)));
    let mut access = access();
    access.slots = 3;
    access.seize(us(10), &mut stream);
    access.want(us(20), &mut stream);
    assert_eq!(access.slots, 3, "a remaining backoff is not drawn again");
}

/// Section 10.3.3: the window doubles with each failure up to CWmax, and a success resets it.
#[test]
fn windows_double_until_the_last_and_begin_anew() {
    let mut stream = stream();
    let mut access = access();
    for window in [31, 63, 127, 255, 511, 1023, 1023, 1023] {
        access.sent(false, true, &mut stream);
        assert_eq!(access.window, window);
        assert!(access.slots <= window && access.drawn && access.pending);
    }
    access.sent(true, false, &mut stream);
    assert_eq!((access.window, access.pending), (15, false));
    let drawn: Vec<u32> = (0..2000)
        .map(|_| {
            access.sent(true, true, &mut stream);
            access.slots
        })
        .collect();
    for slots in 0..=15 {
        let times = drawn.iter().filter(|&&drawn| drawn == slots).count();
        assert!((75..175).contains(&times), "{slots}: {times} of 125");
    }
    access.begin();
    assert_eq!((access.slots, access.drawn), (0, false));
}
