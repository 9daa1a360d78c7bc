//! Tests path MTU discovery through a Linux router with a small MTU on one side (RFC 1191).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::laboratory::{Fixture, PORT, at, exchange, ours, pattern};
use mptcp_live::{Config, MptcpListener, MptcpStream, Offload};

#[test]
fn a_router_of_linux_says_what_fits() {
    for offload in [Offload::None, Offload::Full] {
        for multipath in [false, true] {
            Fixture::paths(2).offload(offload).run(move |namespace, driver| {
                namespace.sysctl("net.ipv4.ip_forward", "1");
                // The default limit is one ICMP error per second.
                namespace.sysctl("net.ipv4.icmp_ratelimit", "0");
                namespace.ip("link set path2 mtu 1300").unwrap();
                let config = Config { multipath, max_subflows: 0, ..Config::default() };
                let mine = MptcpListener::bind(&driver, PORT, config.clone()).unwrap();
                let us = MptcpStream::connect(&driver, at(ours(2)), config).unwrap();
                let (them, _) = mine.accept().unwrap();
                exchange(&us, &them, &pattern(2_000_000), &pattern(100_000));
                let info = us.info().unwrap();
                let first = info.subflows.first().or(info.past.first()).unwrap();
                assert_eq!((first.pmtu, first.timeouts), (1300, 0), "{offload:?}, multipath {multipath}");
            });
        }
    }
}
