//! ECN marks of drop-tail queues above a threshold.

use mptcp_clock::{Duration, Instant};
use netsim::{Codepoint, Event, Frame, Network, Parameters, QueueLimit, Rate};

/// Sends frames of 1000 bytes at once over a link of 8 Mb/s. Returns the arrivals and the number of marks.
fn through(mark: Option<QueueLimit>, frames: &[Codepoint]) -> (Vec<Codepoint>, u64) {
    let mut network = Network::new(1);
    let (from, to) = (network.add_host(), network.add_host());
    let line = Parameters { rate: Rate::new(8_000_000), mark, ..Parameters::default() };
    let link = network.add_link("line", from, to, line.clone(), line).expect("a link");
    let destination = network.add_address(to, None).expect("an address");
    for (payload, &ecn) in frames.iter().enumerate() {
        let frame = Frame { bytes: 1000, destination, label: 0, ecn, payload };
        network.send(Instant::ZERO, link.forward(), frame);
    }
    let arrived = std::iter::from_fn(|| network.next()).filter_map(|(_, event)| match event {
        Event::Arrived { frame, .. } => Some(frame.ecn),
        _ => None,
    });
    let arrived = arrived.collect();
    (arrived, network.counters(link.forward()).marked_frames)
}

use Codepoint::{Ce, Ect0, Ect1, NotEct};

#[test]
fn a_frame_that_finds_the_threshold_in_the_queue_is_marked() {
    // The frame in service counts: the first arrival finds none, the fourth three.
    let (arrived, marked) = through(Some(QueueLimit::Packets(3)), &[Ect0; 6]);
    assert_eq!(arrived, [Ect0, Ect0, Ect0, Ce, Ce, Ce]);
    assert_eq!(marked, 3);
}

#[test]
fn bytes_and_time_are_thresholds_too() {
    let (arrived, _) = through(Some(QueueLimit::Bytes(2500)), &[Ect0; 4]);
    assert_eq!(arrived, [Ect0, Ect0, Ce, Ce]);
    // 3 ms of 8 Mb/s are 3000 bytes.
    let (arrived, _) = through(Some(QueueLimit::Time(Duration::from_millis(3))), &[Ect0; 4]);
    assert_eq!(arrived, [Ect0, Ect0, Ect0, Ce]);
}

#[test]
fn what_may_not_be_marked_passes_and_marks_are_counted_once() {
    let (arrived, marked) = through(Some(QueueLimit::Packets(1)), &[NotEct, NotEct, Ect1, Ce, Ect0]);
    assert_eq!(arrived, [NotEct, NotEct, Ce, Ce, Ce]);
    assert_eq!(marked, 2);
}

#[test]
fn without_a_threshold_nothing_is_marked() {
    assert_eq!(through(None, &[Ect0; 50]), (vec![Ect0; 50], 0));
}
