//! What both ends have seen of a flow, and the clock that they share.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mptcp_clock::{Duration, Instant};
use mptcp_live::monotonic;

/// Nothing yet.
const NEVER: u64 = u64::MAX;

/// When time zero was, and whether it is over.
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

/// What both ends have seen of a flow; `S` is the socket that sends.
#[derive(Debug)]
pub(crate) struct Tally<S> {
    pub received: AtomicU64,
    pub intact: AtomicBool,
    connected: AtomicU64,
    started: AtomicU64,
    last_byte: AtomicU64,
    /// The longest time without a byte so far, ns, and when it began.
    silence: AtomicU64,
    silent_from: AtomicU64,
    ended: AtomicBool,
    /// The socket that sends.
    sender: Mutex<Option<S>>,
    /// SO_RCVBUF of the socket that receives, bytes.
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

    /// When the opener knew that it was connected.
    pub(crate) fn connected(&self) -> Option<Instant> {
        instant(&self.connected)
    }

    pub(crate) fn note_connected(&self, now: Instant) {
        set(&self.connected, now);
    }

    /// When the first byte could be written.
    pub(crate) fn started(&self) -> Option<Instant> {
        instant(&self.started)
    }

    /// This socket sends from now on.
    pub(crate) fn note_sender(&self, sender: S, now: Instant) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        set(&self.started, now);
    }

    /// When the last byte so far was read.
    pub(crate) fn last_byte(&self) -> Option<Instant> {
        instant(&self.last_byte)
    }

    /// So many bytes were read in all.
    pub(crate) fn note_read(&self, received: u64, now: Instant) {
        let (silence, from) = self.silence_until(now);
        self.silence.store(silence.as_nanos(), Ordering::Relaxed);
        set(&self.silent_from, from);
        self.received.store(received, Ordering::Relaxed);
        set(&self.last_byte, now);
    }

    /// The longest time until `now` in which no byte was read, and when it began. Before the first byte it counts from when one could
    /// be written.
    pub(crate) fn silence_until(&self, now: Instant) -> (Duration, Instant) {
        let known = Duration::from_nanos(self.silence.load(Ordering::Relaxed));
        let from = Instant::from_nanos(self.silent_from.load(Ordering::Relaxed));
        match self.last_byte().or(self.started()) {
            Some(last) if now.since(last) > known => (now.since(last), last),
            _ => (known, from),
        }
    }

    /// Whether the receiver has read to the end of the stream.
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
