//! Rates and percentages.

use std::fmt;
use std::str::FromStr;

use super::text::{UnitError, split, whole, write_whole, written_as_string};

/// A rate in bit/s with the decimal units of tc(8): `bit`, `kbit`, `Mbit`, `Gbit`, `Tbit` (or `b/s`,
/// `kb/s`, `Mb/s`, `Gb/s`), or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRate(
    /// bit/s, at least 8; `None` is unlimited.
    pub Option<u64>,
);

/// The highest rate that can be written, bit/s.
const HIGHEST: u64 = 1_000_000 * 1_000_000_000_000;

const RATES: [&str; 10] = ["bit", "kbit", "Mbit", "Gbit", "Tbit", "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"];

impl FromStr for LineRate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text == "unlimited" {
            return Ok(Self(None));
        }
        if text.to_lowercase().ends_with("bps") {
            let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            return Err(UnitError(format!(
                "in \"bps\" is bytes to tc and bits to most people; rates are in bits (try \"{number}Mbit\")"
            )));
        }
        if let Some(bits) = text.parse::<f64>().ok().filter(|bits| *bits >= 100_000.0) {
            // Whoever writes so many means bits.
            return Err(UnitError(format!("needs a unit (try \"{}Mbit\")", bits / 1e6)));
        }
        // tc takes its units in any case; with b/s, the case says bits or bytes.
        let start = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(start);
        let same = |known: &&&str| known.ends_with("bit") && known.eq_ignore_ascii_case(unit);
        let canonical = RATES.iter().find(same).copied().unwrap_or(unit);
        let (value, _) = split(&format!("{number}{canonical}"), &RATES, "Mbit")?;
        let factor = match canonical.as_bytes().first() {
            Some(b'k') => 1e3,
            Some(b'M') => 1e6,
            Some(b'G') => 1e9,
            Some(b'T') => 1e12,
            _ => 1.0,
        };
        let bits = value * factor;
        if bits < 8.0 {
            return Err(UnitError("is at least 8bit, or \"unlimited\"".to_owned()));
        }
        Ok(Self(Some(whole(bits, HIGHEST, "1000000Tbit, or \"unlimited\"")?)))
    }
}

impl fmt::Display for LineRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "Gbit"), (1_000_000, "Mbit"), (1_000, "kbit"), (1, "bit")];
        match self.0 {
            Some(bits) => write_whole(f, bits, &units),
            None => f.write_str("unlimited"),
        }
    }
}

written_as_string!(
    LineRate,
    "rate",
    ["8Mbit", "100kbit", "unlimited"],
    "A rate: bit, kbit, Mbit, Gbit, Tbit (decimal, as in tc), or \"unlimited\"."
);

/// A share in percent, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(
    /// Percent, not a fraction.
    pub f64,
);

impl Percent {
    /// The share as a fraction, 0 to 1: the double nearest to the decimal, to twelve places.
    #[must_use]
    pub fn fraction(self) -> f64 {
        (self.0 * 1e10).round() / 1e12
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Ok(bare) = text.trim().parse::<f64>() {
            // A fraction is the likelier meaning of a number below one.
            let percent = if bare < 1.0 { (bare * 1e8).round() / 1e6 } else { bare };
            return Err(UnitError(format!("is in percent (try \"{percent}%\")")));
        }
        let (value, _) = split(text, &["%"], "%")?;
        if value > 100.0 {
            return Err(UnitError("lies between 0% and 100%".to_owned()));
        }
        Ok(Self(value))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

written_as_string!(Percent, "percent", ["3%", "0.1%"], "A share in percent, from 0% to 100%.");
