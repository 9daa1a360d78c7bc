//! TCP Fast Open (RFC 7413): data in a SYN.
//!
//! Owns what becomes of that data. It has no data sequence numbers: MPTCP's stream begins behind it (RFC 8684
//! appendix B). Cookies are made and kept by the endpoint.

use bytes::Bytes;
use mptcp_wire::{Cookie, Options, Segment};

use super::Connection;
use crate::subflow::Subflow;

/// Longest option that a SYN/ACK of MPTCP has beside: MP_CAPABLE with a key, bytes.
const CAPABLE_SPACE: usize = 12;
/// The other options of a SYN/ACK with timestamps: MSS, SACK and timestamps, window scale.
const COMMON_SPACE: usize = 20;

impl Subflow {
    /// Server: the data of the SYN that was accepted counts as received.
    pub(super) fn take_syn_data(&mut self, syn: &Segment, multipath: bool) {
        let length = self.syn_data.len() as u64;
        self.first_received = 1 + length;
        self.receiver.skip(length);
        let cookie = self.cookie.as_ref().map_or(0, |cookie| (2 + cookie.len()).next_multiple_of(4));
        let capable = if multipath { CAPABLE_SPACE } else { 0 };
        if syn.options.timestamps.is_some() && COMMON_SPACE + cookie + capable > Options::SPACE {
            // As Linux: of all options, timestamps make room.
            self.timestamps = false;
        }
    }
}

impl Connection {
    /// Client: an answer came. What it does not acknowledge of the SYN's data goes in the stream; a cookie is for the
    /// next connection.
    pub(super) fn settle_syn_data(&mut self, id: usize, answer: &Segment) {
        let subflow = &mut self.subflows[id];
        let data = std::mem::take(&mut subflow.syn_data);
        let taken = answer.acknowledgment.offset_from(subflow.iss + 1).max(0) as usize;
        subflow.first_sent = 1 + taken.min(data.len()) as u64;
        if taken < data.len() {
            self.send.buffer.put_back(data.slice(taken..));
        }
        let cookie = answer.options.fast_open.clone();
        self.negotiation.keep_cookie(cookie.filter(|cookie| !cookie.is_empty()));
    }

    /// Server: the data of the SYN can be read; returns whether there is any.
    pub(super) fn deliver_syn_data(&mut self, id: usize) -> bool {
        let data = std::mem::take(&mut self.subflows[id].syn_data);
        let any = !data.is_empty();
        if any {
            self.recv.take_unnumbered(data);
            self.fate.happenings.readable = true;
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
