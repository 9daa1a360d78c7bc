//! Two paths: the near one is there in 10 ms, the far one in 50; 1000 bytes each millisecond are 8 Mb/s.

use super::*;

const TIMES: [f64; 2] = [10e6, 50e6];

/// Lines of so many MB/s, None where nothing is known.
fn lines(near: Option<f64>, far: Option<f64>) -> [Candidate; 2] {
    let mut both = [20, 100].map(|ms| Candidate::new(0, Duration::from_millis(ms), 100_000, 1000));
    both[0].burst_rate = near.map(|rate| rate * 1e6);
    both[1].burst_rate = far.map(|rate| rate * 1e6);
    both
}

/// Who carries it at a moment, to whom the moments before are known.
fn asked(stream: &mut Stream, view: &SendView<'_>, times: &[f64]) -> Option<usize> {
    stream.look(view);
    stream.carrier(view, times)
}

/// Who carries a stream of 1 MB/s after so many milliseconds, looked at every 100 ms.
fn carrier(
    stream: &mut Stream,
    candidates: &[Candidate],
    ms: std::ops::RangeInclusive<u64>,
) -> Option<usize> {
    let mut found = None;
    for at in ms.step_by(100) {
        let mut view = SendView::new(Instant::ZERO + Duration::from_millis(at), candidates);
        (view.acknowledged, view.in_flight, view.unsent) = (at * 1000, 6000, 2000);
        found = asked(stream, &view, &TIMES);
    }
    found
}

#[test]
fn the_far_path_carries_a_stream_that_the_near_one_cannot() {
    let (slow, just, enough) = (Some(0.95), Some(1.01), Some(1.03));
    assert_eq!(carrier(&mut Stream::default(), &lines(slow, enough), 0..=3000), Some(1));
    assert_eq!(carrier(&mut Stream::default(), &lines(just, enough), 0..=3000), None, "the near one can");
    assert_eq!(
        carrier(&mut Stream::default(), &lines(slow, just), 0..=3000),
        None,
        "not with anything to spare"
    );
    assert_eq!(carrier(&mut Stream::default(), &lines(None, enough), 0..=3000), None, "perhaps it can");
    assert_eq!(carrier(&mut Stream::default(), &lines(slow, None), 0..=3000), None, "perhaps it cannot");
}

#[test]
fn a_window_after_a_loss_is_what_a_path_carries() {
    let mut both = lines(Some(5.0), Some(5.0));
    assert_eq!(carrier(&mut Stream::default(), &both, 0..=3000), None, "the near one can");
    // A loss every 600 segments leaves a window of 20 in 20 ms: 1 MB/s.
    both[0].between_losses = Some(590_000);
    assert_eq!(carrier(&mut Stream::default(), &both, 0..=3000), Some(1));
    both[0].between_losses = Some(610_000);
    assert_eq!(carrier(&mut Stream::default(), &both, 0..=3000), None);
    // The far one has 100 ms for that, and a little more is asked of it.
    both[0].between_losses = Some(1000);
    both[1].between_losses = Some(15_500_000);
    assert_eq!(carrier(&mut Stream::default(), &both, 0..=3000), None);
    both[1].between_losses = Some(15_700_000);
    assert_eq!(carrier(&mut Stream::default(), &both, 0..=3000), Some(1));
}

#[test]
fn near_paths_together_may_carry_it() {
    let [near, far] = lines(Some(0.6), Some(2.0));
    let times = [10e6, 20e6, 50e6];
    let mut stream = Stream::default();
    let mut at = |candidates: &[Candidate], at: u64| {
        let mut view = SendView::new(Instant::ZERO + Duration::from_millis(at), candidates);
        view.acknowledged = at * 1000;
        asked(&mut stream, &view, &times)
    };
    at(&[near, near, far], 0);
    assert_eq!(at(&[near, near, far], 1000), None);
    let slower = Candidate { burst_rate: Some(0.3e6), ..near };
    assert_eq!(at(&[near, slower, far], 1100), Some(2));
}

#[test]
fn it_is_asked_for_a_second_and_begins_anew_after_a_silence() {
    let both = lines(Some(0.5), Some(3.0));
    let mut stream = Stream::default();
    assert_eq!(carrier(&mut stream, &both, 0..=900), None);
    assert_eq!(carrier(&mut stream, &both, 1000..=1000), Some(1));
    assert_eq!(carrier(&mut stream, &both, 4100..=4900), None, "three seconds without a look");
    assert_eq!(carrier(&mut stream, &both, 5100..=5100), Some(1));
    let mut idle = Stream::default();
    let mut view = SendView::new(Instant::ZERO, &both);
    for at in [0, 1000, 2000] {
        view.now = Instant::ZERO + Duration::from_millis(at);
        view.acknowledged = at * 100;
        assert_eq!(asked(&mut idle, &view, &TIMES), None, "0.1 MB/s fit everywhere");
    }
}

#[test]
fn much_at_once_is_shared() {
    let both = lines(Some(0.5), Some(2.0));
    let mut stream = Stream::default();
    assert_eq!(carrier(&mut stream, &both, 0..=1000), Some(1));
    let mut view = SendView::new(Instant::ZERO + Duration::from_millis(1100), &both);
    view.acknowledged = 1_100_000;
    // Twice 50 ms of 2 MB/s.
    view.unsent = 200_000;
    assert_eq!(asked(&mut stream, &view, &TIMES), Some(1));
    view.unsent += 1;
    assert_eq!(asked(&mut stream, &view, &TIMES), None);
}

#[test]
fn who_writes_now_and_then_is_expected_to_go_on_so() {
    let both = lines(None, None);
    let mut stream = Stream::default();
    let mut until_more = |written: u64, at: u64| {
        let mut view = SendView::new(Instant::ZERO + Duration::from_millis(at), &both);
        view.acknowledged = written;
        stream.look(&view);
        stream.until_more(view.now) / 1e6
    };
    assert_eq!(until_more(8_000, 0), f64::INFINITY);
    assert_eq!(until_more(16_000, 16), 16.0);
    assert_eq!(until_more(16_000, 20), 12.0);
    assert_eq!(until_more(16_000, 40), 16.0, "it is late, by no one knows how much");
    assert_eq!(until_more(24_000, 48), 18.0, "an eighth of the difference");
}
