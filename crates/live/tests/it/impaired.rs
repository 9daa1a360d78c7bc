//! Tests an impaired network between Linux and mptcplab: loss, reordering and duplication in both directions, on one
//! path and on two.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use crate::laboratory::{
    Fixture, PORT, Protocol, at, established, ferry, greet, linux, linux_subflows, ours, wait_until, within,
};
use mptcp_live::{Config, Edge, Impairment, MptcpListener, MptcpStream, Offload};

/// Time limit of a test.
const LIMIT: Duration = Duration::from_secs(150);

/// Applies one impairment in both directions.
fn both_ways(seed: u64, what: Impairment) -> Edge {
    Edge { seed, incoming: what, outgoing: what, ..Edge::default() }
}

/// Transfers `bytes` in both directions over impaired paths, once with mptcplab as the client and once as the server.
fn across(paths: u8, offload: Offload, checksum: bool, what: Impairment, bytes: u64) {
    let edge = move |path: u8| Some(both_ways(path.into(), what));
    let Some((namespace, driver)) = Fixture::paths(paths).offload(offload).edge(edge).build() else { return };
    let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
    let config = Config { checksum, ..Config::default() };
    let mine = MptcpListener::bind(&driver, PORT, config.clone()).unwrap();
    for client in [true, false] {
        let (us, them) = if client {
            let us = MptcpStream::connect(&driver, at(linux(1)), config.clone()).unwrap();
            (us, theirs.accept().unwrap().0)
        } else {
            let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            (mine.accept().unwrap().0, them)
        };
        if client {
            greet(&us, &them);
        } else {
            greet(&them, &us);
        }
        let all = || established(&us) == usize::from(paths) && linux_subflows(&them) == Some(paths - 1);
        wait_until("all subflows are there", all);
        ferry(&us, &them, bytes, bytes, &format!("{paths} paths, {offload:?}, {what:?}, client {client}"));
        // With offload there are so few packets that none may be hit.
        if what.loss > 0.0 && offload == Offload::None {
            let info = us.info().unwrap();
            assert!(info.subflows.iter().any(|subflow| subflow.retransmissions > 0), "nothing was lost");
        }
    }
}

const LOSS: Impairment = Impairment { loss: 0.02, duplicate: 0.0, reorder: 0.0, depth: 0 };
const DOUBLES: Impairment = Impairment { loss: 0.0, duplicate: 0.1, reorder: 0.0, depth: 0 };
const DISORDER: Impairment = Impairment { loss: 0.0, duplicate: 0.0, reorder: 0.05, depth: 4 };
const ALL: Impairment = Impairment { loss: 0.01, duplicate: 0.02, reorder: 0.02, depth: 3 };

#[test]
fn loss_on_one_path() {
    within(LIMIT, || {
        across(1, Offload::None, false, LOSS, 1_000_000);
        across(1, Offload::Full, false, LOSS, 1_000_000);
    });
}

#[test]
fn loss_on_two_paths() {
    within(LIMIT, || {
        across(2, Offload::None, true, LOSS, 1_000_000);
        across(2, Offload::Full, false, LOSS, 1_000_000);
    });
}

#[test]
fn transfers_survive_duplication() {
    within(LIMIT, || {
        for paths in [1, 2] {
            across(paths, Offload::None, false, DOUBLES, 1_000_000);
            across(paths, Offload::Full, true, DOUBLES, 1_000_000);
        }
    });
}

#[test]
fn transfers_survive_reordering() {
    within(LIMIT, || {
        for paths in [1, 2] {
            across(paths, Offload::None, false, DISORDER, 1_000_000);
            across(paths, Offload::Full, true, DISORDER, 1_000_000);
        }
    });
}

#[test]
fn everything_at_once() {
    within(LIMIT, || {
        for paths in [1, 2] {
            across(paths, Offload::None, true, ALL, 2_000_000);
            across(paths, Offload::Full, false, ALL, 2_000_000);
        }
    });
}
