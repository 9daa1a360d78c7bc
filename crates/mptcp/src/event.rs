//! What an endpoint reports.

use mptcp_wire::ResetReason;

use crate::ids::ConnectionId;

/// Something happened on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Where.
    pub connection: ConnectionId,
    /// What.
    pub kind: EventKind,
}

/// Kinds of events. Each is reported once until it is polled, however often it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A listener accepted the connection; it can carry data.
    Accepted,
    /// The connection that was opened here can carry data.
    Connected,
    /// Data is there to be read.
    Readable,
    /// The send buffer has room again.
    Writable,
    /// A subflow came or went.
    Subflows,
    /// Multipath TCP was given up for plain TCP (RFC 8684 section 3.7).
    FellBack(FallbackReason),
    /// The peer has sent all it will send, and it is here.
    Finished,
    /// The connection is over.
    Closed(CloseReason),
}

/// What showed that the network does not carry Multipath TCP (RFC 8684 section 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FallbackReason {
    /// Both sides sent a SYN, which only TCP does.
    SimultaneousOpen,
    /// The SYN/ACK had no MP_CAPABLE: Linux's `MPCapableFallbackSYNACK`.
    SynAck,
    /// The third ACK had no MP_CAPABLE: Linux's `MPCapableFallbackACK`.
    ThirdAck,
    /// The first segments after the handshake had no options: Linux's `MPCapableDataFallback`.
    FirstData,
    /// Options came no more, and nothing was acknowledged at the data level.
    Stripped,
    /// Payload came that no mapping speaks of: Linux's `DSSNoMatchTCP`.
    Unmapped,
    /// The DSS checksum did not match the payload: Linux's `DataCsumErr`.
    Checksum,
    /// The peer said that a checksum did not match: Linux's `MPFailRx`.
    MpFail,
    /// The peer sent the infinite mapping: Linux's `InfiniteMapRx`.
    InfiniteMapping,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both streams ended in order.
    Finished,
    /// The peer refused it.
    Refused,
    /// The peer reset it, with a reason if it gave one.
    Reset(Option<ResetReason>),
    /// We aborted it.
    Aborted,
    /// The network says that the peer cannot be reached: an ICMP error, before the handshake was over.
    Unreachable,
    /// Nothing came back for too long, or no subflow was left for too long.
    TimedOut,
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
