//! The network and its flows at a moment, as numbers: `Frame` in `web/src/engine/types.ts`.
//!
//! Owns the layout of the two arrays, and the words for limits. Looking changes no result.

use mptcp_lab::netsim::Position;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::{PacketKind, World};
use mptcp_lab::{Instant, mptcp};
use serde_json::{Value, json};

/// Values per direction: see `DIRECTION_FIELDS` of the page.
pub const DIRECTION_STRIDE: usize = 9;
/// Values per packet: see `PACKET_FIELDS` of the page.
pub const PACKET_STRIDE: usize = 6;
/// A missing flow or subflow.
const NONE: f32 = 65_535.0;

/// The state of each direction of each link.
pub fn directions(scenario: &Scenario, world: &mut World) -> Vec<f64> {
    let mut values = Vec::with_capacity(2 * scenario.links.len() * DIRECTION_STRIDE);
    for (link, spec) in scenario.links.iter().enumerate() {
        for backward in [false, true] {
            let Some(view) = world.direction_view(link, backward) else { continue };
            let known = |rate: u64| rate as f64;
            let rate = view.rate.filter(|_| spec.station.is_none()).map_or(f64::NAN, known);
            values.extend([
                view.queued_bytes as f64,
                view.queued_frames as f64,
                rate,
                view.delay.as_secs_f64(),
                view.loss.unwrap_or(f64::NAN),
                f64::from(u8::from(view.up)),
                view.queue_drops as f64,
                view.random_losses as f64,
                view.sent_bytes as f64,
            ]);
        }
    }
    values
}

/// At most `most` packets, at most `per_direction` of each direction.
#[must_use]
pub fn packets(
    scenario: &Scenario,
    world: &World,
    now: Instant,
    per_direction: usize,
    most: usize,
) -> Vec<f32> {
    let mut values = Vec::new();
    for link in 0..scenario.links.len() {
        for backward in [false, true] {
            let left = (most - values.len() / PACKET_STRIDE).min(per_direction);
            for packet in world.packets(now, link, backward, left) {
                let place = match packet.position {
                    Position::Travelling(part) => part as f32,
                    Position::Queued(ahead) => -1.0 - ahead as f32,
                };
                let kind = match packet.kind {
                    PacketKind::Data => 0.0,
                    PacketKind::Acknowledgement => 1.0,
                    PacketKind::Again => 2.0,
                    PacketKind::Control => 3.0,
                    PacketKind::Datagram => 4.0,
                };
                let number = |at: Option<usize>| at.map_or(NONE, |at| at as f32);
                let way = if backward { 1.0 } else { 0.0 };
                values.extend([link as f32, way, place, kind, number(packet.flow), number(packet.subflow)]);
            }
        }
    }
    values
}

/// The flows: `FlowView`s of the page.
#[must_use]
pub fn flows(scenario: &Scenario, world: &World, now: Instant) -> Value {
    let paths = world.path_names();
    let one = |flow: usize| {
        let progress = world.progress(now, flow)?;
        let limits = world.limits_now(flow);
        let subflows: Vec<Value> = progress
            .subflows
            .iter()
            .map(|subflow| {
                let info = &subflow.info;
                let limit = limits.iter().find(|(id, _)| *id == info.id).map(|(_, limit)| limit.name());
                json!({
                    "path": paths.iter().position(|known| known == subflow.path),
                    "cwnd": info.cwnd,
                    "ssthresh": info.ssthresh,
                    "inFlight": info.in_flight,
                    "srtt": info.srtt.map(mptcp_lab::Duration::as_secs_f64),
                    "minRtt": info.min_rtt.map(mptcp_lab::Duration::as_secs_f64),
                    "backup": info.backup,
                    "limit": limit,
                })
            })
            .collect();
        Some(json!({
            "written": progress.written,
            "received": progress.received,
            "sendQueue": progress.send_queue,
            "peerWindow": progress.peer_window,
            "outOfOrder": progress.out_of_order,
            "receiveBuffer": progress.receive_buffer,
            "finished": progress.is_finished,
            "multipath": progress.mode == Some(mptcp::Mode::Multipath),
            "fellBack": progress.fell_back,
            "subflows": subflows,
        }))
    };
    Value::Array((0..scenario.flows.len()).filter_map(one).collect())
}
