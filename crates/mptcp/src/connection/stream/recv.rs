//! The receive stream: reassembly at the data level, and one receive window for all subflows (RFC 8684 section 3.3.1).
//!
//! Owns received data until the application reads it, the advertised window, the size of the receive buffer
//! (autotuning, M3), and the decision to keep payload. That decision is made before the subflow acknowledges, so that
//! acknowledged data is not dropped for lack of space. Never maps subflow offsets: all offsets count from the first
//! byte of the peer's stream.

use bytes::{Buf, Bytes};
use mptcp_clock::{Duration, Instant};

use crate::connection::linux::window::LinuxWindow;
use crate::memory::{Inserted, Reassembly, Unread, most_pieces};

/// The result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Fresh,
    /// The data filled a gap, and data behind it became readable.
    Filled,
    /// The data waits behind a gap.
    Early,
    Duplicate,
    /// The data lies beyond the advertised window.
    Beyond,
}

/// Dynamic right-sizing (mechanism M3): the buffer is twice the data that the application reads in an RTT.
/// The buffer then never limits a path that could be faster.
#[derive(Clone, Copy, Debug)]
struct ReceiveTuning {
    /// The time and the read offset at which the measurement started.
    since: Instant,
    from: u64,
    /// The maximum of concurrent paths so far.
    paths: u64,
}

#[derive(Debug)]
pub(crate) struct RecvStream {
    /// The next offset expected: the DATA_ACK.
    next: u64,
    early: Reassembly,
    ready: Unread,
    /// The offset of the DATA_FIN, or of the FIN in TCP.
    fin: Option<u64>,
    /// The size of the buffer, bytes.
    buffer: u64,
    largest_buffer: u64,
    limit: BufferLimit,
    /// The largest offset ever advertised. It never decreases (RFC 9293 section 3.8.6).
    edge: u64,
    negotiated_mss: u64,
    mss: u64,
    tuning: Option<ReceiveTuning>,
    /// The window advertised last, bytes.
    advertised: u64,
    /// The end of a window reduced by memory pressure, until the first larger window is advertised.
    shrunk: Option<u64>,
    /// Linux's window, which follows memory use.
    linux: Option<Box<LinuxWindow>>,
    duplicate_bytes: u64,
    /// The application has been notified of the end.
    finish_reported: bool,
    /// The peer's last mapping had an 8-byte number.
    wide_data_acks: bool,
}

impl RecvStream {
    /// Creates a stream. Payload is kept in blocks of `block` bytes; 0 means separate allocations.
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
            wide_data_acks: false,
        }
    }

    /// Replaces the window with Linux's, which follows memory use.
    pub(crate) fn with_linux_window(mut self) -> Self {
        let linux = LinuxWindow::new(self.largest_buffer, self.tuning.is_some(), self.mss);
        (self.buffer, self.edge) = (linux.whole(), linux.open(0));
        self.linux = Some(Box::new(linux));
        self
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn duplicate_bytes(&self) -> u64 {
        self.duplicate_bytes
    }

    /// The DATA_ACK: the next offset, plus 1 for a received DATA_FIN.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.next + u64::from(self.finished())
    }

    /// Whether the peer uses 8-byte numbers.
    pub(crate) fn uses_wide_data_acks(&self) -> bool {
        self.wide_data_acks
    }

    pub(crate) fn set_wide_data_acks(&mut self, wide: bool) {
        self.wide_data_acks = wide;
    }

    /// Ends a TCP stream here, unless it has ended.
    pub(crate) fn end_at_received(&mut self) {
        self.fin.get_or_insert(self.next);
    }

    /// Returns `true` once, after the end of the stream is received.
    pub(crate) fn report_finish(&mut self) -> bool {
        let is_new = !self.finish_reported && self.finished();
        self.finish_reported |= is_new;
        is_new
    }

    /// Processes a DATA_FIN at `offset`. The last plausible DATA_FIN applies until the stream reaches it. An
    /// offset beyond the window is not plausible (RFC 8684 section 3.3.3).
    pub(crate) fn end_at(&mut self, offset: u64) {
        if !self.finished() && offset >= self.next && offset <= self.right_edge() {
            self.fin = Some(offset);
        }
    }

    /// The offset after the last byte that the advertised window, or a window advertised now, permits.
    pub(crate) fn limit(&self) -> u64 {
        self.edge.max(self.next + self.buffer.saturating_sub(self.ready.bytes()))
    }

    /// The offset after the last byte that is kept out of order. A sender may add an older window to a newer
    /// DATA_ACK, as Linux does for repeated acknowledgements (net/ipv4/tcp_input.c, `tcp_may_update_window`).
    /// Such a sender exceeds the edge by at most the unread bytes.
    pub(crate) fn right_edge(&self) -> u64 {
        let read = self.next.saturating_sub(self.ready.bytes());
        self.edge.max(read + 2 * self.limit.wanted())
    }

    /// Whether data beyond the advertised window is dropped. Linux keeps in-order data while there is space, and
    /// nothing else.
    #[cold]
    fn drops(&self, start: u64, end: u64) -> bool {
        if self.linux.is_some() { start > self.next || self.excess(end) > 0 } else { end > self.right_edge() }
    }

    /// Bytes by which data that ends at `end` exceeds [`Self::limit`].
    #[inline(always)]
    pub(crate) fn excess(&self, end: u64) -> u64 {
        // An advertised window stays valid, so the current one need not be computed.
        if end <= self.edge { 0 } else { end.saturating_sub(self.limit()) }
    }

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
            // Data beyond the DATA_FIN shows that it was not the end.
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

    /// Moves early data that is next to the readable data.
    #[inline(never)]
    fn join_early(&mut self) -> Placed {
        let old_next = self.next;
        while let Some((start, mut data)) = self.early.take(self.next) {
            if start < self.next {
                let duplicate = (self.next - start).min(data.len() as u64);
                self.duplicate_bytes += duplicate;
                if duplicate == data.len() as u64 {
                    continue;
                }
                data.advance(duplicate as usize);
            }
            self.append(data);
        }
        if self.next > old_next { Placed::Filled } else { Placed::Fresh }
    }

    /// Appends data without data sequence numbers: the data of a SYN (RFC 7413).
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

    pub(crate) fn read(&mut self) -> Option<Bytes> {
        self.ready.pop()
    }

    pub(crate) fn unread(&self) -> u64 {
        self.ready.bytes()
    }

    /// Data that waits out of order.
    pub(crate) fn early(&self) -> &Reassembly {
        &self.early
    }

    /// The upper bound of memory in use, bytes.
    pub(crate) fn held(&self) -> u64 {
        self.early.held() + self.ready.held()
    }

    /// Drops all data, because no application will read it.
    pub(crate) fn discard(&mut self) {
        self.early.clear();
        self.ready.clear();
    }

    /// Drops data out of order at the end of the connection. Data in order stays readable.
    pub(crate) fn give_up(&mut self) {
        self.early.clear();
    }

    pub(crate) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Whether the stream is complete up to its end.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next >= fin)
    }
}

impl RecvStream {
    /// Limits the buffer to its initial size until [`Self::reader_came`].
    pub(crate) fn await_reader(&mut self) {
        self.limit.set_unaccepted();
        self.apply();
        if self.advertised == 0 && self.linux.is_none() {
            // No window was advertised yet.
            self.edge = self.next + self.buffer;
        }
    }

    /// Notes that an application has accepted the connection. Returns whether to send a window update, because memory
    /// pressure had reduced the window.
    pub(crate) fn reader_came(&mut self) -> bool {
        let waited = self.limit.take_unaccepted();
        self.apply();
        waited && self.advertised_edge().saturating_sub(self.next) < LEAST / 2 && self.needs_window_update()
    }

    /// Sets whether the endpoint is short of memory. Returns whether to send a window update.
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

    /// The largest window that may have been advertised, bytes.
    #[inline]
    pub(crate) fn largest_window(&self) -> u64 {
        self.buffer.max(self.limit.wanted())
    }

    /// Bytes that wait, in order or out of order.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.ready.bytes() + self.early.bytes()
    }

    pub(crate) fn is_under_memory_pressure(&self) -> bool {
        self.limit.is_under_memory_pressure()
    }

    /// Whether data at `start` lies within the advertised window and can be stored: the common case.
    #[inline(always)]
    pub(crate) fn takes(&self, start: u64, length: u64) -> bool {
        start + length <= self.edge && self.shrunk.is_none() && (start <= self.next || self.early.has_space())
    }

    /// Whether to keep payload at offsets `start` to `end`; `None` if the mapping is unknown. `length` and
    /// `held`, the data that the connection holds, are in bytes. `is_next` means that the payload is next on
    /// its subflow.
    #[cold]
    pub(crate) fn admits(
        &mut self,
        (start, end): (Option<u64>, Option<u64>),
        length: u64,
        held: u64,
        is_next: bool,
    ) -> bool {
        if end.is_some_and(|end| end <= self.next) || self.finished() {
            // Duplicates take no memory.
            return true;
        }
        if self.is_under_memory_pressure() && !self.admits_in_shortage(end, length, held, is_next) {
            return false;
        }
        if self.linux.is_some() {
            // Linux acknowledges on the subflow data that it drops here (net/mptcp/protocol.c, `mptcp_data_queue_ofo`).
            return true;
        }
        match end {
            Some(end) if start.is_none_or(|start| start <= self.next) => self.excess(end) == 0,
            Some(end) => end <= self.right_edge() && self.early.is_available(),
            None => true,
        }
    }

    /// Decides under memory pressure. Payload inside the reduced window is kept, so that each accepted
    /// connection progresses. Out-of-order payload has a further limit, because several subflows may hold the
    /// same data. Payload without a known mapping is limited by all data of the connection.
    fn admits_in_shortage(&self, end: Option<u64>, length: u64, held: u64, is_next: bool) -> bool {
        let edge = self.shortage_edge();
        match end {
            Some(end) => end <= edge && (is_next || held + length <= 2 * LEAST),
            None if is_next => self.next + length <= edge,
            None => self.next + length <= edge && held + length <= LEAST,
        }
    }

    /// Whether the missing data may be behind payload that a subflow refuses under memory pressure. Before an
    /// application accepts the connection, the peer waits for a window instead.
    pub(crate) fn may_be_stuck(&self) -> bool {
        self.is_under_memory_pressure() && !self.limit.is_unaccepted()
    }
}

impl RecvStream {
    /// The window to advertise, bytes. Its edge moves by at least a segment or half of the buffer (RFC 9293 section
    /// 3.8.6.2.2).
    #[inline(always)]
    pub(crate) fn window(&mut self) -> u64 {
        let open = self.next + self.open();
        // Linux rounds to the window scale only.
        let step = if self.linux.is_some() { 1 } else { self.negotiated_mss.min(self.buffer / 2) };
        if open >= self.edge + step {
            self.edge = open;
        }
        let end = if self.shrunk.is_some() { self.shrunk_edge() } else { self.edge };
        self.advertised = end.saturating_sub(self.next);
        self.advertised
    }

    /// The edge of the window under memory pressure, or of the first window after it.
    #[cold]
    fn shrunk_edge(&mut self) -> u64 {
        self.shrunk = self.limit.is_under_memory_pressure().then(|| self.edge.min(self.shortage_edge()));
        self.shrunk.unwrap_or(self.edge)
    }

    pub(crate) fn advertised(&self) -> u64 {
        self.advertised
    }

    /// The window that the buffer permits now, bytes.
    #[inline(always)]
    pub(crate) fn open(&self) -> u64 {
        match &self.linux {
            None => self.buffer.saturating_sub(self.ready.bytes()),
            Some(linux) => linux.open(self.ready.bytes() + self.early.bytes()),
        }
    }

    /// Whether reads have opened the window far enough for a window update.
    pub(crate) fn needs_window_update(&self) -> bool {
        let advertised_edge = self.advertised_edge();
        let offered = advertised_edge.saturating_sub(self.next);
        if offered >= self.buffer / 2 {
            // The common case.
            return false;
        }
        let open = self.next + self.open();
        let open = if self.limit.is_under_memory_pressure() {
            open.min(self.shortage_edge())
        } else {
            open.max(self.edge)
        };
        open > advertised_edge && open - advertised_edge >= (2 * self.negotiated_mss).min(self.buffer / 2)
    }

    #[inline]
    pub(crate) fn advertised_edge(&self) -> u64 {
        self.shrunk.unwrap_or(self.edge)
    }

    /// The offset after the last byte that is kept under memory pressure, and the edge of the advertised window. RFC
    /// 9293 section 3.8.6 advises against shrinking a window. Linux does so when memory is exhausted
    /// (net/ipv4/tcp_output.c, `tcp_select_window` with ICSK_ACK_NOMEM).
    #[cold]
    pub(crate) fn shortage_edge(&self) -> u64 {
        let buffer = self.buffer.min(self.limit.buffer());
        self.next + buffer.saturating_sub(self.ready.bytes())
    }
}

impl RecvStream {
    /// Enlarges the buffer by its initial size for each additional concurrent path. A new path then takes no
    /// space from the first path, whose congestion window still doubles.
    pub(crate) fn begin_paths(&mut self, paths: u64) {
        let Some(tuning) = self.tuning.as_mut().filter(|_| self.linux.is_none()) else { return };
        let more = paths.saturating_sub(tuning.paths);
        tuning.paths += more;
        let wanted = (self.limit.wanted() + more * INITIAL_BUFFER).min(self.largest_buffer);
        self.buffer = self.limit.want(wanted);
    }

    /// Tunes the buffer after a read (mechanism M3). `rtt` is the longest RTT of all paths.
    pub(crate) fn tune(&mut self, now: Instant, rtt: Duration) {
        let Some(tuning) = &mut self.tuning else { return };
        if rtt.is_zero() || now.since(tuning.since) < rtt {
            return;
        }
        let bytes_read = self.next - self.ready.bytes() - tuning.from;
        if let Some(linux) = &mut self.linux {
            linux.on_read(now, bytes_read, rtt, self.mss);
            tuning.from += bytes_read;
            self.buffer = linux.whole();
            return;
        }
        (tuning.since, tuning.from) = (now, self.next - self.ready.bytes());
        // Twice the measured rate, and space for the next doubling in slow start.
        let wanted = (2 * bytes_read + 16 * self.negotiated_mss).min(self.largest_buffer);
        self.buffer = self.limit.want(wanted.max(self.limit.wanted()));
    }
}

/// The initial size of a tuned receive buffer, and the limit until the connection is accepted: Linux's `tcp_rmem`
/// default.
pub(crate) const INITIAL_BUFFER: u64 = 131_072;
/// The buffer that an accepted connection always has, bytes: the largest window without scaling (RFC 9293 section 3.1).
/// Linux's `tcp_rmem` minimum is 4 KB.
pub(crate) const LEAST: u64 = 65_536;

/// The limit of a receive buffer, smaller before the connection is accepted and under memory pressure.
#[derive(Debug)]
pub(crate) struct BufferLimit {
    /// The size that configuration and tuning ask for, bytes.
    wanted: u64,
    /// No application has accepted the connection yet.
    is_unaccepted: bool,
    /// The endpoint is short of memory.
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

    /// Sets the wanted size; returns the permitted size, bytes.
    pub(crate) fn want(&mut self, wanted: u64) -> u64 {
        self.wanted = wanted;
        self.buffer()
    }

    /// The permitted size, bytes.
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

    /// Notes that an application has accepted the connection. Returns whether it was unaccepted.
    pub(crate) fn take_unaccepted(&mut self) -> bool {
        std::mem::take(&mut self.is_unaccepted)
    }
}

#[cfg(test)]
mod tests;
