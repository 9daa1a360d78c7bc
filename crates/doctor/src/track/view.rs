//! A connection as seen at one place: its subflows, its data, and its limits at each moment.

use std::net::SocketAddr;

use arrayvec::ArrayVec;
use mptcp_wire::crypto::Version;
use mptcp_wire::{DataSequence, MptcpOption};

use super::capacity::Capacity;
use super::half::SentKind;
use super::ladder::Ladder;
use super::reset_reason::reset_reason;
use super::series::Series;
use super::steps::{Limit, StreamStep};
use super::stream::Stream;
use super::subflow::{ActiveMapping, Place, Request, Subflow};
use crate::capture::{PacketRef, SeenSegment};

/// Announced addresses that are remembered, at most.
const MOST_ADDRESSES: usize = 64;
/// Events that are remembered, at most.
const MOST_EVENTS: usize = 256;
/// Episodes of each limit that are remembered, at most.
const MOST_EPISODES: usize = 4;
/// The state is examined at most once in this time, ns.
const RESOLUTION: u64 = 50_000;
const SECOND: u64 = 1_000_000_000;
/// Data in flight of a thin connection, in segments, at most.
const THIN: u64 = 12;
/// Longest time in which a host answers an acknowledgement with data, ns. It includes the wake-up of a writer.
const PROMPT: u64 = 500_000;
/// Segments that a subflow must have carried before its silence means something.
const SILENT: u64 = 20;

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

/// An uninterrupted time in one state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) subflow: u16,
    pub(crate) limit: Limit,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Time and packet at its start, and the packet at its end.
    pub(crate) first: (u64, PacketRef),
    pub(crate) last: PacketRef,
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

/// Counts of data that a thin connection sent on a slow path though a fast one was free.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Misplaced {
    pub(crate) bytes: u64,
    /// Sum over bytes of the additional half RTT, bytes × s.
    pub(crate) delay: f64,
    pub(crate) packet: Option<(u64, PacketRef)>,
    pub(crate) slow: u16,
    pub(crate) fast: u16,
}

/// One direction of the connection.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    pub(crate) stream: Stream,
    pub(crate) steps: Series<StreamStep>,
    /// Longest episodes of each state of each subflow.
    kept: Vec<[ArrayVec<Episode, MOST_EPISODES>; Limit::COUNT]>,
    /// Present states, by subflow.
    current: Vec<Option<Episode>>,
    pub(crate) misplaced: Misplaced,
    /// New data that was sent just after an acknowledgement arrived, bytes.
    pub(crate) clocked: u64,
    /// Time of the last acknowledgement of new data, ns.
    last_release: u64,
    /// Time of the first and last new data, ns.
    pub(crate) first_data: Option<u64>,
    pub(crate) last_data: u64,
    /// Bytes of data that subflows carried first while that subflow blocked a full window, by subflow: time, s.
    pub(crate) blocked_by: Vec<f64>,
    /// Longest time without a DATA_ACK while data was outstanding, ns.
    pub(crate) stall: u64,
    /// Time with a full window that no subflow is blamed for yet, s.
    blocked: f64,
    last_progress: u64,
    /// Time without data in flight between data, s.
    pub(crate) idle: f64,
    /// Integral of the data in flight over the time with data in flight, bytes × s, and that time, s.
    pub(crate) flight_time: f64,
    pub(crate) busy: f64,
    /// Idle time since the last data, which may be the end, s.
    pause: f64,
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
    examined: u64,
    /// Time and packet of the last segment, whose effect is examined.
    last_packet: (u64, PacketRef),
}

impl Episode {
    /// Its length, ns. Times in a damaged capture may go back.
    pub(crate) const fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl Direction {
    fn new(start: u64, capacity: Capacity) -> Self {
        Self {
            stream: Stream::new(capacity.in_flight),
            steps: Series::new(start, capacity.steps),
            kept: Vec::new(),
            current: Vec::new(),
            misplaced: Misplaced::default(),
            clocked: 0,
            last_release: 0,
            first_data: None,
            last_data: start,
            blocked_by: Vec::new(),
            stall: 0,
            blocked: 0.0,
            last_progress: start,
            idle: 0.0,
            flight_time: 0.0,
            busy: 0.0,
            pause: 0.0,
        }
    }

    /// Blames a subflow for the time that the window was full of out-of-order data.
    fn blame(&mut self, subflow: u16) {
        let index = usize::from(subflow);
        if self.blocked_by.len() <= index {
            self.blocked_by.resize(index + 1, 0.0);
        }
        self.blocked_by[index] += std::mem::take(&mut self.blocked);
    }

    /// Ends the present episode of a subflow if its state changes.
    fn note_state(
        &mut self,
        subflow: u16,
        limit: Limit,
        from: (u64, (u64, PacketRef)),
        time: u64,
        packet: PacketRef,
    ) {
        let index = usize::from(subflow);
        if self.current.len() <= index {
            self.current.resize(index + 1, None);
        }
        if let Some(current) = &mut self.current[index]
            && current.limit == limit
        {
            (current.end, current.last) = (time, packet);
            return;
        }
        let (start, first) = from;
        let next = Episode { subflow, limit, start, end: time, first, last: packet };
        if let Some(mut old) = self.current[index].replace(next) {
            (old.end, old.last) = (time, packet);
            self.keep(old);
        }
    }

    fn keep(&mut self, episode: Episode) {
        if episode.limit == Limit::Growth {
            return;
        }
        let index = usize::from(episode.subflow);
        if self.kept.len() <= index {
            self.kept.resize_with(index + 1, Default::default);
        }
        let alike = &mut self.kept[index][episode.limit as usize];
        if !alike.is_full() {
            alike.push(episode);
            return;
        }
        if let Some(shortest) = alike.iter_mut().min_by_key(|one| one.length())
            && shortest.length() < episode.length()
        {
            *shortest = episode;
        }
    }

    /// The longest episodes of each state of each subflow.
    pub(crate) fn episodes(&self) -> impl Iterator<Item = &Episode> {
        self.kept.iter().flatten().flatten()
    }

    /// Ends all present episodes.
    pub(crate) fn finish(&mut self) {
        for episode in std::mem::take(&mut self.current).into_iter().flatten() {
            self.keep(episode);
        }
    }
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
        if distance > other
            && start >= half.next()
            && let Some(times) = segment.options.timestamps
        {
            half.measure_arrival(segment.time, times.value, length);
        }
        let kind = half.sent(start, length, data, segment.time, segment.packet, push);
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
                if let Some((fast, delay)) = misplaced {
                    let counts = &mut direction.misplaced;
                    counts.bytes += mapped.new;
                    counts.delay += mapped.new as f64 * delay;
                    if counts.packet.is_none() {
                        (counts.packet, counts.slow, counts.fast) =
                            (Some((segment.time, segment.packet)), index, fast);
                    }
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

    /// A subflow with at most half of the RTT of `id`, and space for a segment; with the half RTT that it would save.
    fn faster_free_subflow(
        &self,
        flows: &[Subflow],
        id: usize,
        side: usize,
        length: u64,
    ) -> Option<(u16, f64)> {
        let own = flows[id].halves[side].round_trips.smoothed?;
        // With more data to send than this, a slow path is used for its capacity.
        if self.directions[side].stream.flight() > THIN * flows[id].halves[side].segment_size() {
            return None;
        }
        let mut best: Option<(u16, f64)> = None;
        for (number, &other) in self.subflows.iter().enumerate() {
            let subflow = &flows[other];
            if other == id || !subflow.is_established || subflow.has_ended() || subflow.is_backup() {
                continue;
            }
            let half = &subflow.halves[side];
            let Some(smoothed) = half.round_trips.smoothed else { continue };
            // Queues come and go; the scheduler should know which path is longer.
            let is_longer = |own: Option<f64>, other: Option<f64>| {
                own.zip(other).is_some_and(|(own, other)| own > 2.0 * other)
            };
            if !is_longer(flows[id].halves[side].round_trips.base, half.round_trips.base) {
                continue;
            }
            // An idle subflow may send four segments, as the initial window allows more (RFC 6928).
            let space = (half.peak() / 4).max(4 * half.segment_size());
            let is_free = half.flight() + length <= space && !half.is_in_recovery();
            if is_free && smoothed * 2.0 < own && best.is_none_or(|(_, saved)| own - smoothed > saved * 2.0) {
                best = Some((number as u16, (own - smoothed) / 2.0));
            }
        }
        best
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

    /// Accounts the time up to `time` to the states of all subflows.
    pub(crate) fn advance(&mut self, flows: &mut [Subflow], time: u64) {
        if time < self.examined + RESOLUTION {
            return;
        }
        let from = self.examined;
        self.examined = time;
        for side in 0..2 {
            if self.directions[side].first_data.is_some() {
                self.account(flows, side, from, time);
            }
        }
    }

    fn account(&mut self, flows: &mut [Subflow], side: usize, from: u64, to: u64) {
        let stream = &self.directions[side].stream;
        let size = self.subflows.first().map_or(1400, |&id| flows[id].halves[side].segment_size());
        let is_full = stream.window_left().is_some_and(|left| left < 2 * size) && stream.flight() > 0;
        let is_blocked = is_full && stream.out_of_order() * 2 > stream.flight();
        let blocking = stream.oldest();
        let is_idle = stream.flight() == 0;
        let direction = &mut self.directions[side];
        let seconds = (to - from) as f64 / 1e9;
        if is_idle {
            direction.pause += seconds;
        } else {
            direction.busy += seconds;
            direction.flight_time += seconds * direction.stream.flight() as f64;
            direction.idle += std::mem::take(&mut direction.pause);
        }
        // Data is missing for longer than a repair takes: the sender waits for a timeout, not for its application.
        let longest = self
            .subflows
            .iter()
            .filter_map(|&id| flows[id].halves[side].round_trips.smoothed)
            .fold(0.1, f64::max);
        let stalled = to.saturating_sub(self.directions[side].last_progress) as f64 / 1e9 > 2.0 * longest;
        let has_nothing = is_idle || !stalled && self.has_nothing_to_send(flows, side, to);
        for number in 0..self.subflows.len() {
            let subflow = &flows[self.subflows[number]];
            let half = &subflow.halves[side];
            if !subflow.is_established {
                continue;
            }
            let round_trip = half.round_trips.smoothed.unwrap_or(0.3);
            let silence =
                (to.saturating_sub(half.last_progress.max(half.oldest().unwrap_or(to)))) as f64 / 1e9;
            // Far from the sender, data that is here passed the path.
            let is_far = subflow.distance(side) > subflow.distance(1 - side);
            let is_dead = !is_far
                && !subflow.has_ended()
                && half.is_outstanding()
                && silence > 1.0_f64.max(4.0 * round_trip)
                && half.oldest_is_retransmitted();
            // A dead path is only silent there.
            let unheard = to.saturating_sub(half.last_sent) as f64 / 1e9;
            let is_silent = is_far
                && !has_nothing
                && !is_full
                && half.flight() == 0
                && half.totals.delivered > SILENT * half.segment_size()
                && unheard > 1.0_f64.max(8.0 * round_trip);
            let limit = if is_dead || is_silent {
                Limit::Dead
            } else if subflow.has_ended() {
                continue;
            } else if subflow.is_backup() && half.flight() == 0 && self.subflows.len() > 1 {
                Limit::Backup
            } else if is_blocked && blocking != Some(number as u16) {
                Limit::HeadOfLine
            } else if is_full && !is_blocked {
                Limit::Window
            } else if has_nothing {
                Limit::Application
            } else if stalled || half.is_after_loss(to) && half.flight() == 0 {
                // The sender waits for a timeout, or its window is tiny.
                Limit::Loss
            } else if half.flight() == 0 && !half.is_in_recovery() || half.credit() > half.peak() / 2 {
                Limit::Unused
            } else if half.is_after_loss(to) {
                Limit::Loss
            } else {
                Limit::Growth
            };
            let flight = half.flight() as f32;
            let id = self.subflows[number];
            flows[id].steps[side].spread(from, to, |step, seconds| {
                step.limits[limit as usize] += seconds;
                step.flight += flight * seconds;
            });
            let half = &flows[id].halves[side];
            let start = match limit {
                // A path is dead since its last sign of life.
                Limit::Dead if half.is_outstanding() => {
                    (half.last_progress, (half.last_progress, half.progress_packet))
                }
                Limit::Dead => (half.last_sent, (half.last_sent, half.sent_packet)),
                _ => (to, self.last_packet),
            };
            let packet = self.last_packet.1;
            self.directions[side].note_state(number as u16, limit, start, to, packet);
        }
        if is_blocked {
            let direction = &mut self.directions[side];
            // Far from the sender, the missing data shows its subflow when it arrives.
            direction.blocked += (to - from) as f64 / 1e9;
            if let Some(blocking) = blocking {
                direction.blame(blocking);
            }
        }
    }

    /// Whether every usable subflow has space, so that the sender has nothing to send.
    fn has_nothing_to_send(&self, flows: &[Subflow], side: usize, to: u64) -> bool {
        let mut has_space = false;
        for &id in &self.subflows {
            let subflow = &flows[id];
            let half = &subflow.halves[side];
            if !subflow.is_established || subflow.has_ended() || subflow.is_backup() && half.peak() == 0 {
                continue;
            }
            if half.is_in_recovery() {
                return false;
            }
            if half.flight() == 0 {
                has_space |= half.peak() > 0;
                continue;
            }
            // After a loss, TCP may gather a third of a window before it sends; otherwise two segments.
            let slack = if half.is_after_loss(to) { half.peak() * 2 / 5 } else { 2 * half.segment_size() };
            if half.credit() <= slack {
                return false;
            }
            has_space = true;
        }
        has_space
    }

    /// The place of the capture, from its subflows.
    pub(crate) fn place(&self, flows: &[Subflow]) -> Place {
        let places = self.subflows.iter().map(|&id| flows[id].place());
        places.into_iter().find(|place| *place != Place::Unknown).unwrap_or(Place::Unknown)
    }
}
