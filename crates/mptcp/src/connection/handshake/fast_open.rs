//! TCP Fast Open (RFC 7413): data in a SYN.
//!
//! Owns what becomes of that data. It has no data sequence numbers: MPTCP's stream begins behind it (RFC 8684
//! appendix B). Cookies are made and kept by the endpoint.

use bytes::Bytes;
use mptcp_wire::Segment;

use crate::connection::{Connection, EndpointEvent};
use crate::event::EventKind;

impl Connection {
    /// Client: an answer came. What it does not acknowledge of the SYN's data goes in the stream. Returns whether the SYN had data.
    pub(crate) fn settle_syn_data(&mut self, id: usize, answer: &Segment) -> bool {
        let subflow = &mut self.subflows[id];
        let data = std::mem::take(&mut subflow.handshake_mut().syn_data);
        let taken = answer.acknowledgment.offset_from(subflow.handshake().iss + 1).max(0) as usize;
        subflow.handshake_mut().first_sent = 1 + taken.min(data.len()) as u64;
        if taken < data.len() {
            self.put_back(data.slice(taken..));
            self.send.note_sent_with_syn((data.len() - taken) as u64);
        }
        !data.is_empty()
    }

    /// Server: the data of the SYN can be read; returns whether there is any.
    pub(crate) fn deliver_syn_data(&mut self, id: usize) -> bool {
        let data = std::mem::take(&mut self.subflows[id].handshake_mut().syn_data);
        let any = !data.is_empty();
        if any {
            self.recv.take_unnumbered(data);
            self.lifecycle.note(EventKind::Readable);
        }
        any
    }

    /// Client: the data that did not go in the SYN, or that nobody took from there, is the first of the stream.
    pub(crate) fn begin_stream_with(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.put_back(data);
        }
    }

    /// Client: the answer to a SYN `with_data` or with a cookie's option is taken. Its MSS, and a cookie in it, are for the next
    /// connection (RFC 7413 section 4.1.3).
    pub(crate) fn pass_on_cookie(&mut self, id: usize, answer: &Segment, with_data: bool) {
        let cookie = answer.options.fast_open.clone().filter(|cookie| !cookie.is_empty());
        let opening = self.subflows[id].handshake();
        if cookie.is_some() || with_data || opening.cookie.is_some() {
            let mss = self.subflows[id].peer_mss();
            self.lifecycle.tell(EndpointEvent::Cookie(answer.source.ip(), cookie, mss));
        }
    }
}
