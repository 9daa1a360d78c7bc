//! What a scheduler sees.

use mptcp_clock::{Duration, Instant};

use crate::ids::SubflowId;
use crate::path::PathEstimate;

/// A subflow that could carry data.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// A small number that no two subflows of a connection have at the same time, for tables; a later one may get it.
    pub subflow: usize,
    /// What the subflow is known by: for what is kept from one choice to the next.
    pub id: SubflowId,
    /// What is known of its path.
    pub path: PathEstimate,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes; `u64::MAX` before the first loss.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Bytes that it holds: in flight, or lost and not acknowledged; with what waits in a queue of its own, as memory.
    pub held: u64,
    /// Bytes of its packets that wait in this host's own interface; 0 where the driver reports no departures.
    pub local_queue: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// The pace that the congestion controller asks for, bytes a second.
    pub pacing: Option<f64>,
    /// Whether the congestion window has room for a segment, and nothing else holds the subflow back.
    pub is_available: bool,
    /// Whether this host itself holds it back: its pace, or a full queue of its interface.
    pub locally_limited: bool,
    /// Whether the subflow may be used only when no other one works.
    pub backup: bool,
}

impl Candidate {
    /// A subflow with a window of `cwnd` bytes and segments of `mss`, with room, in congestion avoidance on a path of this RTT that carries a
    /// window in each of them. For tests of schedulers.
    #[must_use]
    pub fn new(subflow: usize, srtt: Duration, cwnd: u64, mss: u64) -> Self {
        let rate = cwnd as f64 / srtt.as_secs_f64().max(1e-6);
        Self {
            subflow,
            id: SubflowId::new(subflow as u64, subflow % SubflowId::SLOTS),
            path: PathEstimate { base_rtt: srtt, rate, most: rate, ..PathEstimate::default() },
            srtt,
            cwnd,
            ssthresh: cwnd,
            in_flight: 0,
            held: 0,
            local_queue: 0,
            mss,
            pacing: None,
            is_available: true,
            locally_limited: false,
            backup: false,
        }
    }

    /// Bytes that it delivers in so many seconds if it always has data: what its window sends as it grows, a segment in a round trip or twice of it in
    /// slow start, and no more than the bottleneck carries. Nothing while it has room and nothing in flight: the scheduler does
    /// not use it.
    #[must_use]
    pub fn deliverable(&self, time: f64) -> f64 {
        let time = time - self.path.overdue.as_secs_f64();
        if time <= 0.0 || self.is_available && self.in_flight == 0 {
            return 0.0;
        }
        let (window, rounds) = (self.cwnd as f64, time / self.srtt.as_secs_f64().max(1e-6));
        let sent = if self.cwnd < self.ssthresh {
            2.0 * window * (rounds.exp2() - 1.0)
        } else {
            rounds * (window + self.mss as f64 * rounds / 2.0)
        };
        sent.min(self.path.most * time)
    }
}

/// The moment of a choice.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SendView<'a> {
    /// Now.
    pub now: Instant,
    /// Who could send, with or without room: at least one.
    pub candidates: &'a [Candidate],
    /// Bytes that were written and given to no subflow yet.
    pub unsent: u64,
    /// The application waits for room, so it has more than `unsent`: goodput counts. Otherwise the arrival of each byte counts.
    pub writer_blocked: bool,
    /// Bytes given to subflows and not acknowledged at the data level.
    pub in_flight: u64,
    /// Bytes that the peer's receive window has room for beyond all that was sent.
    pub window_space: u64,
    /// The send buffer, bytes: what is unsent and in flight fits into it.
    pub send_buffer: u64,
}

impl<'a> SendView<'a> {
    /// A moment with nothing in flight, nothing to send and no limits; set what matters. For tests of schedulers.
    #[must_use]
    pub fn new(now: Instant, candidates: &'a [Candidate]) -> Self {
        Self {
            now,
            candidates,
            unsent: 0,
            writer_blocked: true,
            in_flight: 0,
            window_space: u64::MAX,
            send_buffer: u64::MAX,
        }
    }

    /// The peer's whole receive window, bytes: what is in flight at the data level and the room beyond.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.in_flight.saturating_add(self.window_space)
    }
}
