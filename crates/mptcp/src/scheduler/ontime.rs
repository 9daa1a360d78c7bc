//! The default scheduler: a path carries only data that arrives in time to be useful there.
//!
//! In the line of BLEST (Ferlin et al., IFIP Networking 2016), ECF (Lim et al., CoNEXT 2017) and STTF (Hurtig et al., ToN 2019). The next data goes
//! on the path on which it arrives first, among the paths with room. A path that is not the fastest carries it only if
//! that holds up nobody:
//!
//! - Until its data is acknowledged, the send window cannot move beyond it. What the faster paths send meanwhile has to fit into the window
//!   and the send buffer.
//! - Where the application has no more to write for now, the faster paths must not deliver all that is unsent before this path has
//!   delivered its part.
//!
//! docs/scheduler.md derives the rule.

use crate::scheduler::{Candidate, Scheduler, SendView};

/// Blocks of an application are late if the slowest hundredth of them is; so that part of the distribution counts for them.
pub(crate) const TAIL: f64 = 0.99;

/// Data is split between paths only where all of it arrives sooner by this part: an arrival is not known better.
const MIN_GAIN_DIVISOR: f64 = 1.0 / 8.0;

/// Segments that a path may have in flight whatever the window test says, while its rate is unknown: two that leave together measure it.
const UNKNOWN: u64 = 2;

/// See the top of the file.
#[derive(Clone, Debug, Default)]
pub struct OnTime {
    /// Seconds until the next segment arrives on each candidate; scratch.
    arrivals: Vec<f64>,
}

impl OnTime {
    /// Goodput counts: the path with room whose acknowledgement comes first, if the window has room for what faster paths send until then.
    fn choose_bulk(&mut self, view: &SendView<'_>) -> Option<usize> {
        self.arrivals.extend(
            view.candidates
                .iter()
                .map(|c| c.path.arrival(0, c.mss, 0.0) + (c.path.base_rtt / 2).as_secs_f64()),
        );
        self.earliest(view, f64::INFINITY)
    }

    /// The arrival of what is unsent counts: one path carries all of it, unless several have it there sooner.
    fn choose_paced(&mut self, view: &SendView<'_>) -> Option<usize> {
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
            // All of it is there when these and the sooner paths have brought it.
            let (mut rates, mut lost) = (0.0, 0.0);
            for (&other, path) in paths().filter(|&(&other, _)| other <= arrival) {
                rates += rate(path);
                lost += rate(path) * other;
            }
            split = split.min((unsent + lost) / rates);
        }
        let fits = view.unsent + view.candidates[alone.1].in_flight <= view.candidates[alone.1].cwnd;
        if fits && split > (1.0 - MIN_GAIN_DIVISOR) * alone.0 {
            return view.candidates[alone.1].is_available.then_some(alone.1);
        }
        self.earliest(view, split)
    }

    /// The candidate with room whose time is the least and below `limit`, if it holds nobody up.
    fn earliest(&self, view: &SendView<'_>, limit: f64) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (at, candidate) in view.candidates.iter().enumerate() {
            let time = self.arrivals[at];
            if candidate.is_available
                && time < best.map_or(limit, |(least, _)| least)
                && self.is_on_time(view, at)
            {
                best = Some((time, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Whether the window has room for a segment on the candidate at `slow` and for what faster paths send until it is acknowledged.
    fn is_on_time(&self, view: &SendView<'_>, slow: usize) -> bool {
        let (arrival, path) = (self.arrivals[slow], &view.candidates[slow]);
        if self.arrivals.iter().all(|&other| other >= arrival) {
            return true;
        }
        let window = view.window().min(view.send_buffer);
        if path.path.most.is_infinite() && path.in_flight < UNKNOWN * path.mss {
            return path.in_flight + path.mss <= window;
        }
        let answered = path.path.acknowledgement(0, path.mss) + path.path.near_repair();
        let all = self.arrivals.iter().zip(view.candidates);
        let faster = all.filter(|&(&other, _)| other < arrival);
        let mut meanwhile: f64 = faster.map(|(_, fast)| fast.deliverable(answered)).sum();
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
        if view.writer_blocked { self.choose_bulk(view) } else { self.choose_paced(view) }
    }

    fn places_small_segments(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
