//! Ports that accept connections, and who waits to be taken there.
//!
//! Owns the bound on those who wait. Never looks into a connection.

use super::{ConnectionId, Endpoint, InterfaceId};
use crate::config::Config;

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
        self.demux.listeners.insert(port, Listener { config, interfaces, backlog, waiting: 0 });
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
