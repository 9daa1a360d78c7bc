//! The input of a scheduler: its candidates and the state of the connection.
//!
//! A scheduler sees only these values, so it cannot change the connection.

use mptcp_clock::{Duration, Instant, math};

use crate::ids::SubflowId;
use crate::path::PathEstimate;

/// A subflow that could carry data.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// Slot of the subflow: an index for tables, which a later subflow may reuse.
    pub subflow: usize,
    /// Id of the subflow, never reused: for state that a scheduler keeps.
    pub id: SubflowId,
    /// Estimates of the path.
    pub path: PathEstimate,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes; `u64::MAX` before the first loss.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Bytes sent but not cumulatively acknowledged, including SACKed and lost ones. With subflow queues, the
    /// send buffer memory in use.
    pub held: u64,
    /// Bytes of data that was assigned to the subflow and waits for its window; 0 without subflow queues.
    pub queued: u64,
    /// Bytes of the subflow's packets in the queue of the local interface; 0 if the driver reports no
    /// departures.
    pub local_queue: u64,
    /// Payload of a full-sized segment, bytes.
    pub mss: u64,
    /// Pacing rate of the congestion controller, bytes per second; `None` for no pacing.
    pub pacing: Option<f64>,
    /// Whether the congestion window has space for a segment and nothing else blocks the subflow.
    pub is_available: bool,
    /// Whether this host limits the subflow, by pacing or by a full interface queue.
    pub locally_limited: bool,
    /// Whether the subflow is a backup: used only if no regular subflow works.
    pub backup: bool,
}

impl Candidate {
    /// Creates a candidate with space, in congestion avoidance, on a path that carries `cwnd` bytes per RTT.
    /// For tests of schedulers.
    #[must_use]
    pub fn new(subflow: usize, srtt: Duration, cwnd: u64, mss: u64) -> Self {
        let rate = cwnd as f64 / srtt.as_secs_f64().max(1e-6);
        Self {
            subflow,
            id: SubflowId::new(subflow as u64, subflow % SubflowId::SLOTS),
            path: PathEstimate { base_rtt: srtt, rate, max_rate: rate, ..PathEstimate::default() },
            srtt,
            cwnd,
            ssthresh: cwnd,
            in_flight: 0,
            held: 0,
            queued: 0,
            local_queue: 0,
            mss,
            pacing: None,
            is_available: true,
            locally_limited: false,
            backup: false,
        }
    }

    /// Bytes that the subflow delivers within `time` seconds if it always has data. The window grows by one
    /// segment per RTT, or doubles in slow start, and the bottleneck rate is the upper bound. Returns 0 for a
    /// subflow with space and nothing in flight, because the scheduler does not use it.
    #[must_use]
    pub fn deliverable(&self, time: f64) -> f64 {
        let time = time - self.path.overdue.as_secs_f64();
        if time <= 0.0 || self.is_available && self.in_flight == 0 {
            return 0.0;
        }
        let (window, rounds) = (self.cwnd as f64, time / self.srtt.as_secs_f64().max(1e-6));
        let sent = if self.cwnd < self.ssthresh {
            2.0 * window * (math::exp2(rounds) - 1.0)
        } else {
            rounds * (window + self.mss as f64 * rounds / 2.0)
        };
        sent.min(self.path.max_rate * time)
    }
}

/// The state at the time of a decision.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SendView<'a> {
    /// The present time.
    pub now: Instant,
    /// Subflows that could send, with or without space; never empty.
    pub candidates: &'a [Candidate],
    /// Stream offset of the next new data: the number of bytes given to subflows so far.
    pub offset: u64,
    /// Written bytes that no subflow has carried yet.
    pub unsent: u64,
    /// Whether the application waits for send buffer space, so that goodput matters. Otherwise the arrival
    /// time of each byte matters.
    pub writer_blocked: bool,
    /// Bytes sent but not acknowledged at the data level.
    pub in_flight: u64,
    /// Free space in the peer's receive window, bytes.
    pub window_space: u64,
    /// Size of the send buffer, bytes: the limit of unsent and unacknowledged data.
    pub send_buffer: u64,
    /// Whether data is assigned to subflows ahead of their windows ([`crate::LinuxStack::subflow_queues`]).
    pub has_subflow_queues: bool,
}

impl<'a> SendView<'a> {
    /// Creates a view with nothing in flight, nothing to send and no limits. For tests of schedulers.
    #[must_use]
    pub fn new(now: Instant, candidates: &'a [Candidate]) -> Self {
        Self {
            now,
            candidates,
            offset: 0,
            unsent: 0,
            writer_blocked: true,
            in_flight: 0,
            window_space: u64::MAX,
            send_buffer: u64::MAX,
            has_subflow_queues: false,
        }
    }

    /// The peer's complete receive window, bytes: data in flight and free space.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.in_flight.saturating_add(self.window_space)
    }
}
