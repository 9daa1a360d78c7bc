//! The window that the peer is offered, and when it is told of a larger one.
//!
//! Owns the edge that was offered. Payload is kept or refused elsewhere (`keeping.rs`).

use super::RecvStream;

impl RecvStream {
    /// The window to offer: it moves right, when it does, by a segment or half the buffer at least
    /// (RFC 9293 section 3.8.6.2.2).
    #[inline(always)]
    pub(crate) fn window(&mut self) -> u64 {
        let open = self.next + self.open();
        // Linux rounds by the window scale, and no more.
        let step = if self.linux.is_some() { 1 } else { self.full_size.min(self.buffer / 2) };
        if open >= self.edge + step {
            self.edge = open;
        }
        let end = if self.shrunk.is_some() { self.shrunk_edge() } else { self.edge };
        self.said = end.saturating_sub(self.next);
        self.said
    }

    /// The end of the window to offer in a shortage of memory, or of the first one behind it.
    #[cold]
    fn shrunk_edge(&mut self) -> u64 {
        self.shrunk = self.allowance.is_short().then(|| self.edge.min(self.shortage_edge()));
        self.shrunk.unwrap_or(self.edge)
    }

    /// The window that was said last, on any subflow.
    pub(crate) fn said(&self) -> u64 {
        self.said
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
    pub(crate) fn wants_update(&self) -> bool {
        let told = self.told();
        let offered = told.saturating_sub(self.next);
        if offered >= self.buffer / 2 {
            // As nearly always.
            return false;
        }
        let open = self.next + self.open();
        let open =
            if self.allowance.is_short() { open.min(self.shortage_edge()) } else { open.max(self.edge) };
        open > told && open - told >= (2 * self.full_size).min(self.buffer / 2)
    }

    /// The end of the window that was said last.
    #[inline]
    pub(super) fn told(&self) -> u64 {
        self.shrunk.unwrap_or(self.edge)
    }

    /// Offset behind the last byte that is kept while the endpoint is short of memory, and the end of the advertised window.
    /// RFC 9293 section 3.8.6 advises against shrinking a window, and Linux does it where memory is used up (net/ipv4/tcp_output.c,
    /// `tcp_select_window` with ICSK_ACK_NOMEM).
    #[cold]
    pub(super) fn shortage_edge(&self) -> u64 {
        let buffer = self.buffer.min(self.allowance.buffer());
        self.next + buffer.saturating_sub(self.ready.bytes())
    }
}
