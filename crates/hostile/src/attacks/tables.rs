//! Attacks on state that all connections share: the limit of resets that answer unknown segments, announced
//! addresses, lookup tables, and the backlogs of listeners.
//!
//! The host, which is the attacked endpoint, must bound this state, and still serve honest peers. `size` is
//! the number of packets, addresses, joins or connections, except in `syn_flood`, where it is SYNs per
//! second. A [`Scene`] is a host with one attacking peer; a [`Sample`] is the cost of an attack.
//!
//! Owns the attacks; `attacks` owns their list.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use mptcp::Config;
use mptcp_clock::Duration;
use mptcp_wire::{Flags, Segment, Seq};

use super::sample::{Sample, measured, volley};
use crate::meter;
use crate::peer::{Offer, Peer};
use crate::scene::{PORT, Scene};

/// Sends ACKs to a closed port. The host may send only a limited number of resets.
pub(super) fn strays(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer::default());
    measured(size, &mut scene, |scene| {
        let ((), nanos) = meter::clocked(|| {
            for i in 0..size {
                let mut segment = Segment::new(Scene::caller(i as u32), (scene.addresses[0], 9).into());
                segment.flags = Flags::ACK;
                segment.acknowledgment = Seq::new(i as u32);
                scene.deliver(segment);
            }
        });
        scene.nanos = nanos;
    })
}

/// Sends ADD_ADDRs on a connection in TIME-WAIT. Each would normally be answered by an echo.
pub(super) fn time_wait_echoes(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer::default());
    let id = scene.open(1);
    let data = scene.peer.data(scene.now, id, 10);
    scene.hit(data);
    let first = scene.connections.first().copied();
    first.into_iter().for_each(|connection| scene.victim.close(scene.now, connection));
    scene.collect();
    for segment in [Peer::data_fin, Peer::fin] {
        let segment = segment(&mut scene.peer, scene.now, id);
        scene.hit(segment);
        scene.collect();
    }
    let ack = scene.peer.bare(scene.now, id);
    scene.hit(ack);
    measured(size, &mut scene, |scene| {
        volley(scene, size, |scene, i| {
            let mut segment = scene.peer.bare(scene.now, id);
            segment.options.dss = None;
            let address = IpAddr::from([10, 7, (i >> 8) as u8, i as u8]);
            segment.options.mptcp.push(scene.peer.add_address(id, 1 + (i % 200) as u8, address, None));
            segment
        });
    })
}

/// An address of the peer for `port`, such that the four-tuples of all these addresses and ports with `host`
/// have the same FxHash (rustc-hash 2.1). All addresses are in one /64.
fn colliding(host: SocketAddr, prefix: u64, port: u16) -> Ipv6Addr {
    const K: u64 = 0xf135_7aea_2e62_a9c5;
    // Newton's iteration doubles the number of correct bits in each step.
    let inverse = (0..6).fold(K, |x, _| x.wrapping_mul(2_u64.wrapping_sub(K.wrapping_mul(x))));
    let local = match host.ip() {
        IpAddr::V6(address) => u128::from(address),
        IpAddr::V4(address) => 0xffff << 32 | u128::from(u32::from(address)),
    };
    let state = (local as u64).wrapping_mul(K).wrapping_add((local >> 64) as u64).wrapping_mul(K);
    let ports = u64::from(host.port()) << 16 | u64::from(port);
    let target = 0x0123_4567_89ab_cdef_u64;
    let before = target.wrapping_sub(ports).wrapping_mul(inverse).wrapping_sub(prefix).wrapping_mul(inverse);
    let low = before.wrapping_sub(state);
    Ipv6Addr::from(u128::from(prefix) << 64 | u128::from(low))
}

/// Sends 1,000 ACKs to `size` connections whose four-tuples collide under FxHash.
pub(super) fn collisions(size: u64) -> Sample {
    // Plain TCP makes a connection as small as possible.
    let offer = Offer { multipath: false, ..Offer::default() };
    let mut scene = Scene::new(Config::tcp(), offer);
    let host = SocketAddr::new(scene.addresses[1], PORT);
    let before = meter::live();
    for port in 0..size as u16 {
        let peer = SocketAddr::new(colliding(host, 0x2001_0db8_0000_0001, port).into(), port);
        let (id, syn) = scene.peer.call(scene.now, peer, host);
        scene.hit(syn);
        let third = scene.peer.third_ack(scene.now, id);
        scene.hit(third);
    }
    let mut sample = measured(size, &mut scene, |scene| {
        volley(scene, 1_000, |scene, i| {
            let id = super::sample::shuffled(i, size) as usize;
            scene.peer.bare(scene.now, id)
        });
    });
    sample.held = meter::live() - before;
    sample
}

/// Announces `size` addresses, and resets each join that the host attempts there.
pub(super) fn refused_addresses(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer::default());
    let Ok((_, id)) = scene.call(Config::default()) else {
        return Sample { size, held: 0, packets: 0, nanos: 0, answers: 0 };
    };
    let first = scene.peer.data(scene.now, id, 10);
    scene.hit(first);
    let flows = scene.peer.flows.clone();
    measured(size, &mut scene, |scene| {
        for i in 0..size {
            let mut segment = scene.peer.bare(scene.now, id);
            segment.options.dss = None;
            let address = IpAddr::from([10, 8 + (i >> 16) as u8, (i >> 8) as u8, i as u8]);
            segment.options.mptcp.push(scene.peer.add_address(id, 1 + (i % 200) as u8, address, None));
            scene.packets += 1;
            let (said, nanos) = meter::clocked(|| {
                scene.victim.handle_segment(scene.now, mptcp::InterfaceId(0), segment);
                let said: Vec<Segment> = std::iter::from_fn(|| scene.victim.poll_transmit(scene.now))
                    .map(|sent| sent.segment)
                    .collect();
                for syn in said.iter().filter(|said| said.flags == Flags::SYN) {
                    let mut reset = Segment::new(syn.destination, syn.source);
                    reset.flags = Flags::RST | Flags::ACK;
                    reset.acknowledgment = syn.sequence + 1;
                    scene.victim.handle_segment(scene.now, mptcp::InterfaceId(0), reset);
                }
                said.len()
            });
            scene.nanos += nanos;
            scene.answers += said as u64;
            scene.collect();
        }
        scene.peer.flows.clone_from(&flows);
    })
}

/// The sample's time is the delay until the host answers an honest join.
pub(super) fn join_flood(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer::default());
    let id = scene.open(1);
    let data = scene.peer.data(scene.now, id, 10);
    scene.hit(data);
    let mut sample = measured(size, &mut scene, |scene| {
        for number in 0..size as u32 {
            let host = scene.host();
            let (_, syn) = scene.peer.join(scene.now, 0, Scene::caller(1_000 + number), host);
            scene.hit(syn);
        }
    });
    let begin = scene.now;
    for number in 0..300 {
        let host = scene.host();
        let (_, syn) = scene.peer.join(scene.now, 0, Scene::caller(100_000 + number), host);
        if scene.hit(syn).iter().any(|answer| answer.flags.contains(Flags::SYN | Flags::ACK)) {
            break;
        }
        scene.wait(Duration::from_secs(1));
    }
    sample.nanos = scene.now.since(begin).as_nanos();
    sample.packets = 1;
    sample
}

/// `answers` of the sample is the number of honest clients, of 20, whose SYN the host answers.
pub(super) fn syn_flood(size: u64) -> Sample {
    let config = Config { multipath: false, ..Config::default() };
    let mut scene = Scene::listening(config, Offer { multipath: false, ..Offer::default() }, Some(128));
    let host = scene.host();
    let mut honest: Vec<(usize, u32, bool)> = Vec::new();
    let mut number = 0_u32;
    let mut sample = measured(size, &mut scene, |scene| {
        for tick in 0..800_u32 {
            let flood = (0..size / 100).map(|_| {
                number += 1;
                let mut syn = Segment::new(Scene::caller(1_000_000 + number), host);
                syn.flags = Flags::SYN;
                syn.sequence = Seq::new(number);
                syn
            });
            let flood = flood.collect();
            scene.strike(flood);
            // Twenty honest clients in two seconds. They retransmit the SYN after 1, 2 and 4 seconds (RFC 6298).
            if tick % 10 == 0 && tick < 200 {
                let (id, _) = scene.peer.call(scene.now, Scene::caller(tick), host);
                honest.push((id, tick, false));
            }
            for (id, since, done) in &mut honest {
                if *done || ![0, 100, 300, 700].contains(&(tick - *since)) {
                    continue;
                }
                let syn = scene.peer.syn(scene.now, *id);
                if scene.hit(syn).iter().any(|answer| answer.flags.contains(Flags::SYN | Flags::ACK)) {
                    let third = scene.peer.third_ack(scene.now, *id);
                    scene.hit(third);
                    *done = true;
                }
            }
            scene.wait(Duration::from_millis(10));
        }
    });
    sample.answers = honest.iter().filter(|(.., done)| *done).count() as u64;
    sample
}

/// Sends one SYN every 100 ms to a listener whose backlog holds `size` connections that nobody accepts.
pub(super) fn sweep(size: u64) -> Sample {
    let config = Config { multipath: false, ..Config::default() };
    let offer = Offer { multipath: false, ..Offer::default() };
    let mut scene = Scene::listening(config, offer, Some(size as usize));
    scene.accepts = false;
    for number in 0..size as u32 {
        // The connections wait for accept, so they fill the backlog.
        let host = scene.host();
        let (id, syn) = scene.peer.call(scene.now, Scene::caller(number), host);
        scene.deliver(syn);
        while let Some(transmit) = scene.victim.poll_transmit(scene.now) {
            scene.peer.take(&transmit.segment);
        }
        let third = scene.peer.third_ack(scene.now, id);
        scene.deliver(third);
    }
    measured(size, &mut scene, |scene| {
        for i in 0..100 {
            let mut syn = Segment::new(Scene::caller(1_000_000 + i), scene.host());
            syn.flags = Flags::SYN;
            scene.strike(vec![syn]);
            scene.now += Duration::from_millis(100);
        }
    })
}
