//! Tests of losses that the arrival of retransmissions reveals.

use mptcp_clock::Duration;

use super::{MSS, Rig};
use crate::subflow::sender::Ack;
use crate::subflow::state::TimestampEcho;

#[test]
fn a_tail_older_than_a_delivered_retransmission_is_lost() {
    let mut rig = Rig::new(true, true);
    rig.send(6);
    rig.wait(100);
    // Segments 1 and 5 were lost.
    rig.ack(1, &[(2, 5)]);
    assert_eq!(rig.retransmit(), Some(1));
    rig.wait(100);
    rig.ack(5, &[]);
    assert_eq!(rig.retransmit(), Some(5), "sent before the segment that arrived: lost without a timeout");
}

#[test]
fn a_lost_retransmission_behind_a_gap_is_found_by_later_ones() {
    let mut rig = Rig::new(true, true);
    rig.send(10);
    rig.wait(100);
    // All but 5, 7 and 9 are lost. The echo is from the last segment in order.
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
    // The retransmission of 0 was lost too. That of 1, sent later, has arrived behind the gap.
    ack(&mut rig, &[(1, 2), (9, 10), (7, 8)]);
    let again = rig.retransmit();
    assert_eq!(again, Some(0), "an echo from before the gap does not identify segments behind it");
}

#[test]
fn the_probe_for_the_last_segment_does_not_wait_for_an_impossible_delayed_ack() {
    let wait = |answered: bool| {
        let mut rig = Rig::new(true, true);
        rig.send(1);
        if answered {
            // A DATA_FIN follows, which the peer acknowledges at once.
            rig.sender.expect_answer(rig.now, &rig.congestion.paths[0]);
        }
        rig.sender.deadline().since(rig.now)
    };
    let srtt = Duration::from_millis(100);
    assert_eq!(wait(true), srtt * 2 + Duration::from_millis(2));
    assert!(wait(false) > srtt * 2 + Duration::from_millis(90), "the timeout comes before the probe");
}
