//! Sizes and queue limits in scenario files: `"200KB"`, `"53p"`. Owns the accepted units, and other
//! spellings, for which an error suggests the accepted form.

use std::fmt;
use std::str::FromStr;

use mptcp_clock::Duration;

use super::span::Span;
use super::text::{
    Quantity, UnitError, bits, nearly_whole, number, scale_of, whole, write_whole, written_as_string,
};

/// A size. `KB` and `KiB` are 1024 bytes, as in sysctl and in the published studies. `kB` is 1000 bytes, `MB`
/// 10^6, `GB` 10^9, `MiB` 2^20, `GiB` 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(
    /// Bytes.
    pub u64,
);

/// The maximum size, bytes.
const LARGEST: u64 = 9_000_000_000 * 1_000_000_000;

const SIZE: Quantity = Quantity {
    units: &["B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB"],
    scale: |unit| bits(unit).map(|bits| bits / 8.0).or_else(|| scale_of(unit, &POWERS)),
    meanings: |unit| match unit {
        "k" | "K" => vec![(1024.0, "1,024 bytes each"), (1e3, "1,000 bytes each")],
        "m" | "M" => vec![(1e6, "millions of bytes"), (1_048_576.0, "2^20 bytes each")],
        "g" | "G" => vec![(1e9, "thousand millions of bytes"), (1_073_741_824.0, "2^30 bytes each")],
        "kb" | "Kb" => vec![(1024.0, "kilobytes"), (125.0, "kilobits")],
        "mb" | "Mb" => vec![(1e6, "megabytes"), (125e3, "megabits")],
        "gb" | "Gb" => vec![(1e9, "gigabytes"), (125e6, "gigabits")],
        _ => Vec::new(),
    },
    write: |bytes| nearly_whole(bytes).filter(|&bytes| bytes <= LARGEST).map(|bytes| Size(bytes).to_string()),
    examples: ["B", "kB"],
};

/// Other spellings of the binary units.
const POWERS: [(&str, f64); 6] = [
    ("kib", 1024.0),
    ("KIB", 1024.0),
    ("mib", 1_048_576.0),
    ("MIB", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("GIB", 1_073_741_824.0),
];

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = SIZE.split(text)?;
        let factor: u64 = match unit {
            "B" => 1,
            "kB" => 1000,
            "KB" | "KiB" => 1 << 10,
            "MB" => 1_000_000,
            "MiB" => 1 << 20,
            "GB" => 1_000_000_000,
            _ => 1 << 30,
        };
        Ok(Self(whole(value * factor as f64, LARGEST, "9000000000GB")?))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000, "MB"), (1 << 20, "MiB"), (1000, "kB"), (1 << 10, "KB"), (1, "B")];
        write_whole(f, self.0, &units)
    }
}

written_as_string!(
    Size,
    "size",
    ["200KB", "15MB", "1500B"],
    "A size in B, kB (1000 B), KB or KiB (1024 B, as in sysctl), MB (10^6 B), MiB (2^20 B), GB or GiB."
);

/// A queue limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    /// `53p`: packets, at least 1.
    Packets(u64),
    /// `80kB`: bytes of frames.
    Bytes(u64),
    /// `80ms`: the bytes that the link sends in this time.
    Time(Duration),
    /// `unlimited`: no limit.
    Unlimited,
}

impl FromStr for QueueSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(packets) = text.trim().strip_suffix('p') {
            let count = packets.trim().parse().ok().filter(|&count| count > 0);
            let problem = || UnitError("must be a whole number of packets, at least 1p".to_owned());
            return count.map(Self::Packets).ok_or_else(problem);
        }
        let size = text.parse::<Size>().map(|size| (size.0, Self::Bytes(size.0)));
        let time = text.parse::<Span>().map(|span| (span.0.as_nanos(), Self::Time(span.0)));
        match (size, time) {
            (Ok((0, _)), _) | (_, Ok((0, _))) => Err(UnitError("must be greater than 0".to_owned())),
            (Ok((_, limit)), _) | (_, Ok((_, limit))) => Ok(limit),
            (Err(size), Err(time)) => Err(refused(text, [size, time])),
        }
    }
}

/// The error for a limit that is neither a size nor a time.
fn refused(text: &str, problems: [UnitError; 2]) -> UnitError {
    const PACKETS: [&str; 7] = ["packets", "packet", "pkts", "pkt", "P", "pk", "pckts"];
    const UNITS: &str = "must be in packets, bytes or time";
    // Sizes and times have no unit in common, so only one of the two errors can be about the value.
    let says = |start: &str| problems.iter().find(|problem| problem.0.starts_with(start)).cloned();
    if let Some(problem) = says("must be at most").or_else(|| says("must not be negative")) {
        return problem;
    }
    let Some((value, unit)) = number(text) else { return UnitError(format!("{UNITS}, such as \"100p\"")) };
    let whole = nearly_whole(value);
    match (unit, whole) {
        ("", Some(count)) => {
            UnitError(format!("{UNITS}, such as \"{count}p\", \"{count}kB\" or \"{count}ms\""))
        }
        (_, Some(count)) if PACKETS.contains(&unit) => UnitError(format!("{UNITS} (try \"{count}p\")")),
        _ => {
            let hint = problems.iter().find_map(|problem| {
                [" (try ", " (write "]
                    .iter()
                    .find_map(|start| problem.0.find(start).map(|at| &problem.0[at..]))
            });
            UnitError(format!("{UNITS}{}", hint.unwrap_or_default()))
        }
    }
}

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets}p"),
            Self::Bytes(bytes) => Size(*bytes).fmt(f),
            Self::Time(time) => Span(*time).fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

written_as_string!(
    QueueSize,
    "queue",
    ["53p", "80kB", "80ms", "unlimited"],
    "A queue limit in packets (p), as a size, as a time at the link rate, or \"unlimited\"."
);
