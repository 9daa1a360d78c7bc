//! Queues by subflow as Linux fills and empties them: pieces, buffers, who is asked first, and which ends are acknowledged.

use std::sync::{Arc, Mutex};

use crate::hand::Hand;
use crate::pair::{Pair, pattern};
use bytes::Bytes;
use mptcp::scheduler::{Linux, Scheduler, SendView};
use mptcp::{Config, LinuxStack};
use mptcp_clock::Duration;
use mptcp_wire::{Flags, Segment};

/// Buffers are counted in bytes, so that the numbers here are round.
fn linux() -> Config {
    let linux_stack = LinuxStack { buffer_memory: false, ..LinuxStack::LINUX };
    Config { linux_stack, scheduler: Linux::default().into(), ..Config::default() }
}

fn lengths(sent: &[Segment]) -> Vec<usize> {
    sent.iter().map(|segment| segment.payload.len()).filter(|&length| length > 0).collect()
}

/// The peer offers `window` bytes and acknowledges nothing more.
fn offer(hand: &mut Hand, window: u16) -> Vec<usize> {
    let dss = hand.dss(1, None);
    let sent =
        hand.send(hand.flow, 101, 1, |segment| (segment.window, segment.options.dss) = (window, Some(dss)));
    lengths(&sent)
}

#[test]
fn a_window_is_filled_to_its_last_byte_and_small_pieces_join() {
    let (mut hand, _) = Hand::open(Config { initial_window: 500, nagle: true, ..linux() });
    hand.send_data(hand.flow, 1, 1, 100);
    hand.host.write(hand.now, hand.connection, Bytes::from(pattern(200_000)));
    let sent = hand.collect();
    let full = sent[0].payload.len();
    assert_eq!(lengths(&sent).iter().sum::<usize>(), 60_000);
    assert_eq!(sent.last().map(|last| last.payload.len()), Some(60_000 % full));
    // The last of a row is pushed, and no other.
    let pushed = sent.iter().filter(|segment| segment.flags.contains(Flags::PSH)).count();
    assert!(pushed == 1 && sent.last().is_some_and(|last| last.flags.contains(Flags::PSH)));
    // A small segment is under way: the next waits, and what comes is put behind it.
    assert_eq!(offer(&mut hand, 60_100), []);
    assert_eq!(offer(&mut hand, 60_100 + full as u16), [full]);
    // Without the queues a window that has room for half of a segment waits for the rest.
    let (mut hand, _) = Hand::open(Config { initial_window: 500, ..Config::default() });
    hand.send_data(hand.flow, 1, 1, 100);
    hand.host.write(hand.now, hand.connection, Bytes::from(pattern(200_000)));
    let sent = lengths(&hand.collect());
    assert!(sent.iter().all(|&length| length == sent[0]) && sent.iter().sum::<usize>() < 60_000);
}

#[test]
fn a_small_end_waits_for_what_is_small_and_not_for_full_segments() {
    for (config, sent) in [(linux(), [3, 0, 1]), (Config::default(), [2, 0, 1])] {
        let (mut hand, _) = Hand::open(Config { nagle: true, ..config });
        hand.send_data(hand.flow, 1, 1, 100);
        let write = |hand: &mut Hand, bytes: usize| {
            hand.host.write(hand.now, hand.connection, Bytes::from(pattern(bytes)));
            lengths(&hand.collect())
        };
        let (first, second) = (write(&mut hand, 1_100), write(&mut hand, 10));
        let end = 1 + first.iter().sum::<usize>() as u32;
        let dss = hand.dss(end.into(), None);
        let last = hand.send(hand.flow, 101, end, |segment| segment.options.dss = Some(dss));
        assert_eq!([first.len(), second.len(), lengths(&last).len()], sent);
    }
}

/// The window after a silence of less than two timeouts, before and behind a write of `bytes`, in segments.
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
fn a_burst_begins_a_window_anew_for_each_of_its_buffers() {
    let (before, after) = windows(20_000);
    assert!(before >= 80, "{before} segments");
    assert_eq!(after, before / 2);
    // 65 215 bytes less what is no full segment is the most in one (`mptcp_sendmsg_frag`, MPTCP_MAX_GSO_SIZE).
    assert_eq!(windows(100_000), (before, before / 4));
    assert_eq!(windows(500_000), (before, 10));
}

/// Writes down how much was unsent each time that it was asked.
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
fn a_window_that_opens_is_filled_before_the_application_writes_more() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let scheduler = Asked(Linux::default(), Arc::clone(&asked)).into();
    let (mut hand, _) = Hand::open(Config { initial_window: 500, send_buffer: 80_000, scheduler, ..linux() });
    hand.send_data(hand.flow, 1, 1, 100);
    hand.host.write(hand.now, hand.connection, Bytes::from(pattern(80_000)));
    hand.collect();
    asked.lock().expect("nobody panics").clear();
    // All is acknowledged, and there is room for everything: only what was there is given away at once.
    let mut opened = crate::hand::segment(hand.flow.peer, hand.flow.host, Flags::ACK, Vec::new());
    opened.sequence = mptcp_wire::Seq::new(101);
    opened.acknowledgment = hand.flow.iss + 60_001;
    opened.options.dss = Some(hand.dss(60_001, None));
    hand.host.handle_segment(hand.now, hand.interface, opened);
    assert_eq!(asked.lock().expect("nobody panics").first(), Some(&20_000));
}

#[test]
fn a_little_more_than_a_full_segment_is_acknowledged_at_once() {
    for (linux_stack, answered) in [(LinuxStack::default(), [0, 0, 1]), (LinuxStack::LINUX, [0, 1, 0])] {
        let (mut hand, _) = Hand::open(Config { linux_stack, ..Config::default() });
        let mut at = 1;
        let mut send = |hand: &mut Hand, length: u16| {
            let sent = hand.send_data(hand.flow, at as u32, at, length);
            at += u64::from(length);
            sent.len()
        };
        // The first are all acknowledged at once; then each second one.
        let usual: Vec<usize> = (0..40).map(|_| send(&mut hand, 500)).collect();
        if usual.last() == Some(&0) {
            send(&mut hand, 500);
        }
        let sent: Vec<usize> = [500, 1, 500].map(|length| send(&mut hand, length)).to_vec();
        assert_eq!(sent, answered);
    }
}

/// What the host says to a full segment that is pushed or not, once it is read, with a gap before it at the data level or none.
fn answers(pushed: bool, gap: u64) -> usize {
    let (mut hand, _) = Hand::open(Config { linux_stack: LinuxStack::LINUX, ..linux() });
    let mut at = 1;
    let mut send = |hand: &mut Hand, pushed: bool, gap: u64| {
        let dss = hand.dss(1, Some((at + gap, at as u32, 500)));
        let sent = hand.send(hand.flow, at as u32, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from(vec![1; 500]);
            if pushed {
                segment.flags |= Flags::PSH;
            }
        });
        at += 500;
        while hand.host.read(hand.now, hand.connection).is_some() {}
        sent.len() + hand.collect().len()
    };
    // The first are all acknowledged at once, then every second one.
    let usual: Vec<usize> = (0..60).map(|_| send(&mut hand, false, 0)).collect();
    assert_eq!(usual[56..].iter().sum::<usize>(), 2);
    if *usual.last().expect("sixty") == 0 {
        send(&mut hand, false, 0);
    }
    send(&mut hand, pushed, gap)
}

#[test]
fn a_pushed_end_is_acknowledged_when_all_is_read() {
    assert_eq!((answers(false, 0), answers(true, 0)), (0, 1));
    // It waits out of order at the data level: not all is read.
    assert_eq!(answers(true, 1000), 0);
}
