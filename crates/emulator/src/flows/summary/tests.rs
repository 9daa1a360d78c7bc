//! Tests the measured time of flows that stop before the end of a run.

use mptcp_lab::scenario::Scenario;

use super::*;

/// Measured time, in seconds, of a flow that stops at 5 s of a 10 s run. Its last byte arrives at `last`
/// seconds. `has_ended` states whether its receiver reads the end of the stream.
fn measured(last: f64, has_ended: bool) -> f64 {
    let text = "duration = \"10s\"\n[paths.wifi]\nrate = \"8Mbit\"\n[flows.f]\nstop = \"5s\"\n";
    let scenario = Scenario::parse(text, "stop.toml").expect("a scenario");
    let (spec, seconds) = (&scenario.flows[0], |time: f64| Instant::from_nanos((time * 1e9) as u64));
    let (watch, tally) = (Watch::new(0, true, vec![None]), Tally::new());
    tally.note_sender((), Instant::ZERO);
    tally.note_read(1_000_000, seconds(last));
    if has_ended {
        tally.note_end();
    }
    flow(spec, &["wifi".to_owned()], Duration::ZERO, seconds(10.0), &watch, &tally).measured
}

#[test]
fn a_flow_that_stops_is_measured_to_its_last_byte_and_no_shorter_than_to_its_stop() {
    assert_eq!(measured(5.5, true), 5.5, "the last data arrived after the stop");
    assert_eq!(measured(4.5, true), 5.0, "the flow could have sent until its stop");
    assert_eq!(measured(5.5, false), 10.0, "more may still have arrived");
}
