//! Tests controllers that set windows and pace, with a real clock and threads.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use mptcp_live::congestion::{Bbr, Bbr3, CongestionControl, Dctcp, LinuxCubic};
use mptcp_live::policy::Factory;
use mptcp_live::{Config, Edge, Impairment, MptcpStream};

use crate::laboratory::{Fixture, Protocol, at, ferry, linux};

/// Sends ten megabytes over two paths, one with 1% loss.
fn send(congestion: Factory<dyn CongestionControl>) {
    let outgoing = Impairment { loss: 0.01, ..Impairment::default() };
    let edge = move |path: u8| (path == 2).then_some(Edge { seed: 1, outgoing, ..Edge::default() });
    let Some((namespace, driver)) = Fixture::paths(2).edge(edge).build() else { return };
    let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
    let name = congestion.name();
    let config = Config { congestion, ..Config::default() };
    let us = MptcpStream::connect(&driver, at(linux(1)), config).unwrap();
    let (them, _) = theirs.accept().unwrap();
    ferry(&us, &them, 10_000_000, 1_000_000, name);
}

#[test]
fn bbr_sends_to_linux() {
    crate::laboratory::within(crate::laboratory::LIMIT, || {
        send(Bbr::default().into());
        send(Bbr3::default().into());
    });
}

#[test]
fn cubic_of_whole_segments_and_dctcp_send_to_linux() {
    crate::laboratory::within(crate::laboratory::LIMIT, || {
        send(LinuxCubic::new(250).into());
        send(Dctcp::default().into());
    });
}
