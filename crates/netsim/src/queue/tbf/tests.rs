//! Tests of token buckets as shaper (tc-tbf(8)) and policer (tc-police(8)).

use super::*;
use crate::frame::{Cause, Codepoint};
use crate::queue::tests::{Desk, ms, us};

/// 0.8 Mb/s and 3000 bytes: the tokens of a byte take 10 us.
fn desk(excess: Excess, limit: QueueLimit) -> Desk<TokenBucketQueue> {
    let rate = Rate::new(800_000).expect("a rate");
    Desk::new(TokenBucketQueue::new(TokenBucket { rate, burst: 3_000, limit, excess }))
}

#[test]
fn what_the_bucket_cannot_hold_never_gets_through() {
    for excess in [Excess::Waits, Excess::Drops] {
        let mut desk = desk(excess, QueueLimit::Unlimited);
        let dropped = [3_001, 3_000].map(|bytes| desk.put(ms(1), 0, bytes, Codepoint::NotEct));
        assert_eq!(dropped, [true, false], "{excess:?}");
        assert_eq!(desk.dropped, [(0, Cause::QueueFull)]);
        assert_eq!(desk.take(ms(1)).map(|packet| packet.bytes), Some(3_000));
    }
}

#[test]
fn tokens_come_with_time_and_no_more_than_the_bucket_holds() {
    let mut desk = desk(Excess::Waits, QueueLimit::Unlimited);
    for _ in 0..6 {
        desk.put(ms(1), 0, 1_000, Codepoint::NotEct);
    }
    assert_eq!((0..6).filter_map(|_| desk.take(ms(1))).count(), 3, "the bucket");
    assert!(desk.take(us(10_999)).is_none());
    assert!(desk.take(us(11_000)).is_some(), "10 ms for a thousand bytes");
    assert!(desk.take(us(11_000)).is_none());
    // After a long time, the bucket has 3000 bytes again, and not more.
    assert_eq!((0..6).filter_map(|_| desk.take(ms(9_000))).count(), 2);
    (0..2).for_each(|_| assert!(!desk.put(ms(9_000), 0, 1_000, Codepoint::NotEct)));
    assert_eq!((0..6).filter_map(|_| desk.take(ms(9_000))).count(), 1);
    desk.queue.clear();
    assert!(desk.take(ms(20_000)).is_none());
}

/// A policer charges packets on arrival.
#[test]
fn a_policer_takes_tokens_on_arrival() {
    let mut desk = desk(Excess::Drops, QueueLimit::Packets(2));
    let mut put = |at| desk.put(at, 0, 1_000, Codepoint::NotEct);
    // The third finds the queue full, after it has used its tokens.
    assert_eq!([put(ms(1)), put(ms(1)), put(ms(1)), put(ms(1))], [false, false, true, true]);
    assert_eq!(desk.dropped, [(2, Cause::QueueFull), (3, Cause::Discipline)]);
    assert_eq!((0..6).filter_map(|_| desk.take(ms(1))).count(), 2, "at once");
}

/// A limit in time refers to the rate of the bucket.
#[test]
fn a_time_is_a_time_of_the_shaped_rate() {
    let fits = |excess| {
        let mut desk = desk(excess, QueueLimit::Time(Duration::from_millis(25)));
        // The arrival rate does not exceed the token rate, so the policer drops no packet early.
        (0..300).filter(|&at| !desk.put(ms(1 + 10 * at), 0, 1_000, Codepoint::NotEct)).count()
    };
    assert_eq!(fits(Excess::Waits), 2, "2500 bytes");
    assert_eq!(fits(Excess::Drops), 25, "25000 bytes at the link rate");
}
