//! One direction of a connection: its data, its episodes in each state, and the subflows that block it.

use arrayvec::ArrayVec;

use super::capacity::Capacity;
use super::series::Series;
use super::steps::{Limit, StreamStep};
use super::stream::Stream;
use crate::capture::{PacketRef, SeenSegment};

/// Episodes of each limit that are remembered, at most.
const MOST_EPISODES: usize = 4;

/// Maximum data of a thin connection within two RTTs of its fastest path, in segments. That path alone carries it: its
/// initial window is ten segments (RFC 6928).
const THIN: u64 = 12;

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

/// Counts of data that a thin connection sent on a slow path though a fast one was free.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Misplaced {
    /// Such data, and data behind it that arrives earlier and has to wait for it, bytes.
    pub(crate) late: u64,
    /// Sum over late bytes of the time that a free fast path would have saved, bytes × s.
    pub(crate) delay: f64,
    /// Arrival of the last such data, less the time that a fast path takes, ns.
    until: u64,
    pub(crate) packet: Option<(u64, PacketRef)>,
    pub(crate) slow: u16,
    pub(crate) fast: u16,
}

impl Misplaced {
    /// Takes data on a slow path, which arrives `delay` seconds later than on the path `fast`.
    pub(super) fn note(&mut self, segment: &SeenSegment, slow: u16, fast: u16, delay: f64) {
        self.until = self.until.max(segment.time.saturating_add((delay * 1e9) as u64));
        if self.packet.is_none() {
            (self.packet, self.slow, self.fast) = (Some((segment.time, segment.packet)), slow, fast);
        }
    }

    /// Takes new data of a thin connection, which waits for earlier data on a slow path.
    pub(super) fn note_late(&mut self, time: u64, bytes: u64) {
        if time < self.until {
            self.late += bytes;
            self.delay += bytes as f64 * (self.until - time) as f64 / 1e9;
        }
    }
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
    /// New data of the present RTT of the fastest path and of the one before, bytes, and the start of the present one, ns.
    recent: [u64; 2],
    recent_start: u64,
    /// New data that was sent just after an acknowledgement arrived, bytes.
    pub(crate) clocked: u64,
    /// Time of the last acknowledgement of new data, ns.
    pub(super) last_release: u64,
    /// Time of the first and last new data, ns.
    pub(crate) first_data: Option<u64>,
    pub(crate) last_data: u64,
    /// Bytes of data that subflows carried first while that subflow blocked a full window, by subflow: time, s.
    pub(crate) blocked_by: Vec<f64>,
    /// Longest time without a DATA_ACK while data was outstanding, ns.
    pub(crate) stall: u64,
    /// Time with a full window that no subflow is blamed for yet, s.
    pub(super) blocked: f64,
    pub(super) last_progress: u64,
    /// Time without data in flight between data, s.
    pub(crate) idle: f64,
    /// Integral of the data in flight over the time with data in flight, bytes × s, and that time, s.
    pub(crate) flight_time: f64,
    pub(crate) busy: f64,
    /// Idle time since the last data, which may be the end, s.
    pub(super) pause: f64,
}

impl Episode {
    /// Its length, ns. Times in a damaged capture may go back.
    pub(crate) const fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl Direction {
    pub(super) fn new(start: u64, capacity: Capacity) -> Self {
        Self {
            stream: Stream::new(capacity.in_flight),
            steps: Series::new(start, capacity.steps),
            kept: Vec::new(),
            current: Vec::new(),
            misplaced: Misplaced::default(),
            recent: [0; 2],
            recent_start: start,
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

    /// Adds new data; `round_trip` is that of the fastest path, ns.
    pub(super) fn note_sent(&mut self, time: u64, bytes: u64, round_trip: u64) {
        let since = time.saturating_sub(self.recent_start);
        if since > round_trip {
            let before = if since > 2 * round_trip { 0 } else { self.recent[0] };
            (self.recent, self.recent_start) = ([0, before], time);
        }
        self.recent[0] += bytes;
    }

    /// Whether the fastest path alone carries the recent data.
    pub(super) const fn is_thin(&self, segment_size: u64) -> bool {
        self.recent[0] + self.recent[1] <= THIN * segment_size
    }

    /// Blames a subflow for the time that the window was full of out-of-order data.
    pub(super) fn blame(&mut self, subflow: u16) {
        let index = usize::from(subflow);
        if self.blocked_by.len() <= index {
            self.blocked_by.resize(index + 1, 0.0);
        }
        self.blocked_by[index] += std::mem::take(&mut self.blocked);
    }

    /// Ends the present episode of a subflow if its state changes.
    pub(super) fn note_state(
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
