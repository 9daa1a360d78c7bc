//! Tests of a path that responds after several timeouts.

use super::{Duration, MSS, Rig};

fn drained(rig: &mut Rig) -> Vec<u64> {
    std::iter::from_fn(|| rig.retransmit()).collect()
}

#[test]
fn outstanding_data_is_retransmitted_when_a_silent_path_responds() {
    let mut rig = Rig::new(true, true);
    rig.send(4);
    for _ in 0..3 {
        rig.time_out();
        assert_eq!(drained(&mut rig), [0], "the window is one segment");
    }
    // The timer would expire 2.4 s later: 300 ms, doubled three times.
    assert_eq!(rig.sender.rto_deadline, rig.now + Duration::from_millis(2400));
    rig.wait(50);
    assert_eq!(drained(&mut rig), []);
    rig.sender.revive(rig.now, &rig.congestion.paths[0]);
    assert_eq!(rig.sender.rto_deadline, rig.now + Duration::from_millis(300));
    assert_eq!(rig.sender.board.lost, 4 * MSS);
    assert_eq!(drained(&mut rig), [0]);
}

#[test]
fn data_in_flight_without_a_timeout_stays_in_flight() {
    let mut rig = Rig::new(true, true);
    rig.send(4);
    rig.wait(50);
    let deadline = rig.sender.rto_deadline;
    rig.sender.revive(rig.now, &rig.congestion.paths[0]);
    assert_eq!((rig.sender.rto_deadline, rig.sender.board.lost), (deadline, 0));
    assert_eq!(drained(&mut rig), []);
}
