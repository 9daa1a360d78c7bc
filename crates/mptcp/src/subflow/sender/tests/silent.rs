//! A path that said nothing for several timeouts, and is heard again.

use super::{Duration, MSS, Rig};

fn drained(rig: &mut Rig) -> Vec<u64> {
    std::iter::from_fn(|| rig.retransmit()).collect()
}

#[test]
fn what_is_outstanding_goes_at_once_when_a_silent_path_is_heard() {
    let mut rig = Rig::new(true, true);
    rig.send(4);
    for _ in 0..3 {
        rig.time_out();
        assert_eq!(drained(&mut rig), [0], "the window of one segment");
    }
    // The timer would run out 2.4 s later: 300 ms, three times doubled.
    assert_eq!(rig.sender.rto_deadline, rig.now + Duration::from_millis(2400));
    rig.wait(50);
    assert_eq!(drained(&mut rig), []);
    rig.sender.revive(rig.now, &rig.congestion.paths[0]);
    assert_eq!(rig.sender.rto_deadline, rig.now + Duration::from_millis(300));
    assert_eq!(rig.sender.board.lost, 4 * MSS);
    assert_eq!(drained(&mut rig), [0]);
}

#[test]
fn what_is_under_way_on_a_path_that_did_not_time_out_stays_so() {
    let mut rig = Rig::new(true, true);
    rig.send(4);
    rig.wait(50);
    let deadline = rig.sender.rto_deadline;
    rig.sender.revive(rig.now, &rig.congestion.paths[0]);
    assert_eq!((rig.sender.rto_deadline, rig.sender.board.lost), (deadline, 0));
    assert_eq!(drained(&mut rig), []);
}
