//! The default scheduler: a path carries only data that arrives in time to be useful.
//!
//! It follows BLEST (Ferlin et al., IFIP Networking 2016), ECF (Lim et al., CoNEXT 2017) and STTF (Hurtig et
//! al., ToN 2019). The next data is sent on the available path with the earliest arrival. A path that is not
//! the fastest carries data only if this delays no other data:
//!
//! - The send window cannot advance beyond the path's data until that data is acknowledged. Until then, the
//!   data of the faster paths must fit into the window and the send buffer.
//! - If the application is not blocked, the faster paths must not deliver all unsent data before this path
//!   delivers its part.
//!
//! docs/scheduler.md derives the rule.
//!
//! Owns the decision. Never keeps state between two decisions.

use crate::scheduler::{Candidate, Scheduler, SendView};

/// Quantile of the arrival time for application-limited data: the time by which 99 of 100 blocks arrive.
pub(crate) const TAIL: f64 = 0.99;

/// Minimum gain of splitting data between paths; smaller gains are below the accuracy of the estimates.
const MIN_GAIN: f64 = 1.0 / 8.0;

/// Segments that a path with an unknown rate may have in flight without leaving window for the faster paths:
/// two sent together measure the rate.
const UNKNOWN_RATE_SEGMENTS: u64 = 2;

/// The default scheduler; see the module documentation.
#[derive(Clone, Debug, Default)]
pub struct OnTime {
    /// Scratch buffer: seconds until the next segment of each candidate arrives, or for bulk data is
    /// acknowledged.
    arrivals: Vec<f64>,
}

impl OnTime {
    /// For bulk data, whose goodput matters. Chooses the available path with the earliest acknowledgement, if
    /// the window has space for the data that the faster paths send until then.
    fn choose_bulk(&mut self, view: &SendView<'_>) -> Option<usize> {
        self.arrivals.extend(
            view.candidates
                .iter()
                .map(|c| c.path.arrival(0, c.mss, 0.0) + (c.path.base_rtt / 2).as_secs_f64()),
        );
        self.earliest(view, f64::INFINITY)
    }

    /// For application-limited data, whose arrival matters. One path carries all unsent data, unless several
    /// paths deliver that data sooner.
    fn choose_application_limited(&mut self, view: &SendView<'_>) -> Option<usize> {
        let unsent = view.unsent as f64;
        self.arrivals.extend(view.candidates.iter().map(|c| c.path.arrival(0, c.mss.min(view.unsent), TAIL)));
        let rate = |c: &Candidate| {
            let fits = view.unsent + c.in_flight <= c.cwnd;
            let window = c.cwnd as f64 / c.srtt.as_secs_f64().max(1e-6);
            if fits { c.path.rate } else { c.path.rate.min(window) }
        };
        let paths = || self.arrivals.iter().zip(view.candidates);
        let (mut alone, mut split) = ((f64::INFINITY, 0), f64::INFINITY);
        for (at, (&arrival, candidate)) in paths().enumerate() {
            let end = arrival + unsent / rate(candidate);
            alone = if end < alone.0 { (end, at) } else { alone };
            // All data has arrived when this path and the earlier paths have delivered it.
            let (mut rates, mut not_yet_sent) = (0.0, 0.0);
            for (&other, path) in paths().filter(|&(&other, _)| other <= arrival) {
                rates += rate(path);
                not_yet_sent += rate(path) * other;
            }
            split = split.min((unsent + not_yet_sent) / rates);
        }
        let fits = view.unsent + view.candidates[alone.1].in_flight <= view.candidates[alone.1].cwnd;
        if fits && split > (1.0 - MIN_GAIN) * alone.0 {
            return view.candidates[alone.1].is_available.then_some(alone.1);
        }
        self.earliest(view, split)
    }

    /// The available candidate with the earliest time below `limit` that delays no other path.
    fn earliest(&self, view: &SendView<'_>, limit: f64) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (at, candidate) in view.candidates.iter().enumerate() {
            let time = self.arrivals[at];
            if candidate.is_available
                && time < best.map_or(limit, |(earliest, _)| earliest)
                && self.fits_window(view, at)
            {
                best = Some((time, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Whether the window has space for a segment on `slow`, and for the data that the faster paths send
    /// until that segment is acknowledged.
    fn fits_window(&self, view: &SendView<'_>, slow: usize) -> bool {
        let (arrival, path) = (self.arrivals[slow], &view.candidates[slow]);
        if self.arrivals.iter().all(|&other| other >= arrival) {
            return true;
        }
        let window = view.window().min(view.send_buffer);
        if path.path.max_rate.is_infinite() && path.in_flight < UNKNOWN_RATE_SEGMENTS * path.mss {
            return path.in_flight + path.mss <= window;
        }
        let acked = path.path.acknowledgement(0, path.mss) + path.path.near_repair();
        let all = self.arrivals.iter().zip(view.candidates);
        let faster = all.filter(|&(&other, _)| other < arrival);
        let mut meanwhile: f64 = faster.map(|(_, fast)| fast.deliverable(acked)).sum();
        if meanwhile <= 0.0 {
            return true;
        }
        if !view.writer_blocked {
            meanwhile = meanwhile.min(view.unsent as f64);
        }
        meanwhile + (path.in_flight + path.mss) as f64 <= window as f64
    }
}

impl Scheduler for OnTime {
    fn name(&self) -> &'static str {
        "ontime"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        self.arrivals.clear();
        if view.writer_blocked { self.choose_bulk(view) } else { self.choose_application_limited(view) }
    }

    fn places_small_segments(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
