//! Linux's subflow queues: sizes of segments, buffers, order of subflows, and acknowledgements of PSH.

use std::sync::{Arc, Mutex};

use crate::pair::{Pair, pattern};
use crate::test_peer::TestPeer;
use bytes::Bytes;
use mptcp::scheduler::{Linux, Scheduler, SendView};
use mptcp::{Config, LinuxStack};
use mptcp_clock::Duration;
use mptcp_wire::{Flags, Segment};

/// Buffers are counted in bytes, for round numbers.
fn linux() -> Config {
    let linux_stack = LinuxStack { buffer_memory: false, ..LinuxStack::LINUX };
    Config { linux_stack, scheduler: Linux::default().into(), ..Config::default() }
}

fn lengths(sent: &[Segment]) -> Vec<usize> {
    sent.iter().map(|segment| segment.payload.len()).filter(|&length| length > 0).collect()
}

/// The peer offers `window` bytes and acknowledges nothing more.
fn offer(remote: &mut TestPeer, window: u16) -> Vec<usize> {
    let dss = remote.dss(1, None);
    let sent = remote
        .send(remote.flow, 101, 1, |segment| (segment.window, segment.options.dss) = (window, Some(dss)));
    lengths(&sent)
}

#[test]
fn window_is_filled_to_its_last_byte_and_small_writes_are_joined() {
    let (mut remote, _) = TestPeer::open(Config { initial_window: 500, nagle: true, ..linux() });
    remote.send_data(remote.flow, 1, 1, 100);
    remote.host.write(remote.now, remote.connection, Bytes::from(pattern(200_000)));
    let sent = remote.collect();
    let full = sent[0].payload.len();
    assert_eq!(lengths(&sent).iter().sum::<usize>(), 60_000);
    assert_eq!(sent.last().map(|last| last.payload.len()), Some(60_000 % full));
    // Only the last segment of the burst has PSH.
    let pushed = sent.iter().filter(|segment| segment.flags.contains(Flags::PSH)).count();
    assert!(pushed == 1 && sent.last().is_some_and(|last| last.flags.contains(Flags::PSH)));
    // A partial segment is in flight: the next one waits, and later data is appended to it.
    assert_eq!(offer(&mut remote, 60_100), []);
    assert_eq!(offer(&mut remote, 60_100 + full as u16), [full]);
    // Without the queues, a window with space for half of a segment waits for the remainder.
    let (mut remote, _) = TestPeer::open(Config { initial_window: 500, ..Config::default() });
    remote.send_data(remote.flow, 1, 1, 100);
    remote.host.write(remote.now, remote.connection, Bytes::from(pattern(200_000)));
    let sent = lengths(&remote.collect());
    assert!(sent.iter().all(|&length| length == sent[0]) && sent.iter().sum::<usize>() < 60_000);
}

#[test]
fn small_last_segment_waits_only_for_small_segments() {
    for (config, sent) in [(linux(), [3, 0, 1]), (Config::default(), [2, 0, 1])] {
        let (mut remote, _) = TestPeer::open(Config { nagle: true, ..config });
        remote.send_data(remote.flow, 1, 1, 100);
        let write = |remote: &mut TestPeer, bytes: usize| {
            remote.host.write(remote.now, remote.connection, Bytes::from(pattern(bytes)));
            lengths(&remote.collect())
        };
        let (first, second) = (write(&mut remote, 1_100), write(&mut remote, 10));
        let end = 1 + first.iter().sum::<usize>() as u32;
        let dss = remote.dss(end.into(), None);
        let last = remote.send(remote.flow, 101, end, |segment| segment.options.dss = Some(dss));
        assert_eq!([first.len(), second.len(), lengths(&last).len()], sent);
    }
}

/// Window after an idle time below two timeouts, before and after a write of `bytes`, in segments.
fn windows(bytes: usize) -> (u64, u64) {
    let config = Config { restart_after_idle: Some(true), send_buffer: 4 << 20, ..linux() };
    let mut pair = Pair::builder().links(&[50]).config(config).connect();
    pair.run(Duration::from_secs(1));
    pair.transfer(&pattern(500_000), Duration::from_secs(5));
    pair.run(Duration::from_millis(450));
    let window = |pair: &Pair| {
        let info = pair.client.info(pair.now, pair.connection).expect("it lives");
        info.subflows[0].cwnd / info.subflows[0].mss
    };
    let before = window(&pair);
    pair.client.write(pair.now, pair.connection, Bytes::from(pattern(bytes)));
    pair.settle();
    (before, window(&pair))
}

#[test]
fn burst_after_idle_restarts_the_window_for_each_buffer() {
    let (before, after) = windows(20_000);
    assert!(before >= 80, "{before} segments");
    assert_eq!(after, before / 2);
    // The maximum in one segment is 65,215 bytes, rounded down to full segments (`mptcp_sendmsg_frag`,
    // MPTCP_MAX_GSO_SIZE).
    assert_eq!(windows(100_000), (before, before / 4));
    assert_eq!(windows(500_000), (before, 10));
}

/// Records the unsent bytes at each call.
#[derive(Clone, Debug)]
struct Asked(Linux, Arc<Mutex<Vec<u64>>>);

impl Scheduler for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        self.1.lock().expect("nobody panics").push(view.unsent);
        self.0.choose(view)
    }

    fn burst(&self) -> u64 {
        self.0.burst()
    }
}

#[test]
fn opened_window_is_filled_before_the_next_application_write() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let scheduler = Asked(Linux::default(), Arc::clone(&asked)).into();
    let (mut remote, _) =
        TestPeer::open(Config { initial_window: 500, send_buffer: 80_000, scheduler, ..linux() });
    remote.send_data(remote.flow, 1, 1, 100);
    remote.host.write(remote.now, remote.connection, Bytes::from(pattern(80_000)));
    remote.collect();
    asked.lock().expect("nobody panics").clear();
    // All data is acknowledged, and there is space: only the existing data is assigned at once.
    let mut opened = crate::test_peer::segment(remote.flow.peer, remote.flow.host, Flags::ACK, Vec::new());
    opened.sequence = mptcp_wire::Seq::new(101);
    opened.acknowledgment = remote.flow.iss + 60_001;
    opened.options.dss = Some(remote.dss(60_001, None));
    remote.host.handle_segment(remote.now, remote.interface, opened);
    assert_eq!(asked.lock().expect("nobody panics").first(), Some(&20_000));
}

#[test]
fn more_than_a_full_segment_is_acknowledged_at_once() {
    for (linux_stack, answered) in [(LinuxStack::default(), [0, 0, 1]), (LinuxStack::LINUX, [0, 1, 0])] {
        let (mut remote, _) = TestPeer::open(Config { linux_stack, ..Config::default() });
        let mut at = 1;
        let mut send = |remote: &mut TestPeer, length: u16| {
            let sent = remote.send_data(remote.flow, at as u32, at, length);
            at += u64::from(length);
            sent.len()
        };
        // The first segments are acknowledged at once; then every second one.
        let usual: Vec<usize> = (0..40).map(|_| send(&mut remote, 500)).collect();
        if usual.last() == Some(&0) {
            send(&mut remote, 500);
        }
        let sent: Vec<usize> = [500, 1, 500].map(|length| send(&mut remote, length)).to_vec();
        assert_eq!(sent, answered);
    }
}

/// Acknowledgements of a full segment, with or without PSH, once it is read; with or without a gap before it
/// at the data level.
fn answers(pushed: bool, gap: u64) -> usize {
    let (mut remote, _) = TestPeer::open(Config { linux_stack: LinuxStack::LINUX, ..linux() });
    let mut at = 1;
    let mut send = |remote: &mut TestPeer, pushed: bool, gap: u64| {
        let dss = remote.dss(1, Some((at + gap, at as u32, 500)));
        let sent = remote.send(remote.flow, at as u32, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from(vec![1; 500]);
            if pushed {
                segment.flags |= Flags::PSH;
            }
        });
        at += 500;
        while remote.host.read(remote.now, remote.connection).is_some() {}
        sent.len() + remote.collect().len()
    };
    // The first segments are acknowledged at once, then every second one.
    let usual: Vec<usize> = (0..60).map(|_| send(&mut remote, false, 0)).collect();
    assert_eq!(usual[56..].iter().sum::<usize>(), 2);
    if *usual.last().expect("sixty") == 0 {
        send(&mut remote, false, 0);
    }
    send(&mut remote, pushed, gap)
}

#[test]
fn segment_with_psh_is_acknowledged_once_all_is_read() {
    assert_eq!((answers(false, 0), answers(true, 0)), (0, 1));
    // It is out of order at the data level: not everything is read.
    assert_eq!(answers(true, 1000), 0);
}
