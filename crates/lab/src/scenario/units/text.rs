//! What all quantities have in common: a number and its unit in one string.
//!
//! Owns how they are taken apart and written, and what is said of wrong ones. Knows no unit by name.

use std::fmt;

use thiserror::Error;

use super::super::error::nearest;

/// Why a string is not such a quantity: what follows "a rate" or "a delay" in the message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnitError(pub String);

/// A number and the unit behind it. `example` is the unit that the error message suggests.
pub(super) fn split<'a>(text: &'a str, units: &[&str], example: &str) -> Result<(f64, &'a str), UnitError> {
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
pub(super) fn whole(value: f64, most: u64, words: &str) -> Result<u64, UnitError> {
    let rounded = value.round();
    if rounded <= most as f64 { Ok(rounded as u64) } else { Err(UnitError(format!("is at most {words}"))) }
}

/// Writes `value` in the largest unit that holds it as a whole number.
pub(super) fn write_whole(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
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
pub(super) use written_as_string;
