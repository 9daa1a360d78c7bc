//! Times in scenario files, such as `"10ms"`.
//!
//! Owns [`Span`], the type that reads and prints a time, and the list of its units. The list has further
//! spellings, such as `msec`, so that an error can suggest the accepted one.

use std::fmt;
use std::str::FromStr;

use mptcp_clock::Duration;

use super::text::{Quantity, UnitError, nearly_whole, scale_of, whole, write_whole, written_as_string};

/// The maximum time, about 292 years. The sum of two such times still fits into a [`Duration`].
const LONGEST: u64 = 2_562_047 * 3_600_000_000_000;

const SPAN: Quantity = Quantity {
    units: &["ns", "us", "ms", "s", "min", "h"],
    scale,
    meanings: |unit| if unit == "m" { vec![(60e9, "minutes"), (1e6, "milliseconds")] } else { Vec::new() },
    write: |nanos| {
        nearly_whole(nanos)
            .filter(|&nanos| nanos <= LONGEST)
            .map(|nanos| Span(Duration::from_nanos(nanos)).to_string())
    },
    examples: ["ms", "s"],
};

/// The factor of a unit to nanoseconds. `m` is ambiguous: minutes or milliseconds.
fn scale(unit: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 28] = [
        ("ns", 1.0),
        ("nsec", 1.0),
        ("nanoseconds", 1.0),
        ("us", 1e3),
        ("usec", 1e3),
        ("\u{b5}s", 1e3),
        ("\u{3bc}s", 1e3),
        ("microseconds", 1e3),
        ("ms", 1e6),
        ("msec", 1e6),
        ("millis", 1e6),
        ("millisecond", 1e6),
        ("milliseconds", 1e6),
        ("s", 1e9),
        ("S", 1e9),
        ("sec", 1e9),
        ("secs", 1e9),
        ("second", 1e9),
        ("seconds", 1e9),
        ("min", 60e9),
        ("mins", 60e9),
        ("minute", 60e9),
        ("minutes", 60e9),
        ("h", 3600e9),
        ("hr", 3600e9),
        ("hour", 3600e9),
        ("hours", 3600e9),
        ("d", 86_400e9),
    ];
    scale_of(unit, &UNITS)
}

/// A time: `ns`, `us`, `ms`, `s`, `min` or `h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(
    /// The time, to the nanosecond.
    pub Duration,
);

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = SPAN.split(text)?;
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

written_as_string!(Span, "time", ["10ms", "1.5s", "10min"], "A time in ns, us, ms, s, min or h.");

/// The start position in the recording of a link: a time, or `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStart {
    /// This time after the beginning of the recording.
    At(Span),
    /// A random position, which the seed of the run selects.
    Random,
}

impl FromStr for TraceStart {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            "random" => Ok(Self::Random),
            time => match time.parse() {
                Ok(time) => Ok(Self::At(time)),
                Err(UnitError(problem)) if problem.starts_with("must be a number and a unit") => {
                    Err(UnitError("must be a time such as \"10s\", or \"random\"".to_owned()))
                }
                Err(error) => Err(error),
            },
        }
    }
}

impl fmt::Display for TraceStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => time.fmt(f),
            Self::Random => f.write_str("random"),
        }
    }
}

written_as_string!(TraceStart, "start", ["12s", "random"], "A time, or \"random\", which the seed selects.");
