//! Tests all regular combinations with Linux: opener, MPTCP or TCP, direction, IPv4 or IPv6, DSS checksum, offload, and
//! sizes from a byte to a gigabyte.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::laboratory::{
    Fixture, LIMIT, Namespace, PORT, Protocol, at, exchange, ferry, greet, joined, linux, linux_info, linux6,
    ours, ours6, pattern, wait_until, within,
};
use mptcp_live::{Config, Driver, Mode, MptcpListener, MptcpStream, Offload};

/// Bytes up and down.
const WAYS: [(u64, u64); 3] = [(200_003, 0), (0, 200_003), (200_003, 150_001)];

/// Opens the connection of one combination. Returns mptcplab's end and Linux's.
fn meet(
    (namespace, driver): (&Namespace, &Driver),
    six: bool,
    (theirs, protocol): (&TcpListener, Protocol),
    mine: Option<&MptcpListener>,
) -> (MptcpStream, TcpStream) {
    if let Some(mine) = mine {
        let them = namespace.connect(at(if six { ours6(1) } else { ours(1) }), protocol).unwrap();
        return (mine.accept().unwrap().0, them);
    }
    let us = MptcpStream::connect(driver, theirs.local_addr().unwrap(), Config::default()).unwrap();
    (us, theirs.accept().unwrap().0)
}

/// Tests all combinations that share a namespace.
fn cells(offload: Offload, checksum: bool) {
    let Some((namespace, driver)) = Fixture::paths(1).offload(offload).build() else { return };
    namespace.sysctl("net.mptcp.checksum_enabled", if checksum { "1" } else { "0" });
    let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
    for six in [false, true] {
        let address = if six { linux6(1) } else { linux(1) };
        for (protocol, port) in [(Protocol::Mptcp, PORT), (Protocol::Tcp, PORT + 1)] {
            let theirs = namespace.listen(SocketAddr::new(address, port), protocol);
            for mine in [None, Some(&mine)] {
                for (up, down) in WAYS {
                    let case = format!(
                        "{offload:?}, checksum {checksum}, IPv6 {six}, {protocol:?}, we listen {}, {up} up, {down} down",
                        mine.is_some()
                    );
                    let (us, them) = meet((&namespace, &driver), six, (&theirs, protocol), mine);
                    ferry(&us, &them, up, down, &case);
                    let multipath = protocol == Protocol::Mptcp;
                    wait_until("all is acknowledged", || us.info().unwrap().bytes_acked == up);
                    let info = us.info().unwrap();
                    assert_eq!(info.mode, if multipath { Mode::Multipath } else { Mode::Plain }, "{case}");
                    assert_eq!(info.checksum, checksum && multipath, "{case}");
                    assert_eq!(info.bytes_received, down, "{case}");
                    if multipath {
                        let linux = linux_info(&them).expect(&case);
                        assert_eq!((linux.subflows, linux.checksum), (0, checksum), "{case}");
                    }
                }
            }
        }
    }
    let counters = driver.counters();
    assert_eq!(counters.dropped, 0, "{counters:?}");
}

#[test]
fn cells_with_offload() {
    within(LIMIT, || cells(Offload::Full, false));
}

#[test]
fn cells_with_offload_and_checksums() {
    within(LIMIT, || cells(Offload::Full, true));
}

#[test]
fn cells_without_offload() {
    within(LIMIT, || cells(Offload::None, false));
}

#[test]
fn cells_without_offload_and_with_checksums() {
    within(LIMIT, || cells(Offload::None, true));
}

/// Every length around the size of a full segment, with and without options, as one piece in each direction.
#[test]
fn edges_of_segments() {
    within(LIMIT, || {
        for offload in [Offload::Full, Offload::None] {
            let Some((namespace, driver)) = Fixture::paths(1).offload(offload).build() else { return };
            let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
            for size in (1..=3).chain(1_396..=1_464).chain([2_896, 2_897, 65_535, 65_536]) {
                let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
                let (them, _) = listener.accept().unwrap();
                exchange(&us, &them, &pattern(size), &pattern(size + 1));
            }
        }
    });
}

/// Opens two paths from mptcplab and transfers data in both directions.
fn two_paths(offload: Offload, checksum: bool, up: u64, down: u64) {
    let Some((namespace, driver)) = Fixture::paths(2).offload(offload).build() else { return };
    let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
    let config = Config { checksum, ..Config::default() };
    let us = MptcpStream::connect(&driver, at(linux(1)), config).unwrap();
    let (them, _) = listener.accept().unwrap();
    greet(&us, &them);
    joined(&us, &them, 2);
    ferry(&us, &them, up, down, &format!("{offload:?}, checksum {checksum}, {up} up, {down} down"));
    for subflow in us.info().unwrap().subflows {
        let tally = subflow.stats;
        assert!(up < 100 || tally.bytes_sent > 100, "subflow {}: {tally:?}", subflow.id);
        assert!(down < 100 || tally.bytes_received > 100, "subflow {}: {tally:?}", subflow.id);
    }
}

#[test]
fn ten_megabytes() {
    within(LIMIT, || {
        for (offload, checksum) in
            [(Offload::Full, false), (Offload::Full, true), (Offload::None, false), (Offload::None, true)]
        {
            two_paths(offload, checksum, 10_000_000, 10_000_000);
        }
    });
}

#[test]
fn a_hundred_megabytes() {
    within(2 * LIMIT, || {
        two_paths(Offload::Full, false, 100_000_000, 100_000_000);
        two_paths(Offload::None, false, 100_000_000, 0);
    });
}

/// A gigabyte in each direction, with offload.
#[test]
fn a_gigabyte() {
    within(Duration::from_secs(200), || {
        two_paths(Offload::Full, false, 1_000_000_000, 0);
        two_paths(Offload::Full, false, 0, 1_000_000_000);
    });
}
