//! What the endpoint has to hear of a connection: one queue, in the order in which it happened.
//!
//! Owns the queue, and whether the connection is over. What applications hear is in `PendingEvents`, where it waits until
//! they ask; the endpoint hears at once, after each call.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use mptcp_wire::Cookie;

use crate::event::{CloseReason, EventKind, FallbackReason};
use crate::ids::SubflowId;
use crate::path_manager::Pair;

/// Where a subflow is found: our address and the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubflowTuple {
    pub(crate) id: SubflowId,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// Something that the endpoint does for a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EndpointEvent {
    /// A four-tuple is in use.
    Opened(SubflowTuple),
    /// It is not any more.
    Closed(SubflowTuple),
    /// A further subflow is wanted.
    Wanted(Pair),
    /// A server has that MSS, and perhaps gave a cookie (RFC 7413 section 4.1.3).
    Cookie(IpAddr, Option<Cookie>, u16),
    /// The handshake is over: nobody waits for the third ACK any more.
    Answered,
    /// The SYN with MP_CAPABLE was answered, or only one without that came after it.
    Capable(bool),
    /// The third ACK said that the peer speaks TCP.
    FellBackOnThirdAck,
    /// The connection is over: its token is free.
    Over,
}

/// What became of the connection, for the endpoint and the application to hear.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    pending: PendingEvents,
    closed: Option<CloseReason>,
    events: VecDeque<EndpointEvent>,
}

impl Lifecycle {
    /// How it ended, once it has.
    #[inline]
    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// The connection is over; what was said first holds.
    pub(crate) fn close(&mut self, how: CloseReason) {
        if self.closed.is_none() {
            self.closed = Some(how);
            self.pending.note(EventKind::Closed(how));
            self.events.push_back(EndpointEvent::Over);
        }
    }

    /// Queues an event for the application.
    pub(crate) fn note(&mut self, event: EventKind) {
        self.pending.note(event);
    }

    /// Whether the application has no event to take.
    #[inline]
    pub(crate) fn has_no_news(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) fn pending_mut(&mut self) -> &mut PendingEvents {
        &mut self.pending
    }

    /// The endpoint is to hear it.
    pub(crate) fn tell(&mut self, event: EndpointEvent) {
        self.events.push_back(event);
    }

    pub(crate) fn poll(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    /// Whether the endpoint has heard all.
    #[inline]
    pub(crate) fn is_empty_for_endpoint(&self) -> bool {
        self.events.is_empty()
    }

    /// The subflows that are wanted and that the endpoint has not heard of.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &Pair> {
        self.events.iter().filter_map(|event| match event {
            EndpointEvent::Wanted(pair) => Some(pair),
            _ => None,
        })
    }

    /// No subflow is wanted any more.
    pub(crate) fn want_nothing(&mut self) {
        self.events.retain(|event| !matches!(event, EndpointEvent::Wanted(_)));
    }
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
