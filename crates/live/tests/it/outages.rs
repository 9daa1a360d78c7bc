//! Transfers to and from Linux while links go down and up at random.
//!
//! No transfer stalls for longer than the outage, the next retransmission timeout and half a second, and every byte
//! arrives. OUTAGES sets the number of transfers (100), OUTAGES_SEED the seed (1), and OUTAGES_PCAP a directory for
//! captures of rounds with a stall.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod links;
mod watch;

use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::laboratory::{
    Namespace, PORT, Protocol, alone, at, greet, linux, linux_subflows, ours, wait_until,
};
use links::{How, Links};
use mptcp_clock::Rng;
use mptcp_live::{Config, Driver, Interface, MptcpListener, MptcpStream, Offload, SubflowInfo, SubflowState};
use watch::{Outcome, Summary, Transfer};

/// Simultaneous transfers over the same links.
const SIDE_BY_SIDE: u64 = 5;
/// Simultaneous namespaces.
const SITES: u64 = 4;

/// Random parameters of a site, for all its rounds.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Linux opens the connections.
    linux_opens: bool,
    /// Each end knows both addresses of the other: four subflows.
    four: bool,
    /// Linux's sending rate is limited.
    limited: bool,
}

fn variable<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A namespace and an endpoint over two paths.
struct Site {
    shape: Shape,
    mine: MptcpListener,
    theirs: TcpListener,
    driver: Driver,
    namespace: Namespace,
}

/// None if the machine lacks a feature.
fn site(shape: Shape, pcap: Option<&Path>) -> Option<Site> {
    let namespace = Namespace::bare()?;
    let tuns = [1, 2].map(|path| namespace.device(path, Offload::Full).unwrap());
    for path in [1, 2] {
        if shape.limited {
            namespace.limit(path, "200mbit", "300k");
        }
    }
    if shape.four {
        let flags = if shape.linux_opens { "subflow fullmesh" } else { "signal" };
        namespace.ip(&format!("mptcp endpoint add {} dev path2 {flags}", linux(2))).unwrap();
    }
    let interfaces = tuns.into_iter().zip(1_u8..).map(|(tun, path)| Interface::new(tun, [ours(path)]));
    let driver = Driver::start_captured(interfaces.collect(), pcap).unwrap();
    let theirs = namespace.listen(at("0.0.0.0".parse().unwrap()), Protocol::Mptcp);
    let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
    Some(Site { shape, mine, theirs, driver, namespace })
}

/// Opens one connection of a round.
fn connect(site: &Site) -> (MptcpStream, TcpStream) {
    if site.shape.linux_opens {
        let them = site.namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        return (site.mine.accept().unwrap().0, them);
    }
    let us = MptcpStream::connect(&site.driver, at(linux(1)), Config::default()).unwrap();
    (us, site.theirs.accept().unwrap().0)
}

/// Waits until either end has another subflow that carries data.
fn joined(us: &MptcpStream, them: &TcpStream) {
    wait_until("another subflow carries data", || {
        greet(us, them);
        let subflows = us.info().unwrap().subflows;
        let ready = |s: &&SubflowInfo| s.state == SubflowState::Established && !s.probation;
        let paths: BTreeSet<_> = subflows.iter().filter(ready).map(|s| s.interface).collect();
        paths.len() == 2 && linux_subflows(them).is_some_and(|more| more > 0)
    });
}

/// Runs several transfers while the links of a site go down and up.
fn round(site: &Site, seed: u64) -> Vec<Outcome> {
    let mut random = Rng::new(seed, "round");
    let how = [How::Silence, How::Linux, How::Interface][random.below(3) as usize];
    let links = Links::draw(&mut random, how, &site.namespace, &site.driver);
    let transfers: Vec<Transfer> = (0..SIDE_BY_SIDE)
        .map(|_| {
            let (us, them) = connect(site);
            if how == How::Interface {
                joined(&us, &them);
            }
            Transfer::draw(&mut random, us, them)
        })
        .collect();
    std::thread::scope(|scope| {
        let running: Vec<_> = transfers.iter().map(|transfer| scope.spawn(|| transfer.run(&links))).collect();
        links.play();
        let case = format!("{:?} {how:?} seed {seed}", site.shape);
        running.into_iter().map(|thread| thread.join().unwrap().of(&case)).collect()
    })
}

/// Runs rounds on one site after another, until enough transfers are done.
fn work(seed: u64, left: &AtomicU64, total: &Mutex<Summary>, pcap: Option<&PathBuf>) {
    let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(SIDE_BY_SIDE));
    let rounds = if pcap.is_some() { 1 } else { 10 };
    for number in 0.. {
        let mut random = Rng::new(seed, "site").child(&number.to_string());
        let shape =
            Shape { linux_opens: random.chance(0.5), four: random.chance(0.6), limited: random.chance(0.5) };
        let file = pcap.map(|directory| directory.join(format!("{seed}-{number}.pcapng")));
        let Some(site) = site(shape, file.as_deref()) else { return };
        for _ in 0..rounds {
            if take().is_err() {
                return;
            }
            let outcomes = round(&site, random.next_u64());
            let stalled = outcomes.iter().any(|outcome| !outcome.in_time() || !outcome.intact);
            outcomes.into_iter().for_each(|outcome| total.lock().unwrap().add(outcome));
            if let Some(file) = file.as_ref().filter(|_| !stalled) {
                let _ = std::fs::remove_file(file);
            }
        }
    }
}

/// 10,000 transfers: OUTAGES=10000 cargo test -p mptcp-live --test it outages:: -- --nocapture
#[test]
fn links_go_down_and_up() {
    let (count, seed) = (variable("OUTAGES", 100_u64), variable("OUTAGES_SEED", 1_u64));
    let pcap = std::env::var_os("OUTAGES_PCAP").map(PathBuf::from);
    alone(Duration::from_secs(60 + count / 2), move || {
        let begin = Instant::now();
        let (left, total) = (AtomicU64::new(count), Mutex::new(Summary::default()));
        std::thread::scope(|scope| {
            for site in 0..SITES {
                let (left, total, pcap) = (&left, &total, pcap.as_ref());
                scope.spawn(move || work(seed.wrapping_mul(1_000) + site, left, total, pcap));
            }
        });
        let total = total.into_inner().unwrap();
        println!("{total}in {:.0} s", begin.elapsed().as_secs_f64());
        assert!(
            total.violations.is_empty(),
            "{} stalled too long or were not intact",
            total.violations.len()
        );
    });
}
