//! What a recording says from one time on, and the lines of a file that say it. Only values.

use mptcp_clock::Duration;

/// A rate of zero: what is in service then goes on when there is a rate again, bit/s.
pub(super) const STANDSTILL: u64 = 8;

/// What a link is like from a time on. What a recording does not say stays as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Since the start of the run.
    pub at: Duration,
    /// bit/s.
    pub rate: Option<u64>,
    /// Propagation, one way.
    pub delay: Option<Duration>,
    /// Loss, 0..=1.
    pub loss: Option<f64>,
}

/// Lines that say something, with their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"))
}
