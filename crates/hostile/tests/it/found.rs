//! Regression tests for defects that random cases found, each reduced to the shortest sequence. The test name states
//! the correct behaviour.

use bytes::Bytes;
use mptcp::{CloseReason, Config, LinuxCompat};
use mptcp_clock::Duration;
use mptcp_hostile::budget::Budget;
use mptcp_hostile::meter;
use mptcp_hostile::peer::Offer;
use mptcp_hostile::scene::Scene;
use mptcp_hostile::{draw, verdict};

/// N1: with `steady_join_ack`, the host retransmits the third ACK of a join after twice the RTT. At an RTT of one
/// microsecond, it used up all retries within 16 RTTs and closed the subflow. At an RTT of zero, it sent all of them at
/// once.
#[test]
fn the_third_ack_of_a_join_is_not_repeated_within_a_millisecond() {
    let config = Config {
        linux_compat: LinuxCompat { steady_join_ack: true, ..LinuxCompat::default() },
        ..Config::default()
    };
    let mut scene = Scene::new(config.clone(), Offer::default());
    let Ok((_, id)) = scene.call(config) else { panic!("the host does not connect") };
    let first = scene.peer.data(scene.now, id, 10);
    scene.hit(first);
    let mut announce = scene.peer.bare(scene.now, id);
    announce.options.dss = None;
    announce.options.mptcp.push(scene.peer.add_address(id, 3, [10, 66, 0, 2].into(), None));
    scene.hit(announce);
    // The host joins; the peer answers after a microsecond and then stays silent.
    scene.now += Duration::from_micros(1);
    let joined = scene.peer.flows.len() - 1;
    assert!(scene.peer.flows[joined].joins);
    let answer = scene.peer.syn_ack(scene.now, joined);
    let third = scene.hit(answer);
    assert_eq!(third.len(), 1, "{third:?}");
    let (again, _) = scene.wait(Duration::from_millis(1));
    assert!(again.is_empty(), "{} segments within a millisecond: {again:?}", again.len());
}

/// N2: a corked connection that cannot send, here because of a zero window, woke up five times a second without effect.
#[test]
fn a_cork_that_has_run_out_does_not_wake_anybody() {
    let offer = Offer { window: 0, scale: None, multipath: false, ..Offer::default() };
    let mut scene = Scene::new(Config::default(), offer);
    scene.open(1);
    let Some(&connection) = scene.connections.first() else { panic!("no connection was accepted") };
    scene.victim.set_cork(scene.now, connection, true);
    scene.victim.write(scene.now, connection, Bytes::from_static(&[1; 10]));
    scene.collect();
    let (said, wakeups) = scene.wait(Duration::from_secs(3_600));
    let most = 2 * said.len() as u64 + 10;
    assert!(wakeups <= most, "{wakeups} wakeups in an hour for {} segments", said.len());
}

/// N3: a timed-out connection with unread data woke up every two minutes forever, to retransmit without a subflow. It
/// also kept its send queue.
#[test]
fn a_connection_that_is_over_sleeps() {
    let mut scene = Scene::new(Config::default(), Offer::default());
    scene.reads = false;
    let id = scene.open(1);
    let data = scene.peer.data(scene.now, id, 10);
    scene.hit(data);
    let Some(&connection) = scene.connections.first() else { panic!("no connection was accepted") };
    let before = meter::live();
    scene.victim.write(scene.now, connection, Bytes::from(vec![1; 1_000_000]));
    scene.collect();
    // The peer has vanished, and the application does not read.
    scene.wait(Duration::from_secs(7_200));
    let closed = scene.victim.info(scene.now, connection).and_then(|info| info.closed);
    assert_eq!(closed, Some(CloseReason::TimedOut));
    let (_, wakeups) = scene.wait(Duration::from_secs(86_400));
    let held = meter::live() - before;
    assert!(wakeups == 0 && held < 100_000, "{wakeups} wakeups in a day, {held} bytes held");
}

/// N4: with Linux's data-level timer, a connection lived forever if the peer acknowledged the subflow but never the
/// data.
#[test]
fn data_that_nobody_acknowledges_as_linux_sends_them_end_with_their_connection() {
    let report = verdict::of(&draw::bytes_of(7_000_430), &Budget::LOGIC);
    assert!(report.is_ok(), "{:?}", report.err());
}
