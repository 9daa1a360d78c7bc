//! The addresses of both sides, and which subflows they want.
//!
//! Owns what is known, announced and failed, and the path manager that is asked. Never opens a subflow and never
//! speaks to the peer.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::{Duration, Instant};

use crate::config::Announced;
use crate::connection::addresses::retry::{FailedSubflow, Failures};
use crate::ids::InterfaceId;
use crate::path_manager::{LocalAddress, Pair, PathEvent, PathManager, PathView, RemoteAddress};
use crate::rate_limiter::RateLimiter;

/// Tries before an announcement is given up, as in Linux.
const ANNOUNCEMENTS: u32 = 3;
/// Addresses of the peer that are kept, at most: Linux takes 8.
const MAX_REMOTE_ADDRESSES: usize = 16;

/// How often the peer may announce an address or a port that is not known, beyond that many at once: each costs a SYN, and who could
/// name ever new ports could have us scan them.
const NEWS: Duration = Duration::from_secs(10);

/// An address of ours that the peer was told of.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    announced: Announced,
    /// Where it lives, unless the configuration names it.
    interface: Option<InterfaceId>,
    echoed: bool,
    tries: u32,
    again_at: Instant,
}

impl Announcement {
    fn is_waiting(&self) -> bool {
        !self.echoed && self.tries < ANNOUNCEMENTS
    }
}

#[derive(Debug)]
pub(crate) struct AddressManager {
    local: Vec<LocalAddress>,
    remote: Vec<RemoteAddress>,
    news: RateLimiter,
    announced: Vec<Announcement>,
    /// Subflows that the endpoint should open.
    failures: Failures,
    /// The peer wants no subflow to the address of its first one (RFC 8684 section 3.1, flag C).
    no_join_to_first: bool,
    /// The address id given out last.
    last_id: u8,
    path_manager: Box<dyn PathManager>,
}

impl AddressManager {
    pub(crate) fn new(local: Vec<LocalAddress>, path_manager: Box<dyn PathManager>) -> Self {
        let last_id = local.iter().map(|address| address.id).max().unwrap_or(0);
        Self {
            local,
            remote: Vec::new(),
            news: RateLimiter::new(MAX_REMOTE_ADDRESSES as u32, NEWS),
            announced: Vec::new(),
            failures: Failures::default(),
            no_join_to_first: false,
            last_id,
            path_manager,
        }
    }

    /// Whether the path manager is asked on this side.
    pub(crate) fn is_asked(&self, client: bool) -> bool {
        client || self.path_manager.serves_both_sides()
    }

    /// What the path manager misses beside the subflows that exist and are wanted, `most` in all; and when to ask again.
    pub(crate) fn consult(
        &mut self,
        now: Instant,
        client: bool,
        existing: &[Pair],
        wanted: &[Pair],
        most: usize,
    ) -> (Vec<Pair>, Instant) {
        let mut missing = Vec::new();
        let view = PathView { now, client, local: &self.local, remote: &self.remote, existing };
        self.path_manager.missing(&view, &mut missing);
        missing.retain(|pair| !self.failures.hold_back(now, pair));
        missing.retain(|pair| !wanted.contains(pair));
        missing.truncate(most.saturating_sub(existing.len() + wanted.len()));
        (missing, self.failures.next(now))
    }

    /// Something happened to a subflow.
    pub(crate) fn tell(&mut self, now: Instant, event: &PathEvent) {
        self.path_manager.on_event(now, event);
    }

    /// A pair whose subflow failed is tried again later, or not until its address comes anew.
    pub(crate) fn note_failed(&mut self, now: Instant, failed: FailedSubflow) {
        self.failures.note(now, failed);
    }

    pub(crate) fn local(&self) -> &[LocalAddress] {
        &self.local
    }

    /// Whether there is an address of an interface.
    pub(crate) fn has_interface(&self, interface: InterfaceId) -> bool {
        self.local.iter().any(|known| known.interface == interface)
    }

    /// An interface came up: what failed from there was another network.
    pub(crate) fn reset_retries(&mut self, interface: InterfaceId) {
        self.failures.forget_interface(interface);
    }

    /// Adds an address of ours, under a new id: a REMOVE_ADDR for the old one may still be under way, and would end the new
    /// subflows (RFC 8684 section 3.4.2).
    pub(crate) fn add_local(&mut self, mut address: LocalAddress) -> LocalAddress {
        for _ in 0..u8::MAX {
            self.last_id = self.last_id % u8::MAX + 1;
            if self.local.iter().all(|known| known.id != self.last_id) {
                break;
            }
        }
        address.id = self.last_id;
        self.local.push(address);
        address
    }

    /// The addresses of an interface are gone; returns their ids.
    pub(crate) fn remove_interface(&mut self, interface: InterfaceId) -> Vec<u8> {
        let gone = self.local.iter().filter(|a| a.interface == interface).map(|a| a.id).collect();
        self.local.retain(|address| address.interface != interface);
        self.announced.retain(|announcement| announcement.interface != Some(interface));
        gone
    }

    pub(crate) fn set_backup(&mut self, interface: InterfaceId, backup: bool) {
        let there = |address: &&mut LocalAddress| address.interface == interface;
        self.local.iter_mut().filter(there).for_each(|address| address.backup = backup);
    }

    pub(crate) fn remote(&self) -> &[RemoteAddress] {
        &self.remote
    }

    /// The address of the first subflow.
    pub(crate) fn add_first(&mut self, address: SocketAddr) {
        self.remote.push(RemoteAddress { id: 0, address });
    }

    /// RFC 8684 section 3.1: no subflow to the address and port of the first one.
    pub(crate) fn forbid_join_to_initial(&mut self) {
        self.no_join_to_first = true;
        self.remote.clear();
    }

    pub(crate) fn forbids_join_to_initial(&self) -> bool {
        self.no_join_to_first
    }

    /// Whether an announcement is heard now: it is known, or there have not been too many new ones.
    pub(crate) fn accepts_announcement(&mut self, now: Instant, address: SocketAddr) -> bool {
        self.remote.iter().any(|known| known.address == address) || self.news.take(now)
    }

    /// The peer announced an address: it is known under that id now, if there is room. Returns whether it is known.
    pub(crate) fn learn(&mut self, address: RemoteAddress) -> bool {
        self.failures.announced(address.address);
        if self.remote.contains(&address) {
            return true;
        }
        self.remote.retain(|known| known.id != address.id);
        let known = self.remote.iter().any(|known| known.address == address.address);
        let room = self.remote.len() < MAX_REMOTE_ADDRESSES;
        if !known && room {
            self.remote.push(address);
        }
        known || room
    }

    /// The peer took an address back; that of the first subflow stays known.
    pub(crate) fn remove_remote(&mut self, id: u8) {
        self.remote.retain(|known| known.id != id || id == 0);
    }

    /// An address is announced to the peer now; `echoed` where no echo will come. Returns whether that is the first time.
    pub(crate) fn note_announced(
        &mut self,
        announced: Announced,
        interface: Option<InterfaceId>,
        echoed: bool,
        again_at: Instant,
    ) -> bool {
        let news = !self.announced.iter().any(|known| known.announced.id == announced.id);
        if news {
            self.announced.push(Announcement { announced, interface, echoed, tries: 1, again_at });
        }
        news
    }

    /// The peer echoed an announcement. RFC 8684 section 3.4.1: the echo has the same fields; another one answers nothing
    /// that we sent.
    pub(crate) fn note_echo(&mut self, id: u8, address: IpAddr) {
        let ours = |a: &&mut Announcement| a.announced.id == id && a.announced.address == address;
        self.announced.iter_mut().filter(ours).for_each(|a| a.echoed = true);
    }

    /// Announcements that are due again, and when to look next.
    pub(crate) fn due(
        &mut self,
        now: Instant,
        timeout: Duration,
    ) -> (Vec<(Announced, Option<InterfaceId>)>, Instant) {
        let (mut due, mut next) = (Vec::new(), Instant::FAR_FUTURE);
        for announcement in self.announced.iter_mut().filter(|a| a.is_waiting()) {
            if announcement.again_at <= now {
                announcement.tries += 1;
                announcement.again_at = now + timeout;
                due.push((announcement.announced, announcement.interface));
            }
            next = next.min(announcement.again_at);
        }
        (due, next)
    }

    /// When to look for announcements that were not echoed.
    pub(crate) fn next_announcement(&self) -> Instant {
        let waiting = self.announced.iter().filter(|a| a.is_waiting());
        waiting.map(|a| a.again_at).min().unwrap_or(Instant::FAR_FUTURE)
    }

    pub(crate) fn announcements(&self) -> usize {
        self.announced.len()
    }

    pub(crate) fn failures(&self) -> usize {
        self.failures.len()
    }
}
