//! Address changes: ADD_ADDR and REMOVE_ADDR from the peer (RFC 8684 section 3.4), and the loss of a local interface.
//!
//! Owns their effect on the subflows. Never announces an address (`addresses/mod.rs`).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{AddAddress, MptcpOption, RemoveAddress, ResetReason, crypto};
use subtle::ConstantTimeEq;

use crate::connection::Connection;
use crate::connection::close::{Outcome, SubflowError};
use crate::ids::{InterfaceId, SubflowId};
use crate::path_manager::RemoteAddress;
use crate::subflow::{State, Subflow, SubflowCloseReason};

impl Connection {
    /// Processes ADD_ADDR on the subflow in slot `id`.
    pub(crate) fn on_add_address(&mut self, now: Instant, id: usize, add: &AddAddress) {
        if !self.negotiation.is_multipath() {
            // A peer may send the option for a while after the fallback.
            return;
        }
        if add.echo {
            self.addresses.note_echo(add.id, add.address);
            self.timers.announce_at(self.addresses.next_announcement());
            return;
        }
        let Some(remote) = self.negotiation.remote() else { return };
        let expected = crypto::add_address_hmac(
            remote.value,
            self.negotiation.local().value,
            add.id,
            add.address,
            add.port,
        );
        // RFC 8684 section 3.4.1: an option with a wrong HMAC is ignored silently. ID 0 is not announced.
        let expected = (self.negotiation.version() == Version::V1).then_some(expected);
        let valid = match (add.hmac, expected) {
            (Some(hmac), Some(expected)) => hmac.ct_eq(&expected).into(),
            (hmac, expected) => hmac == expected,
        };
        if !valid || add.id == 0 || self.lifecycle.closed().is_some() {
            return;
        }
        let port = add.port.unwrap_or(self.subflows[id].addresses().remote.port());
        let address = SocketAddr::new(add.address, port);
        // Addresses that cannot be used do not count against the rate limit.
        let may_join = self.may_join(id, add.address);
        if may_join && !self.addresses.accepts_announcement(now, address) {
            // Without an echo the peer repeats the announcement.
            return;
        }
        if expected.is_some() {
            // The HMAC proves that the peer has both keys, as a DSS does.
            self.on_confirmed(now);
            let echo = AddAddress { echo: true, hmac: None, ..*add };
            let on = self.subflow_id(id);
            self.signal(Some(on), MptcpOption::AddAddress(echo));
        }
        let address = RemoteAddress { id: add.id, address };
        if !may_join {
            return;
        }
        // An address that was not stored changes nothing for the path manager.
        if self.addresses.learn(address) {
            self.consult_path_manager(now);
        }
    }

    /// Whether an announced address can belong to another host: it is not unspecified, multicast, broadcast, loopback
    /// or local (RFC 8684 section 5.1 on abuse of announcements).
    pub(crate) fn may_join(&self, id: usize, address: IpAddr) -> bool {
        let local = self.subflows[id].addresses().remote.ip().is_loopback();
        let is_multicast = address.is_multicast() || address == IpAddr::V4(Ipv4Addr::BROADCAST);
        let is_local = self.addresses.local().iter().any(|known| known.address == address);
        !(address.is_unspecified() || is_multicast || is_local || (address.is_loopback() && !local))
    }

    /// Processes REMOVE_ADDR. Errors: the subflow `on`, which carried the option, has to close. The caller
    /// closes this subflow after the others.
    pub(crate) fn on_remove_address(&mut self, now: Instant, on: usize, remove: &RemoveAddress) -> Outcome {
        let mut outcome = Ok(());
        for &removed_id in &remove.ids {
            self.addresses.remove_remote(removed_id);
            for id in 0..self.subflows.len() {
                let subflow = &self.subflows[id];
                if subflow.addresses().remote_id == removed_id
                    && subflow.state() != State::SynSent
                    && !subflow.is_closed()
                {
                    // RFC 8684 section 3.4.2 asks for a keepalive first. The option must not end the connection, so the
                    // last subflow stays. It times out if its address is gone.
                    let remains = |o: usize| o != id && (o != on || outcome.is_ok());
                    let others =
                        self.subflows.iter().enumerate().any(|(o, s)| remains(o) && s.is_synchronised());
                    if subflow.is_synchronised() && !others {
                        continue;
                    }
                    if id == on {
                        outcome = Err(SubflowError::RESET);
                    } else {
                        self.end_subflow(now, id, SubflowError::RESET);
                    }
                }
            }
        }
        outcome
    }

    /// Removes a local address and closes its subflows. A TCP connection stays until its timers expire: send failures
    /// are soft errors (RFC 9293 section 3.9.2.2, MUST-56), and the address may return.
    pub(crate) fn remove_local_address(&mut self, now: Instant, interface: InterfaceId) {
        let ids = self.addresses.remove_interface(interface);
        if self.negotiation.is_plain() && self.subflows.iter().any(Subflow::is_synchronised) {
            return;
        }
        for id in 0..self.subflows.len() {
            if self.subflows[id].addresses().interface == interface && !self.subflows[id].is_closed() {
                self.end_subflow(now, id, SubflowError::Over(SubflowCloseReason::InterfaceGone));
            }
        }
        if self.negotiation.is_multipath() && self.lifecycle.closed().is_none() && !ids.is_empty() {
            let mut option = RemoveAddress::default();
            ids.into_iter().for_each(|id| {
                // The option holds 37 IDs. Further addresses have no subflows.
                let _ = option.ids.try_push(id);
            });
            self.signal(None, MptcpOption::RemoveAddress(option));
        }
        if !self.negotiation.is_multipath() && self.subflows.iter().all(|subflow| subflow.is_closed()) {
            self.end(now, crate::event::CloseReason::TimedOut, SubflowCloseReason::InterfaceGone);
        }
    }

    /// Closes one subflow. The path manager does not reopen it. Returns whether it was open.
    pub(crate) fn close_subflow(&mut self, now: Instant, id: SubflowId) -> bool {
        let open = self.subflows.slot(id).filter(|&slot| !self.subflows[slot].is_closed());
        if let Some(id) = open {
            self.end_subflow(now, id, SubflowError::because(ResetReason::PROHIBITED));
        }
        open.is_some()
    }
}
