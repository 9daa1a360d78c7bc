//! Counters of a flow at both ends, and their common clock.
//!
//! Owns the counters; moves no bytes. The threads of both ends write them, while another thread (`course`)
//! samples them.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mptcp_clock::{Duration, Instant};
use mptcp_live::monotonic;

/// Value of a time that has not occurred.
const NEVER: u64 = u64::MAX;

/// Time zero in nanoseconds of the monotonic clock, and whether the run is over.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub epoch: u64,
    pub over: Arc<AtomicBool>,
}

impl Clock {
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(monotonic().saturating_sub(self.epoch))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Counters of a flow at both ends; `S` is the sending socket.
#[derive(Debug)]
pub(crate) struct Tally<S> {
    pub received: AtomicU64,
    pub intact: AtomicBool,
    connected: AtomicU64,
    started: AtomicU64,
    last_byte: AtomicU64,
    /// Longest interval without a byte, in ns, and its start.
    silence: AtomicU64,
    silent_from: AtomicU64,
    ended: AtomicBool,
    /// The sending socket.
    sender: Mutex<Option<S>>,
    /// SO_RCVBUF of the receiving socket, bytes.
    receive_buffer: AtomicU64,
    problem: Mutex<Option<String>>,
}

impl<S: Clone> Tally<S> {
    pub(crate) fn new() -> Self {
        Self {
            received: AtomicU64::new(0),
            intact: AtomicBool::new(true),
            connected: AtomicU64::new(NEVER),
            started: AtomicU64::new(NEVER),
            last_byte: AtomicU64::new(NEVER),
            silence: AtomicU64::new(0),
            silent_from: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            sender: Mutex::new(None),
            receive_buffer: AtomicU64::new(NEVER),
            problem: Mutex::new(None),
        }
    }

    /// Time at which the opener was connected.
    pub(crate) fn connected(&self) -> Option<Instant> {
        instant(&self.connected)
    }

    pub(crate) fn note_connected(&self, now: Instant) {
        set(&self.connected, now);
    }

    /// Time at which data could first be written.
    pub(crate) fn started(&self) -> Option<Instant> {
        instant(&self.started)
    }

    /// Stores the sending socket.
    pub(crate) fn note_sender(&self, sender: S, now: Instant) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        set(&self.started, now);
    }

    /// Time at which the receiver read the last byte so far.
    pub(crate) fn last_byte(&self) -> Option<Instant> {
        instant(&self.last_byte)
    }

    /// Records the total number of received bytes.
    pub(crate) fn note_read(&self, received: u64, now: Instant) {
        let (silence, from) = self.silence_until(now);
        self.silence.store(silence.as_nanos(), Ordering::Relaxed);
        set(&self.silent_from, from);
        self.received.store(received, Ordering::Relaxed);
        set(&self.last_byte, now);
    }

    /// Longest interval until `now` without a received byte, and its start. The first interval starts when
    /// data can be written.
    pub(crate) fn silence_until(&self, now: Instant) -> (Duration, Instant) {
        let known = Duration::from_nanos(self.silence.load(Ordering::Relaxed));
        let from = Instant::from_nanos(self.silent_from.load(Ordering::Relaxed));
        match self.last_byte().or(self.started()) {
            Some(last) if now.since(last) > known => (now.since(last), last),
            _ => (known, from),
        }
    }

    /// Whether the receiver has read the end of the stream.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn note_end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn sender(&self) -> Option<S> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn receive_buffer(&self) -> Option<u32> {
        u32::try_from(self.receive_buffer.load(Ordering::Relaxed)).ok()
    }

    pub(crate) fn note_receive_buffer(&self, bytes: u32) {
        self.receive_buffer.store(bytes.into(), Ordering::Relaxed);
    }

    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn fail(&self, what: &str, error: &io::Error) {
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert_with(|| format!("{what}: {error}"));
    }
}

fn instant(at: &AtomicU64) -> Option<Instant> {
    Some(at.load(Ordering::Relaxed)).filter(|at| *at != NEVER).map(Instant::from_nanos)
}

fn set(at: &AtomicU64, now: Instant) {
    at.store(now.as_nanos(), Ordering::Relaxed);
}
