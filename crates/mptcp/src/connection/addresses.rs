//! Addresses that come and go: ADD_ADDR, REMOVE_ADDR, MP_PRIO (RFC 8684 sections 3.3.8, 3.4).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use mptcp_clock::Instant;
use mptcp_wire::crypto::{self, Version};
use mptcp_wire::{AddAddress, MpPrio, MptcpOption, RemoveAddress, ResetReason};
use subtle::ConstantTimeEq;

use super::failures::Failed;
use super::{Connection, Mode};
use crate::InterfaceId;
use crate::config::Announced;
use crate::path_manager::{LocalAddress, Pair, PathEvent, PathView, RemoteAddress};
use crate::subflow::{Closure, State, Subflow};

/// Tries before an announcement is given up, as in Linux.
const ANNOUNCEMENTS: u32 = 3;

/// Addresses of the peer that are kept, at most: Linux takes 8.
const MOST_REMOTE_ADDRESSES: usize = 16;

/// An address of ours that the peer was told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announcement {
    pub(super) announced: Announced,
    /// Where it lives, unless the configuration names it.
    pub(super) interface: Option<InterfaceId>,
    pub(super) echoed: bool,
    pub(super) tries: u32,
    pub(super) again_at: Instant,
}

impl Connection {
    /// Opens what the path manager misses. Only the side that opened the connection does: the other
    /// one may be behind a NAT's far side, and announces instead.
    pub(crate) fn consult_path_manager(&mut self, now: Instant) {
        let asked = self.client || self.path_manager.serves_both_sides();
        if !asked || self.mode != Mode::Multipath || self.closed.is_some() {
            return;
        }
        let mut missing = Vec::new();
        let existing = self.pairs();
        let view = PathView {
            now,
            client: self.client,
            local: &self.local_addresses,
            remote: &self.remote_addresses,
            existing: &existing,
        };
        self.path_manager.missing(&view, &mut missing);
        missing.retain(|pair| !self.failures.hold_back(now, pair));
        missing.retain(|pair| !self.wanted.contains(pair));
        let open = self.subflows.iter().filter(|subflow| !subflow.is_closed()).count();
        let most = usize::from(self.most_subflows()) + 1;
        let room = most.saturating_sub(open + self.wanted.len());
        missing.truncate(room);
        self.wanted.append(&mut missing);
        self.timers.rejoin = self.failures.next(now);
    }

    fn pairs(&self) -> Vec<Pair> {
        self.subflows.iter().filter(|subflow| !subflow.is_closed()).map(Subflow::pair).collect()
    }

    /// A subflow may carry data.
    pub(super) fn tell_opened(&mut self, now: Instant, id: usize) {
        self.path_manager.on_event(now, &PathEvent::Opened(self.subflows[id].pair()));
    }

    /// A subflow has ended.
    pub(super) fn tell_closed(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        self.path_manager.on_event(now, &PathEvent::Closed(subflow.pair(), subflow.closed_by));
    }

    /// A pair whose subflow failed is tried again later, or not until its address comes anew.
    pub(super) fn note_failed(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        let local = self.local_addresses.iter().find(|local| local.id == subflow.local_id);
        if let Some(&local) = local.filter(|_| self.client) {
            let remote = RemoteAddress { id: subflow.remote_id, address: subflow.remote };
            let lived = subflow.was_open.then(|| now.since(subflow.opened_at));
            let failed = Failed { pair: Pair { local, remote }, why: subflow.closed_by, lived };
            self.failures.note(now, failed);
        }
    }

    /// Asks for a subflow from an interface to an address of the peer's, whatever the path manager thinks; returns
    /// whether that is possible.
    pub(crate) fn want_subflow(&mut self, interface: InterfaceId, remote: SocketAddr) -> bool {
        let family = |a: &&LocalAddress| a.interface == interface && a.address.is_ipv4() == remote.is_ipv4();
        let local = self.local_addresses.iter().find(family).copied();
        let open = self.subflows.iter().filter(|subflow| !subflow.is_closed()).count() + self.wanted.len();
        let room = open <= usize::from(self.most_subflows());
        let ready = self.mode == Mode::Multipath && self.closed.is_none() && self.remote_key.is_some();
        let Some(local) = local.filter(|_| ready && room) else { return false };
        if self.no_join_to_first && self.subflows.first().is_some_and(|first| first.remote == remote) {
            return false;
        }
        let known = self.remote_addresses.iter().find(|known| known.address == remote);
        let remote = known.copied().unwrap_or(RemoteAddress { id: 0, address: remote });
        self.wanted.push(Pair { local, remote });
        true
    }

    /// Ends one subflow; the others go on. The path manager does not open it again. Returns whether there was one.
    pub(crate) fn close_subflow(&mut self, now: Instant, id: usize) -> bool {
        let open = self.subflows.get(id).is_some_and(|subflow| !subflow.is_closed());
        if open {
            self.reset_subflow(now, id, Some(ResetReason::PROHIBITED));
        }
        open
    }

    /// An address of ours came up.
    pub(crate) fn add_local_address(&mut self, now: Instant, mut address: LocalAddress) {
        self.failures.forget_interface(address.interface);
        if !self.local_addresses.iter().any(|known| known.interface == address.interface) {
            // A new id: a REMOVE_ADDR for the old one may still be under way, and would end the new
            // subflows (RFC 8684 section 3.4.2).
            address.id = self.fresh_address_id();
            self.local_addresses.push(address);
            if !self.client && self.config.announce.is_none() {
                self.announce(now, announced(&address), Some(address.interface));
            }
        }
        self.consult_path_manager(now);
    }

    fn fresh_address_id(&mut self) -> u8 {
        for _ in 0..u8::MAX {
            self.last_address_id = self.last_address_id % u8::MAX + 1;
            if self.local_addresses.iter().all(|known| known.id != self.last_address_id) {
                break;
            }
        }
        self.last_address_id
    }

    /// An address of ours is gone, and with it every subflow that used it.
    pub(crate) fn remove_local_address(&mut self, now: Instant, interface: InterfaceId) {
        let gone: Vec<u8> =
            self.local_addresses.iter().filter(|a| a.interface == interface).map(|a| a.id).collect();
        self.local_addresses.retain(|address| address.interface != interface);
        self.announced.retain(|announcement| announcement.interface != Some(interface));
        for id in 0..self.subflows.len() {
            if self.subflows[id].interface == interface && !self.subflows[id].is_closed() {
                self.subflows[id].close(now, Closure::InterfaceGone);
                self.on_subflow_closed(now, id);
            }
        }
        if self.mode == Mode::Multipath && self.closed.is_none() && !gone.is_empty() {
            let mut option = RemoveAddress::default();
            gone.into_iter().for_each(|id| {
                // Ids are bytes and the option holds 37; more addresses than that have no subflows.
                let _ = option.ids.try_push(id);
            });
            self.signals.push(None, MptcpOption::RemoveAddress(option));
        }
        if self.mode != Mode::Multipath && self.subflows.iter().all(|subflow| subflow.is_closed()) {
            self.end(now, crate::event::Closed::TimedOut, Closure::InterfaceGone);
        }
    }

    /// Tells the peer of the addresses that it cannot know: those that the configuration names, or those of the
    /// first subflow's family. Only the side that was connected to does: the other one's joins say as much.
    pub(super) fn announce_others(&mut self, now: Instant) {
        if self.client {
            return;
        }
        if let Some(named) = self.config.announce.clone() {
            return named.into_iter().for_each(|address| self.announce(now, address, None));
        }
        let family = |address: &LocalAddress| address.address.is_ipv4();
        let first = self.local_addresses.iter().find(|address| address.id == 0).map(family);
        let others: Vec<LocalAddress> =
            self.local_addresses.iter().filter(|a| a.id != 0 && Some(family(a)) == first).copied().collect();
        others.iter().for_each(|address| self.announce(now, announced(address), Some(address.interface)));
    }

    /// Tells the peer of an address.
    fn announce(&mut self, now: Instant, address: Announced, interface: Option<InterfaceId>) {
        let Some(remote) = self.remote_key.filter(|_| self.mode == Mode::Multipath) else { return };
        let hmac =
            crypto::add_address_hmac(self.local_key.value, remote.value, address.id, address.address, None);
        let add = AddAddress {
            echo: false,
            id: address.id,
            address: address.address,
            port: None,
            // RFC 6824 section 3.4.1: version 0 signs and echoes nothing.
            hmac: (self.version == Version::V1).then_some(hmac),
        };
        self.signals.push(None, MptcpOption::AddAddress(add));
        if !self.announced.iter().any(|known| known.announced.id == address.id) {
            let again_at = now + self.config.announce_timeout;
            let echoed = self.version == Version::V0;
            self.announced.push(Announcement { announced: address, interface, echoed, tries: 1, again_at });
            self.timers.announcements = self.next_announcement();
        }
    }

    /// Announces again what was not echoed; returns when to look next.
    pub(super) fn announce_again(&mut self, now: Instant) -> Instant {
        let mut next = Instant::FAR_FUTURE;
        let mut due = Vec::new();
        for announcement in self.announced.iter_mut().filter(|a| !a.echoed && a.tries < ANNOUNCEMENTS) {
            if announcement.again_at <= now {
                announcement.tries += 1;
                announcement.again_at = now + self.config.announce_timeout;
                due.push((announcement.announced, announcement.interface));
            }
            next = next.min(announcement.again_at);
        }
        due.into_iter().for_each(|(address, interface)| self.announce(now, address, interface));
        next
    }

    fn next_announcement(&self) -> Instant {
        let waiting = self.announced.iter().filter(|a| !a.echoed && a.tries < ANNOUNCEMENTS);
        waiting.map(|a| a.again_at).min().unwrap_or(Instant::FAR_FUTURE)
    }

    pub(super) fn on_add_address(&mut self, now: Instant, id: usize, add: &AddAddress) {
        if self.mode != Mode::Multipath {
            // After a fallback the peer may say it for a while.
            return;
        }
        if add.echo {
            // RFC 8684 section 3.4.1: the echo has the same fields; another one answers nothing that we sent.
            let ours = |a: &&mut Announcement| a.announced.id == add.id && a.announced.address == add.address;
            self.announced.iter_mut().filter(ours).for_each(|a| a.echoed = true);
            self.timers.announcements = self.next_announcement();
            return;
        }
        let Some(remote) = self.remote_key else { return };
        let expected =
            crypto::add_address_hmac(remote.value, self.local_key.value, add.id, add.address, add.port);
        // RFC 8684 section 3.4.1: a wrong HMAC is ignored without a word. Id 0 is not announced.
        let expected = (self.version == Version::V1).then_some(expected);
        let valid = match (add.hmac, expected) {
            (Some(hmac), Some(expected)) => hmac.ct_eq(&expected).into(),
            (hmac, expected) => hmac == expected,
        };
        if !valid || add.id == 0 || self.closed.is_some() {
            return;
        }
        if expected.is_some() {
            // It is signed with both keys, so it tells as much as a DSS.
            self.on_confirmed(now);
            let echo = AddAddress { echo: true, hmac: None, ..*add };
            self.signals.push(Some(id), MptcpOption::AddAddress(echo));
        }
        let port = add.port.unwrap_or(self.subflows[id].remote.port());
        let address = RemoteAddress { id: add.id, address: SocketAddr::new(add.address, port) };
        if !self.may_join(id, add.address) {
            return;
        }
        self.failures.announced(address.address);
        if !self.remote_addresses.contains(&address) {
            self.remote_addresses.retain(|known| known.id != add.id);
            let known = self.remote_addresses.iter().any(|known| known.address == address.address);
            if !known && self.remote_addresses.len() < MOST_REMOTE_ADDRESSES {
                self.remote_addresses.push(address);
            }
        }
        self.consult_path_manager(now);
    }

    /// Whether an address that the peer announces on a subflow can be another host's: not nobody's, everybody's or ours
    /// (RFC 8684 section 5.1 on what announcements may be abused for).
    fn may_join(&self, id: usize, address: IpAddr) -> bool {
        let local = self.subflows[id].remote.ip().is_loopback();
        let everybody = address.is_multicast() || address == IpAddr::V4(Ipv4Addr::BROADCAST);
        let ours = self.local_addresses.iter().any(|known| known.address == address);
        !(address.is_unspecified() || everybody || ours || (address.is_loopback() && !local))
    }

    pub(super) fn on_remove_address(&mut self, now: Instant, remove: &RemoveAddress) {
        for &gone in &remove.ids {
            self.remote_addresses.retain(|known| known.id != gone || gone == 0);
            for id in 0..self.subflows.len() {
                let subflow = &self.subflows[id];
                if subflow.remote_id == gone && subflow.state != State::SynSent && !subflow.is_closed() {
                    // RFC 8684 section 3.4.2 asks for a keepalive first. The option came inside the connection, but it
                    // must not end it: the last subflow stays, and ends by itself if its address is gone.
                    let others =
                        self.subflows.iter().enumerate().any(|(o, s)| o != id && s.is_synchronised());
                    if subflow.is_synchronised() && !others {
                        continue;
                    }
                    self.reset_subflow(now, id, None);
                }
            }
        }
    }

    /// Changes our wish for a subflow and tells the peer (RFC 8684 section 3.3.8).
    pub(crate) fn set_backup(&mut self, interface: InterfaceId, backup: bool) {
        for address in self.local_addresses.iter_mut().filter(|a| a.interface == interface) {
            address.backup = backup;
        }
        for (id, subflow) in self.subflows.iter_mut().enumerate() {
            if subflow.interface == interface && subflow.is_synchronised() && subflow.backup != backup {
                subflow.backup = backup;
                subflow.peer_backup = backup;
                self.signals.push(Some(id), MptcpOption::Prio(MpPrio { backup, address_id: None }));
            }
        }
    }
}

fn announced(address: &LocalAddress) -> Announced {
    Announced { id: address.id, address: address.address }
}
