//! Quantities as people write them: a number and its unit in one string.
//!
//! Each type reads and writes one kind of quantity. Never takes a bare number, and never guesses.

mod amount;
mod distance;
mod size;
mod span;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub use amount::{LineRate, Percent};
pub use distance::Distance;
pub use size::{QueueSize, Size};
pub use span::Span;

use super::error::nearest;

/// Why a string is not such a quantity: what follows "a rate" or "a delay" in the message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnitError(pub String);

/// Reads a string as the quantity of a schema `format`, only to learn what is wrong with it.
/// `None` if the format is not one of these. The key decides which unit a message suggests.
pub(super) fn check(format: &str, key: &str, text: &str) -> Option<Result<(), UnitError>> {
    fn read<T: FromStr<Err = UnitError>>(text: &str) -> Option<Result<(), UnitError>> {
        Some(text.parse::<T>().map(|_| ()))
    }
    match format {
        "rate" => read::<LineRate>(text),
        "time" => {
            let short = matches!(key, "delay" | "rtt" | "jitter" | "min_rto" | "sample");
            Some(Span::read(text, if short { "ms" } else { "s" }).map(|_| ()))
        }
        "percent" => read::<Percent>(text),
        "size" => read::<Size>(text),
        "queue" => read::<QueueSize>(text),
        "distance" => read::<Distance>(text),
        _ => None,
    }
}

/// A number and the unit behind it. `example` is the unit that the error message suggests.
fn split<'a>(text: &'a str, units: &[&str], example: &str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')));
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let Ok(value) = number.replace('_', "").parse::<f64>() else {
        return Err(UnitError(format!("is a number and a unit (try \"10{example}\")")));
    };
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Err(UnitError(format!("needs a unit (try \"{number}{example}\")")));
    }
    if !units.contains(&unit) {
        let near = nearest(unit, units.iter().copied()).unwrap_or(example);
        let units = units.join(", ");
        return Err(UnitError(format!("is in one of {units}, not {unit:?} (try \"{number}{near}\")")));
    }
    if value < 0.0 {
        return Err(UnitError("cannot be negative".to_owned()));
    }
    Ok((value, unit))
}

/// A whole number of the smallest unit, or what the most is. Nothing saturates in silence.
fn whole(value: f64, most: u64, words: &str) -> Result<u64, UnitError> {
    let rounded = value.round();
    if rounded <= most as f64 { Ok(rounded as u64) } else { Err(UnitError(format!("is at most {words}"))) }
}

/// Writes `value` in the largest unit that holds it as a whole number.
fn write_whole(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let fits = |(factor, _): &&(u64, &str)| value != 0 && value.is_multiple_of(*factor);
    let &(factor, unit) = units.iter().find(fits).or(units.last()).ok_or(fmt::Error)?;
    write!(f, "{}{unit}", value / factor)
}

/// Serde and schema of a type that is written as a string.
macro_rules! written_as_string {
    ($type:ident, $format:literal, $examples:expr, $description:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(|error| serde::de::Error::custom(format!("{} {error}", $format)))
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string", "format": $format, "examples": $examples, "description": $description
                })
            }
        }
    };
}
use written_as_string;
