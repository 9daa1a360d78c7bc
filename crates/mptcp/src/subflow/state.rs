//! The words for what a subflow is, was and did.
//!
//! Owns no behaviour: transitions are the subflow's.

use mptcp_clock::Instant;
use mptcp_wire::{ResetReason, Seq};

/// RFC 9293 section 3.3.2.
///
/// ```text
///  SynSent --SYN/ACK--> Established --FIN out--> FinWait1 --ACK--> FinWait2 --FIN in--> TimeWait
///  SynReceived --ACK-->     |                      `----FIN in---> Closing --ACK--------^
///                        FIN in --> CloseWait --FIN out--> LastAck --ACK--> CloseReason
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Our SYN is out.
    SynSent,
    /// A SYN came, our SYN/ACK is out.
    SynReceived,
    /// Data flows.
    Established,
    /// Our FIN is out.
    FinWait1,
    /// Our FIN is acknowledged.
    FinWait2,
    /// The peer's FIN came.
    CloseWait,
    /// Both FINs are out, ours is not acknowledged.
    Closing,
    /// Our FIN followed the peer's.
    LastAck,
    /// Both FINs are acknowledged.
    TimeWait,
    /// Over.
    Closed,
}

/// How the subflow came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The first one: MP_CAPABLE or plain TCP.
    Initial,
    /// MP_JOIN with these nonces, ours and the peer's.
    Join { nonce: u32, peer_nonce: u32 },
}

/// Segments without data that wait to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Syn,
    SynAck,
    /// An acknowledgement from SYN-RECEIVED, which says nothing of Multipath TCP.
    Acknowledge,
    /// An old sequence number, which the peer has to answer.
    Probe,
    /// A reset for a segment of another connection; this one goes on.
    Refuse {
        sequence: Seq,
    },
    Reset {
        reason: Option<ResetReason>,
        fast_close: bool,
        /// Data sequence number of data that failed its checksum.
        failed: Option<u64>,
    },
}

/// Counts over the life of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowStats {
    /// Payload bytes sent, with retransmissions.
    pub bytes_sent: u64,
    /// Payload bytes acknowledged.
    pub bytes_acked: u64,
    /// Payload bytes received in segments, with duplicates.
    pub bytes_received: u64,
    /// Segments sent; a large one that the device cuts counts once, here and below.
    pub segments_sent: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Data segments sent.
    pub data_segments_sent: u64,
    /// Data segments received.
    pub data_segments_received: u64,
    /// Payload bytes whose data another subflow carried first.
    pub bytes_reinjected: u64,
    /// Payload of the longest segment received, bytes.
    pub longest_received: u64,
}

impl SubflowStats {
    /// A segment with so many bytes of payload has come.
    #[inline]
    pub(crate) fn count_received(&mut self, length: u64) {
        self.segments_received += 1;
        self.data_segments_received += u64::from(length > 0);
        self.bytes_received += length;
        self.longest_received = self.longest_received.max(length);
    }

    /// It waits, and comes again: it counts then.
    #[cold]
    pub(crate) fn put_off(&mut self, length: u64) {
        self.segments_received -= 1;
        self.data_segments_received -= u64::from(length > 0);
        self.bytes_received -= length;
    }
}

/// How a new subflow waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probation {
    /// For the time to come.
    Until(Instant),
    /// For an acknowledgement of more of the stream than this offset, which was sent after that time.
    Acknowledged(u64),
}

/// Why a subflow is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubflowCloseReason {
    /// Both sides sent a FIN.
    Finished,
    /// The peer reset it.
    ResetByPeer(Option<ResetReason>),
    /// We reset it.
    ResetByUs(Option<ResetReason>),
    /// Nothing came back for too long.
    TimedOut,
    /// The network says that nobody is there (ICMP, before the handshake was over).
    Unreachable,
    /// Its interface or address went away.
    InterfaceGone,
    /// The connection ended.
    ConnectionEnded,
}
