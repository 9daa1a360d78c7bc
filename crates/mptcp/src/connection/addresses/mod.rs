//! Addresses that this host announces, and the subflows that it requests: ADD_ADDR, MP_PRIO (RFC 8684 sections 3.3.8,
//! 3.4).
//!
//! Owns the steps from the path manager's decisions to the endpoint and to the peer. Never processes the peer's options
//! (`remote`), and never stores addresses (`manager`).

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

/// The maximum of subflows in addition to the first. Together with half-open joins, all fit into the slots.
const MAX_SUBFLOWS: u8 = 48;

impl Connection {
    /// Requests the subflows that the path manager wants. The server's path manager usually requests none, because the
    /// client may be behind a NAT. The server announces addresses instead.
    pub(crate) fn consult_path_manager(&mut self, now: Instant) {
        let client = self.negotiation.client();
        if !self.addresses.is_asked(client) || !self.is_multipath() || self.lifecycle.closed().is_some() {
            return;
        }
        let existing = self.pairs();
        let wanted: Vec<Pair> = self.lifecycle.wanted().copied().collect();
        let max_subflows = usize::from(self.max_join_subflows()) + 1;
        let (missing, next_call) = self.addresses.consult(now, client, &existing, &wanted, max_subflows);
        missing.into_iter().for_each(|pair| self.lifecycle.tell(EndpointEvent::Wanted(pair)));
        self.timers.rejoin_at(next_call);
    }

    fn pairs(&self) -> Vec<Pair> {
        self.subflows.iter().filter(|subflow| !subflow.is_closed()).map(Subflow::pair).collect()
    }

    /// Reports to the path manager that a subflow is open.
    pub(crate) fn notify_opened(&mut self, now: Instant, id: usize) {
        self.addresses.tell(now, &PathEvent::Opened(self.subflows[id].pair()));
    }

    /// Reports to the path manager that a subflow has closed.
    pub(crate) fn notify_closed(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        self.addresses.tell(now, &PathEvent::Closed(subflow.pair(), subflow.record().closed_by));
    }

    /// Notes a failed subflow of the client. Its address pair is tried again later, or after the peer's next
    /// announcement.
    pub(crate) fn note_failed(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        let local = self.addresses.local().iter().find(|local| local.id == subflow.addresses().local_id);
        if let Some(&local) = local.filter(|_| self.negotiation.client()) {
            let remote =
                RemoteAddress { id: subflow.addresses().remote_id, address: subflow.addresses().remote };
            let lived = subflow.handshake().was_established.then(|| now.since(subflow.record().opened_at));
            let failed =
                FailedSubflow { pair: Pair { local, remote }, why: subflow.record().closed_by, lived };
            self.addresses.note_failed(now, failed);
        }
    }

    /// Requests a subflow from an interface to an address of the peer, regardless of the path manager. Returns whether
    /// that is possible.
    pub(crate) fn request_subflow(&mut self, interface: InterfaceId, remote: SocketAddr) -> bool {
        let family = |a: &&LocalAddress| a.interface == interface && a.address.is_ipv4() == remote.is_ipv4();
        let local = self.addresses.local().iter().find(family).copied();
        let open = self.subflows.iter().filter(|subflow| !subflow.is_closed()).count()
            + self.lifecycle.wanted().count();
        let has_slot = open <= usize::from(self.max_join_subflows());
        let ready = self.negotiation.is_multipath()
            && self.lifecycle.closed().is_none()
            && self.negotiation.remote().is_some();
        let Some(local) = local.filter(|_| ready && has_slot) else { return false };
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

    /// Adds a local address.
    pub(crate) fn add_local_address(&mut self, now: Instant, address: LocalAddress) {
        self.addresses.reset_retries(address.interface);
        if !self.addresses.has_interface(address.interface) {
            let address = self.addresses.add_local(address);
            let announces = self.addresses.announces(&address, self.negotiation.client());
            if announces && self.config.announce.is_none() {
                self.announce(now, announced(&address), Some(address.interface));
            }
        }
        self.consult_path_manager(now);
    }

    /// Announces the addresses that the configuration names (server), or the other local addresses of the first
    /// subflow's family that the path manager announces. Usually these are the server's: the joins of a client
    /// reveal its addresses.
    pub(crate) fn announce_others(&mut self, now: Instant) {
        let client = self.negotiation.client();
        if let Some(named) = self.config.announce.clone().filter(|_| !client) {
            return named.into_iter().for_each(|address| self.announce(now, address, None));
        }
        let family = |address: &LocalAddress| address.address.is_ipv4();
        let local = self.addresses.local();
        let first = local.iter().find(|address| address.id == 0).map(family);
        let others: Vec<LocalAddress> =
            local.iter().filter(|a| a.id != 0 && Some(family(a)) == first).copied().collect();
        let announces = |address: &&LocalAddress| self.addresses.announces(address, client);
        let others: Vec<LocalAddress> = others.iter().filter(announces).copied().collect();
        others.iter().for_each(|address| self.announce(now, announced(address), Some(address.interface)));
    }

    /// Sends ADD_ADDR for an address.
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
            // RFC 6824 section 3.4.1: version 0 has neither HMAC nor echo.
            hmac: (self.negotiation.version() == Version::V1).then_some(hmac),
        };
        self.signal(None, MptcpOption::AddAddress(add));
        let again_at = now + self.config.announce_timeout;
        let echoed = self.negotiation.version() == Version::V0;
        if self.addresses.note_announced(address, interface, echoed, again_at) {
            self.timers.announce_at(self.addresses.next_announcement());
        }
    }

    /// Repeats the announcements that the peer has not echoed. Returns the time of the next call.
    pub(crate) fn retransmit_announcements(&mut self, now: Instant) -> Instant {
        let (due, next) = self.addresses.due(now, self.config.announce_timeout);
        due.into_iter().for_each(|(address, interface)| self.announce(now, address, interface));
        next
    }

    /// Sets the backup flag of an interface's subflows and sends MP_PRIO (RFC 8684 section 3.3.8).
    pub(crate) fn set_backup(&mut self, interface: InterfaceId, backup: bool) {
        self.addresses.set_backup(interface, backup);
        let mut notified: Vec<SubflowId> = Vec::new();
        for subflow in &mut self.subflows {
            if subflow.addresses().interface == interface
                && subflow.is_synchronised()
                && subflow.addresses().backup != backup
            {
                subflow.addresses_mut().backup = backup;
                subflow.addresses_mut().peer_backup = backup;
                notified.push(subflow.record().id);
            }
        }
        for subflow in notified {
            self.signal(Some(subflow), MptcpOption::Prio(MpPrio { backup, address_id: None }));
        }
    }

    /// Queues an MPTCP option for a separate acknowledgement. Does nothing after a fallback to TCP: MPTCP
    /// must not be visible any more (RFC 8684 section 3.7), and the peer would count the segment as activity.
    pub(crate) fn signal(&mut self, on: Option<SubflowId>, option: MptcpOption) {
        if self.negotiation.is_multipath() {
            self.pending_options.push(on, option);
        }
    }

    /// The maximum of subflows in addition to the first, limited by the slots.
    pub(crate) fn max_join_subflows(&self) -> u8 {
        self.config.max_subflows.min(MAX_SUBFLOWS)
    }
}

fn announced(address: &LocalAddress) -> Announced {
    Announced { id: address.id, address: address.address }
}
