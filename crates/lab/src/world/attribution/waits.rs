//! Mean queueing delay of the data of a path over time, and the hop with the longest delay.
//!
//! Results report this delay per path, next to the attribution, the shares of its capacity by cause. Owns the
//! sums. A hop is one direction of a link. Each arriving frame samples the queues. Its sample has the weight
//! of the time since the previous frame, because slow links have few frames, with long delays.

use mptcp_clock::{Duration, Instant};
use netsim::{DirectionId, Network};

use super::route::Route;

/// Maximum gap between frames of one busy period of the path, s.
const PAUSE: f64 = 0.2;

/// Queueing delays of the data of a flow on one path, s.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    last: Option<Instant>,
    /// Integral of the queueing delay over time, s².
    waited: f64,
    /// Time for which data arrived, s.
    time: f64,
    /// By hop: the part of `waited` for which its queue was the longest.
    hops: Vec<f64>,
}

impl Waits {
    pub(super) fn new(hops: usize) -> Self {
        Self { last: None, waited: 0.0, time: 0.0, hops: vec![0.0; hops] }
    }

    /// A frame of `bytes` arrived that was sent at `sent`.
    pub(super) fn arrive(
        &mut self,
        (sent, now): (Instant, Instant),
        bytes: u32,
        route: &Route,
        network: &mut Network<u32>,
    ) {
        let taken = now.since(sent);
        let wait = (taken - taken.min(route.forth_unqueued(network, bytes))).as_secs_f64();
        let since = self.last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64());
        // The delay of a frame shows the queue only since the frame was sent.
        let waited = wait * since.min(wait);
        self.waited += waited;
        self.time += since.min(wait.max(PAUSE));
        if waited > 0.0
            && let Some(at) = longest(&route.forth, network)
        {
            self.hops[at] += waited;
        }
    }

    /// The mean delay, s; `None` without data.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.waited / self.time)
    }

    /// The hop with the longest queueing delay over time; `None` without any delay.
    pub(super) fn hop(&self) -> Option<usize> {
        let (at, longest) = self.hops.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        (*longest > 0.0).then_some(at)
    }

    /// Resets the sums at the end of the warm-up.
    pub(super) fn forget(&mut self) {
        *self = Self { last: self.last, ..Self::new(self.hops.len()) };
    }
}

/// The hop whose queue takes longest to drain.
pub(super) fn longest(hops: &[DirectionId], network: &mut Network<u32>) -> Option<usize> {
    let drain = |hop: &DirectionId| {
        let waiting = network.counters(*hop).backlog_bytes;
        let rate = network.parameters(*hop).rate;
        rate.map_or(Duration::ZERO, |rate| rate.serialisation(u32::try_from(waiting).unwrap_or(u32::MAX)))
    };
    let times: Vec<Duration> = hops.iter().map(drain).collect();
    times.iter().enumerate().max_by_key(|(_, time)| **time).map(|(at, _)| at)
}
