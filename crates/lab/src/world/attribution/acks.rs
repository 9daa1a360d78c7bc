//! Queueing delays of the acknowledgements of a path, in total and by hop of the reverse path.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. One cause is
//! the queueing delay of acknowledgements: it lengthens the RTT, so that the same window fills less of the
//! link. The sender cannot report this cause, because it attributes a larger RTT to the queue of its data.
//! Owns the sums. A hop is one direction of a link.

use mptcp_clock::Instant;
use netsim::Network;

use super::route::Route;
use super::waits::longest;

/// Queueing delays of the acknowledgements of a flow on one path, s.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    waited: f64,
    count: u64,
    /// By hop: the sum of the delays of acknowledgements at whose arrival its queue was the longest.
    hops: Vec<f64>,
}

impl Acks {
    pub(super) fn new(hops: usize) -> Self {
        Self { waited: 0.0, count: 0, hops: vec![0.0; hops] }
    }

    /// An acknowledgement arrived that was sent at `sent` in a frame of `bytes`.
    pub(super) fn arrive(
        &mut self,
        (sent, now): (Instant, Instant),
        bytes: u32,
        route: &Route,
        network: &mut Network<u32>,
    ) {
        let taken = now.since(sent);
        let wait = (taken - taken.min(route.back_unqueued(network, bytes))).as_secs_f64();
        self.waited += wait;
        self.count += 1;
        if let Some(at) = longest(&route.back, network) {
            self.hops[at] += wait;
        }
    }

    /// Sum and number of all delays.
    pub(super) fn sums(&self) -> (f64, u64) {
        (self.waited, self.count)
    }

    /// Mean delay since `then`; `None` without arrivals.
    pub(super) fn mean_since(&self, then: (f64, u64)) -> Option<f64> {
        let count = self.count - then.1;
        (count > 0).then(|| (self.waited - then.0) / count as f64)
    }

    /// The hop with the longest queueing delay in total; `None` without any delay.
    pub(super) fn hop(&self) -> Option<usize> {
        let (at, longest) = self.hops.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        (*longest > 0.0).then_some(at)
    }
}
