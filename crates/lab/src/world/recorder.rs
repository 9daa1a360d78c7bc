//! The observer of all endpoints and of the network: stores their events as rows of the event table.
//!
//! Users select events with `--trace`. A label is a number in a frame that identifies its flow and subflow.
//! Owns the rows, and the mapping from addresses and labels to flows and paths. All hosts share one recorder.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mptcp::observe::{Columns, Kind, Log, NOTHING, Observer, Place, Record, Row};
use mptcp::{ConnectionId, SubflowId};
use mptcp_clock::Instant;
use netsim::{DirectionId, FrameEvent, FrameEventType};

use super::attribution::{FullTimes, Notes};
use super::host;
use crate::classes::flow_and_subflow;
use crate::events::{Filter, FrameKind, word};
use crate::measurements::PathDrops;

/// Ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowEnds {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The host that sends the data.
    pub(super) sender: usize,
    /// Whether its subflows share addresses, so that each has its own path name.
    pub(super) numbered: bool,
}

/// The mapping from addresses and ports to flows and paths.
#[derive(Debug)]
pub(super) struct Atlas {
    /// Port of the first flow.
    pub(super) first_port: u16,
    pub(super) flow_names: Vec<String>,
    pub(super) path_names: Vec<String>,
    pub(super) flows: Vec<FlowEnds>,
    /// Path indices by host and interface.
    pub(super) paths: Vec<Vec<u16>>,
    /// By path: the path index of each subflow from the second on; `None` if it has no name.
    pub(super) numbered: Vec<Vec<Option<u16>>>,
    /// By direction: the sending node, and the path.
    pub(super) lines: Vec<(u16, u16)>,
}

impl Atlas {
    /// Flow and path of a subflow, from either end.
    fn find(&self, place: &Place) -> (u16, u16) {
        let of = |near: SocketAddr, far: SocketAddr| {
            let flow = usize::from(far.port().wrapping_sub(self.first_port));
            let ends = self.flows.get(flow)?;
            let (from, interface) = host::place(near.ip())?;
            let (to, _) = host::place(far.ip())?;
            if (ends.from, ends.to) != (from, to) {
                return None;
            }
            let path = *self.paths.get(from)?.get(interface)?;
            let further = place.subflow.number().checked_sub(1).filter(|_| ends.numbered);
            let path = further.map_or(path, |further| self.numbered(path, further));
            Some((flow as u16, path))
        };
        let found = of(place.local, place.remote).or_else(|| of(place.remote, place.local));
        found.unwrap_or((Row::NOWHERE, Row::NOWHERE))
    }

    /// Path of a further subflow that shares the addresses of `path`; [`Row::NOWHERE`] without a name.
    fn numbered(&self, path: u16, further: u64) -> u16 {
        let of_path = self.numbered.get(usize::from(path));
        let known = of_path.and_then(|known| known.get(usize::try_from(further).ok()?).copied().flatten());
        known.unwrap_or(Row::NOWHERE)
    }
}

/// The observer of a run.
#[derive(Debug)]
pub(super) struct Recorder {
    atlas: Atlas,
    filter: Filter,
    log: Mutex<Log>,
    notes: Arc<Mutex<Notes>>,
    /// Comments for packets that are not sent yet, for captures.
    comments: Mutex<HashMap<Sender, Vec<String>>>,
    /// Whether the segment that an endpoint sends now has data that was sent before.
    again: AtomicBool,
}

/// The packets to which a comment applies: a host, a connection, and one or any subflow.
type Sender = (usize, ConnectionId, Option<SubflowId>);

/// Maximum number of comments per packet; the event table has all events.
const MAX_COMMENTS: usize = 16;
/// Maximum number of subflows and connections with pending comments.
const MAX_SENDERS: usize = 4096;

impl Recorder {
    pub(super) fn new(atlas: Atlas, filter: Filter, limit: u64) -> Self {
        let (log, notes, comments) = (Mutex::new(Log::new(limit)), Arc::default(), Mutex::default());
        Self { atlas, filter, log, notes, comments, again: AtomicBool::new(false) }
    }

    /// Whether the segment that an endpoint has just filled has data that was sent before. Resets the answer. False
    /// if neither retransmissions nor reinjections are recorded.
    pub(super) fn take_again(&self) -> bool {
        self.again.swap(false, Ordering::Relaxed)
    }

    /// The input of the attribution, which divides the capacity of paths among causes.
    pub(super) fn notes(&self) -> Arc<Mutex<Notes>> {
        Arc::clone(&self.notes)
    }

    /// Dropped frames of a flow on the path of an interface of the opening host.
    pub(super) fn drops_on(&self, flow: usize, interface: usize) -> PathDrops {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.drops_on(flow as u16, interface as u16)
    }

    /// Times until `until` for which full buffers blocked the path while their oldest data was on it, and
    /// times for which they blocked the connection.
    pub(super) fn full_times(&self, flow: usize, path: usize, until: Instant) -> (FullTimes, FullTimes) {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.full_times(flow as u16, path as u16, until)
    }

    /// Comments for the packet that a subflow sends now.
    pub(super) fn take_comments(&self, host: usize, whose: (ConnectionId, SubflowId)) -> Vec<String> {
        let mut comments = self.comments.lock().unwrap_or_else(PoisonError::into_inner);
        let (connection, subflow) = whose;
        let mut own = comments.remove(&(host, connection, None)).unwrap_or_default();
        own.extend(comments.remove(&(host, connection, Some(subflow))).into_iter().flatten());
        own
    }

    /// Stores an event as a comment for the next packet of its subflow or connection, unless every packet has
    /// such an event. Comments contain the names of host and path.
    fn comment(&self, host: u16, record: &Record) {
        let kind = record.event.kind();
        if matches!(kind, Kind::RoundTrip | Kind::DssIn | Kind::DssOut | Kind::OptionIn | Kind::OptionOut) {
            return;
        }
        let mut comments = self.comments.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Some(record.place.subflow).filter(|_| !record.whole);
        if comments.len() >= MAX_SENDERS {
            // Most of these connections no longer send.
            comments.clear();
        }
        let own = comments.entry((usize::from(host), record.connection, place)).or_default();
        if own.len() < MAX_COMMENTS {
            let (flow, path) = self.atlas.find(&record.place);
            let path = if record.whole { Row::NOWHERE } else { path };
            let names = [(&self.atlas.flow_names, flow), (&self.atlas.path_names, path)];
            let names = names.into_iter().filter_map(|(names, at)| names.get(usize::from(at)));
            let words = ["mptcp", kind.name(), record.event.values().what].map(str::to_owned);
            let words = words.into_iter().chain(names.cloned()).chain([record.event.numbers().to_string()]);
            own.push(words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
        }
    }

    /// The path of a subflow.
    pub(super) fn path_of(&self, place: &Place) -> u16 {
        self.atlas.find(place).1
    }

    /// All rows by time. Links report events late, when they process departures, so the rows are sorted here.
    pub(super) fn take(&self) -> Columns {
        let mut columns = self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        columns.sort();
        columns
    }

    fn push(&self, row: &Row) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    }
}

/// The observer of one host.
#[derive(Debug)]
pub(super) struct AtHost {
    pub(super) host: u16,
    /// Whether its packets are captured.
    pub(super) captured: bool,
    pub(super) recorder: Arc<Recorder>,
}

impl Observer for AtHost {
    fn observe(&self, record: &Record) {
        let atlas = &self.recorder.atlas;
        let (flow, path) = atlas.find(&record.place);
        if atlas.flows.get(usize::from(flow)).is_some_and(|ends| ends.sender == usize::from(self.host)) {
            self.recorder.notes.lock().unwrap_or_else(PoisonError::into_inner).hear(flow, path, record);
        }
        if !self.recorder.filter.has(record.at, record.event.kind()) {
            return;
        }
        if matches!(record.event.kind(), Kind::Retransmission | Kind::Reinjection) {
            self.recorder.again.store(true, Ordering::Relaxed);
        }
        if self.captured {
            self.recorder.comment(self.host, record);
        }
        let values = record.event.values();
        let whole = record.whole;
        self.recorder.push(&Row {
            at: record.at,
            host: self.host,
            flow,
            path: if whole { Row::NOWHERE } else { path },
            subflow: if whole { Row::NOWHERE } else { Row::place(record.place.subflow.number()) },
            kind: record.event.kind().name(),
            what: values.what,
            other: record.other.map_or(Row::NOWHERE, |other| atlas.find(&other).1),
            numbers: values.numbers,
        });
    }
}

/// The observer of the links.
#[derive(Debug)]
pub(super) struct OnLinks(pub(super) Arc<Recorder>);

impl netsim::Observer for OnLinks {
    fn observe(&self, event: &FrameEvent) {
        self.0.notes.lock().unwrap_or_else(PoisonError::into_inner).hear_drop(event);
        let filter = &self.0.filter;
        let (kind, wanted) = match event.what {
            FrameEventType::Dropped(_) => (FrameKind::Drop, filter.drops),
            FrameEventType::Marked => (FrameKind::Mark, filter.marks),
        };
        if !wanted || event.at < filter.from || event.at >= filter.until {
            return;
        }
        let (host, path) = self.line(event.direction);
        let whose = flow_and_subflow(event.label);
        self.0.push(&Row {
            at: event.at,
            host,
            flow: whose.map_or(Row::NOWHERE, |(flow, _)| flow as u16),
            path,
            subflow: whose.map_or(Row::NOWHERE, |(_, subflow)| subflow as u16),
            kind: kind.name(),
            what: word(event.what),
            other: Row::NOWHERE,
            numbers: [u64::from(event.bytes), NOTHING, NOTHING],
        });
    }
}

impl OnLinks {
    fn line(&self, direction: DirectionId) -> (u16, u16) {
        let known = self.0.atlas.lines.get(direction.index());
        known.copied().unwrap_or((Row::NOWHERE, Row::NOWHERE))
    }
}
