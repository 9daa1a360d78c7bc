//! Spans of time.

use std::fmt;
use std::str::FromStr;

use mptcp_clock::Duration;

use super::text::{UnitError, split, whole, write_whole, written_as_string};

/// The longest span that can be written, about 292 years: two of them still make a [`Duration`].
const LONGEST: u64 = 2_562_047 * 3_600_000_000_000;

/// A span of time: `ns`, `us`, `ms`, `s`, `min` or `h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(
    /// The span, to the nanosecond.
    pub Duration,
);

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::read(text, "ms")
    }
}

impl Span {
    /// Reads a span; a message suggests the unit `example`.
    pub(super) fn read(text: &str, example: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text, &["ns", "us", "ms", "s", "min", "h"], example)?;
        let nanos = match unit {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            _ => 3600e9,
        };
        Ok(Self(Duration::from_nanos(whole(value * nanos, LONGEST, "2562047h")?)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        match self.0.as_nanos() {
            0 => f.write_str("0s"),
            nanos => write_whole(f, nanos, &units),
        }
    }
}

written_as_string!(Span, "time", ["10ms", "1.5s", "10min"], "A time: ns, us, ms, s, min or h.");
