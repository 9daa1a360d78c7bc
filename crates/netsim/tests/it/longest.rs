//! Links with a maximum frame length.

use mptcp_clock::{Duration, Instant};
use netsim::{Cause, Change, Codepoint, Event, Frame, Network, Parameters, SendOutcome};

#[test]
fn a_frame_that_is_too_long_is_lost_and_told_of() {
    let mut network = Network::new(1);
    let (from, to) = (network.add_host(), network.add_host());
    let line = Parameters { longest: Some(1000), ..Parameters::default() };
    let link = network.add_link("line", from, to, line.clone(), line).expect("a link");
    let destination = network.add_address(to, None).expect("an address");
    network.keep_lost(true);
    let frame = |bytes| Frame { bytes, destination, label: 0, ecn: Codepoint::NotEct, payload: bytes };
    let long = network.send(Instant::ZERO, link.forward(), frame(1001));
    assert_eq!(long, SendOutcome::Lost(Cause::TooLong));
    assert_eq!(network.send(Instant::ZERO, link.forward(), frame(1000)), SendOutcome::Queued);
    assert_eq!(
        network.lost().map(|lost| (lost.cause, lost.frame.payload)).collect::<Vec<_>>(),
        [(Cause::TooLong, 1001)]
    );
    let later = Instant::ZERO + Duration::from_secs(1);
    network.schedule_link_change(later, link, Change::Longest(None));
    let arrived = network.next().map(|(_, event)| event);
    assert!(matches!(arrived, Some(Event::Arrived { frame, .. }) if frame.payload == 1000));
    assert!(network.next_until(later).is_none());
    assert_eq!(network.send(later, link.forward(), frame(9000)), SendOutcome::Queued);
    let counters = network.counters(link.forward());
    assert_eq!((counters.offered_frames, counters.too_long_frames, counters.dropped_frames), (3, 1, 0));
}
