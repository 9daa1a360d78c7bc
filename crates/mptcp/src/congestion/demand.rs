//! What an application that writes as it goes asks of all paths, beside what TCP would carry on one.
//!
//! RFC 6356 couples increases so that all windows together take no more than TCP would on the best path. An application that asks for
//! less than that takes no more, however windows grow; and where it waits for one that a loss has halved, TCP would not. So a path on
//! which TCP would carry all of it grows as TCP's does, whatever the others do. Owns how much comes a second.

use mptcp_clock::{Duration, Instant};

use super::control::PathState;
use super::goal::alone;

/// So long is counted at least.
const SPAN: Duration = Duration::from_secs(1);

/// What comes, on all paths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// An application writes as it goes, and not as much as there is room for.
    pub(super) streams: bool,
    since: Option<Instant>,
    bytes: u64,
    /// Bytes a second in the last span; None before the first is over.
    rate: Option<f64>,
}

impl Demand {
    /// More has arrived.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Instant, bytes: u64) {
        self.bytes += bytes;
        let since = *self.since.get_or_insert(now);
        let length = now.since(since);
        if length >= SPAN {
            self.rate = Some(self.bytes as f64 / length.as_secs_f64());
            (self.since, self.bytes) = (Some(now), 0);
        }
    }

    /// Whether TCP would carry all of it on a path, by what the path loses.
    #[inline]
    pub(super) fn is_carried_by(&self, path: &PathState) -> bool {
        self.streams && self.rate.is_some_and(|rate| rate <= alone(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A path of 100 ms and a line of 10 MB/s that loses one segment in 600: TCP would have 300 kB/s.
    fn path() -> PathState {
        super::super::goal::tests::path()
    }

    fn demand(bytes_each_ms: u64) -> Demand {
        let mut demand = Demand { streams: true, ..Demand::default() };
        (0..=1_000).for_each(|ms| demand.on_delivered(at(ms), bytes_each_ms));
        demand
    }

    #[test]
    fn who_asks_for_less_than_tcp_would_get_is_carried() {
        assert!(demand(290).is_carried_by(&path()));
        assert!(!demand(310).is_carried_by(&path()), "300 kB/s");
        let bulk = Demand { streams: false, ..demand(290) };
        assert!(!bulk.is_carried_by(&path()), "it would take more");
    }

    #[test]
    fn nobody_knows_before_a_second_is_over_or_a_path_has_lost() {
        let mut demand = Demand { streams: true, ..Demand::default() };
        (0..1_000).for_each(|ms| demand.on_delivered(at(ms), 10));
        assert!(!demand.is_carried_by(&path()));
        demand.on_delivered(at(1_000), 10);
        assert!(demand.is_carried_by(&path()));
        assert!(!demand.is_carried_by(&PathState::new(1_000, 10)));
    }
}
