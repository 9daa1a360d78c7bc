//! Tests ICMP errors from Linux's routes: an impossible connection fails at once.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use crate::laboratory::{Fixture, PORT, Protocol, established, ferry, greet, wait_until};
use mptcp_live::{Config, IcmpError, MptcpStream, SubflowCloseReason};

/// Far below the retransmission timeouts of a SYN, which end the attempt without ICMP.
const AT_ONCE: Duration = Duration::from_secs(20);

/// Without ICMP, the attempt lasts two minutes.
#[test]
fn routes_without_a_way_end_a_handshake_at_once() {
    Fixture::paths(1).run(|namespace, driver| {
        namespace.sysctl("net.ipv4.ip_forward", "1");
        // The default limit is one ICMP error per second.
        namespace.sysctl("net.ipv4.icmp_ratelimit", "0");
        namespace.ip("route add unreachable 10.99.0.0/16").unwrap();
        namespace.ip("route add prohibit 10.98.0.0/16").unwrap();
        let mut cases = vec![
            ("10.99.0.1:80", IcmpError::HostUnreachable),
            ("10.98.0.1:80", IcmpError::Prohibited),
            // There is no route.
            ("10.97.0.1:80", IcmpError::NetworkUnreachable),
        ];
        let six = namespace.ip("-6 route add unreachable fd99::/16").is_ok()
            && namespace.ip("-6 route add prohibit fd98::/16").is_ok();
        if six {
            namespace.sysctl("net.ipv6.conf.all.forwarding", "1");
            namespace.sysctl("net.ipv6.icmp.ratelimit", "0");
            cases.push(("[fd98::1]:80", IcmpError::Prohibited));
        }
        for (to, why) in cases {
            let to: SocketAddr = to.parse().unwrap();
            let us = MptcpStream::open(&driver, to, Config::default()).unwrap();
            let error = us.wait_connected(Some(AT_ONCE)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::HostUnreachable, "{to}");
            let first = &us.info().unwrap().subflows[0];
            assert_eq!(
                (first.closed_by, first.icmp),
                (Some(SubflowCloseReason::Unreachable), Some(why)),
                "{to}"
            );
        }
        assert_eq!(driver.usage().connections, 0);
    });
}

/// An open connection survives ICMP errors and reports them.
#[test]
fn an_open_connection_survives_what_is_said_of_it() {
    Fixture::paths(1).run(|namespace, driver| {
        namespace.sysctl("net.ipv4.ip_forward", "1");
        // The default limit is one ICMP error per second.
        namespace.sysctl("net.ipv4.icmp_ratelimit", "0");
        namespace.ip("link set lo up").unwrap();
        namespace.ip("addr add 10.99.0.1/32 dev lo").unwrap();
        let far: SocketAddr = SocketAddr::new("10.99.0.1".parse().unwrap(), PORT);
        let listener = namespace.listen(far, Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, far, Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        // Linux no longer owns the address and has no route to it.
        namespace.ip("addr del 10.99.0.1/32 dev lo").unwrap();
        namespace.ip("route add prohibit 10.99.0.0/24").unwrap();
        us.set_nodelay(true).unwrap();
        std::io::Write::write_all(&mut &us, b"lost").unwrap();
        wait_until("it was said", || us.info().unwrap().subflows[0].icmp == Some(IcmpError::Prohibited));
        assert_eq!(established(&us), 1);
        namespace.ip("route del prohibit 10.99.0.0/24").unwrap();
        namespace.ip("addr add 10.99.0.1/32 dev lo").unwrap();
        assert_eq!(std::io::Read::read(&mut &them, &mut [0; 9]).unwrap(), 4);
        ferry(&us, &them, 100_000, 100_000, "after the route came back");
    });
}
