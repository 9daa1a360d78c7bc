//! Tests all ways to open subflows between Linux and mptcplab, by either end, with and without announcements.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::{IpAddr, SocketAddr, TcpStream};

use crate::laboratory::{
    Fixture, LIMIT, Namespace, PORT, Protocol, at, established, exchange, ferry, greet, linux,
    linux_subflows, linux6, ours, pattern, wait_until, within,
};
use mptcp_live::{Config, Driver, MptcpListener, MptcpStream, Offload, SubflowState};

/// Uses the first device only, without announcements.
fn quiet(driver: &Driver) -> Config {
    let first = driver.addresses().iter().filter(|known| known.device == "path1");
    Config {
        interfaces: Some(first.map(|known| known.interface).collect()),
        announce: Some(Vec::new()),
        ..Config::default()
    }
}

/// Linux opens a connection. Returns Linux's end and mptcplab's.
fn linux_opens(namespace: &Namespace, driver: &Driver, config: Config) -> (TcpStream, MptcpStream) {
    let listener = MptcpListener::bind(driver, PORT, config).unwrap();
    let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
    let (us, _) = listener.accept().unwrap();
    greet(&them, &us);
    (them, us)
}

fn remotes(us: &MptcpStream) -> Vec<SocketAddr> {
    let info = us.info().unwrap();
    let open = info.subflows.iter().filter(|subflow| subflow.state == SubflowState::Established);
    open.map(|subflow| subflow.remote).collect()
}

/// `ip mptcp endpoint add ... subflow`: Linux joins mptcplab's first address from its second one.
#[test]
fn linux_joins_from_a_second_address() {
    within(LIMIT, || {
        for offload in [Offload::Full, Offload::None] {
            let Some((namespace, driver)) = Fixture::paths(2).offload(offload).build() else { return };
            namespace.ip(&format!("mptcp endpoint add {} subflow", linux(2))).unwrap();
            let (them, us) = linux_opens(&namespace, &driver, quiet(&driver));
            wait_until("Linux has joined", || established(&us) == 2 && linux_subflows(&them) == Some(1));
            assert_eq!(remotes(&us)[1].ip(), linux(2));
            ferry(&them, &us, 3_000_000, 3_000_000, "joined by Linux");
            for subflow in us.info().unwrap().subflows {
                let tally = subflow.stats;
                assert!(tally.bytes_sent > 0 && tally.bytes_received > 0, "{}: {tally:?}", subflow.id);
            }
        }
    });
}

/// Linux's `fullmesh` endpoints join each announced address from each of their own.
#[test]
fn linux_joins_in_full_mesh() {
    Fixture::paths(2).run(|namespace, driver| {
        for path in [1, 2] {
            let add = format!("mptcp endpoint add {} dev path{path} subflow fullmesh", linux(path));
            namespace.ip(&add).unwrap();
        }
        let (them, us) = linux_opens(&namespace, &driver, Config::default());
        wait_until("Linux has joined", || {
            remotes(&us).iter().any(|remote| remote.ip() == linux(2)) && linux_subflows(&them) >= Some(1)
        });
        exchange(&them, &us, &pattern(3_000_000), &pattern(3_000_000));
    });
}

/// Linux as the server announces its second address (ADD_ADDR with a valid HMAC), and mptcplab joins it.
fn announced(port: Option<u16>, six: bool, timestamps: bool) {
    let Some((namespace, driver)) = Fixture::paths(2).build() else { return };
    let second: IpAddr = if six { linux6(2) } else { linux(2) };
    let with_port = port.map_or(String::new(), |port| format!("port {port}"));
    namespace.ip(&format!("mptcp endpoint add {second} id 7 {with_port} signal")).unwrap();
    // The listener needs all addresses, because it must accept joins to both.
    let listener = namespace.listen(at("::".parse().unwrap()), Protocol::Mptcp);
    let first = at(if six { linux6(1) } else { linux(1) });
    let us = MptcpStream::connect(&driver, first, Config { timestamps, ..quiet(&driver) }).unwrap();
    let (them, _) = listener.accept().unwrap();
    greet(&us, &them);
    wait_until("we have joined", || established(&us) == 2 && linux_subflows(&them) == Some(1));
    assert_eq!(us.info().unwrap().add_addr_accepted, 1);
    assert_eq!(remotes(&us)[1], SocketAddr::new(second, port.unwrap_or(PORT)));
    ferry(&us, &them, 3_000_000, 3_000_000, &format!("{port:?}, IPv6 {six}"));
}

#[test]
fn we_join_what_linux_announces() {
    within(LIMIT, || announced(None, false, true));
}

#[test]
fn we_join_a_port_that_linux_announces() {
    within(LIMIT, || announced(Some(5_002), false, true));
}

#[test]
fn we_join_what_linux_announces_over_ipv6() {
    within(LIMIT, || {
        announced(None, true, true);
        // ADD_ADDR with an IPv6 address and a port takes 32 of 40 bytes, so Linux never sends it with timestamps.
        announced(Some(5_002), true, false);
    });
}

/// An IPv6 announcement on an IPv4 connection: the subflows have both families.
#[test]
fn both_families_in_one_connection() {
    Fixture::paths(2).run(|namespace, driver| {
        namespace.ip(&format!("mptcp endpoint add {} signal", linux6(2))).unwrap();
        let listener = namespace.listen(at("::".parse().unwrap()), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        wait_until("a subflow of IPv6 is there", || remotes(&us).iter().any(SocketAddr::is_ipv6));
        ferry(&us, &them, 3_000_000, 3_000_000, "both families");
    });
}

/// Beyond its limit of subflows, Linux resets a join, and the connection continues on the existing ones.
#[test]
fn linux_takes_no_more_than_its_limit() {
    Fixture::paths(2).run(|namespace, driver| {
        namespace.ip("mptcp limits set subflows 0 add_addr_accepted 0").unwrap();
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        let refused = |us: &MptcpStream| {
            let info = us.info().unwrap();
            info.subflows.get(1).is_some_and(|subflow| subflow.state == SubflowState::Closed)
        };
        wait_until("our join is refused", || refused(&us));
        exchange(&us, &them, &pattern(300_000), &pattern(300_000));
        assert_eq!(linux_subflows(&them), Some(0));
    });
}

/// Both ends open subflows at the same time, and all of them carry data.
#[test]
fn both_ends_join() {
    Fixture::paths(2).run(|namespace, driver| {
        namespace.ip(&format!("mptcp endpoint add {} signal", linux(2))).unwrap();
        let listener = namespace.listen(at("0.0.0.0".parse().unwrap()), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        wait_until("subflows to both addresses", || {
            [linux(1), linux(2)].iter().all(|a| remotes(&us).iter().any(|remote| remote.ip() == *a))
        });
        ferry(&us, &them, 3_000_000, 3_000_000, "both join");
    });
}
