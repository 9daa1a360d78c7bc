//! Column names of a recording of link properties. Datasets name their columns differently, so quantity and
//! unit follow from the words of a name, such as `downlink_kbps`.
//!
//! Owns the known words. Never reads a file.

use crate::scenario::error::nearest;

/// The quantity of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Time.
    Time,
    /// bit/s.
    Rate,
    /// One-way delay, s.
    Delay,
    /// Loss, 0 to 1.
    Loss,
}

impl Quantity {
    /// The name of such a column in error messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Time => "time_s",
            Self::Rate => "rate_mbit",
            Self::Delay => "delay_ms",
            Self::Loss => "loss_percent",
        }
    }
}

/// A column: its quantity, and the factor of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) quantity: Quantity,
    /// Factor to seconds, bit/s or a fraction; `None` for a time without a unit.
    pub(super) scale: Option<f64>,
}

const TIME: [&str; 12] =
    ["time", "t", "ts", "timestamp", "epoch", "elapsed", "at", "second", "seconds", "sec", "secs", "date"];
const RATE: [&str; 9] =
    ["rate", "bandwidth", "bw", "throughput", "tput", "capacity", "goodput", "bitrate", "datarate"];
/// Qualifiers of a rate. A column whose name has only these words, such as `downlink`, is a rate too.
const WHICH: [&str; 14] = [
    "dl",
    "ul",
    "downlink",
    "uplink",
    "download",
    "upload",
    "down",
    "up",
    "rx",
    "tx",
    "link",
    "mean",
    "avg",
    "available",
];
const DELAY: [&str; 3] = ["delay", "owd", "propagation"];
const LOSS: [&str; 4] = ["loss", "losses", "plr", "lossrate"];

/// Units of time, in seconds.
const TIMES: [(&str, f64); 17] = [
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("millis", 1e-3),
    ("millisecond", 1e-3),
    ("milliseconds", 1e-3),
    ("us", 1e-6),
    ("usec", 1e-6),
    ("microseconds", 1e-6),
    ("ns", 1e-9),
    ("nsec", 1e-9),
    ("nanoseconds", 1e-9),
    ("min", 60.0),
];
/// Prefixes of units of data.
const PREFIXES: [(&str, f64); 7] =
    [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("m", 1e6), ("G", 1e9), ("g", 1e9)];
/// Units of loss, as fractions.
const LOSSES: [(&str, f64); 8] = [
    ("percent", 1e-2),
    ("pct", 1e-2),
    ("perc", 1e-2),
    ("%", 1e-2),
    ("fraction", 1.0),
    ("share", 1.0),
    ("ratio", 1.0),
    ("probability", 1.0),
];

/// The meaning of a column name; `Ok(None)` for other quantities, whose columns are ignored.
///
/// # Errors
/// A name without the necessary unit, an ambiguous name, or a misspelt one.
pub(super) fn column(name: &str) -> Result<Option<Column>, String> {
    let words = words(name);
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let has = |known: &[&str]| lower.iter().any(|word| known.contains(&word.as_str()));
    let found = |quantity, scale| Ok(Some(Column { quantity, scale }));
    let time = unit(&lower, &TIMES);
    if has(&["latency", "ping"]) {
        return Err(format!(
            "has a column {name:?}: name it delay_ms for a one-way delay, rtt_ms for a round trip"
        ));
    }
    if has(&DELAY) {
        return found(Quantity::Delay, Some(time.ok_or_else(|| needs(name, "delay_ms or delay_s"))?));
    }
    if has(&["rtt"]) {
        return found(Quantity::Delay, Some(time.ok_or_else(|| needs(name, "rtt_ms or rtt_s"))? / 2.0));
    }
    if has(&LOSS) {
        let scale = unit(&lower, &LOSSES).ok_or_else(|| needs(name, "loss_percent or loss_fraction"))?;
        return found(Quantity::Loss, Some(scale));
    }
    if let Some(scale) = data_rate(&words) {
        return found(Quantity::Rate, Some(scale));
    }
    let known = |word: &String| RATE.contains(&word.as_str()) || WHICH.contains(&word.as_str());
    if !lower.is_empty() && lower.iter().all(known) {
        // A rate without a unit is in Mb/s, as in a table without names.
        return found(Quantity::Rate, Some(1e6));
    }
    if has(&TIME) || (lower.len() == 1 && time.is_some()) {
        return found(Quantity::Time, time);
    }
    let known = [Quantity::Time, Quantity::Rate, Quantity::Delay, Quantity::Loss].map(Quantity::name);
    match nearest(name, known) {
        Some(near) if strsim::damerau_levenshtein(near, &name.to_lowercase()) <= 2 => {
            Err(format!("has a column {name:?}; did you mean {near:?}?"))
        }
        _ => Ok(None),
    }
}

fn needs(name: &str, example: &str) -> String {
    format!("has a column {name:?} without a unit; put it into the name (try {example})")
}

/// The words of a name, separated by capitals and by characters other than letters, digits and `%`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = ' ';
    for letter in name.chars() {
        let begins = last.is_lowercase() && letter.is_uppercase() && !is_unit(&words, letter);
        if !(letter.is_alphanumeric() || letter == '%') || begins {
            words.push(String::new());
        }
        if letter.is_alphanumeric() || letter == '%' {
            words.last_mut().expect("the list begins with a word and only grows").push(letter);
        }
        last = letter;
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Whether a capital continues a unit, as in `kB`.
fn is_unit(words: &[String], letter: char) -> bool {
    letter == 'B' && words.last().is_some_and(|word| matches!(word.as_str(), "k" | "m" | "g"))
}

/// The factor of the last word that is a unit; `None` without a unit.
fn unit(words: &[String], units: &[(&str, f64)]) -> Option<f64> {
    let known = |word: &String| units.iter().find(|(name, _)| name == word).map(|&(_, scale)| scale);
    // The name of a quantity is not its unit: `seconds` is a unit, `t` is not.
    words.iter().rev().find_map(known)
}

/// The factor of a unit of rate to bit/s: `Mbit`, `mbps`, `Mb/s`; bytes have a capital `B`. Bytes without a
/// time are not a rate.
fn data_rate(words: &[String]) -> Option<f64> {
    words.iter().enumerate().rev().find_map(|(at, word)| {
        let next = words.get(at + 1).map(String::as_str);
        let is_of_time = matches!(next, Some("s" | "sec" | "second" | "per" | "p"));
        PREFIXES.iter().find_map(|(prefix, factor)| {
            let bits = match word.strip_prefix(prefix)? {
                "bit" | "bits" | "Bit" | "Bits" | "bps" | "bitps" | "bitsps" => 1.0,
                "b" if !prefix.is_empty() => 1.0,
                "Bps" => 8.0,
                "B" | "byte" | "bytes" | "Byte" | "Bytes" if is_of_time => 8.0,
                _ => return None,
            };
            Some(bits * factor)
        })
    })
}
