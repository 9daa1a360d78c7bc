//! Ports that accept connections, and who waits to be taken there.
//!
//! Owns the bound on those who wait. Never looks into a connection.

use mptcp_clock::{Duration, Instant};

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::endpoint::listener::Listener;
use crate::ids::{ConnectionId, InterfaceId};

/// How long a handshake may keep its place when others want it: Linux's first retransmission timeout
/// (RFC 6298 section 2), after which a caller that exists has answered.
const YOUNG: Duration = Duration::from_secs(1);

/// Why a port could not be listened on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// The port has a listener.
    #[error("port {0} has a listener already")]
    InUse(u16),
}

impl Endpoint {
    /// Accepts connections to `port` on all interfaces.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn listen(&mut self, port: u16, config: Config) -> Result<(), ListenError> {
        self.listen_on(port, config, None, None)
    }

    /// Accepts connections to `port` whose first subflow comes in by one of `interfaces` (None is all), `backlog` at a time:
    /// while so many are opening or wait for [`Endpoint::accept`], SYNs are dropped, as Linux does.
    ///
    /// # Errors
    /// When the port is taken.
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

    /// Accepts no more connections to `port`; those that exist go on. Returns whether there was a listener.
    pub fn unlisten(&mut self, port: u16) -> bool {
        for place in 0..self.slots.count() {
            let slot = self.slots.at(place);
            if slot.listener_port == Some(port) {
                slot.listener_port = None;
                slot.opening = false;
                // Nobody says any more when somebody reads.
                self.on_accepted_by_app(place);
            }
        }
        self.demux.listeners.remove(&port).is_some()
    }

    /// A connection was taken from its listener, and makes room there.
    pub fn accept(&mut self, id: ConnectionId) {
        if let Some(place) = self.slots.place(id) {
            self.stop_waiting(place);
            self.on_accepted_by_app(place);
        }
    }

    /// An application may read from a connection; its peer is told where a shortage of memory had closed the window.
    fn on_accepted_by_app(&mut self, place: u32) {
        let connection = self.slots.connection_at(place);
        if connection.is_some_and(|connection| connection.reader_came()) {
            self.enqueue(place);
        }
    }

    /// Makes room at a listener that is full: handshakes that nobody has completed for long give up their places, as
    /// the oldest ones in RFC 4987 section 3.5, so that a flood of SYNs shuts a port for a moment only. Nothing
    /// is sent to them. Returns whether there is room.
    pub(crate) fn evict_half_open(&mut self, now: Instant, port: u16) -> bool {
        loop {
            let Some(listener) = self.demux.listeners.get_mut(&port) else { return false };
            if !listener.is_full() {
                return true;
            }
            let old = |(since, _): &mut (Instant, ConnectionId)| now.since(*since) >= YOUNG;
            let Some((_, id)) = listener.begun.pop_front_if(old) else { return false };
            let Some(place) = self.slots.place(id).filter(|&place| self.slots.at(place).opening) else {
                continue;
            };
            self.stop_waiting(place);
            if let Some(connection) = self.slots.connection_at(place) {
                connection.give_up(now);
            }
            self.after_change(now, place);
        }
    }

    /// A connection begins to wait at a listener: for the end of its handshake, and then to be accepted.
    pub(crate) fn add_to_backlog(&mut self, now: Instant, place: u32, port: u16) {
        let id = self.slots.id(place);
        let Some(listener) = self.demux.listeners.get_mut(&port) else { return };
        listener.waiting += 1;
        listener.opening += 1;
        listener.begun.push_back((now, id));
        if listener.begun.len() > 2 * listener.opening + 64 {
            let slots = &mut self.slots;
            listener.begun.retain(|(_, id)| slots.place(*id).is_some_and(|place| slots.at(place).opening));
        }
        let slot = self.slots.at(place);
        slot.listener_port = Some(port);
        slot.opening = true;
        // Without a backlog nobody says when an application takes it.
        let accepts = self.demux.listeners.get(&port).is_some_and(Listener::has_backlog);
        if let Some(connection) = self.slots.connection_at(place).filter(|_| accepts) {
            connection.await_reader();
        }
    }
}
