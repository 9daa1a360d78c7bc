//! Events that an endpoint reports to the application.
//!
//! Drivers poll the events to wake applications. Owns the event types. Never causes an event.

use mptcp_wire::ResetReason;

use crate::ids::ConnectionId;

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection.
    pub connection: ConnectionId,
    /// The event type.
    pub kind: EventKind,
}

/// Types of events. An event that occurs several times before it is polled is reported once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A listener accepted the connection, which can now carry data.
    Accepted,
    /// A connection opened by this endpoint can now carry data.
    Connected,
    /// Data can be read.
    Readable,
    /// The send buffer has space again.
    Writable,
    /// A subflow was opened or closed.
    Subflows,
    /// The connection fell back to TCP (RFC 8684 section 3.7).
    FellBack(FallbackReason),
    /// The peer's stream has ended, and all of it has been received.
    Finished,
    /// The connection is closed.
    Closed(CloseReason),
}

/// Cause of a fallback to TCP (RFC 8684 section 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FallbackReason {
    /// Both sides sent a SYN; MPTCP does not support simultaneous open.
    SimultaneousOpen,
    /// The SYN/ACK had no MP_CAPABLE: Linux's `MPCapableFallbackSYNACK`.
    SynAck,
    /// The third ACK had no MP_CAPABLE: Linux's `MPCapableFallbackACK`.
    ThirdAck,
    /// The first segments after the handshake had no options: Linux's `MPCapableDataFallback`.
    FirstData,
    /// MPTCP options stopped arriving, and nothing was acknowledged at the data level.
    Stripped,
    /// Payload without a mapping arrived: Linux's `DSSNoMatchTCP`.
    Unmapped,
    /// The DSS checksum did not match the payload: Linux's `DataCsumErr`.
    Checksum,
    /// The peer reported a checksum failure: Linux's `MPFailRx`.
    MpFail,
    /// The peer sent the infinite mapping: Linux's `InfiniteMapRx`.
    InfiniteMapping,
}

/// Cause of the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both directions were closed.
    Finished,
    /// The peer refused the connection.
    Refused,
    /// The peer reset the connection, with the reason if given.
    Reset(Option<ResetReason>),
    /// The local side aborted the connection.
    Aborted,
    /// An ICMP error arrived during the handshake.
    Unreachable,
    /// The peer did not respond in time, or no subflow existed for too long.
    TimedOut,
}

/// Cause of the end of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubflowCloseReason {
    /// Both sides sent a FIN.
    Finished,
    /// The peer reset the subflow, with the reason if given.
    ResetByPeer(Option<ResetReason>),
    /// The local side reset the subflow, with the reason if one was sent.
    ResetByUs(Option<ResetReason>),
    /// The peer did not respond in time.
    TimedOut,
    /// An ICMP error arrived during the handshake.
    Unreachable,
    /// The interface or the address of the subflow was removed.
    InterfaceGone,
    /// The connection was closed.
    ConnectionEnded,
}
