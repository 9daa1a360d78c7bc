//! Rates and percentages in scenario files: `"8Mbit"`, `"3%"`. Owns the accepted units, and other spellings,
//! for which an error suggests the accepted form.

use std::fmt;
use std::str::FromStr;

use super::text::{
    Quantity, UnitError, bits, nearly_whole, number, scale_of, whole, write_whole, written_as_string,
};

/// A rate in bit/s with the decimal units of tc(8): `bit`, `kbit`, `Mbit`, `Gbit`, `Tbit` (or `b/s`,
/// `kb/s`, `Mb/s`, `Gb/s`), or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRate(
    /// bit/s, at least 8; `None` is unlimited.
    pub Option<u64>,
);

/// The highest rate, bit/s.
const HIGHEST: u64 = 1_000_000 * 1_000_000_000_000;

const RATES: [&str; 10] = ["bit", "kbit", "Mbit", "Gbit", "Tbit", "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"];

const RATE: Quantity =
    Quantity { units: &RATES, scale, meanings, write: written, examples: ["Mbit", "kbit"] };

/// Meanings of ambiguous units: `MB` and similar can be bytes or bits per second, and `KB/s` has two sizes.
fn meanings(unit: &str) -> Vec<(f64, &'static str)> {
    const WORDS: [(&str, f64, [&str; 2]); 5] = [
        ("b", 1.0, ["bytes per second", "bits per second"]),
        ("k", 1e3, ["kilobytes per second", "kilobits per second"]),
        ("m", 1e6, ["megabytes per second", "megabits per second"]),
        ("g", 1e9, ["gigabytes per second", "gigabits per second"]),
        ("t", 1e12, ["terabytes per second", "terabits per second"]),
    ];
    let lower = unit.to_lowercase();
    let is_a_rate = ["/s", "/sec", "/second", "ps"].iter().find_map(|end| lower.strip_suffix(end));
    if is_a_rate == Some("kb") && unit.starts_with("KB/") {
        return vec![(8e3, "kB/s of 1,000 bytes"), (8192.0, "KB/s of 1,024 bytes")];
    }
    let data = is_a_rate.unwrap_or(&lower);
    let prefix = if data == "b" { "b" } else { data.strip_suffix('b').unwrap_or_default() };
    let words = WORDS.iter().find(|(name, ..)| *name == prefix);
    words.map_or_else(Vec::new, |&(_, scale, [bytes, bits])| vec![(8.0 * scale, bytes), (scale, bits)])
}

/// The factor of a unit to bit/s.
fn scale(unit: &str) -> Option<f64> {
    const SHORT: [(&str, f64); 9] = [
        ("b", 1.0),
        ("kb", 1e3),
        ("Kb", 1e3),
        ("Mb", 1e6),
        ("Gb", 1e9),
        ("Tb", 1e12),
        ("mbit", 1e6),
        ("mbits", 1e6),
        ("gbit", 1e9),
    ];
    // Units as in `iperf3 -b 300K`.
    const LETTERS: [(&str, f64); 5] = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    const ENDS: [&str; 5] = ["/sec", "/second", "/s", "ps", ""];
    // In a unit in capitals, such as MBPS, the B can mean bits or bytes.
    if unit.len() > 3 && unit.ends_with("BPS") {
        return None;
    }
    let lower = unit.to_lowercase();
    if let Some(prefix) = lower.strip_suffix("bps").filter(|_| !unit.contains('B')) {
        return scale_of(prefix, &[("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12)]);
    }
    ENDS.iter().find_map(|end| {
        let data = unit.strip_suffix(end)?;
        let short =
            scale_of(data, &SHORT).or_else(|| if end.is_empty() { scale_of(data, &LETTERS) } else { None });
        // Bytes are a rate only with a time, as in `MB/s`, and `KB` can be 1000 or 1024 bytes.
        let is_bytes = data.contains('B') || data.contains("yte") || data == "octets";
        let clear = !is_bytes || !(end.is_empty() || data.starts_with("KB") || data.starts_with("Kb"));
        short.or_else(|| bits(data).filter(|_| clear))
    })
}

fn written(bits: f64) -> Option<String> {
    nearly_whole(bits).filter(|&bits| bits >= 8).map(|bits| LineRate(Some(bits)).to_string())
}

impl FromStr for LineRate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text == "unlimited" {
            return Ok(Self(None));
        }
        if text.to_lowercase().ends_with("bps") {
            let meant = number(text).and_then(|(value, unit)| written(value * scale(unit)?));
            let hint = meant.map_or_else(String::new, |meant| format!(" (try {meant:?})"));
            return Err(UnitError(format!(
                "in \"bps\" is bytes to tc but bits to most people; write the rate in bits{hint}"
            )));
        }
        if let Some(meant) = text.parse::<f64>().ok().filter(|bits| *bits >= 100_000.0).and_then(written) {
            // A number of 100,000 or more must be in bits.
            return Err(UnitError(format!("needs a unit (try {meant:?})")));
        }
        // Units of tc ignore case; in b/s, case distinguishes bits and bytes.
        let start = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(start);
        let same = |known: &&&str| known.ends_with("bit") && known.eq_ignore_ascii_case(unit);
        let canonical = RATES.iter().find(same).copied().unwrap_or(unit);
        let plain = format!("{number}{canonical}");
        let (value, _) = RATE.split(&plain)?;
        let factor = match canonical.as_bytes().first() {
            Some(b'k') => 1e3,
            Some(b'M') => 1e6,
            Some(b'G') => 1e9,
            Some(b'T') => 1e12,
            _ => 1.0,
        };
        let bits = value * factor;
        if bits < 8.0 {
            return Err(UnitError("must be at least 8bit, or \"unlimited\"".to_owned()));
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
    "A rate in bit, kbit, Mbit, Gbit or Tbit per second (decimal, as in tc), or \"unlimited\"."
);

/// A percentage, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(
    /// In percent, not as a fraction.
    pub f64,
);

const PERCENT: Quantity = Quantity {
    units: &["%"],
    scale: |unit| {
        scale_of(unit, &[("%", 1.0), ("percent", 1.0), ("pct", 1.0), ("per cent", 1.0), ("\u{2030}", 0.1)])
    },
    meanings: |_| Vec::new(),
    write: |percent| (percent <= 100.0).then(|| format!("{}%", (percent * 1e6).round() / 1e6)),
    examples: ["%", "%"],
};

impl Percent {
    /// The fraction, 0 to 1, rounded to twelve decimal places, so that 0.1% is exactly 0.001.
    #[must_use]
    pub fn fraction(self) -> f64 {
        (self.0 * 1e10).round() / 1e12
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Ok(bare) = text.trim().parse::<f64>() {
            let meant = match bare {
                // 1 can be a fraction or a percentage.
                1.0 => ", such as \"1%\" or \"100%\"".to_owned(),
                // A number below 1 can be a fraction or a percentage.
                0.0..1.0 => {
                    format!(" (try \"{}%\", or \"{bare}%\" if it is in percent)", (bare * 1e8).round() / 1e6)
                }
                1.0..=100.0 => format!(" (try \"{bare}%\")"),
                _ => String::new(),
            };
            return Err(UnitError(format!("must be in percent{meant}")));
        }
        let (value, _) = PERCENT.split(text)?;
        if value > 100.0 {
            return Err(UnitError("must be between 0% and 100%".to_owned()));
        }
        Ok(Self(value))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

written_as_string!(Percent, "percent", ["3%", "0.1%"], "A percentage, 0% to 100%.");
