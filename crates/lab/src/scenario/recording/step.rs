//! A step of a recording: the link properties from one time to the next. Both file formats share these items.

use mptcp_clock::Duration;

/// The rate that replaces a recorded rate of zero, bit/s. The frame in service continues when the rate rises.
pub(super) const STANDSTILL: u64 = 8;

/// Properties of a link from a time on. Missing properties stay unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Time since the start of the run.
    pub at: Duration,
    /// bit/s.
    pub rate: Option<u64>,
    /// One-way propagation delay.
    pub delay: Option<Duration>,
    /// Loss, 0..=1.
    pub loss: Option<f64>,
}

/// The lines of a file with their numbers, without empty lines and comments (`#`, `//`).
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"))
}
