//! TCP Fast Open (RFC 7413): data in a SYN.
//!
//! Owns what becomes of that data. It has no data sequence numbers: MPTCP's stream begins behind it (RFC 8684
//! appendix B). Cookies are made and kept by the endpoint.

use bytes::Bytes;
use mptcp_wire::{Cookie, Segment};

use super::Connection;
use crate::event::EventKind;

impl Connection {
    /// Client: an answer came. What it does not acknowledge of the SYN's data goes in the stream; a cookie is for the
    /// next connection.
    pub(super) fn settle_syn_data(&mut self, id: usize, answer: &Segment) {
        let subflow = &mut self.subflows[id];
        let data = std::mem::take(&mut subflow.opening_mut().syn_data);
        let taken = answer.acknowledgment.offset_from(subflow.opening().iss + 1).max(0) as usize;
        subflow.opening_mut().first_sent = 1 + taken.min(data.len()) as u64;
        if taken < data.len() {
            self.send.buffer.put_back(data.slice(taken..));
        }
        let cookie = answer.options.fast_open.clone();
        self.negotiation.keep_cookie(cookie.filter(|cookie| !cookie.is_empty()));
    }

    /// Server: the data of the SYN can be read; returns whether there is any.
    pub(super) fn deliver_syn_data(&mut self, id: usize) -> bool {
        let data = std::mem::take(&mut self.subflows[id].opening_mut().syn_data);
        let any = !data.is_empty();
        if any {
            self.recv.take_unnumbered(data);
            self.fate.pending.note(EventKind::Readable);
        }
        any
    }

    /// Client: the data that did not go in the SYN, or that nobody took from there, is the first of the stream.
    pub(crate) fn begin_stream_with(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.send.buffer.put_back(data);
        }
    }

    /// A cookie that the server gave, and the MSS that it has (RFC 7413 section 4.1.3).
    pub(crate) fn take_cookie(&mut self) -> Option<(Cookie, u16)> {
        let cookie = self.negotiation.take_cookie()?;
        Some((cookie, self.subflows.first()?.peer_mss()))
    }
}
