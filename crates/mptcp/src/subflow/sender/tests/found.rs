//! Tests of the method of loss detection that the sender reports to observers.

use super::Rig;
use crate::observe::Detection;

/// In order of precedence: timeout (RFC 6298), RACK (RFC 8985), SACK (RFC 6675), duplicates (RFC 5681).
#[test]
fn a_loss_is_reported_with_its_detection_method() {
    let found = |sack, rack, timed_out| Rig::new(sack, rack).sender.detection(timed_out);
    assert_eq!(found(true, true, false), Detection::Rack);
    assert_eq!(found(true, false, false), Detection::Sack);
    assert_eq!(found(false, false, false), Detection::Duplicates);
    for (sack, rack) in [(true, true), (true, false), (false, false)] {
        assert_eq!(found(sack, rack, true), Detection::Timeout);
    }
}
