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

/// Events not yet polled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingEvents {
    pub accepted: bool,
    pub connected: bool,
    pub readable: bool,
    pub writable: bool,
    pub subflows: bool,
    pub fell_back: Option<FallbackReason>,
    pub finished: bool,
    pub closed: Option<CloseReason>,
}

impl PendingEvents {
    pub(crate) fn is_empty(&self) -> bool {
        !(self.accepted
            || self.connected
            || self.readable
            || self.writable
            || self.subflows
            || self.fell_back.is_some()
            || self.finished
            || self.closed.is_some())
    }

    /// The next event in the order of their meaning.
    pub(crate) fn take(&mut self) -> Option<EventKind> {
        let opened = [(&mut self.accepted, EventKind::Accepted), (&mut self.connected, EventKind::Connected)];
        for (flag, kind) in opened {
            if std::mem::take(flag) {
                return Some(kind);
            }
        }
        if let Some(reason) = self.fell_back.take() {
            return Some(EventKind::FellBack(reason));
        }
        let flags = [
            (&mut self.subflows, EventKind::Subflows),
            (&mut self.readable, EventKind::Readable),
            (&mut self.writable, EventKind::Writable),
            (&mut self.finished, EventKind::Finished),
        ];
        for (flag, kind) in flags {
            if std::mem::take(flag) {
                return Some(kind);
            }
        }
        self.closed.take().map(EventKind::Closed)
    }
}
