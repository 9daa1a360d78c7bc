//! Attacks on the memory of a connection: out-of-order, unread or unmapped data.
//!
//! Each attack fills the buffers of the host with data that costs more memory than its payload. The host must
//! count the real cost, so that its memory stays near its buffer sizes. `size` is the number of segments, or
//! of joins for `dead_joins`. A block is the allocation that contains a payload; a stored payload keeps its
//! whole block in memory.
//!
//! A [`Scene`] is a host with one attacking peer; a [`Sample`] is the cost of an attack. Owns the attacks;
//! `attacks` owns their list, with a description of each.

use bytes::Bytes;
use mptcp::Config;

use super::sample::{Sample, measured, volley};
use crate::peer::{BLOCK, Offer};
use crate::scene::Scene;

/// Payload of a full frame, in bytes.
const FULL: usize = 1_400;

fn one_megabyte() -> Config {
    Config { receive_buffer: 1 << 20, ..Config::default() }
}

fn scene(config: Config, offer: Offer) -> (Scene, usize) {
    let mut scene = Scene::new(config, offer);
    let id = scene.open(1);
    // The first data confirms the keys.
    let first = scene.peer.data(scene.now, id, 100);
    scene.hit(first);
    (scene, id)
}

/// A payload with its own allocation, as from a network card.
fn own(length: usize) -> Bytes {
    Bytes::from(vec![0x5a; length])
}

pub(super) fn shifted_subflow(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        volley(scene, size, |scene, i| {
            let ahead = 1 + (i % 1_000_000) as u32;
            scene.peer.data_at(scene.now, id, ahead, own(FULL))
        });
    })
}

pub(super) fn shifted_data(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        let data = scene.peer.links[0].data_next;
        volley(scene, size, |scene, i| {
            let payload = own(FULL);
            let relative = scene.peer.flows[id].next.offset_from(scene.peer.flows[id].iss) as u32;
            let mut segment = scene.peer.data_at(scene.now, id, 0, Bytes::new());
            segment.options.dss = scene.peer.mapping(id, data + 1 + i % 1_000_000, relative, &payload);
            segment.payload = payload;
            scene.peer.skip(id, FULL as u32);
            segment
        });
    })
}

pub(super) fn pinned_blocks(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    let sample = measured(size, &mut scene, |scene| {
        for i in 0..size {
            scene.peer.renew_block(BLOCK);
            let payload = scene.peer.payload(0, 1);
            let segment = scene.peer.data_at(scene.now, id, 1 + 2 * i as u32, payload);
            scene.strike(vec![segment]);
        }
        scene.peer.renew_block(65_536);
    });
    drop(scene);
    sample
}

pub(super) fn pinned_in_order(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    scene.reads = false;
    measured(size, &mut scene, |scene| {
        for _ in 0..size {
            scene.peer.renew_block(BLOCK);
            let segment = scene.peer.data(scene.now, id, 1);
            scene.strike(vec![segment]);
        }
        scene.peer.renew_block(65_536);
    })
}

pub(super) fn dead_joins(size: u64) -> Sample {
    let (mut scene, _) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        for number in 0..size as u32 {
            let id = scene.join(0, 100 + number);
            volley(scene, 700, |scene, i| scene.peer.data_at(scene.now, id, 1 + 1_402 * i as u32, own(FULL)));
            let reset = scene.peer.reset(scene.now, id);
            scene.hit(reset);
        }
    })
}

pub(super) fn unread_bytes(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    scene.reads = false;
    measured(size, &mut scene, |scene| volley(scene, size, |scene, _| scene.peer.data(scene.now, id, 1)))
}

pub(super) fn mappings(size: u64) -> Sample {
    let (mut scene, id) = scene(one_megabyte(), Offer::default());
    measured(size, &mut scene, |scene| {
        let data = scene.peer.links[0].data_next;
        let relative = scene.peer.flows[id].next.offset_from(scene.peer.flows[id].iss) as u32;
        volley(scene, size, |scene, i| {
            let mut segment = scene.peer.bare(scene.now, id);
            segment.options.dss = scene.peer.mapping(id, data + i, relative.wrapping_add(i as u32), &[0]);
            segment
        });
    })
}

pub(super) fn held_for_checksum(size: u64) -> Sample {
    let offer = Offer { checksum: true, ..Offer::default() };
    let (mut scene, id) = scene(Config { checksum: true, ..one_megabyte() }, offer);
    measured(size, &mut scene, |scene| {
        let whole = scene.peer.payload(0, 65_535);
        let data = scene.peer.links[0].data_next;
        let relative = scene.peer.flows[id].next.offset_from(scene.peer.flows[id].iss) as u32;
        volley(scene, size, |scene, _| {
            let mut segment = scene.peer.data_at(scene.now, id, 0, Bytes::new());
            segment.options.dss = scene.peer.mapping(id, data, relative, &whole);
            segment.payload = own(1);
            scene.peer.skip(id, 1);
            segment
        });
    })
}
