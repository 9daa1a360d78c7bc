//! A path carries only what arrives on time: the default.
//!
//! In the line of BLEST (Ferlin et al., IFIP Networking 2016) and ECF (Lim et al., CoNEXT 2017). The paths in order of
//! their round-trip times: the first one with room gets the next segment, unless what is faster would be held up by it. That
//! is so when the faster paths could send more, until the segment is acknowledged, than the window or the send buffer has
//! room for; or when they could send all that is left.

mod ledger;
mod trial;

use mptcp_clock::{Duration, Instant};

use super::{Candidate, Scheduler, SendView};
use ledger::Ledger;

/// How much the estimate of what faster paths could send grows when a window was full nevertheless, at most once in a round
/// trip of the slower path; it falls back as slowly.
const STEP: f64 = 0.1;
/// The most that it grows to.
const MOST: f64 = 2.0;
/// What a path is taken to carry at the end of the data before it has delivered more in a round trip: bytes a second, 1 Mb/s, a
/// slow line. All wait for a window that turns out to wait there.
const UNKNOWN_RATE: f64 = 125_000.0;

/// See the top of the file.
#[derive(Clone, Debug)]
pub struct OnTime {
    ledger: Ledger,
    margin: f64,
    /// When the margin is looked at next.
    due: Instant,
    full: bool,
}

impl Default for OnTime {
    fn default() -> Self {
        Self { ledger: Ledger::default(), margin: 1.0, due: Instant::ZERO, full: false }
    }
}

/// Nanoseconds.
fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

/// How long a segment that leaves now is under way, there and back, in nanoseconds. What a path said while its queue was full is
/// old once nothing of it is in flight; and the answer to one segment alone says how long the peer delays acknowledgements.
fn delay_at(candidate: &Candidate, rate: Option<f64>) -> f64 {
    if candidate.in_flight < 2 * candidate.mss {
        return nanos(candidate.min_rtt);
    }
    let said = nanos(candidate.latest_rtt.max(candidate.min_rtt));
    // What is in flight is before it in the queue.
    let before = (candidate.in_flight + candidate.mss) as f64 * 1e9;
    rate.map_or(said, |rate| said.max(before / rate))
}

/// Until a segment that leaves now is acknowledged, which moves the window on; at the end of the data by a rate, where none is
/// known by what has arrived in a round trip.
fn round(view: &SendView<'_>, candidate: &Candidate) -> f64 {
    let rate = candidate.delivery_rate;
    if !view.closed {
        return delay_at(candidate, rate);
    }
    delay_at(candidate, Some(rate.unwrap_or_else(|| guess(candidate))))
}

/// Bytes a second, from a first window: what has arrived later says nothing of a round trip.
#[cold]
fn guess(candidate: &Candidate) -> f64 {
    let delivered = candidate.delivered as f64;
    if delivered > (10 * candidate.mss) as f64 {
        return UNKNOWN_RATE;
    }
    (delivered * 1e9 / nanos(candidate.srtt).max(1e3)).max(UNKNOWN_RATE)
}

/// What of it nothing waits for: at the end of the data its way back.
fn way_back(view: &SendView<'_>, candidate: &Candidate) -> f64 {
    if view.closed { nanos(candidate.min_rtt) / 2.0 } else { 0.0 }
}

/// Bytes a nanosecond that it carries, at most twice of what it did: a window that is new, or has filled a queue, is no rate.
fn rate(candidate: &Candidate) -> f64 {
    if candidate.has_room && candidate.in_flight == 0 {
        // What is held back itself carries only what it has.
        return 0.0;
    }
    let window = candidate.cwnd as f64 / nanos(candidate.srtt).max(1e3);
    candidate.delivery_rate.map_or(window, |rate| window.clamp(1e-9 * rate, 2e-9 * rate))
}

impl OnTime {
    /// Whether a segment on `slow`, which is there after `wait` and acknowledged after `round`, would hold nobody up.
    fn is_on_time(&self, view: &SendView<'_>, slow: &Candidate, wait: f64, round: f64) -> bool {
        let (mut rates, mut first) = (0.0, f64::INFINITY);
        for fast in view.candidates.iter().filter(|fast| fast.subflow != slow.subflow) {
            let time = self::round(view, fast) - way_back(view, fast);
            if time < wait {
                rates += rate(fast);
                first = first.min(time);
            }
        }
        if first == f64::INFINITY {
            return true;
        }
        let window = view.window().min(view.send_buffer);
        // A path that carries more than all that it might hold up is worth a stall: it is not kept small for being in the way.
        let margin = if rate(slow) > rates { 1.0 } else { self.margin };
        // A DATA_ACK comes back on the path that is the first to say so.
        let until = (round - nanos(slow.lead)).max(first);
        if rates * until * margin + (slow.in_flight + slow.mss) as f64 > window as f64 {
            return false;
        }
        // All that is left goes on the faster paths before this one has answered.
        view.more_to_come || first + view.unsent as f64 / rates.max(1e-9) >= wait
    }

    /// Looks once in a round trip of the slowest path whether windows were full all the same.
    fn adapt(&mut self, view: &SendView<'_>) {
        let longest = view.candidates.iter().map(|c| c.srtt).max().unwrap_or_default();
        self.margin = if self.full { self.margin + STEP } else { self.margin - STEP }.clamp(1.0, MOST);
        (self.due, self.full) = (view.now + longest.max(Duration::from_millis(1)), false);
    }
}

impl Scheduler for OnTime {
    fn name(&self) -> &'static str {
        "ontime"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        if let [only] = view.candidates {
            self.ledger.pause();
            return only.has_room.then_some(0);
        }
        if view.now >= self.due {
            self.adapt(view);
        }
        self.ledger.look(view);
        // Who is left alone does not rest.
        let someone = view.candidates.iter().any(|c| !self.ledger.rests(view.now, c));
        let mut best: Option<(f64, usize)> = None;
        for (at, candidate) in view.candidates.iter().enumerate().filter(|(_, c)| c.has_room) {
            let round = round(view, candidate);
            let wait = round - way_back(view, candidate);
            let sooner = best.is_none_or(|(least, _)| wait < least);
            if sooner
                && !(someone && self.ledger.rests(view.now, candidate))
                && self.is_on_time(view, candidate, wait, round)
            {
                best = Some((wait, at));
            }
        }
        best.map(|(_, at)| at)
    }

    fn on_window_full(&mut self, _view: &SendView<'_>, _position: usize) {
        self.full = true;
    }
}
