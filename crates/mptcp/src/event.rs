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
    /// One bit for each kind, by its place in the order in which they are told.
    kinds: u8,
    fell_back: Option<FallbackReason>,
    closed: Option<CloseReason>,
}

impl PendingEvents {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds == 0
    }

    /// It has happened.
    pub(crate) fn note(&mut self, kind: EventKind) {
        let place = match kind {
            EventKind::Accepted => 0,
            EventKind::Connected => 1,
            EventKind::FellBack(reason) => {
                self.fell_back = Some(reason);
                2
            }
            EventKind::Subflows => 3,
            EventKind::Readable => 4,
            EventKind::Writable => 5,
            EventKind::Finished => 6,
            EventKind::Closed(how) => {
                self.closed = Some(how);
                7
            }
        };
        self.kinds |= 1 << place;
    }

    /// The next event in the order of their meaning.
    pub(crate) fn take(&mut self) -> Option<EventKind> {
        let place = self.kinds.trailing_zeros();
        self.kinds &= self.kinds.wrapping_sub(1);
        match place {
            0 => Some(EventKind::Accepted),
            1 => Some(EventKind::Connected),
            2 => self.fell_back.map(EventKind::FellBack),
            3 => Some(EventKind::Subflows),
            4 => Some(EventKind::Readable),
            5 => Some(EventKind::Writable),
            6 => Some(EventKind::Finished),
            7 => self.closed.map(EventKind::Closed),
            _ => None,
        }
    }
}
