//! A connection as seen at one place: its subflows, its data, and its limits at each moment.

use std::net::SocketAddr;

use mptcp_wire::crypto::Version;
use mptcp_wire::{DataSequence, MptcpOption};

use super::capacity::Capacity;
use super::direction::Direction;
use super::half::SentKind;
use super::ladder::Ladder;
use super::reset_reason::reset_reason;
use super::subflow::{ActiveMapping, Place, Request, Subflow};
use crate::capture::{PacketRef, SeenSegment};

/// Announced addresses that are remembered, at most.
const MOST_ADDRESSES: usize = 64;
/// Events that are remembered, at most.
const MOST_EVENTS: usize = 256;
const SECOND: u64 = 1_000_000_000;
/// Longest time in which a host answers an acknowledgement with data, ns. It includes the wake-up of a writer.
const PROMPT: u64 = 500_000;

/// An announced address.
#[derive(Clone, Debug)]
pub(crate) struct Announced {
    pub(crate) side: usize,
    pub(crate) id: u8,
    pub(crate) address: SocketAddr,
    pub(crate) time: u64,
    pub(crate) packet: PacketRef,
    pub(crate) echoed: Option<PacketRef>,
    pub(crate) removed: Option<PacketRef>,
}

/// Something that happened to the connection.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) time: u64,
    pub(crate) packet: PacketRef,
    pub(crate) subflow: u16,
    pub(crate) what: String,
}

/// How a connection came to use TCP.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fallback {
    /// MP_FAIL: a checksum was wrong.
    pub(crate) fail: Option<(u64, PacketRef)>,
    /// An infinite mapping.
    pub(crate) infinite: Option<(u64, PacketRef)>,
    /// Data without a mapping.
    pub(crate) unmapped: Option<(u64, PacketRef)>,
}

/// A connection as seen at one place.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) started: u64,
    pub(crate) last_seen: u64,
    /// Numbers of its subflows in the tracker.
    pub(crate) subflows: Vec<usize>,
    pub(crate) directions: [Direction; 2],
    pub(crate) version: Option<Version>,
    pub(crate) key: [Option<u64>; 2],
    pub(crate) token: [Option<u32>; 2],
    pub(crate) is_mptcp: bool,
    pub(crate) announced: Vec<Announced>,
    pub(crate) events: Vec<Event>,
    pub(crate) fallback: Fallback,
    pub(crate) data_fin: [Option<(u64, PacketRef)>; 2],
    pub(crate) fast_close: Option<PacketRef>,
    pub(crate) ladder: Ladder,
    pub(super) examined: u64,
    /// Time and packet of the last segment, whose effect is examined.
    pub(super) last_packet: (u64, PacketRef),
}

impl View {
    pub(crate) fn new(segment: &SeenSegment, capacity: Capacity) -> Self {
        Self {
            started: segment.time,
            last_seen: segment.time,
            subflows: Vec::new(),
            directions: [Direction::new(segment.time, capacity), Direction::new(segment.time, capacity)],
            version: None,
            key: [None; 2],
            token: [None; 2],
            is_mptcp: false,
            announced: Vec::new(),
            events: Vec::new(),
            fallback: Fallback::default(),
            data_fin: [None; 2],
            fast_close: None,
            ladder: Ladder::default(),
            examined: segment.time,
            last_packet: (segment.time, segment.packet),
        }
    }

    /// Whether data travels as MPTCP: otherwise the numbers of TCP are those of the data.
    pub(crate) const fn is_mapped(&self) -> bool {
        self.is_mptcp && self.fallback.infinite.is_none() && self.fallback.unmapped.is_none()
    }

    pub(crate) fn note(&mut self, segment: &SeenSegment, subflow: u16, what: String) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(Event { time: segment.time, packet: segment.packet, subflow, what });
        }
    }

    /// Learns keys of the handshake; returns new tokens with the side of their host.
    pub(crate) fn learn_keys(&mut self, subflow: &Subflow) -> Vec<(u32, usize)> {
        let mut learned = Vec::new();
        let Request::Capable(number) = subflow.handshake.request else { return learned };
        let version = if number == 0 { Version::V0 } else { Version::V1 };
        self.version = Some(version);
        for side in 0..2 {
            if let (Some(key), None) = (subflow.handshake.key[side], self.key[side]) {
                self.key[side] = Some(key);
                let digest = version.digest(key);
                self.token[side] = Some(digest.token);
                self.directions[side].stream.start(digest.initial_sequence);
                learned.push((digest.token, side));
            }
        }
        learned
    }

    /// Takes the MPTCP options of a segment other than DSS.
    pub(crate) fn take_options(&mut self, subflow: &Subflow, segment: &SeenSegment, side: usize, index: u16) {
        self.last_seen = self.last_seen.max(segment.time);
        self.ladder.take(segment, side, index);
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::AddAddress(announced) => {
                    self.take_address(announced, subflow, segment, side, index)
                }
                MptcpOption::RemoveAddress(removed) => {
                    for id in &removed.ids {
                        for one in &mut self.announced {
                            if one.side == side && one.id == *id {
                                one.removed.get_or_insert(segment.packet);
                            }
                        }
                    }
                    self.note(segment, index, format!("REMOVE_ADDR of address {:?}", removed.ids.as_slice()));
                }
                MptcpOption::Prio(priority) => {
                    let role = if priority.backup { "a backup" } else { "no backup" };
                    self.note(segment, index, format!("MP_PRIO: the subflow becomes {role}"));
                }
                MptcpOption::Fail(_) => {
                    self.fallback.fail.get_or_insert((segment.time, segment.packet));
                    self.note(segment, index, "MP_FAIL: a DSS checksum was wrong".to_owned());
                }
                MptcpOption::FastClose(_) => {
                    if self.fast_close.is_none() {
                        self.note(segment, index, "MP_FASTCLOSE: the connection was aborted".to_owned());
                    }
                    self.fast_close.get_or_insert(segment.packet);
                }
                MptcpOption::TcpRst(reset) => {
                    self.note(segment, index, format!("reset: {}", reset_reason(reset.reason.0)));
                }
                MptcpOption::Capable(_) | MptcpOption::Join(_) => {}
            }
        }
    }

    fn take_address(
        &mut self,
        announced: &mptcp_wire::AddAddress,
        subflow: &Subflow,
        segment: &SeenSegment,
        side: usize,
        index: u16,
    ) {
        let owner = if announced.echo { 1 - side } else { side };
        if let Some(known) = self.announced.iter_mut().find(|one| one.side == owner && one.id == announced.id)
        {
            if announced.echo {
                known.echoed.get_or_insert(segment.packet);
            }
            return;
        }
        if announced.echo || self.announced.len() == MOST_ADDRESSES {
            return;
        }
        let port = announced.port.unwrap_or_else(|| subflow.ends[side].port());
        let address = SocketAddr::new(announced.address, port);
        self.announced.push(Announced {
            side,
            id: announced.id,
            address,
            time: segment.time,
            packet: segment.packet,
            echoed: None,
            removed: None,
        });
        self.note(segment, index, format!("ADD_ADDR: address {} is {address}", announced.id));
    }

    /// Takes the payload of a segment from `side`.
    pub(crate) fn take_data(
        &mut self,
        flows: &mut [Subflow],
        id: usize,
        segment: &SeenSegment,
        side: usize,
        index: u16,
    ) {
        let is_alone = index == 0 && self.subflows.iter().all(|&one| one == id || flows[one].has_no_data());
        let subflow = &mut flows[id];
        self.take_mapping(subflow, segment, side, index);
        if segment.payload == 0 {
            return;
        }
        let length = u64::from(segment.payload);
        // Data of TCP Fast Open follows the SYN.
        let sequence = segment.sequence.wrapping_add(u32::from(segment.flags.syn()));
        let Some(start) = subflow.halves[side].extend(sequence) else { return };
        let data = self.data_number(subflow, start, length, segment, side, is_alone);
        let push = segment.flags.bits() & 0x8 != 0;
        let subflow = &mut flows[id];
        let (distance, other) = (subflow.distance(side), subflow.distance(1 - side));
        let half = &mut subflow.halves[side];
        // A retransmission needs at least most of a round trip; the rest is reordering.
        half.reordering_window = if distance > SECOND / 1000 { distance as f64 / 1e9 * 0.7 } else { 0.001 };
        let losses = half.totals.lost;
        let is_new = start >= half.next();
        let kind = half.sent(start, length, data, segment.time, segment.packet, push);
        if distance > other
            && is_new
            && let Some(times) = segment.options.timestamps
        {
            half.measure_arrival(segment.time, times.value, length);
        }
        let lost = half.totals.lost - losses;
        let next = half.next();
        let step = subflow.steps[side].at(segment.time);
        step.sent += kind.new;
        step.next = step.next.max(next);
        step.lost = step.lost.saturating_add(u32::try_from(lost).unwrap_or(u32::MAX));
        if kind.is_retransmission {
            step.again += length;
        }
        if let Some(data) = data {
            self.take_data_level(flows, id, data, length, kind, segment, side, index);
        }
        if lost > 0 {
            self.directions[side].steps.at(segment.time).losses += 1;
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call of take_data")]
    fn take_data_level(
        &mut self,
        flows: &[Subflow],
        id: usize,
        data: u64,
        length: u64,
        kind: SentKind,
        segment: &SeenSegment,
        side: usize,
        index: u16,
    ) {
        let misplaced = (kind.new > 0).then(|| self.faster_free_subflow(flows, id, side, length)).flatten();
        let halves = self.subflows.iter().map(|&one| &flows[one].halves[side]);
        let fastest = halves.filter_map(|half| half.round_trips.smoothed).reduce(f64::min).unwrap_or(0.1);
        let subflow = &flows[id];
        // Far from the sender, the segment itself takes its time on the link.
        let is_far = subflow.distance(side) > subflow.distance(1 - side);
        let spacing = if is_far { 2 * subflow.halves[side].spacing() } else { 0 };
        let direction = &mut self.directions[side];
        if !kind.is_retransmission || kind.fills_hole {
            let was_idle = direction.stream.flight() == 0;
            let mapped = direction.stream.sent(data, length, index, segment.time, segment.packet);
            if was_idle {
                direction.last_progress = segment.time;
            }
            if let Some(filled) = direction.stream.take_filled() {
                direction.blame(filled);
            }
            if mapped.reinjected > 0 {
                direction.steps.at(segment.time).reinjected += mapped.reinjected;
            }
            if mapped.new > 0 {
                direction.first_data.get_or_insert(segment.time);
                direction.last_data = segment.time;
                if segment.time.saturating_sub(direction.last_release) < PROMPT + spacing {
                    direction.clocked += mapped.new;
                }
                direction.note_sent(segment.time, mapped.new, (fastest * 1e9) as u64);
                let is_thin = direction.is_thin(flows[id].halves[side].segment_size());
                if let Some((fast, delay)) = misplaced {
                    direction.misplaced.note(segment, index, fast, delay);
                }
                if is_thin {
                    direction.misplaced.note_late(segment.time, mapped.new);
                }
            }
        }
        let flight = direction.stream.flight();
        let has_window = direction.stream.window_left().is_some();
        let window = direction.stream.window_left().unwrap_or(0);
        let out_of_order = direction.stream.out_of_order();
        let step = direction.steps.at(segment.time);
        step.flight = step.flight.max(flight);
        step.window = step.window.max(window);
        step.touches_edge |= has_window && window < 2 * length.max(1400);
        step.out_of_order = step.out_of_order.max(out_of_order);
    }

    fn take_mapping(&mut self, subflow: &mut Subflow, segment: &SeenSegment, side: usize, index: u16) {
        let Some(dss) = &segment.options.dss else { return };
        self.is_mptcp = true;
        if dss.data_fin && self.data_fin[side].is_none() {
            self.data_fin[side] = Some((segment.time, segment.packet));
            self.note(segment, index, "DATA_FIN".to_owned());
        }
        let Some(mapping) = &dss.mapping else { return };
        if mapping.length == 0 {
            self.fallback.infinite.get_or_insert((segment.time, segment.packet));
            return;
        }
        let payload = u64::from(mapping.length) - u64::from(dss.data_fin);
        if payload == 0 {
            return;
        }
        let stream = &mut self.directions[side].stream;
        let number = match mapping.sequence {
            DataSequence::Wide(number) => stream.wide(number),
            DataSequence::Short(number) => stream.short(number),
        };
        let Some(data) = number else { return };
        let half = &mut subflow.halves[side];
        // Numbers of mappings are relative to the SYN. Without it, the segment that carries the option is the reference.
        let start = if subflow.handshake.initial[side].is_some() {
            // The nearest number with these 32 bits. One before the SYN is no mapping.
            let ahead = mapping.subflow_sequence.wrapping_sub(half.next() as u32).cast_signed();
            match half.next().checked_add_signed(ahead.into()) {
                Some(start) => start,
                None => return,
            }
        } else {
            match half.extend(segment.sequence) {
                Some(start) => start,
                None => return,
            }
        };
        subflow.mappings[side] = Some(ActiveMapping { start, end: start.saturating_add(payload), data });
    }

    /// The number of payload at the data level; None if it is unknown.
    fn data_number(
        &mut self,
        subflow: &mut Subflow,
        start: u64,
        length: u64,
        segment: &SeenSegment,
        side: usize,
        is_alone: bool,
    ) -> Option<u64> {
        if !self.is_mapped() {
            self.directions[side].stream.follow(start);
            return Some(start);
        }
        if let Some(mapping) = subflow.mappings[side]
            && start >= mapping.start
            && start < mapping.end
        {
            return Some(mapping.data.saturating_add(start - mapping.start));
        }
        // MP_CAPABLE with data: the mapping starts with the first byte (RFC 8684 section 3.1).
        let mapped = segment.options.mptcp.iter().find_map(|one| match one {
            MptcpOption::Capable(capable) => Some(capable.data.map_or(0, |(length, _)| u64::from(length))),
            _ => None,
        });
        if let Some(mapped) = mapped
            && start == 1
        {
            let end = mapped.max(length).saturating_add(1);
            subflow.mappings[side] = Some(ActiveMapping { start: 1, end, data: 1 });
            return Some(1);
        }
        let is_first = is_alone && subflow.handshake.is_agreed && !segment.has_cut_options;
        let is_unmapped = is_first && !segment.options.has_mptcp() && start >= subflow.halves[side].next();
        if is_unmapped && subflow.mappings[side].is_none_or(|map| start >= map.end) {
            // RFC 8684 section 3.7: data without DSS means that a middlebox removes options.
            self.fallback.unmapped.get_or_insert((segment.time, segment.packet));
            return Some(start);
        }
        None
    }

    /// Takes the acknowledgement and window of a segment that arrives at `side`, the sender of the data.
    pub(crate) fn take_acknowledgement(
        &mut self,
        flows: &mut [Subflow],
        id: usize,
        segment: &SeenSegment,
        side: usize,
        time: u64,
    ) {
        if !segment.flags.ack() {
            return;
        }
        let is_mapped = self.is_mapped();
        let subflow = &mut flows[id];
        let scale = match segment.flags.syn() {
            true => 0,
            // Without the handshake, Linux's usual scale of 7 is a better guess than none.
            false => subflow.halves[1 - side].window_scale.unwrap_or(7),
        };
        let window = u64::from(segment.window) << scale;
        let direction = &mut self.directions[side];
        let half = &mut subflow.halves[side];
        let blocks = segment.options.sack.iter().map(|(left, right)| (left.value(), right.value()));
        let stream = &mut direction.stream;
        let before = half.totals;
        let is_new =
            half.acknowledged(segment.acknowledgment, blocks, time, segment.packet, &mut |delivered| {
                stream.arrived(delivered);
            });
        let after = half.totals;
        if after.delivered != before.delivered || after.lost != before.lost {
            let (last, next) = (half.round_trips.last, half.next());
            let step = subflow.steps[side].at(time);
            step.delivered += after.delivered - before.delivered;
            step.lost = step.lost.saturating_add(u32::try_from(after.lost - before.lost).unwrap_or(u32::MAX));
            step.acknowledged = step.acknowledged.max(next - half.flight().min(next));
            if let Some(last) = last
                && is_new
                && !half.uses_echoes
            {
                step.rtt_sum += last as f32;
                step.rtt_count += 1;
                step.rtt_max = step.rtt_max.max(last as f32);
            }
            if after.lost > before.lost {
                direction.steps.at(time).losses += 1;
            }
        }
        if is_new {
            direction.last_release = time;
        }
        let number = if is_mapped {
            match segment.options.dss.as_ref().and_then(|dss| dss.ack) {
                Some(DataSequence::Wide(number)) => stream.wide(number),
                Some(DataSequence::Short(number)) => stream.short(number),
                None => None,
            }
        } else {
            // Without mappings, the numbers of the data are those of the only subflow.
            let number = half.extend(segment.acknowledgment);
            number.inspect(|number| stream.follow(*number))
        };
        if let Some(number) = number {
            let newly = stream.acknowledge(number, window);
            if newly > 0 {
                let since = time.saturating_sub(direction.last_progress);
                direction.last_progress = time;
                direction.stall = direction.stall.max(since);
                direction.steps.at(time).delivered += newly;
            }
        }
    }

    /// Whether the only subflow misses data of the connection, which another one must have carried.
    pub(crate) fn lacks_a_subflow(&self) -> bool {
        self.subflows.len() == 1 && self.directions.iter().any(|one| one.stream.lacks_a_subflow())
    }

    /// Notes the segment whose effect follows.
    pub(crate) const fn mark(&mut self, time: u64, packet: PacketRef) {
        self.last_packet = (time, packet);
    }

    /// The place of the capture, from its subflows.
    pub(crate) fn place(&self, flows: &[Subflow]) -> Place {
        let places = self.subflows.iter().map(|&id| flows[id].place());
        places.into_iter().find(|place| *place != Place::Unknown).unwrap_or(Place::Unknown)
    }
}
