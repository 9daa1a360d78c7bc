//! The path manager of Linux (net/mptcp/pm_kernel.c, 6.18), with its endpoints and limits.
//!
//! - A `subflow` endpoint is the source of one subflow to the peer's initial address. It is used once: if the subflow
//!   ends, the endpoint has to be added again. With `fullmesh`, it is the source of a subflow to each address of the peer
//!   that has a subflow.
//! - When the peer announces an address to which no subflow exists, every `fullmesh` endpoint opens a subflow to it.
//!   Without `fullmesh` endpoints, the first unused `laminar` endpoint does. Without either, the address of the initial
//!   subflow is the source, as routing would choose.
//! - The limit `subflows` counts the subflows besides the initial one. The limit `add_addr_accepted` counts the announced
//!   addresses with subflows. An announcement beyond a limit is ignored.
//! - A `signal` endpoint is announced. Both hosts announce, and both open subflows.
//!
//! In Linux, the limit `subflows` also refuses joins of the peer. Here [`crate::Config::max_subflows`] does.
//!
//! The backup flag of an endpoint affects the subflows that it opens. Linux also sends MP_PRIO for the initial subflow
//! and sets the flag for accepted subflows; the `backup` key of a flow does the former.
//!
//! Owns the endpoints used and the announcements processed. Never opens a subflow.

use crate::path_manager::endpoint::Endpoint;
use crate::path_manager::{LocalAddress, Pair, PathManager, PathView, RemoteAddress};

/// The limits of `ip mptcp limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointLimits {
    /// Maximum number of subflows besides the initial one.
    pub subflows: usize,
    /// Maximum number of announced addresses with subflows.
    pub add_addr_accepted: usize,
}

impl Default for EndpointLimits {
    /// The defaults of Linux: two subflows, and no announcement.
    fn default() -> Self {
        Self { subflows: 2, add_addr_accepted: 0 }
    }
}

/// An announced address that was processed.
#[derive(Clone, Copy, Debug)]
struct Processed {
    id: u8,
    /// Whether a subflow to it was requested.
    is_accepted: bool,
}

/// Linux's path manager.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    endpoints: Vec<Endpoint>,
    limits: EndpointLimits,
    /// Address IDs of the local addresses that were the source of a subflow.
    used: Vec<u8>,
    processed: Vec<Processed>,
}

/// Requested subflows, up to the limit.
struct Requests<'a> {
    existing: &'a [Pair],
    missing: &'a mut Vec<Pair>,
    /// Subflows besides the initial one, and those requested now.
    extra: usize,
    limit: usize,
}

impl Requests<'_> {
    /// Requests a subflow if the limit and the IP versions allow it. Returns whether it was requested.
    fn add(&mut self, endpoint: Option<&Endpoint>, local: LocalAddress, remote: RemoteAddress) -> bool {
        if self.extra >= self.limit || local.address.is_ipv4() != remote.address.is_ipv4() {
            return false;
        }
        let backup = local.backup || endpoint.is_some_and(|endpoint| endpoint.backup);
        self.missing.push(Pair { local: LocalAddress { backup, ..local }, remote });
        self.extra += 1;
        true
    }

    /// Whether a subflow exists or is requested that `matches` describes.
    fn has(&self, matches: impl Fn(&Pair) -> bool) -> bool {
        self.existing.iter().chain(self.missing.iter()).any(matches)
    }
}

impl Kernel {
    /// Creates a path manager with these endpoints, in the order of their addition, and limits.
    #[must_use]
    pub const fn new(endpoints: Vec<Endpoint>, limits: EndpointLimits) -> Self {
        Self { endpoints, limits, used: Vec::new(), processed: Vec::new() }
    }

    /// Each endpoint with each of its local addresses, in order.
    fn sources<'a>(
        endpoints: &'a [Endpoint],
        local: &'a [LocalAddress],
    ) -> impl Iterator<Item = (&'a Endpoint, LocalAddress)> {
        endpoints.iter().flat_map(|endpoint| {
            local.iter().filter(|local| endpoint.has(local)).map(move |local| (endpoint, *local))
        })
    }

    /// Uses the `subflow` endpoints (`mptcp_pm_create_subflow_or_signal_addr`).
    fn use_endpoints(&mut self, view: &PathView<'_>, requests: &mut Requests<'_>) {
        let initial = view.remote.iter().find(|remote| remote.id == 0).copied();
        for (endpoint, local) in Self::sources(&self.endpoints, view.local) {
            // The address of the initial subflow counts as used.
            if !endpoint.subflow || local.id == 0 && !endpoint.fullmesh || self.used.contains(&local.id) {
                continue;
            }
            if requests.extra >= requests.limit {
                break;
            }
            self.used.push(local.id);
            if !endpoint.fullmesh {
                if let Some(remote) = initial {
                    requests.add(Some(endpoint), local, remote);
                }
                continue;
            }
            for at in 0..view.existing.len() {
                let remote = view.existing[at].remote;
                if !requests.has(|pair| pair.local.id == local.id && pair.remote.id == remote.id) {
                    requests.add(Some(endpoint), local, remote);
                }
            }
        }
    }

    /// Opens subflows to an announced address (`mptcp_pm_nl_add_addr_received`). Returns whether it requested any.
    fn accept(&mut self, view: &PathView<'_>, remote: RemoteAddress, requests: &mut Requests<'_>) -> bool {
        let before = requests.extra;
        for (endpoint, local) in Self::sources(&self.endpoints, view.local) {
            let is_new =
                !requests.has(|pair| pair.local.id == local.id && pair.remote.address == remote.address);
            if endpoint.fullmesh && is_new {
                requests.add(Some(endpoint), local, remote);
            }
        }
        if requests.extra > before {
            return true;
        }
        if self.endpoints.iter().any(|endpoint| endpoint.laminar) {
            let unused = Self::sources(&self.endpoints, view.local).find(|(endpoint, local)| {
                endpoint.laminar && !requests.has(|pair| pair.local.id == local.id)
            });
            let Some((endpoint, local)) = unused else { return false };
            if endpoint.subflow && !self.used.contains(&local.id) {
                self.used.push(local.id);
            }
            return requests.add(Some(endpoint), local, remote);
        }
        let initial = view.local.iter().find(|local| local.id == 0).or(view.local.first());
        initial.is_some_and(|&local| requests.add(None, local, remote))
    }

    fn process_announcements(&mut self, view: &PathView<'_>, requests: &mut Requests<'_>) {
        for &remote in view.remote.iter().filter(|remote| remote.id != 0) {
            if self.processed.iter().any(|processed| processed.id == remote.id) {
                continue;
            }
            let accepted = self.processed.iter().filter(|processed| processed.is_accepted).count();
            let may_accept = accepted < self.limits.add_addr_accepted && requests.extra < requests.limit;
            let is_known = requests.has(|pair| pair.remote.address == remote.address);
            let is_accepted = may_accept && !is_known && self.accept(view, remote, requests);
            self.processed.push(Processed { id: remote.id, is_accepted });
        }
    }
}

impl PathManager for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn missing(&mut self, view: &PathView<'_>, missing: &mut Vec<Pair>) {
        // A removed address may return with the same ID.
        self.used.retain(|&id| view.local.iter().any(|local| local.id == id));
        self.processed.retain(|processed| view.remote.iter().any(|remote| remote.id == processed.id));
        let is_extra = |pair: &&Pair| pair.local.id != 0 || pair.remote.id != 0;
        let mut requests = Requests {
            existing: view.existing,
            missing,
            extra: view.existing.iter().filter(is_extra).count(),
            limit: self.limits.subflows,
        };
        self.process_announcements(view, &mut requests);
        self.use_endpoints(view, &mut requests);
    }

    fn serves_both_sides(&self) -> bool {
        true
    }

    fn announces(&self, address: &LocalAddress, _client: bool) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.signal && endpoint.has(address))
    }
}

#[cfg(test)]
mod tests;
