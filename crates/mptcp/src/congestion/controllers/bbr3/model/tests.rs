//! Tests of the BBRv3 model: rules of draft-ietf-ccwg-bbr, under the names that the draft gives them.

use super::*;

fn sample(before: u64, in_all: u64, rate: f64) -> Sample {
    Sample {
        delivered_before: Some(before),
        total_delivered: in_all,
        rate: Some(rate),
        delivered: 5_000,
        ..Sample::default()
    }
}

fn state(cwnd: u64) -> Path {
    Path { cwnd, mss: 1_000, ..Path::default() }
}

#[test]
fn more_than_two_percent_lost_is_too_high() {
    assert!(!is_inflight_too_high(2_000, 100_000, true) && is_inflight_too_high(2_001, 100_000, true));
    assert!(is_inflight_too_high(1, 100_000, false) && !is_inflight_too_high(0, 100_000, false));
}

#[test]
fn maximum_bandwidth_covers_two_cycles() {
    let mut model = Model::default();
    model.update_max_bw(&sample(0, 10_000, 500.0));
    model.update_max_bw(&sample(0, 10_000, 300.0));
    assert_eq!(model.max_bw(), 500.0);
    model.advance_max_bw();
    model.update_max_bw(&sample(0, 10_000, 300.0));
    assert_eq!(model.max_bw(), 500.0);
    model.advance_max_bw();
    assert_eq!(model.max_bw(), 300.0);
    model.advance_max_bw();
    assert_eq!(model.max_bw(), 300.0, "a cycle without a rate forgets nothing");
    // Application-limited samples are used only if they are larger.
    let limited = |rate| Sample { app_limited: true, ..sample(0, 10_000, rate) };
    model.update_max_bw(&limited(200.0));
    assert_eq!(model.max_bw[1], 0.0);
    model.update_max_bw(&limited(300.0));
    assert_eq!(model.max_bw[1], 300.0);
}

#[test]
fn round_ends_when_data_sent_in_it_arrives() {
    let mut model = Model::default();
    let mut round = |before, in_all| {
        let sample = sample(before, in_all, 1.0);
        model.update_latest(&sample);
        model.update_max_bw(&sample);
        (model.round_start, model.rounds, model.loss_round_start)
    };
    assert_eq!(round(0, 10_000), (true, 1, true));
    assert_eq!(round(9_999, 12_000), (false, 1, false));
    assert_eq!(round(10_000, 20_000), (true, 2, true));
    assert_eq!(round(19_999, 25_000), (false, 2, false));
    // A loss starts a separate loss round.
    assert!(model.note_loss(25_000) && !model.note_loss(27_000));
    model.update_latest(&sample(20_000, 30_000, 1.0));
    assert!(!model.loss_round_start);
    model.update_latest(&sample(25_000, 31_000, 1.0));
    assert!(model.loss_round_start);
}

/// `AdaptLowerBoundsFromCongestion`: a round with losses keeps 70%, or the latest delivered amount.
#[test]
fn losses_lower_the_short_term_limits() {
    let lowered = |latest: f64, inflight: u64, times: usize, accelerates: bool| {
        let mut model = Model { max_bw: [1_000.0, 800.0], ..Model::default() };
        for _ in 0..times {
            model.note_loss(0);
            (model.bw_latest, model.inflight_latest) = (latest, inflight);
            model.adapt_lower_bounds(&state(100_000), accelerates);
            assert!(!model.loss_in_round);
        }
        model.bound();
        (model.bw.round(), model.inflight_short)
    };
    assert_eq!(lowered(0.0, 0, 1, false), (700.0, 70_000));
    assert_eq!(lowered(0.0, 0, 2, false), (490.0, 49_000));
    assert_eq!(lowered(900.0, 95_000, 1, false), (900.0, 95_000));
    assert_eq!(lowered(0.0, 0, 1, true), (1_000.0, u64::MAX), "not while probing for bandwidth");
    assert_eq!(lowered(0.0, 0, 0, false), (1_000.0, u64::MAX));
    let mut model = Model { bw_short: 5.0, inflight_short: 7, max_bw: [9.0, 0.0], ..Model::default() };
    model.bound();
    assert_eq!(model.bw, 5.0);
    model.reset_short();
    model.bound();
    assert_eq!((model.bw, model.inflight_short), (9.0, u64::MAX));
}

#[test]
fn latest_delivered_amount_is_the_maximum_of_its_round() {
    let mut model = Model::default();
    model.update_latest(&Sample { delivered: 9_000, ..sample(0, 10_000, 50.0) });
    model.update_latest(&Sample { delivered: 4_000, ..sample(1, 11_000, 70.0) });
    assert_eq!((model.inflight_latest, model.bw_latest), (9_000, 70.0));
    model.advance_latest(&Sample { delivered: 4_000, ..sample(1, 11_000, 20.0) });
    assert_eq!((model.inflight_latest, model.bw_latest), (9_000, 70.0), "no round is over");
    model.loss_round_start = true;
    model.advance_latest(&Sample { delivered: 4_000, ..sample(1, 11_000, 20.0) });
    assert_eq!((model.inflight_latest, model.bw_latest), (4_000, 20.0));
    model.loss_in_round = true;
    model.reset_signals();
    assert_eq!((model.inflight_latest, model.bw_latest, model.loss_in_round), (0, 0.0, false));
}

/// `CheckFullBWReached`: three rounds without a growth of 25%.
#[test]
fn pipe_is_full_after_three_rounds_without_growth() {
    let full = |rates: &[f64], app_limited| {
        let mut model = Model { round_start: true, ..Model::default() };
        let at = rates.iter().position(|&rate| {
            model.check_full(&Sample { app_limited, ..sample(0, 0, rate) });
            model.full_now
        });
        assert_eq!(at.is_some(), model.full_reached);
        at
    };
    assert_eq!(full(&[100.0, 124.0, 124.0, 124.0], false), Some(3));
    assert_eq!(full(&[100.0, 124.0, 124.0, 125.0, 125.0, 125.0, 125.0], false), Some(6));
    assert_eq!(full(&[100.0; 9], true), None);
    let mut model = Model::default();
    (0..9).for_each(|_| model.check_full(&sample(0, 0, 1.0)));
    assert!(!model.full_now, "no round is over");
    model.full_reached = true;
    model.full_now = true;
    model.reset_full(50.0);
    assert!(!model.full_now && model.full_reached);
}

/// `InflightWithHeadroom`: 15% for other flows, but at least four segments.
#[test]
fn headroom_is_left_for_other_flows() {
    let room = |inflight_long| Model { inflight_long, ..Model::default() }.with_headroom(&state(0));
    assert_eq!([100_000, 5_000, 3_000, u64::MAX].map(room), [85_000, 4_000, 4_000, u64::MAX]);
}

/// Section 5.5.9: data acknowledged beyond the expectation of the bandwidth.
#[test]
fn extra_acked_is_the_excess_over_the_expected_delivery() {
    let mut model = Model { bw: 100_000.0, full_reached: true, ..Model::default() };
    let mut take = |now: u64, newly_delivered, cwnd| {
        let now = Instant::ZERO + mptcp_clock::Duration::from_millis(now);
        model.update_aggregation(&state(cwnd), &Sample { now, newly_delivered, ..Sample::default() });
        model.extra_acked()
    };
    // A new interval: all acknowledged data is extra.
    assert_eq!(take(1_000, 3_000, 100_000), 3_000);
    // In 10 ms, 1000 bytes are expected: of 3000 and 5000, 7000 are extra.
    assert_eq!(take(1_010, 5_000, 100_000), 7_000);
    // After 80 ms, all acknowledged data is expected, and a new interval starts.
    assert_eq!(take(1_080, 2_000, 100_000), 7_000, "the maximum of ten rounds");
    assert_eq!(take(1_090, 20_000, 100_000), 21_000);
    assert_eq!(take(1_090, 90_000, 30_000), 30_000, "no more than the window");
}

#[test]
fn undo_restores_the_limits_after_spurious_losses() {
    let before = Undo { bw_short: 80.0, inflight_short: 8_000, inflight_long: 50_000, ..Undo::default() };
    let mut model = Model {
        bw_short: 40.0,
        inflight_short: 9_000,
        inflight_long: 30_000,
        loss_in_round: true,
        full_now: true,
        ..Model::default()
    };
    model.undo(&before);
    assert_eq!((model.bw_short, model.inflight_short, model.inflight_long), (80.0, 9_000, 50_000));
    assert!(!model.loss_in_round && !model.full_now);
}
