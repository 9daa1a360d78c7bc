//! Tests of the reported method of loss detection.

use super::Rig;
use crate::observe::Detection;

/// RFC 6298, RFC 8985, RFC 6675, RFC 5681, in this order of precedence.
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
