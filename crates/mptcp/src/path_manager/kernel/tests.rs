//! The rules of Linux's path manager, stated as requested subflows: `local id > remote id`, with `b` for a backup.

use mptcp_clock::Instant;

use super::*;
use crate::ids::InterfaceId;

fn local(id: u8) -> LocalAddress {
    let address = [10, 0, id, 1].into();
    LocalAddress { id, interface: InterfaceId(u32::from(id)), address, backup: false }
}

fn remote(id: u8) -> RemoteAddress {
    RemoteAddress { id, address: ([10, 9, id, 1], 80).into() }
}

/// A host with local addresses 0 to 3, and the state of its connection.
struct Host {
    manager: Kernel,
    local: Vec<LocalAddress>,
    remote: Vec<RemoteAddress>,
    existing: Vec<Pair>,
}

impl Host {
    fn new(endpoints: &str, subflows: usize, add_addr_accepted: usize) -> Self {
        let endpoints = Endpoint::parse_all(endpoints).unwrap_or_default();
        Self {
            manager: Kernel::new(endpoints, EndpointLimits { subflows, add_addr_accepted }),
            local: (0..4).map(local).collect(),
            remote: vec![remote(0)],
            existing: vec![Pair { local: local(0), remote: remote(0) }],
        }
    }

    /// The subflows requested now, which then exist.
    fn requested(&mut self) -> String {
        let mut missing = Vec::new();
        let view = PathView::new(Instant::ZERO, &self.local, &self.remote, &self.existing);
        self.manager.missing(&view, &mut missing);
        let text = |pair: &Pair| {
            format!("{}>{}{}", pair.local.id, pair.remote.id, if pair.local.backup { "b" } else { "" })
        };
        let requested: Vec<String> = missing.iter().map(text).collect();
        self.existing.append(&mut missing);
        requested.join(" ")
    }

    fn announced(&mut self, id: u8) -> String {
        self.remote.push(remote(id));
        self.requested()
    }
}

#[test]
fn without_endpoints_only_the_initial_subflow_exists() {
    let mut host = Host::new("", 8, 0);
    assert_eq!(host.requested(), "");
    assert_eq!(host.announced(1), "", "the limit add_addr_accepted is 0 by default");
    assert_eq!(EndpointLimits::default(), EndpointLimits { subflows: 2, add_addr_accepted: 0 });
}

#[test]
fn subflow_endpoint_opens_one_subflow_to_the_initial_address() {
    let mut host = Host::new("dev 1 subflow, 10.0.2.1 subflow backup", 8, 0);
    assert_eq!(host.requested(), "1>0 2>0b");
    assert_eq!(host.requested(), "");
}

#[test]
fn address_of_the_initial_subflow_is_not_used_again() {
    assert_eq!(Host::new("any subflow", 8, 0).requested(), "1>0 2>0 3>0");
}

#[test]
fn limit_of_subflows_excludes_the_initial_one() {
    assert_eq!(Host::new("any subflow", 2, 0).requested(), "1>0 2>0");
    assert_eq!(Host::new("any subflow", 0, 0).requested(), "");
}

#[test]
fn endpoint_whose_subflow_ended_is_used_again_only_after_it_was_added_again() {
    let mut host = Host::new("any subflow", 2, 0);
    assert_eq!(host.requested(), "1>0 2>0");
    host.existing.remove(1);
    assert_eq!(host.requested(), "3>0", "the limit leaves space for the third address");
    host.existing.pop();
    assert_eq!(host.requested(), "");
    host.local.remove(1);
    assert_eq!(host.requested(), "");
    host.local.push(local(1));
    assert_eq!(host.requested(), "1>0");
}

#[test]
fn announced_address_gets_a_subflow_from_the_initial_address() {
    let mut host = Host::new("", 8, 1);
    assert_eq!(host.announced(1), "0>1");
    assert_eq!(host.announced(2), "", "one address is accepted");
}

#[test]
fn announcement_beyond_the_limit_of_subflows_is_ignored() {
    let mut host = Host::new("dev 1 subflow", 1, 8);
    assert_eq!(host.requested(), "1>0");
    assert_eq!(host.announced(1), "");
    host.existing.pop();
    assert_eq!(host.requested(), "", "Linux does not keep the announcement");
}

#[test]
fn removed_address_frees_its_place() {
    let mut host = Host::new("", 8, 1);
    assert_eq!(host.announced(1), "0>1");
    host.remote.pop();
    host.existing.pop();
    assert_eq!(host.announced(2), "0>2");
}

#[test]
fn address_with_a_subflow_is_not_joined_again() {
    let mut host = Host::new("", 8, 8);
    host.existing.push(Pair { local: local(1), remote: remote(1) });
    assert_eq!(host.announced(1), "");
}

#[test]
fn fullmesh_endpoints_connect_to_each_announced_address() {
    let mut host = Host::new("dev 1 subflow fullmesh, dev 2 subflow fullmesh backup", 8, 8);
    assert_eq!(host.requested(), "1>0 2>0b");
    assert_eq!(host.announced(1), "1>1 2>1b");
    let mut limited = Host::new("any subflow fullmesh", 5, 8);
    assert_eq!(limited.requested(), "1>0 2>0 3>0");
    assert_eq!(limited.announced(1), "0>1 1>1");
}

#[test]
fn fullmesh_endpoint_added_later_connects_to_all_addresses_with_subflows() {
    let mut host = Host::new("dev 1 subflow fullmesh", 8, 8);
    host.local.remove(1);
    host.existing.push(Pair { local: local(2), remote: remote(1) });
    assert_eq!(host.requested(), "");
    host.local.push(local(1));
    assert_eq!(host.requested(), "1>0 1>1");
}

#[test]
fn laminar_endpoint_is_the_source_for_one_announced_address() {
    let mut host = Host::new("dev 2 laminar, dev 3 laminar backup", 8, 8);
    assert_eq!(host.requested(), "", "a laminar endpoint waits for an announcement");
    assert_eq!(host.announced(1), "2>1");
    assert_eq!(host.announced(2), "3>2b");
    assert_eq!(host.announced(3), "", "each laminar endpoint is used once");
}

#[test]
fn laminar_endpoint_with_a_subflow_is_not_used_for_an_announcement() {
    let mut host = Host::new("dev 1 subflow laminar, dev 2 laminar", 8, 8);
    assert_eq!(host.requested(), "1>0");
    assert_eq!(host.announced(1), "2>1");
}

#[test]
fn signal_endpoints_are_announced_by_both_hosts() {
    let manager = Kernel::new(
        Endpoint::parse_all("dev 1 signal, dev 2 subflow").unwrap_or_default(),
        EndpointLimits::default(),
    );
    for client in [false, true] {
        assert!(manager.announces(&local(1), client) && !manager.announces(&local(2), client));
    }
}

#[test]
fn other_ip_version_is_not_joined() {
    let mut host = Host::new("any subflow fullmesh", 8, 8);
    host.remote.push(RemoteAddress { id: 1, address: ([0xfd00, 0, 0, 0, 0, 0, 0, 1], 80).into() });
    assert_eq!(host.requested(), "1>0 2>0 3>0");
}
