//! An application at one end of a connection: it writes, reads, closes, and checks the data that it reads.

use bytes::Bytes;
use mptcp::{ConnectionId, Endpoint, WriteFlags};
use mptcp_clock::{Duration, Instant};
use std::sync::OnceLock;

use crate::pair::pattern;

/// Period of the written pattern, bytes.
const PERIOD: usize = 1 << 20;

fn text() -> &'static Bytes {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    TEXT.get_or_init(|| Bytes::from(pattern(PERIOD)))
}

/// The pattern at an offset of the stream, at most `most` bytes.
pub fn from(offset: u64, most: u64) -> Bytes {
    let begin = offset as usize % PERIOD;
    text().slice(begin..(begin + most as usize).min(PERIOD))
}

/// An application at one end.
#[derive(Clone, Debug)]
pub struct App {
    /// Total bytes to write.
    pub goal: u64,
    /// Bytes per write; 0 for all.
    pub block: u64,
    /// Interval of writes; zero to write as soon as there is space.
    pub every: Duration,
    pub flags: WriteFlags,
    /// Whether it closes after the last byte.
    pub close: bool,
    /// Bytes per read and the read interval; `None` to read everything at once.
    pub slow: Option<(u64, Duration)>,
    /// Time of the first read.
    pub reads_from: Instant,
    /// Whether it ignores changed data.
    pub careless: bool,
    pub written: u64,
    pub received: u64,
    pub whole_at: Option<Instant>,
    pub closed: bool,
    pub full: bool,
    pub next_write: Instant,
    pub next_read: Instant,
    pub readable: bool,
}

impl Default for App {
    fn default() -> Self {
        Self {
            goal: 0,
            block: 0,
            every: Duration::ZERO,
            flags: WriteFlags::default(),
            close: true,
            slow: None,
            reads_from: Instant::ZERO,
            careless: false,
            written: 0,
            received: 0,
            whole_at: None,
            closed: false,
            full: false,
            next_write: Instant::ZERO,
            next_read: Instant::ZERO,
            readable: false,
        }
    }
}

impl App {
    pub fn note_writable(&mut self) {
        self.full = false;
    }

    pub fn note_readable(&mut self) {
        self.readable = true;
    }

    /// Time of its next action.
    pub fn wakes(&self) -> Option<Instant> {
        let write =
            (self.written < self.goal && !self.full && !self.every.is_zero()).then_some(self.next_write);
        let read = self.readable.then(|| self.next_read.max(self.reads_from));
        write.into_iter().chain(read).min()
    }

    /// Reads and writes; returns whether anything was done. `expected` is the total that the other end writes.
    pub fn work(&mut self, now: Instant, end: &mut Endpoint, id: ConnectionId, expected: u64) -> bool {
        let read = self.read(now, end, id, expected);
        let wrote = self.write(now, end, id);
        read || wrote
    }

    fn write(&mut self, now: Instant, end: &mut Endpoint, id: ConnectionId) -> bool {
        let mut any = false;
        while self.written < self.goal && !self.full && now >= self.next_write {
            let left = self.goal - self.written;
            let block = if self.block == 0 { left } else { self.block.min(left) };
            let data = from(self.written, block);
            let last = block == left && data.len() as u64 == left;
            let flags = WriteFlags { more: self.flags.more && !last, ..self.flags };
            let taken = end.write_with(now, id, data.clone(), flags);
            self.written += taken as u64;
            self.full = taken < data.len();
            any |= taken > 0;
            if !self.every.is_zero() {
                self.next_write = now + self.every;
            }
        }
        if self.close && !self.closed && self.written >= self.goal {
            self.closed = true;
            end.close(now, id);
            any = true;
        }
        any
    }

    fn read(&mut self, now: Instant, end: &mut Endpoint, id: ConnectionId, expected: u64) -> bool {
        if !self.readable || now < self.reads_from || now < self.next_read {
            return false;
        }
        let before = self.received;
        if let Some((most, every)) = self.slow {
            self.next_read = now + every;
            while self.received < before + most {
                let Some(data) = end.read(now, id) else { break };
                self.take(&data);
            }
            self.readable = end.readable(id) > 0;
        } else {
            end.read_all(now, id, |data| self.take(&data));
            self.readable = false;
        }
        if self.received >= expected && self.whole_at.is_none() {
            self.whole_at = Some(now);
        }
        self.received > before
    }

    fn take(&mut self, data: &Bytes) {
        let mut rest = &data[..];
        while !rest.is_empty() {
            let wanted = from(self.received, rest.len() as u64);
            let same = self.careless || rest[..wanted.len()] == wanted[..];
            assert!(same, "wrong bytes behind {}", self.received);
            self.received += wanted.len() as u64;
            rest = &rest[wanted.len()..];
        }
    }
}
