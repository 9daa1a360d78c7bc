//! TCP Fast Open (RFC 7413): data in a SYN.
//!
//! Owns the delivery of SYN data. This data has no data sequence numbers: the MPTCP stream begins after it
//! (RFC 8684 appendix B). Never creates or stores cookies: the endpoint does.

use bytes::Bytes;
use mptcp_wire::Segment;

use crate::connection::{Connection, EndpointEvent};
use crate::event::EventKind;

impl Connection {
    /// Client: processes the acknowledgement of SYN data. Unacknowledged data is sent in the stream. Returns whether
    /// the SYN had data.
    pub(crate) fn process_syn_data_ack(&mut self, id: usize, answer: &Segment) -> bool {
        let subflow = &mut self.subflows[id];
        let data = std::mem::take(&mut subflow.handshake_mut().syn_data);
        let acknowledged = answer.acknowledgment.offset_from(subflow.handshake().iss + 1).max(0) as usize;
        subflow.handshake_mut().first_sent = 1 + acknowledged.min(data.len()) as u64;
        if acknowledged < data.len() {
            self.put_back(data.slice(acknowledged..));
            self.send.note_sent_with_syn((data.len() - acknowledged) as u64);
        }
        !data.is_empty()
    }

    /// Server: makes the SYN's data readable. Returns whether the SYN had data.
    pub(crate) fn deliver_syn_data(&mut self, id: usize) -> bool {
        let data = std::mem::take(&mut self.subflows[id].handshake_mut().syn_data);
        let has_data = !data.is_empty();
        if has_data {
            self.recv.take_unnumbered(data);
            self.lifecycle.note(EventKind::Readable);
        }
        has_data
    }

    /// Client: puts data that the SYN did not deliver at the start of the stream.
    pub(crate) fn start_stream_with(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.put_back(data);
        }
    }

    /// Client: passes the MSS and a cookie from the SYN/ACK to the endpoint for the next connection (RFC 7413 section
    /// 4.1.3). Applies if the SYN had data or a cookie option.
    pub(crate) fn store_cookie(&mut self, id: usize, answer: &Segment, with_data: bool) {
        let cookie = answer.options.fast_open.clone().filter(|cookie| !cookie.is_empty());
        let handshake = self.subflows[id].handshake();
        if cookie.is_some() || with_data || handshake.cookie.is_some() {
            let mss = self.subflows[id].peer_mss();
            self.lifecycle.tell(EndpointEvent::Cookie(answer.source.ip(), cookie, mss));
        }
    }
}
