//! Observes a driver: rows in a log, and events for subscribers of `tracing`.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mptcp_live::observe::{Kind, Kinds, Wanted};
use mptcp_live::{Config, Driver, EventLog, Interface, MptcpListener, MptcpStream, Pipe, Tracing};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Sends 200 kB over two pipes. `watch` gets the sender's driver before it connects.
fn transfer(watch: impl FnOnce(&Driver)) {
    let (first, its_end) = Pipe::pair("first", 1_500).expect("a pipe");
    let (second, its_other_end) = Pipe::pair("second", 1_500).expect("a pipe");
    let address = |text: &str| [text.parse().expect("an address")];
    let near = vec![Interface::new(first, address("10.1.0.2")), Interface::new(second, address("10.2.0.2"))];
    let far = vec![
        Interface::new(its_end, address("10.1.0.1")),
        Interface::new(its_other_end, address("10.2.0.1")),
    ];
    let (near, far) = (Driver::start(near).expect("it starts"), Driver::start(far).expect("it starts"));
    watch(&near);
    let listener = MptcpListener::bind(&far, 80, Config::default()).expect("a free port");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        let mut received = Vec::new();
        stream.read_to_end(&mut received).expect("data");
        stream.write_all(b"thanks").expect("it takes it");
        received.len()
    });
    let remote = "10.1.0.1:80".parse().expect("a place");
    let mut stream = MptcpStream::connect(&near, remote, Config::default()).expect("it answers");
    stream.write_all(&vec![7; 200_000]).expect("it takes it");
    stream.shutdown_write().expect("it ends");
    stream.read_to_end(&mut Vec::new()).expect("thanks");
    assert_eq!(server.join().expect("it ends"), 200_000);
}

#[test]
fn a_log_has_every_byte_once() {
    let mut kept = None;
    transfer(|driver| {
        let log = Arc::new(EventLog::new(driver, 100_000));
        let kinds = Kinds::NONE.with(Kind::Schedule).with(Kind::Subflow).with(Kind::OptionOut);
        driver.observe(Arc::clone(&log) as _, Wanted::always(kinds));
        kept = Some(log);
    });
    let columns = &kept.expect("a log").take();
    let word = |at: u8| columns.words[usize::from(at)];
    let of = |kind: &'static str| (0..columns.len()).filter(move |&at| word(columns.kind[at]) == kind);
    assert_eq!(of("schedule").map(|at| columns.numbers[1][at]).sum::<u64>(), 200_000);
    assert!(of("subflow").any(|at| word(columns.what[at]) == "established"));
    assert!(of("option_out").any(|at| word(columns.what[at]) == "mp_capable"));
    assert!(of("schedule").all(|at| columns.path[at] < 2 && columns.flow[at] == 0));
    assert_eq!(columns.dropped, 0);
    assert!(columns.at.is_sorted());
}

#[test]
fn what_finds_no_room_is_counted() {
    let mut kept = None;
    transfer(|driver| {
        let log = Arc::new(EventLog::new(driver, 10));
        driver.observe(Arc::clone(&log) as _, Wanted::always(Kinds::ALL));
        kept = Some(log);
    });
    let columns = kept.expect("a log").take();
    assert_eq!(columns.len(), 10);
    assert!(columns.dropped > 100, "{}", columns.dropped);
}

/// Counts events and stores the messages.
#[derive(Default)]
struct Listener {
    count: AtomicUsize,
    said: Mutex<Vec<String>>,
}

struct Said<'a>(&'a Listener);

impl Visit for Said<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if ["message", "numbers"].contains(&field.name()) {
            self.0.said.lock().expect("the lock is not poisoned").push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mptcp"
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        event.record(&mut Said(self));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn subscribers_of_tracing_hear_of_events() {
    let listener = Arc::new(Listener::default());
    // The driver has its own thread, so the subscriber must be global.
    tracing::subscriber::set_global_default(Arc::clone(&listener)).expect("there is no other");
    transfer(|driver| driver.observe(Arc::new(Tracing), Wanted::always(Kinds::ALL)));
    assert!(listener.count.load(Ordering::Relaxed) > 100);
    let said = listener.said.lock().expect("the lock is not poisoned");
    for kind in ["window", "schedule", "subflow", "option_out", "connection"] {
        assert!(said.iter().any(|word| word == kind), "{kind}");
    }
    assert!(said.iter().any(|word| word.starts_with("rtt=") && word.contains("ms srtt=")));
}
