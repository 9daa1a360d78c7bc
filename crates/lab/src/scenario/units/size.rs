//! Amounts of data, and limits of queues.

use std::fmt;
use std::str::FromStr;

use mptcp_clock::Duration;

use super::span::Span;
use super::text::{UnitError, split, whole, write_whole, written_as_string};

/// An amount of data. `KB` and `KiB` are 1024 bytes, as sysctl and the published studies count buffers;
/// `kB` is 1000, `MB` 10^6, `GB` 10^9, `MiB` 2^20, `GiB` 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(
    /// Bytes.
    pub u64,
);

/// The largest size that can be written, bytes.
const LARGEST: u64 = 9_000_000_000 * 1_000_000_000;

const SIZES: [&str; 8] = ["B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB"];

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text, &SIZES, "KB")?;
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
    "Data: B, kB (1000 B), KB or KiB (1024 B, as sysctl counts), MB (10^6 B), MiB (2^20 B), GB, GiB."
);

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    /// `53p`: packets, at least 1.
    Packets(u64),
    /// `80kB`: bytes of frames.
    Bytes(u64),
    /// `80ms`: what the line carries in this time.
    Time(Duration),
    /// `unlimited`: it never drops.
    Unlimited,
}

impl FromStr for QueueSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(packets) = text.trim().strip_suffix('p') {
            let count = packets.parse().ok().filter(|&count| count > 0);
            return count.map(Self::Packets).ok_or_else(|| UnitError("holds 1p or more".to_owned()));
        }
        let size = text.parse::<Size>().map(|size| (size.0, Self::Bytes(size.0)));
        let time = text.parse::<Span>().map(|span| (span.0.as_nanos(), Self::Time(span.0)));
        // A unit of one kind is none of the other: the error that says more is that of the right one.
        let both = match (size, time) {
            (Err(UnitError(large)), _) if large.starts_with("is at most") => Err(UnitError(large)),
            (Ok(found), _) | (Err(_), Ok(found)) => Ok(found),
            (Err(_), Err(error)) => Err(error),
        };
        match both {
            Ok((1.., limit)) => Ok(limit),
            Ok((0, _)) => Err(UnitError("holds more than nothing".to_owned())),
            Err(UnitError(problem))
                if problem == "cannot be negative" || problem.starts_with("is at most") =>
            {
                Err(UnitError(problem))
            }
            Err(_) => {
                let number: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
                let number = if number.is_empty() { "100" } else { &number };
                Err(UnitError(format!(
                    "is in packets (try \"{number}p\"), bytes (\"{number}kB\") or time (\"{number}ms\")"
                )))
            }
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
    "A queue limit: packets (p), data (as a size), the time the line needs for it (as a time), or unlimited."
);
