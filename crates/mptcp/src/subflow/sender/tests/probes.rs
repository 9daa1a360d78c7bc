//! Tests of tail loss probes (RFC 8985 section 7).

use super::{Recovery, Rig};

#[test]
fn a_probe_that_was_not_needed_does_not_halve() {
    let mut rig = Rig::new(true, true);
    rig.send(5);
    rig.wait(205);
    assert_eq!(rig.retransmit(), Some(4));
    // All originals were delayed. The copy is reported as a duplicate afterwards.
    rig.ack(5, &[]);
    assert_eq!((rig.cwnd(), rig.sender.state), (20, Recovery::Open));
    rig.ack(5, &[(4, 5)]);
    rig.send(5);
    rig.wait(100);
    rig.ack(10, &[]);
    assert!(rig.cwnd() >= 20, "{}", rig.cwnd());
}

#[test]
fn answers_to_probes_do_not_delay_loss_detection() {
    let mut rig = Rig::new(true, true);
    let mut end = 0;
    for _ in 0..10 {
        // The peer delays the last acknowledgement of a burst until after the probe.
        rig.send(5);
        rig.wait(205);
        end += 5;
        assert_eq!(rig.retransmit(), Some(end - 1));
        rig.ack(end, &[]);
        rig.ack(end, &[(end - 1, end)]);
    }
    rig.send(5);
    rig.wait(100);
    rig.ack(end, &[(end + 1, end + 3)]);
    assert_eq!(rig.retransmit(), None, "fewer than three later segments have arrived");
    rig.wait(26);
    assert_eq!(rig.retransmit(), Some(end), "a quarter of the minimum RTT later");
}

#[test]
fn a_probe_that_repaired_a_loss_halves_once_more_is_acknowledged() {
    let mut rig = Rig::new(true, true);
    rig.send(5);
    rig.wait(205);
    assert_eq!(rig.retransmit(), Some(4));
    rig.ack(5, &[]);
    rig.send(5);
    rig.wait(100);
    rig.ack(7, &[]);
    assert_eq!(rig.cwnd(), 10);
}
