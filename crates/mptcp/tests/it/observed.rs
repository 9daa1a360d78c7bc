//! Events of an observed server: TCP connections, data sent with a FIN, and closes by a timer.

use std::sync::{Arc, Mutex};

use crate::pair::{Fate, Pair, pattern};
use bytes::Bytes;
use mptcp::observe::{Event, Kind, Kinds, Observer, Record, Wanted};
use mptcp::{Config, EventKind, LinuxStack};
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{MptcpOption, ResetReason};

#[derive(Debug, Default)]
struct Ear(Mutex<Vec<Record>>);

impl Observer for Ear {
    fn observe(&self, record: &Record) {
        self.0.lock().expect("nobody panicked").push(*record);
    }
}

fn listen(pair: &mut Pair, kinds: Kinds) -> Arc<Ear> {
    let ear = Arc::new(Ear::default());
    pair.server.set_observer(Arc::clone(&ear) as _, Wanted::always(kinds));
    ear
}

impl Ear {
    fn heard(&self) -> Vec<(Instant, Event)> {
        self.0.lock().expect("nobody panicked").iter().map(|record| (record.at, record.event)).collect()
    }

    /// Events of the connection as a whole.
    fn said(&self) -> Vec<&'static str> {
        let of = |(_, event)| if let Event::Connection { what } = event { Some(what) } else { None };
        self.heard().into_iter().filter_map(of).collect()
    }
}

#[test]
fn client_without_mp_capable_reports_no_fallback() {
    let mut pair = Pair::builder().client(Config::tcp()).connect();
    let ear = listen(&mut pair, Kinds::NONE.with(Kind::Connection));
    pair.transfer(&pattern(10_000), Duration::from_secs(5));
    assert_eq!(ear.said(), ["tcp"]);
}

#[test]
fn stripped_options_are_reported_as_fallback() {
    let mut pair = Pair::builder().connect();
    let ear = listen(&mut pair, Kinds::NONE.with(Kind::Connection));
    pair.rule = Box::new(|_, _, segment| {
        let mut bare = segment.clone();
        if !segment.flags.syn() {
            bare.options.mptcp.clear();
            bare.options.dss = None;
        }
        Fate::Replace(Box::new(bare))
    });
    pair.transfer(&pattern(10_000), Duration::from_secs(5));
    assert_eq!(ear.said(), ["fell_back"]);
}

/// Data queued ahead of the window is reported when it is sent, also after a fallback to TCP.
#[test]
fn queued_data_is_reported_when_it_is_sent() {
    for stripped in [false, true] {
        let linux_stack = LinuxStack { subflow_queues: true, ..LinuxStack::default() };
        let mut pair = Pair::builder().config(Config { linux_stack, ..Config::default() }).connect();
        let ear = listen(&mut pair, Kinds::NONE.with(Kind::Schedule));
        pair.run(Duration::from_millis(100));
        pair.rule = Box::new(move |_, _, segment| {
            let mut bare = segment.clone();
            if stripped {
                bare.options.mptcp.clear();
                bare.options.dss = None;
            }
            Fate::Replace(Box::new(bare))
        });
        let connection = pair.accepted.expect("it was accepted");
        pair.server.write(pair.now, connection, Bytes::from(pattern(200_000)));
        pair.run(Duration::from_secs(20));
        assert_eq!(pair.received[1], pattern(200_000), "{stripped}");
        let mut end = 0;
        for (_, event) in ear.heard() {
            let Event::Schedule { offset, bytes, seq, .. } = event else { continue };
            assert!(offset == end && seq == offset + 1, "{event:?} after {end}");
            end = offset + bytes;
        }
        assert_eq!(end, 200_000, "{stripped}");
    }
}

#[test]
fn fin_is_not_counted_as_payload() {
    let mut pair = Pair::builder().config(Config::tcp()).connect();
    let ear = listen(&mut pair, Kinds::NONE.with(Kind::Schedule));
    pair.run(Duration::from_millis(100));
    let connection = pair.accepted.expect("it was accepted");
    pair.server.write(pair.now, connection, Bytes::from(pattern(100)));
    pair.server.close(pair.now, connection);
    pair.run(Duration::from_millis(100));
    let told = ear.heard().into_iter().map(|(_, event)| event);
    let seqs: Vec<(u64, u64)> = told
        .filter_map(
            |event| if let Event::Schedule { seq, bytes, .. } = event { Some((seq, bytes)) } else { None },
        )
        .collect();
    // The SYN has offset 0.
    assert_eq!(seqs, [(1, 100)]);
}

#[test]
fn close_by_a_timer_is_reported_at_its_time() {
    let mut pair = Pair::builder().links(&[10, 20]).connect();
    let ear = listen(&mut pair, Kinds::NONE.with(Kind::Connection).with(Kind::Subflow));
    pair.run(Duration::from_millis(200));
    let connection = pair.accepted.expect("it was accepted");
    pair.rule = Box::new(|_, _, _| Fate::Drop);
    pair.server.write(pair.now, connection, Bytes::from(pattern(100)));
    let closed = |pair: &Pair| {
        pair.events.iter().any(|(client, kind)| !client && matches!(kind, EventKind::Closed(_)))
    };
    while !closed(&pair) && pair.step() {}
    assert_eq!(ear.said().last(), Some(&"closed"));
    let (at, _) = *ear.heard().last().expect("it was told of");
    assert_eq!(at, pair.now);
}

/// Unwanted event types and times are not reported.
#[test]
fn observer_gets_only_the_wanted_events() {
    let (from, until) = (Duration::from_millis(30), Duration::from_millis(60));
    let mut pair = Pair::builder().links(&[10, 20]).connect();
    let (from, until) = (pair.now + from, pair.now + until);
    let ear = Arc::new(Ear::default());
    let kinds = Kinds::NONE.with(Kind::DssOut).with(Kind::DssIn);
    pair.server.set_observer(Arc::clone(&ear) as _, Wanted { kinds, from, until });
    pair.transfer(&pattern(4_000_000), Duration::from_secs(20));
    assert!(pair.now > until, "it went on");
    let heard = ear.heard();
    assert!(heard.iter().all(|&(at, event)| kinds.has(event.kind()) && at >= from && at < until));
    assert!(
        [Kind::DssOut, Kind::DssIn].iter().all(|&kind| heard.iter().any(|(_, event)| event.kind() == kind))
    );
}

#[test]
fn resets_report_their_reason() {
    let mut pair = Pair::builder().connect();
    let ear = listen(&mut pair, Kinds::NONE.with(Kind::OptionIn));
    pair.rule = Box::new(|to_server, _, segment| {
        let mut other = segment.clone();
        if to_server && segment.flags.ack() && !segment.flags.syn() {
            other
                .options
                .mptcp
                .push(MptcpOption::TcpRst(mptcp_wire::MpTcpRst { flags: 0, reason: ResetReason::MIDDLEBOX }));
            other.options.dss = None;
            other.options.mptcp.retain(|option| matches!(option, MptcpOption::TcpRst(_)));
        }
        Fate::Replace(Box::new(other))
    });
    pair.transfer(&pattern(1_000), Duration::from_secs(2));
    let reason = Some(u64::from(ResetReason::MIDDLEBOX.0));
    assert!(
        ear.heard().iter().any(|(_, event)| *event == Event::OptionIn { name: "mp_tcprst", number: reason })
    );
}

#[test]
fn numbers_are_displayed_with_units() {
    let ms = Duration::from_millis;
    let event =
        Event::RoundTrip { latest: ms(20), srtt: Duration::from_micros(20_500), rttvar: Duration::ZERO };
    assert_eq!(event.numbers().to_string(), "rtt=20ms srtt=20.5ms rttvar=0ms");
    let event = Event::Spurious { cwnd: 3000, ssthresh: None };
    assert_eq!(event.numbers().to_string(), "cwnd=3000");
}

#[test]
fn every_field_belongs_to_an_event() {
    // Every field of an event type has a value.
    let fields = |kind: Kind| kind.fields().len();
    assert_eq!((fields(Kind::Subflow), fields(Kind::Connection), fields(Kind::OptionIn)), (0, 0, 1));
}

#[test]
fn schedule_reason_depends_on_the_other_candidates() {
    let picks = |links: &[u64]| {
        let mut pair = Pair::builder().links(links).connect();
        let ear = listen(&mut pair, Kinds::NONE.with(Kind::Schedule));
        // The other path joins.
        pair.run(Duration::from_secs(1));
        let accepted = pair.accepted.expect("it is");
        pair.server.write(pair.now, accepted, Bytes::from(pattern(200_000)));
        pair.server.await_writable(pair.now, accepted);
        pair.run(Duration::from_secs(20));
        assert_eq!(pair.received[1].len(), 200_000);
        let why = |(_, event)| if let Event::Schedule { why, .. } = event { Some(why.word()) } else { None };
        ear.heard().into_iter().filter_map(why).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(picks(&[10]).into_iter().collect::<Vec<_>>(), ["only"]);
    let two = picks(&[10, 40]);
    assert!(two.contains("fastest") && two.contains("faster_full") && !two.contains("only"), "{two:?}");
}
