//! Tests of rate samples with given transmissions and arrivals.

use super::*;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Sends segments of 1000 bytes at intervals of 1 ms, from time `from` and offset `start`.
fn send(rates: &mut Rates, from: u64, start: u64, count: u64, under_way: u64) {
    for n in 0..count {
        let left = start + n * 1000;
        rates.on_sent(at(from + n), left, left + 1000, under_way + (n + 1) * 1000);
    }
}

fn acknowledge(rates: &mut Rates, ms: u64, una: u64) -> Sample {
    rates.begin(at(ms));
    rates.on_acknowledged(una);
    rates.sample(Some(Duration::from_millis(50)))
}

#[test]
fn the_rate_is_the_data_delivered_per_rtt() {
    let mut rates = Rates::default();
    // Ten segments in 9 ms from 0. Acknowledgements from 100 ms on, 10 ms apart.
    send(&mut rates, 0, 0, 10, 0);
    let first = acknowledge(&mut rates, 100, 1000);
    assert_eq!((first.delivered, first.rate), (1000, Some(1000.0 / 0.1)));
    assert_eq!(first.rtt, Some(Duration::from_millis(100)));
    // The last one was sent at 9 ms, before any delivery, and arrived 190 ms after the start.
    let mut last = first;
    for n in 2..=10 {
        last = acknowledge(&mut rates, 90 + 10 * n, n * 1000);
    }
    assert_eq!((last.delivered, last.delivered_before), (10_000, Some(0)));
    assert!((last.rate.expect("a rate") - 10_000.0 / 0.19).abs() < 1.0);
    // Segments that were sent after ten deliveries: their rate is measured from there.
    send(&mut rates, 190, 10_000, 10, 0);
    let next = acknowledge(&mut rates, 299, 20_000);
    assert_eq!((next.delivered_before, next.delivered, next.newly_delivered), (Some(10_000), 10_000, 10_000));
}

#[test]
fn bunched_acknowledgements_do_not_raise_the_rate_above_the_send_rate() {
    let mut rates = Rates::default();
    // Sent over 200 ms, so that the first arrives before the last is sent. All acknowledgements arrive together.
    rates.on_sent(at(0), 0, 1000, 1000);
    acknowledge(&mut rates, 100, 1000);
    for n in 0..20 {
        rates.on_sent(at(100 + 10 * n), 1000 + 1000 * n, 2000 + 1000 * n, 1000 * (n + 1));
    }
    let sample = acknowledge(&mut rates, 300, 21_000);
    assert_eq!(sample.delivered, 20_000);
    // 200 ms from the first transmission to the acknowledgement, 190 ms by send times.
    assert!((sample.rate.expect("a rate") - 20_000.0 / 0.2).abs() < 1.0);
}

#[test]
fn an_interval_below_the_rtt_gives_no_rate() {
    let mut rates = Rates::default();
    send(&mut rates, 0, 0, 1, 0);
    let sample = acknowledge(&mut rates, 49, 1000);
    assert_eq!((sample.rate, sample.delivered), (None, 1000));
    assert_eq!(acknowledge(&mut rates, 60, 1000).delivered_before, None, "no new data");
}

#[test]
fn application_limited_data_is_marked_until_it_arrives() {
    let mut rates = Rates::default();
    send(&mut rates, 0, 0, 2, 0);
    rates.note_limited(2000);
    send(&mut rates, 10, 2000, 2, 2000);
    assert!(!acknowledge(&mut rates, 100, 2000).app_limited, "sent before the limit");
    assert!(acknowledge(&mut rates, 110, 3000).app_limited);
    send(&mut rates, 111, 4000, 1, 1000);
    assert!(acknowledge(&mut rates, 112, 4000).app_limited);
    assert!(!acknowledge(&mut rates, 220, 5000).app_limited, "all application-limited data has arrived");
}

#[test]
fn losses_are_counted_since_each_was_sent() {
    let mut rates = Rates::default();
    send(&mut rates, 0, 0, 5, 0);
    rates.begin(at(100));
    rates.on_reported(2000, 5000);
    rates.on_lost(0, 1000);
    rates.on_lost(1000, 2000);
    let losses = rates.take_losses().expect("two");
    assert_eq!(
        losses.iter().map(|lost| (lost.lost, lost.in_flight_at_send)).collect::<Vec<_>>(),
        [(1000, 1000), (2000, 2000)]
    );
    rates.return_losses(losses);
    let sample = rates.sample(None);
    assert_eq!((sample.newly_lost, sample.newly_delivered, sample.lost), (2000, 3000, 2000));
    // A retransmission gives no RTT sample.
    rates.on_repeated(at(101), 0, 1000, 1000);
    let again = acknowledge(&mut rates, 200, 1000);
    assert_eq!((again.lost, again.rtt, again.newly_delivered), (0, None, 1000));
    assert_eq!(acknowledge(&mut rates, 210, 5000).newly_delivered, 1000, "the rest was reported before");
}

#[test]
fn large_segments_are_cut_where_acknowledgements_cut_them() {
    let mut rates = Rates::default();
    rates.on_sent(at(0), 0, 64_000, 64_000);
    rates.begin(at(100));
    rates.on_reported(10_000, 12_000);
    rates.on_acknowledged(3000);
    rates.on_lost(3000, 4000);
    let sample = rates.sample(None);
    assert_eq!((sample.newly_delivered, sample.newly_lost), (5000, 1000));
    assert_eq!(acknowledge(&mut rates, 200, 64_000).newly_delivered, 59_000);
    assert!(rates.flight.is_empty());
}

#[test]
fn data_sent_before_the_start_gives_no_sample() {
    let mut rates = Rates::default();
    rates.begin(at(0));
    rates.on_reported(5000, 6000);
    rates.on_lost(1000, 2000);
    rates.on_acknowledged(9000);
    let sample = rates.sample(None);
    assert_eq!((sample.delivered_before, sample.newly_delivered, sample.rate), (None, 0, None));
    assert!(rates.take_losses().is_none());
}

#[test]
fn a_sample_has_its_time_and_the_total_delivered() {
    let mut rates = Rates::default();
    assert!(!acknowledge(&mut rates, 1, 0).window_limited, "nothing was sent");
    send(&mut rates, 10, 0, 4, 0);
    let first = acknowledge(&mut rates, 110, 1000);
    assert_eq!((first.now, first.total_delivered, first.newly_delivered), (at(110), 1000, 1000));
    assert!(!first.window_limited);
    // The window is full until the data in flight has arrived.
    rates.note_full(3000);
    let [whole, over] = [(120, 4000), (130, 5000)].map(|(ms, una)| {
        send(&mut rates, ms - 5, una, 1, 0);
        acknowledge(&mut rates, ms, una)
    });
    assert_eq!((whole.total_delivered, whole.newly_delivered, whole.window_limited), (4000, 3000, true));
    assert_eq!((over.now, over.total_delivered, over.window_limited), (at(130), 5000, false));
}
