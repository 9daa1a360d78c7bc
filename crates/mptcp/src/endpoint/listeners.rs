//! Listening ports and their accept queues: the operations behind `listen(2)` and `accept(2)`.
//!
//! Owns the limits of the SYN queue and the accept queue. Never handles a segment.

use mptcp_clock::{Duration, Instant};

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::endpoint::listener::Listener;
use crate::ids::{ConnectionId, InterfaceId};

/// Time during which a half-open handshake cannot be evicted: the initial retransmission timeout (RFC 6298
/// section 2). A client that exists has usually answered by then.
const MIN_HALF_OPEN_AGE: Duration = Duration::from_secs(1);

/// Error of [`Endpoint::listen`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// The port already has a listener.
    #[error("port {0} has a listener already")]
    InUse(u16),
}

impl Endpoint {
    /// Accepts connections to `port` on all interfaces.
    ///
    /// # Errors
    ///
    /// If the port already has a listener.
    pub fn listen(&mut self, port: u16, config: Config) -> Result<(), ListenError> {
        self.listen_on(port, config, None, None)
    }

    /// Accepts connections to `port` whose first subflow arrives on one of `interfaces`; `None` for all. At
    /// most `backlog` connections (`None` for no limit) may be half-open or wait for [`Endpoint::accept`].
    /// Further SYNs are dropped, as in Linux.
    ///
    /// # Errors
    ///
    /// If the port already has a listener.
    pub fn listen_on(
        &mut self,
        port: u16,
        config: Config,
        interfaces: Option<Vec<InterfaceId>>,
        backlog: Option<usize>,
    ) -> Result<(), ListenError> {
        if self.demux.listeners.contains_key(&port) {
            return Err(ListenError::InUse(port));
        }
        let listener = Listener::new(config.within_limits(), interfaces, backlog);
        self.demux.listeners.insert(port, listener);
        Ok(())
    }

    /// Closes a listener; its connections continue. Returns whether there was one.
    pub fn unlisten(&mut self, port: u16) -> bool {
        for slot in 0..self.slots.count() {
            let entry = self.slots.at(slot);
            if entry.listener_port == Some(port) {
                entry.listener_port = None;
                entry.opening = false;
                // No call of `accept` will follow.
                self.on_accepted(slot);
            }
        }
        self.demux.listeners.remove(&port).is_some()
    }

    /// Removes a connection from the accept queue of its listener.
    pub fn accept(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.slot(id) {
            self.leave_listener_queues(slot);
            self.on_accepted(slot);
        }
    }

    /// Notes that the application may now read. If memory pressure had closed the receive window, a window
    /// update is sent.
    fn on_accepted(&mut self, slot: u32) {
        let connection = self.slots.connection_at(slot);
        if connection.is_some_and(|connection| connection.reader_came()) {
            self.enqueue(slot);
        }
    }

    /// Evicts half-open handshakes older than one second from a full listener, oldest first (RFC 4987 section
    /// 3.5). Sends nothing to the evicted clients. Returns whether the listener then has space.
    pub(crate) fn evict_half_open(&mut self, now: Instant, port: u16) -> bool {
        loop {
            let Some(listener) = self.demux.listeners.get_mut(&port) else { return false };
            if !listener.is_full() {
                return true;
            }
            let old = |(since, _): &mut (Instant, ConnectionId)| now.since(*since) >= MIN_HALF_OPEN_AGE;
            let Some((_, id)) = listener.begun.pop_front_if(old) else { return false };
            let Some(slot) = self.slots.slot(id).filter(|&slot| self.slots.at(slot).opening) else {
                continue;
            };
            self.leave_listener_queues(slot);
            if let Some(connection) = self.slots.connection_at(slot) {
                connection.give_up(now);
            }
            self.after_change(now, slot);
        }
    }

    /// Adds a connection to the SYN queue of a listener.
    pub(crate) fn add_to_backlog(&mut self, now: Instant, slot: u32, port: u16) {
        let id = self.slots.id(slot);
        let Some(listener) = self.demux.listeners.get_mut(&port) else { return };
        listener.waiting += 1;
        listener.opening += 1;
        listener.begun.push_back((now, id));
        if listener.begun.len() > 2 * listener.opening + 64 {
            let slots = &mut self.slots;
            listener.begun.retain(|(_, id)| slots.slot(*id).is_some_and(|slot| slots.at(slot).opening));
        }
        let entry = self.slots.at(slot);
        entry.listener_port = Some(port);
        entry.opening = true;
        // Without a backlog, the application does not report when it accepts a connection.
        let accepts = self.demux.listeners.get(&port).is_some_and(Listener::has_backlog);
        if let Some(connection) = self.slots.connection_at(slot).filter(|_| accepts) {
            connection.await_reader();
        }
    }
}
