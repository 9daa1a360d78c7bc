//! What we say of addresses: which subflows are wanted, ADD_ADDR, MP_PRIO (RFC 8684 sections 3.3.8, 3.4).
//!
//! Owns the way from the address manager to the peer. What the peer says is `signalled`'s affair.

pub(crate) mod manager;
pub(crate) mod pending_options;
pub(crate) mod remote;
pub(crate) mod retry;

use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{AddAddress, MpPrio, MptcpOption, crypto};

use crate::config::Announced;
use crate::connection::addresses::retry::FailedSubflow;
use crate::connection::{Connection, EndpointEvent};
use crate::ids::{InterfaceId, SubflowId};
use crate::path_manager::{LocalAddress, Pair, PathEvent, RemoteAddress};
use crate::subflow::Subflow;

/// Subflows beside the first, at most: with those that are half open they fit the places that there are.
const MAX_SUBFLOWS: u8 = 48;

impl Connection {
    /// Opens what the path manager misses. Only the side that opened the connection does, unless the path manager wants
    /// otherwise: the other one may be behind a NAT's far side, and announces instead.
    pub(crate) fn consult_path_manager(&mut self, now: Instant) {
        let client = self.negotiation.client();
        if !self.addresses.is_asked(client) || !self.is_multipath() || self.lifecycle.closed().is_some() {
            return;
        }
        let existing = self.pairs();
        let wanted: Vec<Pair> = self.lifecycle.wanted().copied().collect();
        let most = usize::from(self.max_join_subflows()) + 1;
        let (missing, again) = self.addresses.consult(now, client, &existing, &wanted, most);
        missing.into_iter().for_each(|pair| self.lifecycle.tell(EndpointEvent::Wanted(pair)));
        self.timers.rejoin_at(again);
    }

    fn pairs(&self) -> Vec<Pair> {
        self.subflows.iter().filter(|subflow| !subflow.is_closed()).map(Subflow::pair).collect()
    }

    /// A subflow may carry data.
    pub(crate) fn notify_opened(&mut self, now: Instant, id: usize) {
        self.addresses.tell(now, &PathEvent::Opened(self.subflows[id].pair()));
    }

    /// A subflow has ended.
    pub(crate) fn notify_closed(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        self.addresses.tell(now, &PathEvent::Closed(subflow.pair(), subflow.record().closed_by));
    }

    /// A pair whose subflow failed is tried again later, or not until its address comes anew.
    pub(crate) fn note_failed(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        let local = self.addresses.local().iter().find(|local| local.id == subflow.addresses().local_id);
        if let Some(&local) = local.filter(|_| self.negotiation.client()) {
            let remote =
                RemoteAddress { id: subflow.addresses().remote_id, address: subflow.addresses().remote };
            let lived = subflow.handshake().was_open.then(|| now.since(subflow.record().opened_at));
            let failed =
                FailedSubflow { pair: Pair { local, remote }, why: subflow.record().closed_by, lived };
            self.addresses.note_failed(now, failed);
        }
    }

    /// Asks for a subflow from an interface to an address of the peer's, whatever the path manager thinks; returns
    /// whether that is possible.
    pub(crate) fn want_subflow(&mut self, interface: InterfaceId, remote: SocketAddr) -> bool {
        let family = |a: &&LocalAddress| a.interface == interface && a.address.is_ipv4() == remote.is_ipv4();
        let local = self.addresses.local().iter().find(family).copied();
        let open = self.subflows.iter().filter(|subflow| !subflow.is_closed()).count()
            + self.lifecycle.wanted().count();
        let room = open <= usize::from(self.max_join_subflows());
        let ready = self.negotiation.is_multipath()
            && self.lifecycle.closed().is_none()
            && self.negotiation.remote().is_some();
        let Some(local) = local.filter(|_| ready && room) else { return false };
        if self.addresses.forbids_join_to_initial()
            && self.subflows.first().is_some_and(|first| first.addresses().remote == remote)
        {
            return false;
        }
        let known = self.addresses.remote().iter().find(|known| known.address == remote);
        let remote = known.copied().unwrap_or(RemoteAddress { id: 0, address: remote });
        self.lifecycle.tell(EndpointEvent::Wanted(Pair { local, remote }));
        true
    }

    /// An address of ours came up.
    pub(crate) fn add_local_address(&mut self, now: Instant, address: LocalAddress) {
        self.addresses.reset_retries(address.interface);
        if !self.addresses.has_interface(address.interface) {
            let address = self.addresses.add_local(address);
            if !self.negotiation.client() && self.config.announce.is_none() {
                self.announce(now, announced(&address), Some(address.interface));
            }
        }
        self.consult_path_manager(now);
    }

    /// Tells the peer of the addresses that it cannot know: those that the configuration names, or those of the
    /// first subflow's family. Only the side that was connected to does: the other one's joins say as much.
    pub(crate) fn announce_others(&mut self, now: Instant) {
        if self.negotiation.client() {
            return;
        }
        if let Some(named) = self.config.announce.clone() {
            return named.into_iter().for_each(|address| self.announce(now, address, None));
        }
        let family = |address: &LocalAddress| address.address.is_ipv4();
        let local = self.addresses.local();
        let first = local.iter().find(|address| address.id == 0).map(family);
        let others: Vec<LocalAddress> =
            local.iter().filter(|a| a.id != 0 && Some(family(a)) == first).copied().collect();
        others.iter().for_each(|address| self.announce(now, announced(address), Some(address.interface)));
    }

    /// Tells the peer of an address.
    fn announce(&mut self, now: Instant, address: Announced, interface: Option<InterfaceId>) {
        let Some(remote) = self.negotiation.remote().filter(|_| self.negotiation.is_multipath()) else {
            return;
        };
        let hmac = crypto::add_address_hmac(
            self.negotiation.local().value,
            remote.value,
            address.id,
            address.address,
            None,
        );
        let add = AddAddress {
            echo: false,
            id: address.id,
            address: address.address,
            port: None,
            // RFC 6824 section 3.4.1: version 0 signs and echoes nothing.
            hmac: (self.negotiation.version() == Version::V1).then_some(hmac),
        };
        self.signal(None, MptcpOption::AddAddress(add));
        let again_at = now + self.config.announce_timeout;
        let echoed = self.negotiation.version() == Version::V0;
        if self.addresses.note_announced(address, interface, echoed, again_at) {
            self.timers.announce_at(self.addresses.next_announcement());
        }
    }

    /// Announces again what was not echoed; returns when to look next.
    pub(crate) fn announce_again(&mut self, now: Instant) -> Instant {
        let (due, next) = self.addresses.due(now, self.config.announce_timeout);
        due.into_iter().for_each(|(address, interface)| self.announce(now, address, interface));
        next
    }

    /// Changes our wish for a subflow and tells the peer (RFC 8684 section 3.3.8).
    pub(crate) fn set_backup(&mut self, interface: InterfaceId, backup: bool) {
        self.addresses.set_backup(interface, backup);
        let mut told: Vec<SubflowId> = Vec::new();
        for subflow in &mut self.subflows {
            if subflow.addresses().interface == interface
                && subflow.is_synchronised()
                && subflow.addresses().backup != backup
            {
                subflow.addresses_mut().backup = backup;
                subflow.addresses_mut().peer_backup = backup;
                told.push(subflow.record().id);
            }
        }
        for subflow in told {
            self.signal(Some(subflow), MptcpOption::Prio(MpPrio { backup, address_id: None }));
        }
    }

    /// Sends an option of Multipath TCP on an acknowledgement of its own, unless the connection is TCP by now: then nothing but
    /// TCP may be seen of it (RFC 8684 section 3.7), and the peer of one who fell back would take the option for a sign of life.
    pub(crate) fn signal(&mut self, on: Option<SubflowId>, option: MptcpOption) {
        if self.negotiation.is_multipath() {
            self.pending_options.push(on, option);
        }
    }

    /// Subflows beside the first, at most: a connection has so many places that none is without.
    pub(crate) fn max_join_subflows(&self) -> u8 {
        self.config.max_subflows.min(MAX_SUBFLOWS)
    }
}

fn announced(address: &LocalAddress) -> Announced {
    Announced { id: address.id, address: address.address }
}
