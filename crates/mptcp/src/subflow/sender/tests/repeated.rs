//! What the arrival of repeated segments tells of others.

use mptcp_clock::Duration;

use super::{MSS, Rig};
use crate::subflow::sender::Ack;
use crate::subflow::state::TimestampEcho;

#[test]
fn a_tail_that_is_older_than_what_was_repeated_is_lost_when_that_arrives() {
    let mut rig = Rig::new(true, true);
    rig.send(6);
    rig.wait(100);
    // 1 and the last one were lost.
    rig.ack(1, &[(2, 5)]);
    assert_eq!(rig.retransmit(), Some(1));
    rig.wait(100);
    rig.ack(5, &[]);
    assert_eq!(
        rig.retransmit(),
        Some(5),
        "it left before what has just arrived: no need to wait for a timeout"
    );
}

#[test]
fn a_repeated_segment_that_is_lost_again_behind_a_gap_is_found_by_later_ones() {
    let mut rig = Rig::new(true, true);
    rig.send(10);
    rig.wait(100);
    // All but 3, 5, 7 and 9 are lost; what came last in order was sent first of all.
    let echo = Some(TimestampEcho { value: 1_001, offset: 0 });
    let ack = |rig: &mut Rig, blocks: &[(u64, u64)]| {
        let blocks: Vec<_> = blocks.iter().map(|block| (1 + block.0 * MSS, 1 + block.1 * MSS)).collect();
        let ack =
            Ack { now: rig.now, number: 1, blocks: &blocks, echo, bare: true, empty: true, echoes: true };
        rig.sender.on_ack(ack, 0, &mut rig.congestion);
    };
    ack(&mut rig, &[(9, 10), (7, 8), (5, 6)]);
    assert_eq!(rig.retransmit(), Some(0));
    rig.wait(20);
    assert_eq!(rig.retransmit(), Some(1));
    rig.wait(100);
    // The first one was lost again; the second, sent later, has arrived behind the gap.
    ack(&mut rig, &[(1, 2), (9, 10), (7, 8)]);
    let again = rig.retransmit();
    assert_eq!(again, Some(0), "an echo from before the gap says nothing of what is behind it");
}

#[test]
fn the_probe_for_a_last_segment_waits_for_no_delayed_acknowledgement_that_cannot_come() {
    let wait = |answered: bool| {
        let mut rig = Rig::new(true, true);
        rig.send(1);
        if answered {
            // A DATA_FIN follows, which the peer answers at once.
            rig.sender.expect_answer(rig.now, &rig.congestion.paths[0]);
        }
        rig.sender.deadline().since(rig.now)
    };
    let srtt = Duration::from_millis(100);
    assert_eq!(wait(true), srtt * 2 + Duration::from_millis(2));
    assert!(wait(false) > srtt * 2 + Duration::from_millis(90), "the timeout comes before the probe");
}
