//! One TCP connection of a capture: handshake, options, both directions, and the place of the capture.

use std::collections::VecDeque;
use std::net::SocketAddr;

use arrayvec::ArrayVec;
use mptcp_wire::{MpJoin, MptcpOption};

use super::capacity::Capacity;
use super::half::Half;
use super::series::Series;
use super::steps::SubflowStep;
use crate::capture::{PacketRef, SeenSegment, SourceId};

/// Acknowledgements that wait for their arrival at the sender, at most.
const MOST_WAITING: usize = 1 << 14;
/// Longest round trip between a capture and a host, ns. Times of a damaged capture may be years apart.
const LONGEST_DISTANCE: u64 = 3_600_000_000_000;

/// Where the capture was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not known yet.
    #[default]
    Unknown,
    /// At the host that opened the subflow.
    Opener,
    /// At the other host.
    Listener,
    /// Between them.
    Middle,
}

/// How a TCP connection asked for MPTCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Request {
    /// The SYN was not captured.
    #[default]
    Unseen,
    /// A SYN without MPTCP.
    Plain,
    /// MP_CAPABLE with this version.
    Capable(u8),
    /// MP_JOIN with this token.
    Join(u32),
}

/// The first segments of a subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    pub(crate) request: Request,
    pub(crate) syn: Option<(u64, PacketRef)>,
    /// Whether the capture cut off options of the SYN, so that it may have had an MPTCP option.
    pub(crate) is_syn_cut: bool,
    /// Further SYNs, and the first one without MPTCP after one with it.
    pub(crate) repeated_syns: u32,
    pub(crate) plain_after_mptcp: Option<(u64, PacketRef)>,
    pub(crate) syn_ack: Option<(u64, PacketRef)>,
    /// Time of the last SYN, ns.
    last_syn: u64,
    /// Timestamp value and time, ns, of the first SYN/ACKs.
    answers: ArrayVec<(Option<u32>, u64), 8>,
    /// Whether the SYN/ACK has the option that the SYN asked for.
    pub(crate) is_agreed: bool,
    /// The SYN/ACK had further options, so not all of them were removed.
    pub(crate) third: Option<(u64, PacketRef)>,
    /// Whether the third ACK, or the first data, has the option.
    pub(crate) is_confirmed: bool,
    pub(crate) initial: [Option<u32>; 2],
    /// Flag C of MP_CAPABLE of each host: no joins to this address.
    pub(crate) no_join_here: [bool; 2],
    pub(crate) has_checksum: bool,
    pub(crate) key: [Option<u64>; 2],
}

/// The end of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    pub(crate) fin: [Option<(u64, PacketRef)>; 2],
    /// Side, time and packet of the first RST.
    pub(crate) reset: Option<(usize, u64, PacketRef)>,
    pub(crate) reason: Option<u8>,
}

/// An acknowledgement on its way from the capture to the sender.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) due: u64,
    pub(crate) segment: SeenSegment,
}

/// A timestamp of which the echo is awaited.
#[derive(Clone, Copy, Debug)]
struct Probe {
    value: u32,
    time: u64,
}

/// A current mapping of subflow numbers to data numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveMapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) data: u64,
}

/// One TCP connection of a capture.
#[derive(Clone, Debug)]
pub(crate) struct Subflow {
    pub(crate) source: SourceId,
    /// Addresses of the connection's client and server. All other pairs have this order too.
    pub(crate) ends: [SocketAddr; 2],
    /// The side that opened this subflow.
    pub(crate) opener: usize,
    pub(crate) started: u64,
    pub(crate) last_seen: u64,
    pub(crate) halves: [Half; 2],
    pub(crate) steps: [Series<SubflowStep>; 2],
    pub(crate) handshake: Handshake,
    pub(crate) ending: Ending,
    /// Round trip between the capture and each side, ns.
    known_distance: [Option<u64>; 2],
    /// Lower bound of the round trip between the capture and the listener after repeated SYNs, ns.
    least_distance: u64,
    probes: [Option<Probe>; 2],
    /// The last timestamp of each side.
    last_value: [Option<u32>; 2],
    waiting: [VecDeque<Waiting>; 2],
    pub(crate) mappings: [Option<ActiveMapping>; 2],
    /// Whether each side asked for a backup.
    pub(crate) backup: [bool; 2],
    pub(crate) is_established: bool,
    pub(crate) address_ids: [Option<u8>; 2],
    /// Number in its view; the view is given when it is known.
    pub(crate) view: Option<(usize, u16)>,
    /// Segments before the view was known.
    pub(crate) early: Vec<SeenSegment>,
    pub(crate) has_mptcp: bool,
    pub(crate) packets: u64,
    /// Segments with an acknowledgement and without payload, from each side.
    pub(crate) acknowledgements: [u64; 2],
    /// Whether options of a segment were cut off.
    pub(crate) has_cut_options: bool,
    /// Sequence number, length and timestamp of the last data of each side, and its time.
    last_data: [((u32, u32, u32), u64); 2],
}

impl Handshake {
    /// Time of the SYN/ACK that the third ACK answers, ns; None if several were sent and no timestamp tells.
    fn answered_by(&self, third: &SeenSegment) -> Option<u64> {
        if let [(_, time)] = self.answers[..] {
            return Some(time);
        }
        let echo = third.options.timestamps?.echo;
        self.answers.iter().find(|(value, _)| *value == Some(echo)).map(|(_, time)| *time)
    }
}

impl Subflow {
    pub(crate) fn new(segment: &SeenSegment, opener_is_sender: bool, capacity: Capacity) -> Self {
        let ends = if opener_is_sender { [segment.from, segment.to] } else { [segment.to, segment.from] };
        let series = Series::new(segment.time, capacity.steps);
        let half = Half::new(capacity.in_flight);
        Self {
            source: segment.source,
            ends,
            opener: 0,
            started: segment.time,
            last_seen: segment.time,
            halves: [half.clone(), half],
            steps: [series.clone(), series],
            handshake: Handshake::default(),
            ending: Ending::default(),
            known_distance: [None; 2],
            least_distance: 0,
            probes: [None; 2],
            last_value: [None; 2],
            waiting: [VecDeque::new(), VecDeque::new()],
            mappings: [None; 2],
            backup: [false; 2],
            is_established: false,
            address_ids: [None; 2],
            view: None,
            early: Vec::new(),
            has_mptcp: false,
            packets: 0,
            acknowledgements: [0; 2],
            has_cut_options: false,
            last_data: [((0, 0, 0), 0); 2],
        }
    }

    /// Changes the sides, for a subflow that the server of the connection opened.
    pub(crate) fn swap_sides(&mut self) {
        self.opener = 1 - self.opener;
        self.ends.swap(0, 1);
        self.halves.swap(0, 1);
        self.steps.swap(0, 1);
        self.known_distance.swap(0, 1);
        self.probes.swap(0, 1);
        self.last_value.swap(0, 1);
        self.waiting.swap(0, 1);
        self.mappings.swap(0, 1);
        self.backup.swap(0, 1);
        self.address_ids.swap(0, 1);
        self.acknowledgements.swap(0, 1);
        self.last_data.swap(0, 1);
        self.handshake.initial.swap(0, 1);
        self.handshake.no_join_here.swap(0, 1);
        self.handshake.key.swap(0, 1);
        self.ending.fin.swap(0, 1);
        if let Some((side, ..)) = &mut self.ending.reset {
            *side = 1 - *side;
        }
    }

    /// The side that sent a segment: 0 for the client.
    pub(crate) fn side(&self, segment: &SeenSegment) -> usize {
        usize::from(segment.from != self.ends[0])
    }

    /// Whether this data segment was captured a moment ago already, as on two devices of one host.
    pub(crate) fn is_copy(&mut self, segment: &SeenSegment, side: usize) -> bool {
        const MOMENT: u64 = 200_000;
        if segment.payload == 0 {
            return false;
        }
        let value = segment.options.timestamps.map_or(0, |times| times.value);
        let this = (segment.sequence, segment.payload, value);
        let (last, time) = self.last_data[side];
        let is_copy = this == last && segment.time.abs_diff(time) < MOMENT;
        self.last_data[side] = (this, segment.time);
        is_copy
    }

    /// Takes the flags and options of the handshake and of the end.
    pub(crate) fn take_control(&mut self, segment: &SeenSegment, side: usize) {
        self.last_seen = segment.time;
        self.packets += 1;
        self.has_mptcp |= segment.options.has_mptcp();
        self.has_cut_options |= segment.has_cut_options;
        self.acknowledgements[side] += u64::from(segment.flags.ack() && segment.payload == 0);
        if segment.flags.syn() {
            self.take_syn(segment, side);
        } else if self.handshake.syn_ack.is_some() && self.handshake.third.is_none() && side == self.opener {
            self.handshake.third = Some((segment.time, segment.packet));
            self.is_established = !segment.flags.rst();
            if let Some(answered) = self.handshake.answered_by(segment) {
                self.note_distance(self.opener, segment.time.saturating_sub(answered));
            }
            self.use_handshake();
        }
        if !segment.flags.syn() && self.handshake.syn_ack.is_none() && segment.payload > 0 {
            // The capture starts in the middle.
            self.is_established = true;
        }
        for option in &segment.options.mptcp {
            self.take_option(option, side);
        }
        if side == self.opener
            && self.handshake.third.is_some()
            && self.halves[side].totals.segments == 0
            && segment.options.has_mptcp()
            && !segment.flags.rst()
        {
            self.handshake.is_confirmed = true;
        }
        if segment.flags.fin() {
            self.ending.fin[side].get_or_insert((segment.time, segment.packet));
        }
        if segment.flags.rst() && self.ending.reset.is_none() {
            self.ending.reset = Some((side, segment.time, segment.packet));
        }
    }

    fn take_syn(&mut self, segment: &SeenSegment, side: usize) {
        let options = &segment.options;
        let half = &mut self.halves[side];
        half.start(segment.sequence);
        half.mss = options.mss.or(half.mss);
        // RFC 7323 section 2.3: at most 14.
        half.window_scale = Some(options.window_scale.unwrap_or(0).min(14));
        let handshake = &mut self.handshake;
        handshake.initial[side] = Some(segment.sequence);
        if segment.flags.ack() {
            if handshake.syn_ack.is_none() {
                handshake.syn_ack = Some((segment.time, segment.packet));
                if let Some((asked, _)) = handshake.syn
                    && handshake.repeated_syns == 0
                {
                    self.note_distance(side, segment.time.saturating_sub(asked));
                }
            }
            let handshake = &mut self.handshake;
            // Later ones would have to be lost again before the third ACK.
            let _ = handshake.answers.try_push((options.timestamps.map(|times| times.value), segment.time));
            handshake.is_agreed = match handshake.request {
                Request::Join(_) => {
                    options.mptcp.iter().any(|one| matches!(one, MptcpOption::Join(MpJoin::SynAck { .. })))
                }
                Request::Capable(_) | Request::Unseen => {
                    options.mptcp.iter().any(|one| matches!(one, MptcpOption::Capable(_)))
                }
                Request::Plain => false,
            };
            return;
        }
        let request = options.mptcp.iter().find_map(|one| match one {
            MptcpOption::Capable(capable) => Some(Request::Capable(capable.version)),
            MptcpOption::Join(MpJoin::Syn { token, .. }) => Some(Request::Join(*token)),
            _ => None,
        });
        handshake.last_syn = segment.time;
        if handshake.syn.is_some() {
            handshake.repeated_syns += 1;
            let had = matches!(handshake.request, Request::Capable(_) | Request::Join(_));
            if had && request.is_none() {
                handshake.plain_after_mptcp.get_or_insert((segment.time, segment.packet));
            }
            return;
        }
        handshake.syn = Some((segment.time, segment.packet));
        handshake.is_syn_cut = segment.has_cut_options;
        handshake.request = request.unwrap_or(Request::Plain);
    }

    fn take_option(&mut self, option: &MptcpOption, side: usize) {
        match option {
            MptcpOption::Capable(capable) => {
                let handshake = &mut self.handshake;
                if let Some(key) = capable.sender_key {
                    handshake.key[side] = Some(key);
                }
                if let Some(key) = capable.receiver_key {
                    handshake.key[1 - side] = Some(key);
                }
                handshake.no_join_here[side] |= capable.flags & mptcp_wire::MpCapable::NO_JOIN_HERE != 0;
                handshake.has_checksum |= capable.flags & mptcp_wire::MpCapable::CHECKSUM_REQUIRED != 0;
            }
            MptcpOption::Join(
                MpJoin::Syn { backup, address_id, .. } | MpJoin::SynAck { backup, address_id, .. },
            ) => {
                self.backup[side] = *backup;
                self.address_ids[side] = Some(*address_id);
            }
            // RFC 8684 section 3.3.8: the option is about the subflow that carries it.
            MptcpOption::Prio(priority) if priority.address_id.is_none() => {
                self.backup[side] = priority.backup;
            }
            MptcpOption::TcpRst(reset) => {
                self.ending.reason.get_or_insert(reset.reason.0);
            }
            _ => {}
        }
    }

    /// Takes the RTT of the handshake for both directions. A repeated SYN leaves it unknown, but not which end is nearer:
    /// the SYN/ACK answers the last SYN or an earlier one.
    fn use_handshake(&mut self) {
        if self.handshake.repeated_syns > 0 {
            let answered = self.handshake.syn_ack.map_or(0, |(time, _)| time);
            self.least_distance = answered.saturating_sub(self.handshake.last_syn);
            if self.known_distance[self.opener].is_some_and(|opener| opener < self.least_distance) {
                self.halves[1 - self.opener].use_echoes();
            }
        } else if let [Some(first), Some(second)] = self.known_distance {
            self.halves.iter_mut().for_each(|half| half.shake((first + second) as f64 / 1e9));
        }
    }

    fn note_distance(&mut self, side: usize, round_trip: u64) {
        let round_trip = round_trip.min(LONGEST_DISTANCE);
        let is_first = self.known_distance[side].is_none();
        let known = self.known_distance[side].get_or_insert(round_trip);
        *known = round_trip.min(*known);
        if let [Some(first), Some(second)] = self.known_distance
            && is_first
            && first != second
        {
            self.halves[usize::from(second > first)].use_echoes();
        }
    }

    /// Takes the timestamps of a segment from `side`; returns a round trip from the capture to `side` and back, ns.
    pub(crate) fn take_timestamps(&mut self, segment: &SeenSegment, side: usize) -> Option<u64> {
        let times = segment.options.timestamps?;
        // A probe towards the other side starts when none is on its way. The value must be new: an earlier segment may
        // have carried it before.
        let is_new = self.last_value[side].is_some_and(|last| last != times.value);
        self.last_value[side] = Some(times.value);
        let probe = &mut self.probes[1 - side];
        if probe.is_none() && is_new {
            *probe = Some(Probe { value: times.value, time: segment.time });
        }
        let awaited = self.probes[side]?;
        if !segment.flags.ack() || (times.echo.wrapping_sub(awaited.value)).cast_signed() < 0 {
            return None;
        }
        self.probes[side] = None;
        // A later timestamp was echoed: the sample is too long by the unknown difference.
        if times.echo != awaited.value {
            return None;
        }
        let round_trip = segment.time.saturating_sub(awaited.time);
        self.note_distance(side, round_trip);
        Some(round_trip)
    }

    /// Round trip between the capture and a side, ns; 0 while it is unknown.
    pub(crate) fn distance(&self, side: usize) -> u64 {
        self.known_distance[side].unwrap_or(0)
    }

    /// The place of the capture, from the round trips to both ends.
    pub(crate) fn place(&self) -> Place {
        let opener = self.distance(self.opener);
        let listener = self.known_distance[1 - self.opener].unwrap_or(self.least_distance);
        let total = opener + listener;
        if total == 0 {
            Place::Unknown
        } else if opener * 5 <= total {
            Place::Opener
        } else if listener * 5 <= total {
            Place::Listener
        } else {
            Place::Middle
        }
    }

    /// Queues a segment that acknowledges data of `side`, until it arrives there. Returns false if the queue is full.
    pub(crate) fn delay(&mut self, side: usize, segment: SeenSegment) -> bool {
        let due = segment.time + self.distance(side);
        let queue = &mut self.waiting[side];
        if queue.len() < MOST_WAITING {
            // A shorter distance must not change the order.
            let due = queue.back().map_or(due, |last| last.due.max(due));
            queue.push_back(Waiting { due, segment });
            return true;
        }
        false
    }

    /// Time at which the next delayed segment arrives at `side`.
    pub(crate) fn next_due(&self, side: usize) -> Option<u64> {
        self.waiting[side].front().map(|one| one.due)
    }

    pub(crate) fn take_waiting(&mut self, side: usize) -> Option<Waiting> {
        self.waiting[side].pop_front()
    }

    /// Whether it is a backup of any side.
    pub(crate) const fn is_backup(&self) -> bool {
        self.backup[0] || self.backup[1]
    }

    /// Whether no side has sent data on it.
    pub(crate) fn has_no_data(&self) -> bool {
        self.halves.iter().all(|half| half.totals.segments == 0)
    }

    /// Whether it has ended.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ending.reset.is_some() || self.ending.fin[0].is_some() && self.ending.fin[1].is_some()
    }
}
