//! The receiving side of the byte stream: one order over all subflows, one window.
//!
//! Owns reassembly at the data level and the receive window of RFC 8684 section 3.3.1, shared by all
//! subflows. Offsets count from the first byte of the peer's stream.
//!
//! Which payload a stream keeps. It is decided before the subflow acknowledges it, so that what was acknowledged there is
//! never dropped for want of space.
//!
//! The window that the peer is offered, and when it is told of a larger one.
//!
//! Owns the edge that was offered. Payload is kept or refused elsewhere (`keeping.rs`).
//!
//! How the receive buffer grows with what the application reads (mechanism M3).
//!
//! The limit of a connection's receive buffer: smaller before an application accepts the connection, and while the endpoint is short of
//! memory.
//!
//! Owns the size that the limit gives. Knows neither stream offsets nor received bytes.

use bytes::{Buf, Bytes};
use mptcp_clock::{Duration, Instant};

use crate::connection::linux::window::LinuxWindow;
use crate::memory::{Inserted, Reassembly, Unread, most_pieces};

/// What became of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Fresh,
    /// It filled the gap that held back what came before it.
    Filled,
    Early,
    Duplicate,
    /// Beyond the window that was offered.
    Beyond,
}

/// Dynamic right-sizing (mechanism M3): the buffer follows twice what the application takes in a
/// round trip, so that it never limits a path that could go faster.
#[derive(Clone, Copy, Debug)]
struct ReceiveTuning {
    since: Instant,
    from: u64,
    /// Paths that there were at the same time, at most.
    paths: u64,
}

#[derive(Debug)]
pub(crate) struct RecvStream {
    /// Next offset expected: what a DATA_ACK says.
    next: u64,
    early: Reassembly,
    ready: Unread,
    /// Offset of the DATA_FIN, or of the FIN of plain TCP.
    fin: Option<u64>,
    /// What may be used now, bytes.
    buffer: u64,
    largest_buffer: u64,
    limit: BufferLimit,
    /// Largest offset ever offered; it never moves left (RFC 9293 section 3.8.6).
    edge: u64,
    negotiated_mss: u64,
    mss: u64,
    tuning: Option<ReceiveTuning>,
    /// The window that was said last.
    advertised: u64,
    /// The end of that window, in a shortage of memory and until the first window behind it is said.
    shrunk: Option<u64>,
    /// The window goes by memory.
    linux: Option<Box<LinuxWindow>>,
    duplicate_bytes: u64,
    /// The application was told of the end.
    finish_reported: bool,
    /// The peer's last mapping had an 8-byte number.
    wide_numbers: bool,
}

impl RecvStream {
    /// Payload is slices of blocks of `block` bytes (0: it has memory of its own).
    pub(crate) fn new(buffer: u64, autotuning: bool, mss: u16, block: u64) -> Self {
        let start = if autotuning { INITIAL_BUFFER.min(buffer) } else { buffer };
        Self {
            next: 0,
            early: Reassembly::new(most_pieces(buffer), block),
            ready: Unread::new(block),
            fin: None,
            buffer: start,
            largest_buffer: buffer,
            limit: BufferLimit::new(start),
            edge: start,
            negotiated_mss: 536,
            mss: mss.into(),
            tuning: autotuning.then_some(ReceiveTuning { since: Instant::ZERO, from: 0, paths: 1 }),
            advertised: 0,
            shrunk: None,
            linux: None,
            duplicate_bytes: 0,
            finish_reported: false,
            wide_numbers: false,
        }
    }

    /// The window goes by memory, as Linux's does.
    pub(crate) fn with_linux_window(mut self) -> Self {
        let linux = LinuxWindow::new(self.largest_buffer, self.tuning.is_some(), self.mss);
        (self.buffer, self.edge) = (linux.whole(), linux.open(0));
        self.linux = Some(Box::new(linux));
        self
    }

    /// Next offset expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn duplicate_bytes(&self) -> u64 {
        self.duplicate_bytes
    }

    /// What a DATA_ACK says: the next offset, and one more for a DATA_FIN that is here.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.next + u64::from(self.finished())
    }

    /// Whether the peer's numbers are 8 bytes long.
    pub(crate) fn has_wide_numbers(&self) -> bool {
        self.wide_numbers
    }

    pub(crate) fn set_wide_numbers(&mut self, wide: bool) {
        self.wide_numbers = wide;
    }

    /// The stream of a TCP ends here, unless it has ended.
    pub(crate) fn end_at_received(&mut self) {
        self.fin.get_or_insert(self.next);
    }

    /// Whether the end is here and was not reported; it is then.
    pub(crate) fn report_finish(&mut self) -> bool {
        let news = !self.finish_reported && self.finished();
        self.finish_reported |= news;
        news
    }

    /// The stream ends at `offset`, a DATA_FIN says. The last one that can be true counts, until it is reached: one that lies
    /// beyond what was offered is none (RFC 8684 section 3.3.3).
    pub(crate) fn end_at(&mut self, offset: u64) {
        if !self.finished() && offset >= self.next && offset <= self.right_edge() {
            self.fin = Some(offset);
        }
    }

    /// Offset behind the last byte that may come: what was offered, or what would be offered now.
    pub(crate) fn limit(&self) -> u64 {
        self.edge.max(self.next + self.buffer.saturating_sub(self.ready.bytes()))
    }

    /// Offset behind the last byte that may be kept out of order. A sender whose subflows have different news of the window counts
    /// an older window from a newer DATA_ACK, as Linux where an acknowledgement repeats the last one (net/ipv4/tcp_input.c,
    /// `tcp_may_update_window`): what it sends beyond the edge is at most what the window shrank by, the unread bytes.
    pub(crate) fn right_edge(&self) -> u64 {
        let read = self.next.saturating_sub(self.ready.bytes());
        self.edge.max(read + 2 * self.limit.wanted())
    }

    /// Whether data that was not offered has no place. Linux keeps what is next as long as there is space, and nothing else.
    #[cold]
    fn drops(&self, start: u64, end: u64) -> bool {
        if self.linux.is_some() { start > self.next || self.excess(end) > 0 } else { end > self.right_edge() }
    }

    /// By how much what ends at `end` lies beyond that, bytes.
    #[inline(always)]
    pub(crate) fn excess(&self, end: u64) -> u64 {
        // What was offered holds, so it need not be known what would be.
        if end <= self.edge { 0 } else { end.saturating_sub(self.limit()) }
    }

    /// Takes data at `start`.
    #[inline(always)]
    pub(crate) fn place(&mut self, start: u64, mut data: Bytes) -> Placed {
        let length = data.len() as u64;
        let end = start + length;
        self.negotiated_mss = self.negotiated_mss.max(length.min(self.mss));
        if self.linux.is_some() {
            self.grow_linux_window(length);
        }
        if end <= self.next {
            self.duplicate_bytes += length;
            return Placed::Duplicate;
        }
        if end > self.edge && self.drops(start, end) || self.finished() {
            return Placed::Beyond;
        }
        if self.fin.is_some_and(|fin| end > fin) {
            // There is more: that was not the end.
            self.fin = None;
        }
        if start > self.next {
            return self.keep_early(start, data);
        }
        if start < self.next {
            self.duplicate_bytes += self.next - start;
            data.advance((self.next - start) as usize);
        }
        self.append(data);
        if self.early.is_empty() {
            return Placed::Fresh;
        }
        self.join_early()
    }

    #[cold]
    fn grow_linux_window(&mut self, length: u64) {
        if let Some(linux) = &mut self.linux {
            linux.on_data(length.min(self.mss), self.mss);
            self.buffer = linux.whole();
        }
    }

    /// What waits may be next now.
    #[inline(never)]
    fn join_early(&mut self) -> Placed {
        let before = self.next;
        while let Some((start, mut data)) = self.early.take(self.next) {
            if start < self.next {
                let known = (self.next - start).min(data.len() as u64);
                self.duplicate_bytes += known;
                if known == data.len() as u64 {
                    continue;
                }
                data.advance(known as usize);
            }
            self.append(data);
        }
        if self.next > before { Placed::Filled } else { Placed::Fresh }
    }

    /// Takes data that has no data sequence numbers: that of a SYN (RFC 7413).
    pub(crate) fn take_unnumbered(&mut self, data: Bytes) {
        self.ready.push(data);
    }

    #[inline(always)]
    fn append(&mut self, data: Bytes) {
        self.next += data.len() as u64;
        self.ready.push(data);
    }

    #[inline(never)]
    fn keep_early(&mut self, start: u64, data: Bytes) -> Placed {
        let length = data.len() as u64;
        match self.early.insert(start, data) {
            Inserted::Fresh(fresh) => {
                self.duplicate_bytes += length - fresh;
                Placed::Early
            }
            Inserted::Known => {
                self.duplicate_bytes += length;
                Placed::Duplicate
            }
            Inserted::Refused => Placed::Beyond,
        }
    }

    /// The next bytes in order.
    pub(crate) fn read(&mut self) -> Option<Bytes> {
        self.ready.pop()
    }

    pub(crate) fn unread(&self) -> u64 {
        self.ready.bytes()
    }

    /// What waits out of order.
    pub(crate) fn early(&self) -> &Reassembly {
        &self.early
    }

    /// Bytes of memory that it holds alive, at most.
    pub(crate) fn held(&self) -> u64 {
        self.early.held() + self.ready.held()
    }

    /// Nobody will read: lets go of everything.
    pub(crate) fn discard(&mut self) {
        self.early.clear();
        self.ready.clear();
    }

    /// Over: nothing is waited for any more. What is in order can still be read.
    pub(crate) fn give_up(&mut self) {
        self.early.clear();
    }

    pub(crate) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Whether the peer's end of the stream is here.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next >= fin)
    }
}

impl RecvStream {
    /// Nobody reads before [`Self::reader_came`]: until then a first window is enough.
    pub(crate) fn await_reader(&mut self) {
        self.limit.set_unaccepted();
        self.apply();
        if self.advertised == 0 && self.linux.is_none() {
            // Nothing was offered yet.
            self.edge = self.next + self.buffer;
        }
    }

    /// An application has accepted the connection. Returns whether the peer is to be told of a larger window, because the one it knows
    /// is a shortage's.
    pub(crate) fn reader_came(&mut self) -> bool {
        let waited = self.limit.take_unaccepted();
        self.apply();
        waited && self.advertised_edge().saturating_sub(self.next) < LEAST / 2 && self.needs_window_update()
    }

    /// The endpoint has too little memory for all its connections, or enough again. Returns whether the peer is to be told of a larger
    /// window.
    pub(crate) fn set_memory_pressure(&mut self, short: bool) -> bool {
        if short {
            self.shrunk.get_or_insert(self.edge);
        }
        self.limit.set_memory_pressure(short);
        self.apply();
        !short && self.needs_window_update()
    }

    fn apply(&mut self) {
        if self.linux.is_none() {
            self.buffer = self.limit.buffer();
        }
    }

    /// The largest window that may have been offered, bytes.
    #[inline]
    pub(crate) fn largest_window(&self) -> u64 {
        self.buffer.max(self.limit.wanted())
    }

    /// Bytes that wait in order or out of order.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.ready.bytes() + self.early.bytes()
    }

    /// Whether the endpoint is short of memory.
    pub(crate) fn is_under_memory_pressure(&self) -> bool {
        self.limit.is_under_memory_pressure()
    }

    /// Whether data at `start` was offered and has a place, as nearly all has.
    #[inline(always)]
    pub(crate) fn takes(&self, start: u64, length: u64) -> bool {
        start + length <= self.edge && self.shrunk.is_none() && (start <= self.next || self.early.has_space())
    }

    /// Whether payload is kept that begins at offset `start` of the stream and ends before `end`, as far as its mappings are known;
    /// its `length` and what the connection `held` before are in bytes; `is_next` says that nothing is missing before it on its
    /// subflow.
    #[cold]
    pub(crate) fn admits(
        &mut self,
        (start, end): (Option<u64>, Option<u64>),
        length: u64,
        held: u64,
        is_next: bool,
    ) -> bool {
        if end.is_some_and(|end| end <= self.next) || self.finished() {
            // It takes no memory.
            return true;
        }
        if self.is_under_memory_pressure() && !self.admits_in_shortage(end, length, held, is_next) {
            return false;
        }
        if self.linux.is_some() {
            // Linux acknowledges on the subflow what it drops here (net/mptcp/protocol.c, `mptcp_data_queue_ofo`).
            return true;
        }
        match end {
            Some(end) if start.is_none_or(|start| start <= self.next) => self.excess(end) == 0,
            Some(end) => end <= self.right_edge() && self.early.is_available(),
            None => true,
        }
    }

    /// Payload inside the window that is advertised meanwhile is kept, so that each accepted connection makes progress. Several subflows
    /// may hold the same data behind a hole. Payload without a known mapping counts with everything that the connection holds.
    fn admits_in_shortage(&self, end: Option<u64>, length: u64, held: u64, is_next: bool) -> bool {
        let edge = self.shortage_edge();
        match end {
            Some(end) => end <= edge && (is_next || held + length <= 2 * LEAST),
            None if is_next => self.next + length <= edge,
            None => self.next + length <= edge && held + length <= LEAST,
        }
    }

    /// Whether the missing data may be behind payload that a subflow refuses for want of memory. While no application reads, the peer
    /// waits for a window instead.
    pub(crate) fn may_be_stuck(&self) -> bool {
        self.is_under_memory_pressure() && !self.limit.is_unaccepted()
    }
}

impl RecvStream {
    /// The window to offer: it moves right, when it does, by a segment or half the buffer at least
    /// (RFC 9293 section 3.8.6.2.2).
    #[inline(always)]
    pub(crate) fn window(&mut self) -> u64 {
        let open = self.next + self.open();
        // Linux rounds by the window scale, and no more.
        let step = if self.linux.is_some() { 1 } else { self.negotiated_mss.min(self.buffer / 2) };
        if open >= self.edge + step {
            self.edge = open;
        }
        let end = if self.shrunk.is_some() { self.shrunk_edge() } else { self.edge };
        self.advertised = end.saturating_sub(self.next);
        self.advertised
    }

    /// The end of the window to offer in a shortage of memory, or of the first one behind it.
    #[cold]
    fn shrunk_edge(&mut self) -> u64 {
        self.shrunk = self.limit.is_under_memory_pressure().then(|| self.edge.min(self.shortage_edge()));
        self.shrunk.unwrap_or(self.edge)
    }

    /// The window that was said last, on any subflow.
    pub(crate) fn advertised(&self) -> u64 {
        self.advertised
    }

    /// What can be offered beyond what is here.
    #[inline(always)]
    pub(crate) fn open(&self) -> u64 {
        match &self.linux {
            None => self.buffer.saturating_sub(self.ready.bytes()),
            Some(linux) => linux.open(self.ready.bytes() + self.early.bytes()),
        }
    }

    /// Whether reading has opened the window so far that the peer should hear of it now.
    pub(crate) fn needs_window_update(&self) -> bool {
        let told = self.advertised_edge();
        let offered = told.saturating_sub(self.next);
        if offered >= self.buffer / 2 {
            // As nearly always.
            return false;
        }
        let open = self.next + self.open();
        let open = if self.limit.is_under_memory_pressure() {
            open.min(self.shortage_edge())
        } else {
            open.max(self.edge)
        };
        open > told && open - told >= (2 * self.negotiated_mss).min(self.buffer / 2)
    }

    /// The end of the window that was said last.
    #[inline]
    pub(crate) fn advertised_edge(&self) -> u64 {
        self.shrunk.unwrap_or(self.edge)
    }

    /// Offset behind the last byte that is kept while the endpoint is short of memory, and the end of the advertised window.
    /// RFC 9293 section 3.8.6 advises against shrinking a window, and Linux does it where memory is used up (net/ipv4/tcp_output.c,
    /// `tcp_select_window` with ICSK_ACK_NOMEM).
    #[cold]
    pub(crate) fn shortage_edge(&self) -> u64 {
        let buffer = self.buffer.min(self.limit.buffer());
        self.next + buffer.saturating_sub(self.ready.bytes())
    }
}

impl RecvStream {
    /// There are so many paths now. Plain TCP on each would begin with a buffer of its own; and what a further one has under way is not to
    /// be taken from the first one's, whose window doubles.
    pub(crate) fn begin_paths(&mut self, paths: u64) {
        let Some(tuning) = self.tuning.as_mut().filter(|_| self.linux.is_none()) else { return };
        let more = paths.saturating_sub(tuning.paths);
        tuning.paths += more;
        let wanted = (self.limit.wanted() + more * INITIAL_BUFFER).min(self.largest_buffer);
        self.buffer = self.limit.want(wanted);
    }

    /// Mechanism M3: called when the application has read; `rtt` is the longest of all paths.
    pub(crate) fn tune(&mut self, now: Instant, rtt: Duration) {
        let Some(tuning) = &mut self.tuning else { return };
        if rtt.is_zero() || now.since(tuning.since) < rtt {
            return;
        }
        let taken = self.next - self.ready.bytes() - tuning.from;
        if let Some(linux) = &mut self.linux {
            linux.on_read(now, taken, rtt, self.mss);
            tuning.from += taken;
            self.buffer = linux.whole();
            return;
        }
        (tuning.since, tuning.from) = (now, self.next - self.ready.bytes());
        // Twice the rate seen, and room for the next doubling of slow start.
        let wanted = (2 * taken + 16 * self.negotiated_mss).min(self.largest_buffer);
        self.buffer = self.limit.want(wanted.max(self.limit.wanted()));
    }
}

/// Receive buffer at the start when it tunes itself, and while nobody reads: Linux's `tcp_rmem` default.
pub(crate) const INITIAL_BUFFER: u64 = 131_072;
/// What an accepted connection may always keep beyond the last byte read: the largest window without scaling (RFC 9293 section
/// 3.1). Linux's `tcp_rmem` minimum is 4 KB.
pub(crate) const LEAST: u64 = 65_536;

#[derive(Debug)]
pub(crate) struct BufferLimit {
    /// The buffer that the settings and the application's reading give, bytes.
    wanted: u64,
    /// No application has accepted the connection yet.
    is_unaccepted: bool,
    /// The endpoint has too little memory for all its connections.
    is_under_pressure: bool,
}

impl BufferLimit {
    pub(crate) fn new(wanted: u64) -> Self {
        Self { wanted, is_unaccepted: false, is_under_pressure: false }
    }

    #[inline]
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Takes a buffer that is wanted; returns the one that there is, bytes.
    pub(crate) fn want(&mut self, wanted: u64) -> u64 {
        self.wanted = wanted;
        self.buffer()
    }

    /// The buffer, bytes.
    pub(crate) fn buffer(&self) -> u64 {
        self.wanted.min(match (self.is_under_pressure, self.is_unaccepted) {
            (false, false) => u64::MAX,
            (false, true) => INITIAL_BUFFER,
            (true, false) => LEAST,
            (true, true) => 0,
        })
    }

    #[inline]
    pub(crate) fn is_under_memory_pressure(&self) -> bool {
        self.is_under_pressure
    }

    pub(crate) fn set_memory_pressure(&mut self, short: bool) {
        self.is_under_pressure = short;
    }

    pub(crate) fn is_unaccepted(&self) -> bool {
        self.is_unaccepted
    }

    pub(crate) fn set_unaccepted(&mut self) {
        self.is_unaccepted = true;
    }

    /// An application has accepted the connection. Returns whether it had to be accepted.
    pub(crate) fn take_unaccepted(&mut self) -> bool {
        std::mem::take(&mut self.is_unaccepted)
    }
}

#[cfg(test)]
mod tests;
