//! An application at one end of a connection: it writes, reads, closes, and checks the data that it reads.

use bytes::Bytes;
use mptcp::{ConnectionId, Endpoint, WriteFlags};
use mptcp_clock::{Duration, Instant};
use std::sync::OnceLock;

use crate::pair::pattern;

/// Bytes after which what is written comes again.
const PERIOD: usize = 1 << 20;

fn text() -> &'static Bytes {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    TEXT.get_or_init(|| Bytes::from(pattern(PERIOD)))
}

/// What is written at an offset of the stream, `most` bytes of it or less.
pub fn from(offset: u64, most: u64) -> Bytes {
    let begin = offset as usize % PERIOD;
    text().slice(begin..(begin + most as usize).min(PERIOD))
}

/// One end.
#[derive(Clone, Debug)]
pub struct App {
    /// Bytes to write in all.
    pub goal: u64,
    /// Bytes of one write; 0 is all.
    pub block: u64,
    /// From one write to the next; zero is as soon as there is room.
    pub every: Duration,
    pub flags: WriteFlags,
    /// Ends its stream behind the last byte.
    pub close: bool,
    /// Reads so many bytes each time, and when next; none reads all at once.
    pub slow: Option<(u64, Duration)>,
    /// Reads nothing before it.
    pub reads_from: Instant,
    /// Does not look at what it reads: a box may have changed it.
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

    /// When it wants to do something by itself.
    pub fn wakes(&self) -> Option<Instant> {
        let write =
            (self.written < self.goal && !self.full && !self.every.is_zero()).then_some(self.next_write);
        let read = self.readable.then(|| self.next_read.max(self.reads_from));
        write.into_iter().chain(read).min()
    }

    /// Does what it can now; returns whether that was anything. `expected` is all that the other end writes.
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
