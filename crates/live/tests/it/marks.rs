//! Tests ECN with Linux (RFC 3168): negotiation by either end, and the effect of marks.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::laboratory::{
    Fixture, Namespace, PORT, Protocol, at, established, exchange, ferry, greet, linux, ours, pattern,
    wait_until,
};
use mptcp_live::{Config, Ecn, Edge, MptcpListener, MptcpStream, Offload};

const BYTES: usize = 3_000_000;

/// Number of subflows with ECN, and number of all subflows.
fn agreed(us: &MptcpStream) -> (usize, usize) {
    let subflows = us.info().unwrap().subflows;
    (subflows.iter().filter(|subflow| subflow.ecn).count(), subflows.len())
}

/// Number of ECT(0) packets that Linux received.
fn capable(namespace: &Namespace) -> u64 {
    let said = namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/netstat")).unwrap();
    let mut rows = said.lines().filter(|line| line.starts_with("IpExt:"));
    let (names, values) = (rows.next().unwrap(), rows.next().unwrap());
    let place = names.split_whitespace().position(|name| name == "InECT0Pkts").unwrap();
    values.split_whitespace().nth(place).unwrap().parse().unwrap()
}

#[test]
fn linux_asks_and_we_answer() {
    Fixture::paths(1).run(|namespace, driver| {
        namespace.sysctl("net.ipv4.tcp_ecn", "1");
        let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        for protocol in [Protocol::Tcp, Protocol::Mptcp] {
            let them = namespace.connect(at(ours(1)), protocol).unwrap();
            let (us, _) = mine.accept().unwrap();
            let before = capable(&namespace);
            exchange(&them, &us, &pattern(BYTES), &pattern(BYTES));
            assert_eq!(agreed(&us), (1, 1), "{protocol:?}");
            assert!(capable(&namespace) > before, "mptcplab's packets are ECN-capable");
        }
    });
}

#[test]
fn we_ask_and_linux_answers() {
    for offload in [Offload::Full, Offload::None] {
        Fixture::paths(2).offload(offload).run(|namespace, driver| {
            let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
            let config = Config { ecn: Some(Ecn::On), ..Config::default() };
            let us = MptcpStream::connect(&driver, at(linux(1)), config).unwrap();
            let (them, _) = theirs.accept().unwrap();
            greet(&us, &them);
            wait_until("both subflows are there", || established(&us) == 2);
            exchange(&us, &them, &pattern(BYTES), &pattern(BYTES));
            // Joins negotiate separately.
            assert_eq!(agreed(&us), (2, 2));
            assert!(capable(&namespace) > 0);
        });
    }
}

#[test]
fn nobody_asks_by_default() {
    Fixture::paths(1).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        exchange(&us, &them, &pattern(BYTES), &pattern(BYTES));
        assert_eq!(agreed(&us), (0, 1));
        assert_eq!(capable(&namespace), 0);
    });
}

/// Both ends echo marks, send CWR and reduce their windows; nothing is retransmitted.
#[test]
fn marks_slow_both_sides_down_without_a_loss() {
    // There are few large segments: the chance that none of 160 is marked is 1 in 10^7.
    for (offload, marks) in [(Offload::Full, 0.1), (Offload::None, 0.02)] {
        let edge = move |_: u8| Some(Edge { seed: 1, marks, ..Edge::default() });
        Fixture::paths(1).offload(offload).edge(edge).run(|namespace, driver| {
            namespace.sysctl("net.ipv4.tcp_ecn", "1");
            let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
            for protocol in [Protocol::Tcp, Protocol::Mptcp] {
                let them = namespace.connect(at(ours(1)), protocol).unwrap();
                let (us, _) = mine.accept().unwrap();
                ferry(&them, &us, 10_000_000, 10_000_000, "marks");
                let info = us.info().unwrap();
                let first = info.subflows.first().or(info.past.first()).unwrap();
                assert!(first.ecn && first.received_ce > 0 && first.mark_reductions > 0, "{first:?}");
                // Only the acknowledgements of one RTT report a mark.
                assert!(first.delivered_ce < 9_000_000, "{}", first.delivered_ce);
            }
        });
    }
}
