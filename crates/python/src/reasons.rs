//! Limiting factors of a flow, for rows of the tables of flows and paths.
//!
//! Owns the conversion of rows. `mptcp_lab::reasons` finds the factors and writes the sentences.

use indexmap::IndexMap;
use mptcp_lab::reasons::{self, AbsentFacts, Finding, FlowFacts, PathFacts};
use pyo3::prelude::*;

/// Shares by name, in the order of the row.
type Shares = IndexMap<String, f64>;

/// The keys of a row of the table of paths that matter here. Rows that were read from files lack some.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PathRow {
    path: String,
    bytes_arrived: u64,
    bytes_acked: u64,
    mean_srtt_s: f64,
    #[pyo3(default)]
    limits: Shares,
    best_capacity: Option<f64>,
    base_rtt_s: Option<f64>,
    ack_wait_s: Option<f64>,
    ack_queue: Option<String>,
    #[pyo3(default)]
    queue_wait_s: Option<f64>,
    #[pyo3(default)]
    queue_at: Option<String>,
    #[pyo3(default)]
    longest_wait_s: Option<f64>,
    #[pyo3(default)]
    is_backup: bool,
    #[pyo3(default)]
    places: IndexMap<String, String>,
    #[pyo3(default)]
    blamed: f64,
}

impl PathRow {
    fn facts(self) -> PathFacts {
        PathFacts {
            path: self.path,
            bytes_arrived: self.bytes_arrived,
            bytes_acked: self.bytes_acked,
            mean_srtt: self.mean_srtt_s,
            limits: self.limits.into_iter().collect(),
            best_capacity: self.best_capacity,
            base_rtt: self.base_rtt_s,
            ack_wait: self.ack_wait_s,
            ack_queue: self.ack_queue,
            queue_wait: self.queue_wait_s,
            queue_at: self.queue_at,
            longest_wait: self.longest_wait_s,
            is_backup: self.is_backup,
            places: self.places.into_iter().collect(),
            blamed: self.blamed,
        }
    }
}

/// The keys of a row of the table of flows that matter here.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FlowRow {
    bytes_received: u64,
    #[pyo3(default)]
    unique_bytes_arrived: Option<u64>,
    measured_s: f64,
    waited_s: f64,
    best_capacity: Option<f64>,
    opportunistic: u64,
    duplicates: Option<u64>,
    receive_buffer: u64,
    send_buffer: u64,
    #[pyo3(default)]
    full_buffers: Shares,
    paths: Vec<PathRow>,
    never_joined: IndexMap<String, Option<f64>>,
    never_joined_down: Shares,
    #[pyo3(default)]
    never_joined_boxes: IndexMap<String, Vec<String>>,
}

impl FlowRow {
    fn facts(self) -> FlowFacts {
        let Self { never_joined_down: down, mut never_joined_boxes, .. } = self;
        let absent = self.never_joined.into_iter().map(|(path, rate)| AbsentFacts {
            down: down.get(&path).copied().unwrap_or(0.0),
            middleboxes: never_joined_boxes.swap_remove(&path).unwrap_or_default(),
            path,
            rate,
        });
        FlowFacts {
            bytes_received: self.bytes_received,
            unique_bytes_arrived: self.unique_bytes_arrived,
            measured: self.measured_s,
            waited: self.waited_s,
            best_capacity: self.best_capacity,
            opportunistic: self.opportunistic,
            duplicates: self.duplicates,
            receive_buffer: self.receive_buffer,
            send_buffer: self.send_buffer,
            full_buffers: self.full_buffers.into_iter().collect(),
            never_joined: absent.collect(),
            paths: self.paths.into_iter().map(PathRow::facts).collect(),
        }
    }
}

/// A finding as a tuple: cause, path, share, cost, detail, place, whether the path is a backup.
type FindingRow = (String, Option<String>, f64, f64, String, Option<String>, bool);

fn row(finding: Finding) -> FindingRow {
    let Finding { cause, path, share, cost, detail, place, is_backup } = finding;
    (cause, path, share, cost, detail, place, is_backup)
}

/// Limiting factors of a flow, the largest first.
#[pyfunction]
pub(crate) fn findings(flow: FlowRow) -> Vec<FindingRow> {
    reasons::findings(&flow.facts()).into_iter().map(row).collect()
}

/// The sentence of a finding, as a clause.
#[pyfunction]
pub(crate) fn finding_text(finding: FindingRow) -> String {
    let (cause, path, share, cost, detail, place, is_backup) = finding;
    Finding { cause, path, share, cost, detail, place, is_backup }.to_string()
}

/// Limiting factors of a flow as clauses.
#[pyfunction]
pub(crate) fn reasons_in_words(flow: FlowRow) -> Vec<String> {
    reasons::sentences(&flow.facts())
}

/// Whether a flow filled its links, and all its paths joined.
#[pyfunction]
pub(crate) fn is_healthy(flow: FlowRow) -> bool {
    reasons::is_healthy(&flow.facts())
}

/// The buffer size that RFC 6182 section 5.3 recommends, bytes.
#[pyfunction]
pub(crate) fn recommended_buffer(flow: FlowRow) -> f64 {
    flow.facts().recommended_buffer()
}

/// The mean time that data waited in the queues of a path, s.
#[pyfunction]
pub(crate) fn queueing_delay(path: PathRow) -> f64 {
    reasons::queueing_delay(&path.facts())
}

/// Positions of the paths with long waits in a queue, the longest first; one path per queue.
#[pyfunction]
pub(crate) fn long_queues(paths: Vec<PathRow>) -> Vec<usize> {
    let facts: Vec<PathFacts> = paths.into_iter().map(PathRow::facts).collect();
    let found = reasons::long_queues(facts.iter());
    found.into_iter().filter_map(|path| facts.iter().position(|known| std::ptr::eq(known, path))).collect()
}
