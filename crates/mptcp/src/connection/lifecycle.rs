//! The end of a connection and its events for the endpoint and the application.
//!
//! A connection calls neither of them: it records events until they are polled. Owns a queue for the
//! endpoint, which empties it after each call, and `PendingEvents` for the application. Never acts on an
//! event.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use mptcp_wire::Cookie;

use crate::event::{CloseReason, EventKind, FallbackReason};
use crate::ids::SubflowId;
use crate::path_manager::Pair;

/// The identifier and the addresses of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubflowTuple {
    pub(crate) id: SubflowId,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// An event of a connection that the endpoint handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EndpointEvent {
    /// A subflow was added: its four-tuple is in use.
    Opened(SubflowTuple),
    /// A subflow has closed: its four-tuple is free.
    Closed(SubflowTuple),
    /// The path manager requests a subflow between these addresses.
    Wanted(Pair),
    /// The address of a TCP Fast Open server, its cookie, if any, and its MSS (RFC 7413 section 4.1.3).
    Cookie(IpAddr, Option<Cookie>, u16),
    /// The handshake is complete: the listener's backlog entry is free.
    Answered,
    /// Whether the peer answered MP_CAPABLE. `false`: it answered only after the SYN was sent without
    /// MP_CAPABLE.
    Capable(bool),
    /// The third ACK had no MP_CAPABLE, so the connection fell back to TCP.
    FellBackOnThirdAck,
    /// The connection has ended: its token is free.
    Over,
}

/// The events of a connection, and the reason for its end.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    pending: PendingEvents,
    closed: Option<CloseReason>,
    events: VecDeque<EndpointEvent>,
}

impl Lifecycle {
    /// The reason for the end. `None` while the connection is open.
    #[inline]
    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// Ends the connection. Later calls do not change the reason.
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

    /// Queues an event for the endpoint.
    pub(crate) fn tell(&mut self, event: EndpointEvent) {
        self.events.push_back(event);
    }

    pub(crate) fn poll(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    /// Whether the endpoint has no event to take.
    #[inline]
    pub(crate) fn is_empty_for_endpoint(&self) -> bool {
        self.events.is_empty()
    }

    /// The requested subflows that the endpoint has not yet opened.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &Pair> {
        self.events.iter().filter_map(|event| match event {
            EndpointEvent::Wanted(pair) => Some(pair),
            _ => None,
        })
    }

    /// Cancels the requests for subflows.
    pub(crate) fn drop_subflow_requests(&mut self) {
        self.events.retain(|event| !matches!(event, EndpointEvent::Wanted(_)));
    }
}

/// Events that the application has not polled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingEvents {
    /// One bit per event, in the order of delivery.
    kinds: u8,
    fell_back: Option<FallbackReason>,
    closed: Option<CloseReason>,
}

impl PendingEvents {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds == 0
    }

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

    /// Takes the next event in the order of delivery.
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
