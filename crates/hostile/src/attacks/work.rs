//! Attacks on processor time: packets that cost the host far more work than their sender.
//!
//! The time per packet must not grow with `size`. `size` is the number of segments, or the bytes in flight for `rack`
//! and `redundant`. A hole is a gap in the data that the host has received.
//!
//! A [`Scene`] is a host with one attacking peer; a [`Sample`] is the cost of an attack. Owns the attacks;
//! `attacks` owns their list, with a description of each.

use bytes::Bytes;
use mptcp::Config;
use mptcp::scheduler::Redundant;
use mptcp_clock::Duration;
use mptcp_wire::Segment;

use super::sample::{Sample, measured, shuffled, volley};
use crate::meter;
use crate::peer::Offer;
use crate::scene::Scene;

fn scene(config: Config, offer: Offer) -> (Scene, usize) {
    let mut scene = Scene::new(config, offer);
    let id = scene.open(1);
    let first = scene.peer.data(scene.now, id, 100);
    scene.hit(first);
    (scene, id)
}

fn one_megabyte() -> Config {
    Config { receive_buffer: 1 << 20, ..Config::default() }
}

pub(super) fn holes(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        volley(scene, size, |scene, i| {
            let ahead = 1 + 2 * shuffled(i, size) as u32;
            let payload = Bytes::from(vec![0x5a; 1]);
            scene.peer.data_at(scene.now, id, ahead, payload)
        });
    })
}

pub(super) fn data_holes(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        let data = scene.peer.links[0].data_next;
        volley(scene, size, |scene, i| {
            let payload = Bytes::from(vec![0x5a; 1]);
            let relative = scene.peer.flows[id].next.offset_from(scene.peer.flows[id].iss) as u32;
            let mut segment = scene.peer.data_at(scene.now, id, 0, Bytes::new());
            segment.options.dss =
                scene.peer.mapping(id, data + 1 + 2 * shuffled(i, size), relative, &payload);
            segment.payload = payload;
            scene.peer.skip(id, 1);
            segment
        });
    })
}

pub(super) fn mapping_holes(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        let data = scene.peer.links[0].data_next;
        let relative = scene.peer.flows[id].next.offset_from(scene.peer.flows[id].iss) as u32;
        volley(scene, size, |scene, i| {
            let at = 2 * shuffled(i, size);
            let mut segment = scene.peer.bare(scene.now, id);
            segment.options.dss = scene.peer.mapping(id, data + at, relative.wrapping_add(at as u32), &[0]);
            segment
        });
    })
}

/// A host with `bytes` of payload to send at once, at an MSS of 64 bytes.
fn in_flight(bytes: u64, config: Config, joins: u32) -> (Scene, usize) {
    let config = Config { initial_window: 1_000_000, send_buffer: bytes, mss: 64, ..config };
    let offer = Offer { mss: Some(64), scale: Some(14), window: 60_000, ..Offer::default() };
    let (mut scene, id) = scene(config, offer);
    for number in 0..joins {
        let joined = scene.join(0, 100 + number);
        let ack = scene.peer.bare(scene.now, joined);
        scene.hit(ack);
    }
    let data = Bytes::from(vec![1; bytes as usize]);
    if let Some(&connection) = scene.connections.first() {
        scene.victim.write(scene.now, connection, data);
    }
    (scene, id)
}

pub(super) fn rack(size: u64) -> Sample {
    let (mut scene, id) = in_flight(size, Config::default(), 0);
    scene.collect();
    scene.now += Duration::from_millis(10);
    measured(size, &mut scene, |scene| {
        let first = scene.peer.flows[id].host_iss + 1;
        let step = size / 200;
        volley(scene, step, |scene, i| {
            let mut segment = scene.peer.bare(scene.now, id);
            segment.acknowledgment = first;
            segment.options.dss = None;
            let left = first + 80 + 160 * (step - i) as u32 % (size as u32 - 400);
            segment.options.sack.push((left, left + 40));
            segment
        });
    })
}

pub(super) fn redundant(size: u64) -> Sample {
    let config = Config { scheduler: Redundant.into(), ..Config::default() };
    let before = meter::live();
    let (mut scene, _) = in_flight(size, config, 3);
    let (sent, nanos) =
        meter::clocked(|| std::iter::from_fn(|| scene.victim.poll_transmit(scene.now)).count() as u64);
    Sample { size, held: meter::live() - before, packets: sent, nanos, answers: sent }
}

pub(super) fn ack_storm(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        volley(scene, size, |scene, _| {
            let mut segment: Segment = scene.peer.bare(scene.now, id);
            segment.sequence = segment.sequence + (1 << 30);
            segment
        });
    })
}
