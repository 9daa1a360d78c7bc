//! Ports that accept connections, and who waits to be taken there.
//!
//! Owns the bound on those who wait. Never looks into a connection.

use mptcp_clock::{Duration, Instant};

use super::{ConnectionId, Endpoint, InterfaceId};
use crate::config::Config;

/// How long a handshake may keep its place when others want it: Linux's first retransmission timeout
/// (RFC 6298 section 2), after which a caller that exists has answered.
const YOUNG: Duration = Duration::from_secs(1);
/// How often a full listener looks for places.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);

/// Why a port could not be listened on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// The port has a listener.
    #[error("port {0} has a listener already")]
    InUse(u16),
}

#[derive(Clone, Debug)]
pub(super) struct Listener {
    pub(super) config: Config,
    /// Where first subflows may come in; None is anywhere.
    interfaces: Option<Vec<InterfaceId>>,
    /// Most connections that wait; None for no limit.
    backlog: Option<usize>,
    waiting: usize,
    /// When it may look for places again.
    sweep_at: Instant,
}

impl Listener {
    pub(super) fn hears(&self, interface: InterfaceId) -> bool {
        self.interfaces.as_ref().is_none_or(|some| some.contains(&interface))
    }

    pub(super) fn is_full(&self) -> bool {
        self.backlog.is_some_and(|most| self.waiting >= most)
    }
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
        self.demux
            .listeners
            .insert(port, Listener { config, interfaces, backlog, waiting: 0, sweep_at: Instant::ZERO });
        Ok(())
    }

    /// Accepts no more connections to `port`; those that exist go on. Returns whether there was a listener.
    pub fn unlisten(&mut self, port: u16) -> bool {
        let slots = self.slots.iter_mut();
        slots.filter(|slot| slot.waits_at == Some(port)).for_each(|slot| slot.waits_at = None);
        self.demux.listeners.remove(&port).is_some()
    }

    /// A connection was taken from its listener, and makes room there.
    pub fn accept(&mut self, id: ConnectionId) {
        if let Some(place) = self.slots.place(id) {
            self.stop_waiting(place);
        }
    }

    /// Makes room at a listener that is full: handshakes that nobody has completed for long give up their places, as
    /// the oldest ones in RFC 4987 section 3.5, so that a flood of SYNs shuts a port for a moment only. Nothing
    /// is sent to them. Returns whether there is room.
    pub(super) fn make_room(&mut self, now: Instant, port: u16) -> bool {
        let Some(listener) = self.demux.listeners.get_mut(&port) else { return false };
        if !listener.is_full() || listener.sweep_at > now {
            return !listener.is_full();
        }
        listener.sweep_at = now + SWEEP_INTERVAL;
        let old = |since: Instant| now.since(since) >= YOUNG;
        let places = 0..self.slots.count();
        let waits = |place: &u32| {
            let slot = self.slots.at(*place);
            let since = slot.connection.as_ref().and_then(|connection| connection.half_open_since());
            slot.waits_at == Some(port) && since.is_some_and(old)
        };
        let stale: Vec<u32> = places.filter(waits).collect();
        for place in stale {
            self.stop_waiting(place);
            if let Some(connection) = self.slots.connection_at(place) {
                connection.give_up(now);
            }
            self.settle(now, place);
        }
        self.demux.listeners.get(&port).is_some_and(|listener| !listener.is_full())
    }

    pub(super) fn keep_waiting(&mut self, place: u32, port: u16) {
        if let Some(listener) = self.demux.listeners.get_mut(&port) {
            listener.waiting += 1;
            self.slots.at(place).waits_at = Some(port);
        }
    }

    pub(super) fn stop_waiting(&mut self, place: u32) {
        let port = self.slots.at(place).waits_at.take();
        if let Some(listener) = port.and_then(|port| self.demux.listeners.get_mut(&port)) {
            listener.waiting -= 1;
        }
    }
}
