//! Lengths.

use std::fmt;
use std::str::FromStr;

use super::text::{UnitError, split, written_as_string};

/// The longest length that can be written, metres.
const FARTHEST: f64 = 1e9;

/// A length: `m` or `cm`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance(
    /// Metres.
    pub f64,
);

impl FromStr for Distance {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text, &["cm", "m"], "m")?;
        if value > FARTHEST {
            return Err(UnitError("is at most 1000000000m".to_owned()));
        }
        Ok(Self(if unit == "cm" { value / 100.0 } else { value }))
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}m", self.0)
    }
}

written_as_string!(Distance, "distance", ["3m", "60cm"], "A length: m, cm.");
