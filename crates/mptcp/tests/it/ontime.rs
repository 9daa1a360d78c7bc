//! The default scheduler, by the moments that it sees.

use mptcp::scheduler::{Candidate, OnTime, Scheduler, SendView};
use mptcp_clock::{Duration, Instant};
use proptest::prelude::*;

const MSS: u64 = 1_400;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// A fast path of 10 ms and 100 segments, without room, and a slow one of `slow` with 20, with room.
fn paths(slow: Duration) -> [Candidate; 2] {
    let mut fast = Candidate::new(0, ms(10), 100 * MSS, MSS);
    (fast.has_room, fast.in_flight) = (false, 100 * MSS);
    let mut slow = Candidate::new(1, slow, 20 * MSS, MSS);
    slow.in_flight = MSS;
    // Neither is new or in slow start.
    (fast.delivered, slow.delivered) = (1_000 * MSS, 1_000 * MSS);
    (fast.ssthresh, slow.ssthresh) = (MSS, MSS);
    [fast, slow]
}

fn view(candidates: &[Candidate], window: u64) -> SendView<'_> {
    let mut view = SendView::new(Instant::ZERO + ms(1_000), candidates);
    view.unsent = 1 << 20;
    view.in_flight = 101 * MSS;
    view.window_room = window - view.in_flight;
    view
}

#[test]
fn the_lowest_round_trip_time_goes_first() {
    let mut candidates = paths(ms(50));
    candidates[0].has_room = true;
    candidates[0].in_flight = 0;
    assert_eq!(OnTime::default().choose(&view(&candidates, 1 << 30)), Some(0));
}

#[test]
fn a_slow_path_carries_what_the_window_has_room_for() {
    // In 50 ms the fast path sends 500 segments: these and the two of the slow one have to fit.
    let candidates = paths(ms(50));
    assert_eq!(OnTime::default().choose(&view(&candidates, 503 * MSS)), Some(1));
    assert_eq!(OnTime::default().choose(&view(&candidates, 500 * MSS)), None);
}

#[test]
fn what_another_path_acknowledges_sooner_takes_less_of_the_window() {
    // Known after 30 ms, not after 50: 300 segments of the fast path, and the two of the slow one.
    let mut candidates = paths(ms(50));
    candidates[1].lead = ms(20);
    assert_eq!(OnTime::default().choose(&view(&candidates, 303 * MSS)), Some(1));
    assert_eq!(OnTime::default().choose(&view(&candidates, 300 * MSS)), None);
}

#[test]
fn the_send_buffer_counts_as_the_window_does() {
    let candidates = paths(ms(50));
    let mut moment = view(&candidates, 1 << 30);
    moment.send_buffer = 500 * MSS;
    assert_eq!(OnTime::default().choose(&moment), None);
}

#[test]
fn what_is_in_flight_counts_as_the_queue_before_a_segment() {
    // It delivers a segment in 10 ms: 20 of them take 200 ms, whatever the last round trip was.
    let mut candidates = paths(ms(50));
    candidates[1].in_flight = 19 * MSS;
    candidates[1].delivery_rate = Some(MSS as f64 / 0.01);
    assert_eq!(OnTime::default().choose(&view(&candidates, 1_000 * MSS)), None);
    candidates[1].in_flight = 4 * MSS;
    assert_eq!(OnTime::default().choose(&view(&candidates, 1_000 * MSS)), Some(1));
}

#[test]
fn the_last_data_waits_for_the_path_that_has_it_there_sooner() {
    let mut candidates = paths(ms(50));
    candidates[0].delivery_rate = Some(100.0 * MSS as f64 / 0.01);
    let mut moment = view(&candidates, 1 << 30);
    (moment.unsent, moment.more_to_come) = (10 * MSS, false);
    assert_eq!(OnTime::default().choose(&moment), None, "the fast path has sent it in 11 ms");
    moment.unsent = 1_000 * MSS;
    assert_eq!(OnTime::default().choose(&moment), Some(1));
}

#[test]
fn at_the_end_what_counts_is_when_the_last_data_is_there_and_not_when_that_is_known() {
    // There after 40 ms and known after 80; or there after 35 ms, behind three segments of 10 ms, and known after 40.
    let mut candidates = paths(ms(10));
    (candidates[0].srtt, candidates[0].min_rtt, candidates[0].latest_rtt) = (ms(80), ms(80), ms(80));
    candidates[0].delivery_rate = Some(1_000.0 * MSS as f64);
    (candidates[0].has_room, candidates[0].in_flight) = (true, MSS);
    (candidates[1].delivery_rate, candidates[1].in_flight) = (Some(100.0 * MSS as f64), 3 * MSS);
    let mut moment = view(&candidates, 1 << 30);
    (moment.unsent, moment.more_to_come, moment.closed) = (MSS, false, true);
    assert_eq!(OnTime::default().choose(&moment), Some(1));
    // There after 45 ms: later than on the longer path, whose acknowledgement comes later still.
    candidates[1].in_flight = 4 * MSS;
    let mut moment = view(&candidates, 1 << 30);
    (moment.unsent, moment.more_to_come, moment.closed) = (MSS, false, true);
    assert_eq!(OnTime::default().choose(&moment), Some(0));
    moment.closed = false;
    assert_eq!(OnTime::default().choose(&moment), Some(1), "where more follows, the window has to move on");
}

#[test]
fn at_the_end_the_window_still_moves_on_by_acknowledgements() {
    // Acknowledged after 50 ms, 20 of them sooner than by its own path: 300 segments of the fast path, and two of its own.
    let mut candidates = paths(ms(50));
    candidates[0].delivery_rate = Some(100.0 * MSS as f64 / 0.01);
    (candidates[1].lead, candidates[1].delivery_rate) = (ms(20), Some(100.0 * MSS as f64 / 0.01));
    for (window, chosen) in [(303, Some(1)), (300, None)] {
        let mut moment = view(&candidates, window * MSS);
        (moment.unsent, moment.more_to_come, moment.closed) = (10_000 * MSS, false, true);
        assert_eq!(OnTime::default().choose(&moment), chosen, "a window of {window}");
    }
}

#[test]
fn a_new_path_is_taken_to_be_slow_at_the_end() {
    // The fast path has sent what is left in 50 ms; ten segments at 1 Mb/s take twice as long, and two do not.
    let mut candidates = paths(ms(10));
    candidates[0].delivery_rate = Some(100.0 * MSS as f64 / 0.01);
    (candidates[1].delivered, candidates[1].ssthresh) = (0, u64::MAX);
    let chosen = |candidates: &[Candidate], closed: bool| {
        let mut moment = view(candidates, 1 << 30);
        (moment.unsent, moment.more_to_come, moment.closed) = (400 * MSS, !closed, closed);
        OnTime::default().choose(&moment)
    };
    assert_eq!(chosen(&candidates, true), Some(1));
    candidates[1].in_flight = 9 * MSS;
    assert_eq!(chosen(&candidates, true), None);
    assert_eq!(chosen(&candidates, false), Some(1), "there is enough for all");
    // In one round trip it has delivered as much as it is to carry.
    candidates[1].delivered = 10 * MSS;
    assert_eq!(chosen(&candidates, true), Some(1));
    // Over many: half of a window in each.
    (candidates[1].delivered, candidates[1].cwnd, candidates[1].ssthresh) = (200 * MSS, 2 * MSS, MSS);
    assert_eq!(chosen(&candidates, true), None);
}

#[test]
fn a_window_that_doubles_is_expected_to() {
    // The slow path answers after 110 ms at 1 Mb/s. Until then the fast one sends 900 segments at the rate that it had, and 2 045 times
    // its window if that doubles every 10 ms: all that is left.
    let mut candidates = paths(ms(10));
    (candidates[1].delivered, candidates[1].in_flight) = (0, 9 * MSS);
    candidates[0].delivery_rate = Some(100.0 * MSS as f64 / 0.01);
    let mut chosen = |ssthresh: u64, latest: Duration| {
        (candidates[0].ssthresh, candidates[0].latest_rtt) = (ssthresh, latest);
        let mut moment = view(&candidates, 1 << 30);
        (moment.unsent, moment.more_to_come, moment.closed) = (10_000 * MSS, false, true);
        OnTime::default().choose(&moment)
    };
    assert_eq!(chosen(u64::MAX, ms(10)), None, "it doubles");
    assert_eq!(chosen(MSS, ms(10)), Some(1), "after a loss it does not");
    assert_eq!(chosen(u64::MAX, ms(12)), Some(1), "its queue has begun to fill");
}

#[test]
fn a_new_path_does_not_fill_a_small_window_at_once() {
    // At 1 Mb/s ten segments take 110 ms, in which the fast path could send more than the window holds; one does no harm.
    let mut candidates = paths(ms(10));
    (candidates[1].delivered, candidates[1].ssthresh) = (0, u64::MAX);
    let chosen = |candidates: &[Candidate]| OnTime::default().choose(&view(candidates, 300 * MSS));
    assert_eq!(chosen(&candidates), Some(1));
    candidates[1].in_flight = 9 * MSS;
    assert_eq!(chosen(&candidates), None);
    candidates[1].delivered = 11 * MSS;
    assert_eq!(chosen(&candidates), Some(1), "it is new no more, and answers after 10 ms");
}

/// The window is full, the fast path empty, and the oldest data on the slow path, again and again, until that rests. What is
/// acknowledged comes at 10 MB/s until then, and at `rate` after it. Returns when it is first chosen again, and when it began
/// to rest.
fn rest(delivery_rate: f64, rate: f64) -> (Instant, Instant) {
    let mut scheduler = OnTime::default();
    let [mut fast, mut slow] = paths(ms(20));
    slow.delivery_rate = Some(delivery_rate);
    // The first rest is four of the longest round trips, a second at most.
    slow.srtt = ms(300);
    let (mut now, mut acknowledged, mut rested) = (Instant::ZERO + ms(1_000), 0.0, None);
    loop {
        for (full, in_flight) in [(false, 100 * MSS), (true, 100 * MSS), (true, 0), (false, 0)] {
            let full = full && rested.is_none();
            (fast.has_room, fast.in_flight) = (full, if rested.is_none() { in_flight } else { 100 * MSS });
            slow.has_room = !full;
            if rested.is_some() {
                slow.in_flight = 0;
            }
            let candidates = [fast, slow];
            let mut moment = view(&candidates, 400 * MSS);
            (moment.now, moment.oldest_on, moment.acknowledged) = (now, Some(1), acknowledged as u64);
            if full {
                moment.window_room = 0;
            }
            let chosen = scheduler.choose(&moment);
            match rested {
                None if !full && chosen.is_none() => rested = Some(now),
                Some(since) if chosen == Some(1) => return (now, since),
                _ => {}
            }
            now += ms(5);
            acknowledged += if rested.is_none() { 50_000.0 } else { rate / 200.0 };
        }
        assert!(now < Instant::ZERO + ms(60_000), "it rests, and is tried again");
    }
}

#[test]
fn a_path_that_costs_more_than_it_brings_rests_and_is_tried_again() {
    let (again, since) = rest(3e6, 10e6);
    assert!(again.since(since) >= ms(1_000), "{:?}", again.since(since));
}

#[test]
fn a_rest_ends_when_less_comes_without_the_path() {
    let (again, since) = rest(3e6, 8e6);
    assert!(again.since(since) < ms(700), "{:?}", again.since(since));
}

#[test]
fn a_path_that_brings_little_rests_whatever_comes_without_it() {
    let (again, since) = rest(1e6, 8e6);
    assert!(again.since(since) >= ms(1_000), "{:?}", again.since(since));
}

/// Two paths with room, of 20 and 60 ms, which carry what an application writes as it goes: a block of six segments.
fn streaming() -> [Candidate; 2] {
    let mut candidates = paths(ms(60));
    for path in &mut candidates {
        (path.srtt, path.min_rtt, path.latest_rtt) = (path.srtt * 2, path.srtt * 2, path.srtt * 2);
        (path.has_room, path.in_flight, path.cwnd, path.ssthresh) = (true, 0, 100 * MSS, 50 * MSS);
    }
    candidates[1].srtt = ms(60);
    (candidates[1].min_rtt, candidates[1].latest_rtt) = (ms(60), ms(60));
    candidates
}

fn stream(candidates: &[Candidate]) -> Option<usize> {
    let mut moment = SendView::new(Instant::ZERO + ms(1_000), candidates);
    (moment.unsent, moment.more_to_come, moment.streams) = (6 * MSS, false, true);
    OnTime::default().choose(&moment)
}

#[test]
fn a_stream_leaves_a_near_path_that_loses_to_others() {
    let mut candidates = streaming();
    assert_eq!(stream(&candidates), Some(0));
    candidates[0].between_losses = Some(1_001 * MSS);
    assert_eq!(stream(&candidates), Some(0), "hardly a block waits for it");
    // There after 10 ms, the latest after 74; on the other path after 30.
    candidates[0].between_losses = Some(200 * MSS);
    assert_eq!(stream(&candidates), Some(1));
    candidates[1].between_losses = Some(200 * MSS);
    assert_eq!(stream(&candidates), Some(0), "both lose");
}

/// There after 10 ms on the nearer path and after 30 on the other, and later by two round trips of 20 and of 60 ms times what losses are
/// beyond one in a thousand, as a logarithm.
#[test]
fn of_two_paths_that_lose_a_stream_takes_the_one_that_keeps_it_waiting_for_less() {
    let mut candidates = streaming();
    candidates[1].between_losses = Some(900 * MSS);
    for (between, chosen) in [(100, 1), (400, 1), (500, 0)] {
        // 92 ms, 37 and 28 later; the other one 13.
        candidates[0].between_losses = Some(between * MSS);
        assert_eq!(stream(&candidates), Some(chosen), "{between}");
    }
}

#[test]
fn losses_are_too_many_beyond_one_in_a_thousand() {
    let mut path = Candidate::new(0, ms(20), 10 * MSS, MSS);
    assert_eq!(path.too_many_losses(), 1.0, "nothing is known");
    for (between, times) in [(2_000, 1.0), (1_000, 1.0), (500, 2.0), (10, 100.0)] {
        path.between_losses = Some(between * MSS);
        assert_eq!(path.too_many_losses(), times);
    }
    path.between_losses = Some(0);
    assert!(path.too_many_losses().is_finite());
}

#[test]
fn a_stream_does_not_fill_a_path_until_it_loses() {
    let mut candidates = streaming();
    candidates[0].in_flight = 40 * MSS;
    assert_eq!(stream(&candidates), Some(0));
    candidates[0].in_flight = 50 * MSS;
    assert_eq!(stream(&candidates), Some(1), "the last loss left a window of fifty");
    candidates[1].in_flight = 50 * MSS;
    assert_eq!(stream(&candidates), Some(0), "so it did on the other");
}

/// A near path of a slow line: what a burst has told of it counts, whatever its round trip.
#[test]
fn a_stream_knows_how_long_a_line_takes_for_a_segment() {
    let mut candidates = streaming();
    let takes = |path: &mut Candidate, each: u64| path.burst_rate = Some(1e3 * MSS as f64 / each as f64);
    takes(&mut candidates[1], 1);
    takes(&mut candidates[0], 20);
    assert_eq!(stream(&candidates), Some(0), "10 and 20 ms, and 30 and 1");
    takes(&mut candidates[0], 22);
    assert_eq!(stream(&candidates), Some(1));
    let mut moment = SendView::new(Instant::ZERO + ms(1_000), &candidates);
    (moment.unsent, moment.more_to_come, moment.closed) = (6 * MSS, false, true);
    assert_eq!(OnTime::default().choose(&moment), Some(1), "and so it does at the end");
    moment.closed = false;
    assert_eq!(OnTime::default().choose(&moment), Some(0), "not in the middle");
}

/// The last piece of a block is smaller than a segment, and waits where data is in flight.
#[test]
fn a_small_piece_goes_where_it_need_not_wait() {
    let mut candidates = streaming();
    candidates[0].in_flight = MSS;
    let choose = |candidates: &[Candidate], unsent: u64, small_waits: bool| {
        let mut candidates = candidates.to_vec();
        candidates.iter_mut().for_each(|candidate| candidate.small_waits = small_waits);
        let mut moment = SendView::new(Instant::ZERO + ms(1_000), &candidates);
        (moment.unsent, moment.streams) = (unsent, true);
        OnTime::default().choose(&moment)
    };
    assert_eq!(choose(&candidates, MSS, true), Some(0));
    assert_eq!(choose(&candidates, MSS - 1, true), Some(0), "10 ms and half of a round trip, and 30");
    (candidates[1].min_rtt, candidates[1].latest_rtt) = (ms(38), ms(38));
    assert_eq!(choose(&candidates, MSS, true), Some(0));
    assert_eq!(choose(&candidates, MSS - 1, true), Some(1));
    assert_eq!(choose(&candidates, MSS - 1, false), Some(0), "no Nagle");
    candidates[1].in_flight = MSS;
    assert_eq!(choose(&candidates, MSS - 1, true), Some(0), "it waits on both");
}

/// It goes with what is written next, which comes sooner than another path would have it there.
#[test]
fn a_small_piece_waits_for_what_is_written_next() {
    let mut candidates = streaming();
    candidates.iter_mut().for_each(|candidate| candidate.small_waits = true);
    candidates[0].in_flight = MSS;
    (candidates[1].min_rtt, candidates[1].latest_rtt) = (ms(38), ms(38));
    for (apart, chosen) in [(5, Some(0)), (40, Some(1))] {
        let mut scheduler = OnTime::default();
        let mut last = None;
        for write in 0..4 {
            let mut moment = SendView::new(Instant::ZERO + ms(1_000 + apart * write), &candidates);
            (moment.unsent, moment.streams, moment.acknowledged) = (MSS - 1, true, 5 * MSS * write);
            last = scheduler.choose(&moment);
        }
        assert_eq!(last, chosen, "{apart} ms");
    }
}

/// The peer delays the answer to the end of a block. That is in the latest sample, and in no other.
#[test]
fn a_delayed_acknowledgement_is_no_queue() {
    let mut candidates = streaming();
    (candidates[0].in_flight, candidates[1].in_flight) = (2 * MSS, 2 * MSS);
    (candidates[0].latest_rtt, candidates[0].calm_rtt) = (ms(90), candidates[0].min_rtt);
    candidates[1].calm_rtt = candidates[1].min_rtt;
    assert_eq!(stream(&candidates), Some(0));
    candidates[0].calm_rtt = ms(90);
    assert_eq!(stream(&candidates), Some(1), "all say it");
}

#[test]
fn to_a_file_that_ends_losses_are_no_reason() {
    let mut candidates = streaming();
    candidates[0].between_losses = Some(200 * MSS);
    let mut moment = SendView::new(Instant::ZERO + ms(1_000), &candidates);
    (moment.unsent, moment.more_to_come, moment.closed) = (6 * MSS, false, true);
    assert_eq!(OnTime::default().choose(&moment), Some(0));
}

proptest! {
    #[test]
    fn what_is_said_at_sight_is_what_a_look_at_everything_gives(
        paths in prop::collection::vec(
            (1_u64..400, 1_u64..60, 0_u64..60, any::<bool>(), prop::option::of(1e4..1e7)),
            2..5,
        ),
        window in 102_u64..2_000,
    ) {
        let candidate = |(at, (rtt, cwnd, in_flight, has_room, rate)): (usize, (u64, u64, u64, bool, Option<f64>))| {
            let mut candidate = Candidate::new(at, ms(rtt), cwnd * MSS, MSS);
            (candidate.in_flight, candidate.has_room, candidate.delivery_rate) = (in_flight * MSS, has_room, rate);
            candidate
        };
        let candidates: Vec<_> = paths.into_iter().enumerate().map(candidate).collect();
        let mut scheduler = OnTime::default();
        let moment = view(&candidates, window * MSS);
        prop_assert_eq!(scheduler.choose_at_sight(moment.now, &candidates), None, "it has seen nothing yet");
        scheduler.choose(&moment);
        let (sight, waits) = (scheduler.choose_at_sight(moment.now, &candidates), scheduler.waits_for_room(moment.now));
        prop_assert!(waits, "nothing is due a moment later");
        let chosen = scheduler.choose(&moment);
        if candidates.iter().any(|candidate| candidate.has_room) {
            prop_assert!(sight.is_none() || sight == chosen);
        } else {
            prop_assert_eq!((sight, chosen), (None, None));
        }
    }
}

#[test]
fn what_is_in_flight_comes_as_fast_as_is_known() {
    let mut path = Candidate::new(0, ms(100), 20 * MSS, MSS);
    path.delivered = 20 * MSS;
    // Nothing was measured: what has arrived in a round trip, which doubles; a slow line at least.
    assert_eq!(path.comes_at(), 200.0 * MSS as f64);
    path.latest_rtt = ms(200);
    assert_eq!(path.comes_at(), 125_000.0, "50 segments a second are less");
    // What was measured is of a smaller window, unless a queue shows.
    path.delivery_rate = Some(150_000.0);
    assert_eq!(path.comes_at(), 150_000.0);
    path.latest_rtt = ms(110);
    assert_eq!(path.comes_at(), 200.0 * MSS as f64);
    path.ssthresh = MSS;
    assert_eq!(path.comes_at(), 150_000.0, "it does not double");
    path.burst_rate = Some(700_000.0);
    assert_eq!(path.comes_at(), 700_000.0, "as fast as the line lets it");
}

#[test]
fn at_the_end_a_window_that_doubles_fills_what_the_receiver_has() {
    // As it goes now the fast path would send 500 segments until the slow one is there, and the window has room for 550; but it doubles.
    let mut candidates = paths(ms(50));
    (candidates[0].ssthresh, candidates[0].delivery_rate) = (u64::MAX, None);
    let choose = |unsent: u64| {
        let mut view = view(&candidates, 550 * MSS);
        (view.closed, view.more_to_come, view.unsent) = (true, false, unsent * MSS);
        OnTime::default().choose(&view)
    };
    assert_eq!(choose(10_000), None, "the window has no room for all of that");
    assert_eq!(choose(150), None, "the fast path is sooner");
}

#[test]
fn at_the_end_nobody_waits_longer_than_another_path_takes() {
    let candidates = paths(ms(50));
    let mut view = view(&candidates, 10_000 * MSS);
    (view.closed, view.more_to_come, view.unsent) = (true, false, 2 * MSS);
    let mut scheduler = OnTime::default();
    assert_eq!(scheduler.choose(&view), None, "the fast path will have room in time");
    // The slow one would have it there in half of 50 ms.
    let until = scheduler.waits_until().expect("a time");
    assert_eq!(until, view.now + ms(25));
    view.now = until - Duration::from_nanos(1);
    assert_eq!((scheduler.choose(&view), scheduler.waits_until()), (None, Some(until)));
    view.now = until;
    assert_eq!(
        (scheduler.choose(&view), scheduler.waits_until()),
        (Some(1), None),
        "what it waited for may be lost"
    );
}

#[test]
fn what_faster_paths_send_of_a_stream_is_what_is_written() {
    // The near path's window of 100 segments doubles three times in the far one's 60 ms: 300 segments as it is, 1400 as it may become.
    let mut candidates = streaming();
    (candidates[0].has_room, candidates[0].in_flight, candidates[0].ssthresh) = (false, 100 * MSS, u64::MAX);
    let mut moment = SendView::new(Instant::ZERO + ms(1_000), &candidates);
    (moment.unsent, moment.more_to_come, moment.window_room) = (600 * MSS, true, 600 * MSS);
    assert_eq!(OnTime::default().choose(&moment), None, "bulk data would fill the window");
    moment.streams = true;
    assert_eq!(OnTime::default().choose(&moment), Some(1));
}

#[test]
fn a_stream_waits_for_a_near_path_whose_window_is_beyond_its_last_loss_unless_it_says_nothing() {
    // As a place for new data it counts as two round trips later; what waits for its window goes there sooner all the same.
    let mut candidates = streaming();
    (candidates[0].has_room, candidates[0].in_flight, candidates[0].held) = (false, 99 * MSS, 99 * MSS);
    (candidates[1].min_rtt, candidates[1].srtt, candidates[1].latest_rtt) = (ms(200), ms(200), ms(200));
    let mut scheduler = OnTime::default();
    // 200 segments in 1.2 s: it carries thirty times as many.
    let mut at = |time: u64, silent: bool| {
        candidates[0].delivered += if silent { 0 } else { MSS };
        let mut moment = SendView::new(Instant::ZERO + ms(1_000 + time), &candidates);
        (moment.unsent, moment.more_to_come, moment.streams) = (200 * MSS, false, true);
        (moment.acknowledged, moment.window_room) = (time * MSS / 6, 1 << 30);
        scheduler.choose(&moment)
    };
    assert_eq!(at(0, false), Some(1), "nobody knows yet how much is written");
    assert_eq!((at(1_200, false), at(1_220, true)), (None, None));
    assert_eq!(at(1_226, true), Some(1), "it owes an answer for longer than a round trip");
}

#[test]
fn of_a_stream_a_far_path_carries_what_is_behind_that_which_a_near_one_comes_to_sooner() {
    let mut candidates = streaming();
    (candidates[0].has_room, candidates[0].in_flight, candidates[0].held) = (false, 50 * MSS, 50 * MSS);
    (candidates[0].ssthresh, candidates[0].delivery_rate) = (100 * MSS, Some(5e6));
    (candidates[1].min_rtt, candidates[1].srtt, candidates[1].latest_rtt) = (ms(100), ms(100), ms(100));
    let choose = |candidates: &[Candidate], unsent: u64, closed: bool| {
        let mut moment = SendView::new(Instant::ZERO + ms(1_000), candidates);
        (moment.unsent, moment.more_to_come, moment.streams) = (unsent, false, !closed);
        (moment.closed, moment.window_room) = (closed, 1 << 30);
        let mut scheduler = OnTime::default();
        (scheduler.choose(&moment), scheduler.leaves())
    };
    // There after 50 ms, and after 10 on the near one, which sends 100 segments in 20 ms.
    let (chosen, leaves) = choose(&candidates, 400 * MSS, false);
    assert_eq!((chosen, leaves / MSS), (Some(1), 200));
    assert_eq!(choose(&candidates, leaves + MSS, false), (Some(1), leaves));
    assert_eq!(choose(&candidates, leaves + MSS - 2, false), (None, 0), "it comes to nearly all");
    candidates[0].has_room = true;
    assert_eq!(choose(&candidates, 400 * MSS, false), (Some(0), 0));
    candidates[0].has_room = false;
    assert_eq!(choose(&candidates, 400 * MSS, true).1, 0, "of a file all is waited for");
}

#[test]
fn a_queue_that_was_a_path_s_own_does_not_last() {
    let mut path = Candidate::new(0, ms(100), 100 * MSS, MSS);
    (path.min_rtt, path.latest_rtt) = (ms(20), ms(100));
    assert_eq!(path.without_own_queue(), ms(100), "nobody knows whose it is");
    path.burst_rate = Some(1e6);
    path.delivery_rate = Some(1e6);
    assert_eq!(path.without_own_queue(), ms(20), "it has filled the line");
    path.delivery_rate = Some(0.25e6);
    assert_eq!(path.without_own_queue(), ms(75), "a quarter was its own");
}
