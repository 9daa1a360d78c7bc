//! How long a segment takes on a path, and what a path sends meanwhile.
//!
//! Estimates of one path, from what a candidate says. Owns nothing.

use mptcp_clock::Duration;

use super::numbers::{larger, nanos, real, way_back};
use crate::scheduler::{Candidate, SendView};

/// How many times its size a window is taken to grow to at most.
const MOST_GROWN: f64 = 1e6;
/// By how much more of a stream a path's losses count than the part of it that it carries.
const SPARE: f64 = 4.0;

/// How long a segment that leaves now is under way, there and back, in nanoseconds, by what round trips said and at a rate that the path
/// may have. What a path said while its queue was full is old once nothing of it is in flight; and the answer to one segment alone says how
/// long the peer delays acknowledgements.
fn delay_at(candidate: &Candidate, said: Duration, rate: Option<f64>) -> f64 {
    if candidate.in_flight < 2 * candidate.mss {
        return nanos(candidate.min_rtt);
    }
    let said = nanos(said.max(candidate.min_rtt));
    // What is in flight is before it in the queue.
    let before = real(candidate.in_flight + candidate.mss) * 1e9;
    let Some(waits) = rate.map(|rate| before / rate).filter(|waits| *waits > said) else { return said };
    // What was delivered is of a smaller window, where it doubles: it comes as fast as bursts came.
    let Some(line) = candidate.burst_rate.filter(|_| candidate.grows).map(|rate| before / rate) else {
        return waits;
    };
    if line < waits { larger(said, line) } else { waits }
}

/// Whether what counts is when data is there: at the end of all, and where the application writes as it goes. Else the window has to
/// move on.
pub(super) fn by_arrival(view: &SendView<'_>) -> bool {
    view.closed || view.streams
}

/// How long what is compared between paths takes: until a segment is acknowledged, or until it is there.
pub(super) fn takes(view: &SendView<'_>, candidate: &Candidate) -> f64 {
    if by_arrival(view) {
        let said = if view.closed { candidate.without_own_queue() } else { candidate.calm_rtt };
        return arrives(candidate, said);
    }
    answered(candidate)
}

/// How long a segment takes until it is acknowledged.
#[inline(always)]
pub(super) fn answered(candidate: &Candidate) -> f64 {
    let rate = match candidate.delivery_rate {
        None if candidate.delivered <= 10 * candidate.mss => Some(candidate.has_arrived_at()),
        known => known,
    };
    delay_at(candidate, candidate.latest_rtt, rate)
}

/// Until it is there, by what round trips say and the rate at which what is before it comes.
#[cold]
fn arrives(candidate: &Candidate, said: Duration) -> f64 {
    delay_at(candidate, said, Some(candidate.comes_at())) - way_back(candidate)
}

/// The same on a path that has carried nothing yet, by the rate that it is taken to have.
#[cold]
pub(super) fn arrives_first(candidate: &Candidate) -> Option<f64> {
    let itself = real(candidate.in_flight + candidate.mss) * 1e9 / candidate.has_arrived_at();
    (candidate.delivered < candidate.mss).then(|| way_back(candidate) + itself)
}

/// How much later the latest of what a stream carries comes by losses, where a round trip without its own queue takes `round`, nanoseconds.
///
/// What is lost waits until it is found and has gone again, a round trip each. Such waits vary about as much as they take: where a share `h`
/// of all blocks has one, one block in a hundred waits for ln(h / 1 %) times the mean. That is nothing where a path loses rarely, and grows
/// slowly where it loses more. It is two round trips at least where the window is beyond what the last loss left of it: the next one is near.
/// A path that carries a small part of a stream keeps few of its blocks waiting, and may not use up what is allowed to wait for that.
pub(super) fn mending(candidate: &Candidate, round: f64, part: f64) -> Mend {
    let touched = SPARE * part;
    let often = candidate.too_many_losses() * if touched < 1.0 { touched } else { 1.0 };
    let again = 2.0 * round * larger(often.ln(), 0.0);
    let beyond = candidate.in_flight + candidate.mss > candidate.ssthresh;
    let next = if beyond { larger(2.0 * nanos(candidate.srtt) - again, 0.0) } else { 0.0 };
    Mend { again, next }
}

/// How much later something comes for losses, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mend {
    /// By how often it loses.
    pub(super) again: f64,
    /// What is more because the window is beyond what the last loss left of it.
    pub(super) next: f64,
}

impl Mend {
    pub(super) fn all(&self) -> f64 {
        self.again + self.next
    }
}

/// Bytes a nanosecond that it carries, at most twice of what it did, and no more than bursts say that the line does: a window that is new,
/// has filled a queue, or is not used, is no rate.
pub(super) fn rate(candidate: &Candidate) -> f64 {
    if candidate.has_room && candidate.in_flight == 0 {
        // What is held back itself carries only what it has.
        return 0.0;
    }
    let window = real(candidate.cwnd) / larger(nanos(candidate.srtt), 1e3);
    let Some(rate) = candidate.delivery_rate else { return window };
    let most = candidate.burst_rate.map_or(2.0 * rate, |line| line.clamp(rate, 2.0 * rate));
    window.clamp(1e-9 * rate, 1e-9 * most)
}

/// Bytes that it sends in a time, nanoseconds, if it goes on as it does: where its window doubles, twice of it in the first round trip,
/// four times in the next, evenly as acknowledgements come, and no more than the line carries.
pub(super) fn sends(candidate: &Candidate, time: f64) -> f64 {
    let goes_on = rate(candidate) * time;
    let doubles = candidate.cwnd < candidate.ssthresh
        && (candidate.grows && candidate.burst_rate.is_some() || candidate.ramps());
    if !doubles || candidate.has_room && candidate.in_flight == 0 {
        return goes_on;
    }
    let (mut grown, mut left) = (1.0, time / larger(nanos(candidate.srtt), 1e3));
    while left >= 1.0 && grown < MOST_GROWN {
        (grown, left) = (2.0 * grown, left - 1.0);
    }
    let window = 2.0 * real(candidate.cwnd) * (grown * (1.0 + left) - 1.0);
    match candidate.burst_rate {
        Some(line) if 1e-9 * line * time < window => larger(1e-9 * line * time, goes_on),
        _ => window,
    }
}

/// The same where an application writes as it goes: a window that a loss has halved carries less than it did, and grows by a segment in each
/// round trip (RFC 5681 section 3.1).
pub(super) fn sends_on(candidate: &Candidate, time: f64) -> f64 {
    let round = larger(nanos(candidate.srtt), 1e3);
    let (window, before) = (real(candidate.cwnd) / round, rate(candidate));
    if candidate.has_room || window >= before {
        return sends(candidate, time);
    }
    let rounds = time / round;
    let (grown, most) = (window * time + real(candidate.mss) * rounds * rounds / 2.0, before * time);
    if grown < most { grown } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_worth_no_more_than_the_line_carries() {
        // 1 B/ns is 1 GB/s.
        let of = |delivered: Option<f64>, line: Option<f64>| {
            let mut path = Candidate::new(0, Duration::from_millis(100), 1_000_000, 1_000);
            (path.in_flight, path.delivery_rate, path.burst_rate) = (1_000, delivered, line);
            1e9 * rate(&path)
        };
        let cases = [
            (None, None, 10e6),
            (Some(8e6), None, 10e6),
            (Some(4e6), None, 8e6),
            (Some(4e6), Some(5e6), 5e6),
            (Some(4e6), Some(3e6), 4e6),
            (Some(4e6), Some(20e6), 8e6),
            (Some(12e6), Some(5e6), 12e6),
        ];
        for (delivered, line, expected) in cases {
            let found = of(delivered, line);
            assert!((found - expected).abs() < 1.0, "{delivered:?}, {line:?}: {found}");
        }
    }

    #[test]
    fn a_halved_window_carries_what_it_is_and_grows_to_what_it_was() {
        // 1 MB/s were delivered; 50 kB in 100 ms are half of that.
        let mut path = Candidate::new(0, Duration::from_millis(100), 50_000, 1_000);
        (path.in_flight, path.has_room, path.ssthresh) = (50_000, false, 50_000);
        path.delivery_rate = Some(1e6);
        assert!((sends(&path, 1e9) - 1e6).abs() < 1.0, "as it went on before");
        // Ten round trips, with half of ten segments more in each.
        assert!((sends_on(&path, 1e9) - 550_000.0).abs() < 1.0);
        assert!((sends_on(&path, 1e11) - 1e8).abs() < 1.0, "no more than before");
        path.has_room = true;
        assert!((sends_on(&path, 1e9) - 1e6).abs() < 1.0, "it is not the window that holds it");
    }
}
