//! The facts about a flow from which its limiting factors follow.
//!
//! Owns the facts and simple rates from them. They come from the summary of a simulated run, or from a table of results.

use super::FRAME_BITS;
use crate::measurements::{AbsentPath, FlowSummary, PathSummary};

/// Shares by name of a cause, 0 to 1.
pub type Shares = Vec<(String, f64)>;

/// Facts about a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowFacts {
    /// Bytes that the application received in the measured time.
    pub bytes_received: u64,
    /// Bytes that arrived for the first time in the measured time; `None` if unknown.
    pub unique_bytes_arrived: Option<u64>,
    /// The measured time, s.
    pub measured: f64,
    /// The handshake before the measured time, s.
    pub waited: f64,
    /// Payload that the links could carry at their best, bit/s; `None` if unknown.
    pub best_capacity: Option<f64>,
    /// Bytes that opportunistic retransmission (M1) reinjected.
    pub opportunistic: u64,
    /// Bytes that arrived twice; `None` if unknown.
    pub duplicates: Option<u64>,
    /// Bytes.
    pub receive_buffer: u64,
    /// Bytes.
    pub send_buffer: u64,
    /// Shares of the time in which the send buffer, the receive window, or both limited the flow.
    pub full_buffers: Shares,
    /// Paths with a subflow.
    pub paths: Vec<PathFacts>,
    /// Paths without a subflow.
    pub never_joined: Vec<AbsentFacts>,
}

/// Facts about a path of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathFacts {
    /// Name.
    pub path: String,
    /// Bytes of payload that arrived.
    pub bytes_arrived: u64,
    /// Bytes of payload that were acknowledged.
    pub bytes_acked: u64,
    /// Mean RTT, s; NaN if unknown.
    pub mean_srtt: f64,
    /// Shares of the capacity by cause; empty if the run was not observed.
    pub limits: Shares,
    /// Highest capacity of the bottleneck, bit/s of frames.
    pub best_capacity: Option<f64>,
    /// Propagation RTT, s.
    pub base_rtt: Option<f64>,
    /// Mean queueing delay of acknowledgements, s.
    pub ack_wait: Option<f64>,
    /// The queue in which acknowledgements waited longest.
    pub ack_queue: Option<String>,
    /// Mean queueing delay of data, s; `None` if it was not measured.
    pub queue_wait: Option<f64>,
    /// The queue in which data waited longest.
    pub queue_at: Option<String>,
    /// Upper bound of the queueing delay of data, s; `None` if there is none.
    pub longest_wait: Option<f64>,
    /// Whether the path is a backup.
    pub is_backup: bool,
    /// By cause: the link or the middlebox with the cause.
    pub places: Vec<(String, String)>,
    /// Share of the time for which the other paths waited for data on this one.
    pub blamed: f64,
}

/// Facts about a path without a subflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AbsentFacts {
    /// Name.
    pub path: String,
    /// Highest rate of its bottleneck, bit/s; `None` if unknown.
    pub rate: Option<f64>,
    /// Share of the time for which it was down.
    pub down: f64,
    /// Middleboxes on its links.
    pub middleboxes: Vec<String>,
}

impl FlowFacts {
    /// Payload capacity of the links at their best, bit/s; `None` if unknown.
    #[must_use]
    pub fn capacity(&self) -> Option<f64> {
        self.best_capacity.filter(|most| *most != 0.0)
    }

    /// Bytes that count in goodput although they arrived, out of order, before the warm-up ended. Excludes bytes that
    /// wait at the end of the run. 0 if the receiver does not report them.
    #[must_use]
    pub fn early_bytes(&self) -> u64 {
        self.unique_bytes_arrived.map_or(0, |arrived| self.bytes_received.saturating_sub(arrived))
    }

    /// Payload rate since the start of the flow, bit/s. Unlike goodput, it includes the handshake, as link capacities
    /// do.
    #[must_use]
    pub fn rate_of_life(&self) -> f64 {
        let life = self.measured + self.waited;
        if life == 0.0 { 0.0 } else { (self.bytes_received - self.early_bytes()) as f64 * 8.0 / life }
    }

    /// The contribution of each path to the flow's capacity, bit/s; paths that share a link share its rate. Paths with
    /// limits come first, then those without a subflow.
    #[must_use]
    pub fn rates(&self) -> Vec<(&str, f64)> {
        let known = self.observed().map(|path| (path.path.as_str(), path.nominal(self.measured)));
        let absent = self.never_joined.iter().map(|path| (path.path.as_str(), path.rate.unwrap_or(0.0)));
        let mut rates: Vec<(&str, f64)> = known.chain(absent).collect();
        let total: f64 = rates.iter().map(|(_, rate)| rate).sum();
        if let Some(most) = self.capacity().filter(|_| total > 0.0) {
            rates.iter_mut().for_each(|(_, rate)| *rate *= most / total);
        }
        rates
    }

    /// Paths of an observed run.
    pub(super) fn observed(&self) -> impl Iterator<Item = &PathFacts> {
        self.paths.iter().filter(|path| !path.limits.is_empty())
    }
}

impl PathFacts {
    /// The share of the capacity that a cause took.
    #[must_use]
    pub fn limit(&self, cause: &str) -> f64 {
        share(&self.limits, cause)
    }

    /// The best capacity, bit/s; for a link without a rate, its rate while busy.
    fn nominal(&self, measured: f64) -> f64 {
        if let Some(best) = self.best_capacity.filter(|best| *best != 0.0) {
            return best;
        }
        let busy = self.limit("bottleneck");
        let carried = if measured == 0.0 { 0.0 } else { self.bytes_arrived as f64 * 8.0 / measured };
        if busy > 0.0 { carried / busy } else { 0.0 }
    }

    /// Serialisation time of a full frame, s; 0 if the rate is unknown.
    pub(super) fn frame_time(&self) -> f64 {
        self.best_capacity.filter(|best| *best != 0.0).map_or(0.0, |best| FRAME_BITS / best)
    }

    /// The link or middlebox with a cause, if its name differs from that of the path.
    pub(super) fn place(&self, cause: &str) -> Option<String> {
        let place = self.places.iter().find(|(name, _)| name == cause).map(|(_, place)| place);
        place.filter(|place| **place != self.path).cloned()
    }
}

/// The share of a name; 0 if it is missing.
pub(super) fn share(shares: &Shares, name: &str) -> f64 {
    shares.iter().find(|(known, _)| known == name).map_or(0.0, |(_, share)| *share)
}

fn owned(shares: &[(&'static str, f64)]) -> Shares {
    shares.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect()
}

impl From<&FlowSummary> for FlowFacts {
    fn from(flow: &FlowSummary) -> Self {
        Self {
            bytes_received: flow.bytes_received,
            unique_bytes_arrived: flow.unique_bytes_arrived,
            measured: flow.measured,
            waited: flow.waited,
            best_capacity: flow.best_capacity,
            opportunistic: flow.opportunistic,
            duplicates: flow.duplicates,
            receive_buffer: flow.receive_buffer,
            send_buffer: flow.send_buffer,
            full_buffers: owned(&flow.full_buffers),
            paths: flow.paths.iter().map(PathFacts::from).collect(),
            never_joined: flow.never_joined.iter().map(AbsentFacts::from).collect(),
        }
    }
}

impl From<&PathSummary> for PathFacts {
    fn from(path: &PathSummary) -> Self {
        Self {
            path: path.path.clone(),
            bytes_arrived: path.bytes_arrived,
            bytes_acked: path.bytes_acked,
            mean_srtt: path.mean_srtt,
            limits: owned(&path.limits),
            best_capacity: path.best_capacity,
            base_rtt: path.base_rtt,
            ack_wait: path.ack_wait,
            ack_queue: path.ack_queue.clone(),
            queue_wait: path.queue_wait,
            queue_at: path.queue_at.clone(),
            longest_wait: None,
            is_backup: path.is_backup,
            places: path.places.iter().map(|(name, place)| ((*name).to_owned(), place.clone())).collect(),
            blamed: path.blamed,
        }
    }
}

impl From<&AbsentPath> for AbsentFacts {
    fn from(path: &AbsentPath) -> Self {
        Self {
            path: path.path.clone(),
            rate: path.best_capacity,
            down: path.down,
            middleboxes: path.middleboxes.clone(),
        }
    }
}
