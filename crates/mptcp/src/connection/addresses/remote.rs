//! Addresses that come and go by the peer's word, or with an interface of ours: ADD_ADDR and REMOVE_ADDR
//! (RFC 8684 section 3.4).
//!
//! Owns what becomes of the subflows then. What we announce is `addresses`' affair.

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
    pub(crate) fn on_add_address(&mut self, now: Instant, id: usize, add: &AddAddress) {
        if !self.negotiation.is_multipath() {
            // After a fallback the peer may say it for a while.
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
        // RFC 8684 section 3.4.1: a wrong HMAC is ignored without a word. Id 0 is not announced.
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
        // An address to which nobody may connect takes nothing of what others may have.
        let may_join = self.may_join(id, add.address);
        if may_join && !self.addresses.accepts_announcement(now, address) {
            // Not echoed either: the peer announces it again.
            return;
        }
        if expected.is_some() {
            // It is signed with both keys, so it tells as much as a DSS.
            self.on_confirmed(now);
            let echo = AddAddress { echo: true, hmac: None, ..*add };
            let on = self.subflow_id(id);
            self.signal(Some(on), MptcpOption::AddAddress(echo));
        }
        let address = RemoteAddress { id: add.id, address };
        if !may_join {
            return;
        }
        // What finds no room changes nothing that the path manager could answer.
        if self.addresses.learn(address) {
            self.consult_path_manager(now);
        }
    }

    /// Whether an address that the peer announces on a subflow can be another host's: not nobody's, everybody's or ours
    /// (RFC 8684 section 5.1 on what announcements may be abused for).
    pub(crate) fn may_join(&self, id: usize, address: IpAddr) -> bool {
        let local = self.subflows[id].addresses().remote.ip().is_loopback();
        let everybody = address.is_multicast() || address == IpAddr::V4(Ipv4Addr::BROADCAST);
        let ours = self.addresses.local().iter().any(|known| known.address == address);
        !(address.is_unspecified() || everybody || ours || (address.is_loopback() && !local))
    }

    /// The option came on the subflow `on`, which ends as the last one, if it does.
    pub(crate) fn on_remove_address(&mut self, now: Instant, on: usize, remove: &RemoveAddress) -> Outcome {
        let mut outcome = Ok(());
        for &gone in &remove.ids {
            self.addresses.remove_remote(gone);
            for id in 0..self.subflows.len() {
                let subflow = &self.subflows[id];
                if subflow.addresses().remote_id == gone
                    && subflow.state() != State::SynSent
                    && !subflow.is_closed()
                {
                    // RFC 8684 section 3.4.2 asks for a keepalive first. The option came inside the connection, but it
                    // must not end it: the last subflow stays, and ends by itself if its address is gone.
                    let stays = |o: usize| o != id && (o != on || outcome.is_ok());
                    let others =
                        self.subflows.iter().enumerate().any(|(o, s)| stays(o) && s.is_synchronised());
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

    /// An address of ours is gone, and with it every subflow that used it. A TCP connection has no other, and outlives that as long as its
    /// timers let it: what cannot be sent is a soft error (RFC 9293 section 3.9.2.2, MUST-56), and the address may come back.
    pub(crate) fn remove_local_address(&mut self, now: Instant, interface: InterfaceId) {
        let gone = self.addresses.remove_interface(interface);
        if self.negotiation.is_plain() && self.subflows.iter().any(Subflow::is_synchronised) {
            return;
        }
        for id in 0..self.subflows.len() {
            if self.subflows[id].addresses().interface == interface && !self.subflows[id].is_closed() {
                self.end_subflow(now, id, SubflowError::Over(SubflowCloseReason::InterfaceGone));
            }
        }
        if self.negotiation.is_multipath() && self.lifecycle.closed().is_none() && !gone.is_empty() {
            let mut option = RemoveAddress::default();
            gone.into_iter().for_each(|id| {
                // Ids are bytes and the option holds 37; more addresses than that have no subflows.
                let _ = option.ids.try_push(id);
            });
            self.signal(None, MptcpOption::RemoveAddress(option));
        }
        if !self.negotiation.is_multipath() && self.subflows.iter().all(|subflow| subflow.is_closed()) {
            self.end(now, crate::event::CloseReason::TimedOut, SubflowCloseReason::InterfaceGone);
        }
    }

    /// Ends one subflow; the others go on. The path manager does not open it again. Returns whether there was one.
    pub(crate) fn close_subflow(&mut self, now: Instant, id: SubflowId) -> bool {
        let open = self.subflows.slot(id).filter(|&slot| !self.subflows[slot].is_closed());
        if let Some(id) = open {
            self.end_subflow(now, id, SubflowError::because(ResetReason::PROHIBITED));
        }
        open.is_some()
    }
}
