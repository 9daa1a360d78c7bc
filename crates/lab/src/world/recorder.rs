//! Who listens to the endpoints and the network of a run: events become rows.
//!
//! Owns the rows, and how an address or a label becomes a flow and a path. One for all hosts, which take turns.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use mptcp::observe::{Columns, Kind, Log, NOTHING, Observer, Place, Record, Row};
use mptcp::{ConnectionId, SubflowId};
use mptcp_clock::Instant;
use netsim::{DirectionId, FrameEvent, Happening};

use super::attribution::{FullTimes, Notes};
use super::host;
use crate::classes::flow_and_subflow;
use crate::events::{Filter, FrameKind, word};
use crate::measurements::PathDrops;

/// What is known of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowEnds {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The host that sends the data.
    pub(super) sender: usize,
    /// Its subflows share addresses: each has a path of its own.
    pub(super) numbered: bool,
}

/// Where things are.
#[derive(Debug)]
pub(super) struct Atlas {
    /// The port of the first flow.
    pub(super) first_port: u16,
    pub(super) flow_names: Vec<String>,
    pub(super) path_names: Vec<String>,
    pub(super) flows: Vec<FlowEnds>,
    /// Paths by host and interface.
    pub(super) paths: Vec<Vec<u16>>,
    /// By path: those of its further subflows, the second one first, as far as they have names.
    pub(super) numbered: Vec<Vec<Option<u16>>>,
    /// By direction: the node that sends, and the path.
    pub(super) lines: Vec<(u16, u16)>,
}

impl Atlas {
    /// The flow and the path of a subflow, from either end.
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

    /// The path of a further subflow that shares the addresses of `path`; what has no name is nowhere.
    fn numbered(&self, path: u16, further: u64) -> u16 {
        let of_path = self.numbered.get(usize::from(path));
        let known = of_path.and_then(|known| known.get(usize::try_from(further).ok()?).copied().flatten());
        known.unwrap_or(Row::NOWHERE)
    }
}

/// See the top of the file.
#[derive(Debug)]
pub(super) struct Recorder {
    atlas: Atlas,
    filter: Filter,
    log: Mutex<Log>,
    notes: Arc<Mutex<Notes>>,
    /// What explains packets that are yet to leave, for captures.
    comments: Mutex<HashMap<Sender, Vec<String>>>,
}

/// Whose packets a comment explains: at a host, of a connection, those of one subflow or of any.
type Sender = (usize, ConnectionId, Option<SubflowId>);

/// Comments on one packet; what is more is in the table.
const MOST_COMMENTS: usize = 16;
/// Subflows and connections of which comments wait.
const MOST_SENDERS: usize = 4096;

impl Recorder {
    pub(super) fn new(atlas: Atlas, filter: Filter, limit: u64) -> Self {
        let (log, notes, comments) = (Mutex::new(Log::new(limit)), Arc::default(), Mutex::default());
        Self { atlas, filter, log, notes, comments }
    }

    /// What the accounts of paths are kept by.
    pub(super) fn notes(&self) -> Arc<Mutex<Notes>> {
        Arc::clone(&self.notes)
    }

    /// Frames of a flow that were dropped on the path of an interface of the host that opened it.
    pub(super) fn drops_on(&self, flow: usize, interface: usize) -> PathDrops {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.drops_on(flow as u16, interface as u16)
    }

    /// How long until `until` full buffers held a path back whose oldest data was on it, and its connection wherever that was.
    pub(super) fn full_times(&self, flow: usize, path: usize, until: Instant) -> (FullTimes, FullTimes) {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.full_times(flow as u16, path as u16, until)
    }

    /// What explains the packet of a subflow that leaves a host now.
    pub(super) fn take_comments(&self, host: usize, whose: (ConnectionId, SubflowId)) -> Vec<String> {
        let mut comments = self.comments.lock().unwrap_or_else(PoisonError::into_inner);
        let (connection, subflow) = whose;
        let mut own = comments.remove(&(host, connection, None)).unwrap_or_default();
        own.extend(comments.remove(&(host, connection, Some(subflow))).into_iter().flatten());
        own
    }

    /// Keeps what an event says for the next packet of its subflow, or of its connection where it concerns all of that, unless it
    /// is of those that every packet has. Names say where it happened: comments are read one by one.
    fn comment(&self, host: u16, record: &Record) {
        let kind = record.event.kind();
        if matches!(kind, Kind::RoundTrip | Kind::DssIn | Kind::DssOut | Kind::OptionIn | Kind::OptionOut) {
            return;
        }
        let mut comments = self.comments.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Some(record.place.subflow).filter(|_| !record.whole);
        if comments.len() >= MOST_SENDERS {
            // Most are of connections that send no more.
            comments.clear();
        }
        let own = comments.entry((usize::from(host), record.connection, place)).or_default();
        if own.len() < MOST_COMMENTS {
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

    /// All rows, by time: a link tells of what happened when it is next looked at.
    pub(super) fn take(&self) -> Columns {
        let mut columns = self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        columns.sort();
        columns
    }

    fn push(&self, row: &Row) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    }
}

/// The ear at one host.
#[derive(Debug)]
pub(super) struct AtHost {
    pub(super) host: u16,
    /// Its packets are captured.
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

/// The ear on the links.
#[derive(Debug)]
pub(super) struct OnLinks(pub(super) Arc<Recorder>);

impl netsim::Observer for OnLinks {
    fn observe(&self, event: &FrameEvent) {
        self.0.notes.lock().unwrap_or_else(PoisonError::into_inner).hear_drop(event);
        let filter = &self.0.filter;
        let (kind, wanted) = match event.what {
            Happening::Dropped(_) => (FrameKind::Drop, filter.drops),
            Happening::Marked => (FrameKind::Mark, filter.marks),
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
