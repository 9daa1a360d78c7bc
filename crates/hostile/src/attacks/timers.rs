//! Attacks that leave state or timers on the host: a peer that vanishes before the connection ends, or moves a deadline
//! repeatedly.
//!
//! The host must free the memory, and must not wake up endlessly. Each attack returns its cost for the host
//! as a [`Sample`]; `tests/it/attacks.rs` compares it with a bound. `size` is the number of repetitions, days
//! or bytes, as each function states. A [`Scene`] is a host with one attacking peer. `Scene::hit` delivers a
//! segment; `Scene::strike` also measures the processor time.
//!
//! Owns the attacks; `attacks` owns their list.

use bytes::Bytes;
use mptcp::Config;
use mptcp_clock::Duration;

use super::sample::{Sample, measured};
use crate::meter;
use crate::peer::Offer;
use crate::scene::Scene;

const DAY: Duration = Duration::from_secs(86_400);

/// Opens `size` connections. Each sends MP_FAIL after both DATA_FINs and before the acknowledgement of the host's FIN.
/// No connection may live for a day.
pub(super) fn fin_wait(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer::default());
    measured(size, &mut scene, |scene| {
        for number in 0..size as u32 {
            let id = scene.open(number);
            let data = scene.peer.data(scene.now, id, 10);
            scene.hit(data);
            if let Some(&connection) = scene.connections.last() {
                scene.victim.close(scene.now, connection);
            }
            scene.collect();
            let end = scene.peer.data_fin(scene.now, id);
            scene.hit(end);
            let mut fail = scene.peer.bare(scene.now, id);
            // The host's FIN is not acknowledged yet.
            fail.acknowledgment = scene.peer.flows[id].host_next - 1;
            fail.options.mptcp.push(scene.peer.fail(id, 0));
            scene.hit(fail);
            let ack = scene.peer.bare(scene.now, id);
            scene.hit(ack);
        }
        scene.wait(DAY);
        let left: Vec<_> = scene.victim.connections().collect();
        left.into_iter().for_each(|id| scene.victim.abort(scene.now, id));
        scene.collect();
        scene.wait(DAY);
        // The peer's own memory must be the same as before the attack.
        scene.peer.clear();
        scene.peer.renew_block(65_536);
    })
}

/// The peer announces a zero window and vanishes while the host has data. Counts the wakeups in `size` days.
pub(super) fn zero_window(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer { window: 0, scale: None, ..Offer::default() });
    let id = scene.open(1);
    let first = scene.peer.data(scene.now, id, 10);
    scene.hit(first);
    measured(size, &mut scene, |scene| {
        if let Some(&connection) = scene.connections.first() {
            scene.victim.write(scene.now, connection, Bytes::from_static(&[1; 10_000]));
            scene.victim.close(scene.now, connection);
        }
        scene.collect();
        let (wakeups, nanos) = meter::clocked(|| (0..size).map(|_| scene.wait(DAY).1).sum());
        scene.nanos = nanos;
        scene.packets = wakeups;
    })
}

/// The peer acknowledges `size` bytes at the data level only, and the host closes. Measures the heap after two minutes.
pub(super) fn data_acknowledged(size: u64) -> Sample {
    let config = Config { initial_window: 100_000, send_buffer: size, ..Config::default() };
    let mut scene = Scene::new(config, Offer { scale: Some(14), ..Offer::default() });
    let id = scene.open(1);
    let first = scene.peer.data(scene.now, id, 10);
    scene.hit(first);
    let next = scene.peer.flows[id].host_next;
    measured(size, &mut scene, |scene| {
        let Some(&connection) = scene.connections.first() else { return };
        scene.victim.write(scene.now, connection, Bytes::from(vec![1; size as usize]));
        scene.collect();
        scene.now += Duration::from_millis(10);
        let mut ack = scene.peer.bare(scene.now, id);
        ack.acknowledgment = next;
        scene.strike(vec![ack]);
        scene.victim.close(scene.now, connection);
        scene.collect();
        for _ in 0..120 {
            scene.wait(Duration::from_secs(1));
        }
        // Costs are printed per packet, and this attack has only one, so each kilobyte counts as a packet.
        scene.packets = size / 1_000;
    })
}

/// `size` packets of a live peer move the next deadline back and forth, so stale entries in a timer queue would
/// accumulate.
pub(super) fn deadline_heap(size: u64) -> Sample {
    let mut scene = Scene::new(Config::default(), Offer { window: 0, scale: None, ..Offer::default() });
    let id = scene.open(1);
    let first = scene.peer.data(scene.now, id, 10);
    scene.hit(first);
    if let Some(&connection) = scene.connections.first() {
        // The window probe is a timer in the distant future.
        scene.victim.write(scene.now, connection, Bytes::from_static(&[1; 1_000]));
    }
    scene.collect();
    scene.wait(Duration::from_secs(600));
    measured(size, &mut scene, |scene| {
        for _ in 0..size {
            let data = scene.peer.data(scene.now, id, 1);
            scene.strike(vec![data]);
            scene.wait(Duration::from_millis(45));
        }
    })
}
