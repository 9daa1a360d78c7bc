//! The addresses of both hosts, and the path manager that decides which subflows to open.
//!
//! Owns known, announced and failed addresses. Never opens a subflow, and never sends an option.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::{Duration, Instant};

use crate::config::Announced;
use crate::connection::addresses::retry::{FailedSubflow, Failures};
use crate::ids::InterfaceId;
use crate::path_manager::{LocalAddress, Pair, PathEvent, PathManager, PathView, RemoteAddress};
use crate::rate_limiter::RateLimiter;

/// The maximum of transmissions of an announcement, as in Linux.
const ANNOUNCEMENTS: u32 = 3;
/// The maximum of stored peer addresses. Linux accepts 8.
const MAX_REMOTE_ADDRESSES: usize = 16;

/// The interval at which a further unknown address from the peer is accepted, after a first burst. Each
/// address costs a SYN, and a hostile peer could use these SYNs for a port scan.
const NEWS: Duration = Duration::from_secs(10);

/// An address that was announced to the peer.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    announced: Announced,
    /// The interface of the address. `None` if the configuration names the address.
    interface: Option<InterfaceId>,
    /// The peer has echoed the announcement, or no echo is expected.
    echoed: bool,
    /// The number of transmissions, and the time of the next one.
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
    /// Address pairs whose subflows failed.
    failures: Failures,
    /// The peer wants no subflow to the address of the first subflow (RFC 8684 section 3.1, flag C).
    forbids_join_to_initial_address: bool,
    /// The last address ID given to a local address.
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
            forbids_join_to_initial_address: false,
            last_id,
            path_manager,
        }
    }

    /// Whether the path manager requests subflows on this host.
    pub(crate) fn is_asked(&self, client: bool) -> bool {
        client || self.path_manager.serves_both_sides()
    }

    /// Whether the path manager announces a local address.
    pub(crate) fn announces(&self, address: &LocalAddress, client: bool) -> bool {
        self.path_manager.announces(address, client)
    }

    /// Returns the pairs that the path manager wants in addition to `existing` pairs and requested ones
    /// (`wanted`), up to `most` in total. Also returns the time of the next call.
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
        missing.retain(|pair| !self.failures.is_held_back(now, pair));
        missing.retain(|pair| !wanted.contains(pair));
        missing.truncate(most.saturating_sub(existing.len() + wanted.len()));
        (missing, self.failures.next(now))
    }

    /// Reports an event of a subflow to the path manager.
    pub(crate) fn tell(&mut self, now: Instant, event: &PathEvent) {
        self.path_manager.on_event(now, event);
    }

    /// Notes a failed subflow. Its address pair is tried again later, or after the peer's next announcement.
    pub(crate) fn note_failed(&mut self, now: Instant, failed: FailedSubflow) {
        self.failures.note(now, failed);
    }

    pub(crate) fn local(&self) -> &[LocalAddress] {
        &self.local
    }

    /// Whether an interface has a local address.
    pub(crate) fn has_interface(&self, interface: InterfaceId) -> bool {
        self.local.iter().any(|known| known.interface == interface)
    }

    /// Forgets failures on an interface that came up, because the interface may be in another network.
    pub(crate) fn reset_retries(&mut self, interface: InterfaceId) {
        self.failures.forget_interface(interface);
    }

    /// Adds a local address under a new address ID. A REMOVE_ADDR for the old ID may be in flight, and would close the
    /// new subflows (RFC 8684 section 3.4.2).
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

    /// Removes the addresses of an interface. Returns their IDs.
    pub(crate) fn remove_interface(&mut self, interface: InterfaceId) -> Vec<u8> {
        let ids = self.local.iter().filter(|a| a.interface == interface).map(|a| a.id).collect();
        self.local.retain(|address| address.interface != interface);
        self.announced.retain(|announcement| announcement.interface != Some(interface));
        ids
    }

    pub(crate) fn set_backup(&mut self, interface: InterfaceId, backup: bool) {
        let on_interface = |address: &&mut LocalAddress| address.interface == interface;
        self.local.iter_mut().filter(on_interface).for_each(|address| address.backup = backup);
    }

    pub(crate) fn remote(&self) -> &[RemoteAddress] {
        &self.remote
    }

    /// Adds the peer's address of the first subflow.
    pub(crate) fn add_first(&mut self, address: SocketAddr) {
        self.remote.push(RemoteAddress { id: 0, address });
    }

    /// Forbids subflows to the address and port of the first subflow (RFC 8684 section 3.1).
    pub(crate) fn forbid_join_to_initial(&mut self) {
        self.forbids_join_to_initial_address = true;
        self.remote.clear();
    }

    pub(crate) fn forbids_join_to_initial(&self) -> bool {
        self.forbids_join_to_initial_address
    }

    /// Whether to process an announcement: its address is known, or the rate of new addresses is not exceeded.
    pub(crate) fn accepts_announcement(&mut self, now: Instant, address: SocketAddr) -> bool {
        self.remote.iter().any(|known| known.address == address) || self.news.take(now)
    }

    /// Stores an address that the peer announced, if there is space. Returns whether the address is stored.
    pub(crate) fn learn(&mut self, address: RemoteAddress) -> bool {
        self.failures.announced(address.address);
        if self.remote.contains(&address) {
            return true;
        }
        self.remote.retain(|known| known.id != address.id);
        let known = self.remote.iter().any(|known| known.address == address.address);
        let has_space = self.remote.len() < MAX_REMOTE_ADDRESSES;
        if !known && has_space {
            self.remote.push(address);
        }
        known || has_space
    }

    /// Removes an address of the peer. The address of the first subflow stays.
    pub(crate) fn remove_remote(&mut self, id: u8) {
        self.remote.retain(|known| known.id != id || id == 0);
    }

    /// Notes the announcement of an address. `echoed` means that no echo is expected. Returns whether the address is
    /// new.
    pub(crate) fn note_announced(
        &mut self,
        announced: Announced,
        interface: Option<InterfaceId>,
        echoed: bool,
        again_at: Instant,
    ) -> bool {
        let is_new = !self.announced.iter().any(|known| known.announced.id == announced.id);
        if is_new {
            self.announced.push(Announcement { announced, interface, echoed, tries: 1, again_at });
        }
        is_new
    }

    /// Notes the peer's echo of an announcement. RFC 8684 section 3.4.1: an echo with other fields is invalid.
    pub(crate) fn note_echo(&mut self, id: u8, address: IpAddr) {
        let matches = |a: &&mut Announcement| a.announced.id == id && a.announced.address == address;
        self.announced.iter_mut().filter(matches).for_each(|a| a.echoed = true);
    }

    /// Returns the announcements to repeat now, and the time of the next call.
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

    /// The time at which an announcement without echo is repeated.
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
