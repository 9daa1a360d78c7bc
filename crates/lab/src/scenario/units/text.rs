//! Parsing and printing of a number with a unit, such as `"10ms"`, for all quantities in scenario files.
//!
//! Owns the error messages. They suggest the accepted spelling only if it has the same value as the input.
//! Each quantity, such as time or size, passes its own list of units in a `Quantity`.

use std::fmt;

use thiserror::Error;

/// The problem of an invalid quantity: the error message after the name of the quantity, such as "time".
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnitError(pub String);

/// A quantity: its units, and other known spellings.
pub(super) struct Quantity {
    /// The accepted units.
    pub(super) units: &'static [&'static str],
    /// Factor to the smallest unit, for accepted units and for others with a clear meaning.
    pub(super) scale: fn(&str) -> Option<f64>,
    /// Meanings of an ambiguous unit: factor and description.
    pub(super) meanings: fn(&str) -> Vec<(f64, &'static str)>,
    /// Prints a multiple of the smallest unit; `None` if it has no exact form.
    pub(super) write: fn(f64) -> Option<String>,
    /// Two example units, for the error message about a number without a unit.
    pub(super) examples: [&'static str; 2],
}

impl Quantity {
    /// Splits a number and its unit.
    pub(super) fn split<'a>(&self, text: &'a str) -> Result<(f64, &'a str), UnitError> {
        let text = text.trim();
        let Some((written, unit)) = Number::begin(text) else {
            let [first, _] = self.examples;
            return Err(UnitError(format!("must be a number and a unit, such as \"10{first}\"")));
        };
        let unit = unit.trim();
        if unit.is_empty() {
            return Err(self.without_unit(&written));
        }
        let problem = if !self.units.contains(&unit) {
            format!("must be in one of {}, not {unit:?}", self.units.join(", "))
        } else if written.plain {
            return match written.value {
                ..0.0 => Err(UnitError("must not be negative".to_owned())),
                value => Ok((value, unit)),
            };
        } else {
            "must be a number with a decimal point".to_owned()
        };
        let meant = written
            .certain()
            .zip((self.scale)(unit))
            .and_then(|(value, scale)| self.written(value, unit, scale));
        Err(UnitError(match meant {
            Some(meant) => format!("{problem} (try {meant:?})"),
            None => format!("{problem}{}", self.choices(&written, unit)),
        }))
    }

    /// All meanings of an ambiguous unit in accepted form; empty if one meaning has no accepted form.
    fn choices(&self, written: &Number, unit: &str) -> String {
        let Some(value) = written.certain().filter(|value| *value > 0.0) else { return String::new() };
        let one =
            |(scale, words): (f64, &str)| Some(format!("{:?} for {words}", self.written(value, "", scale)?));
        let all: Option<Vec<String>> = (self.meanings)(unit).into_iter().map(one).collect();
        all.filter(|all| !all.is_empty())
            .map_or_else(String::new, |all| format!(" (write {})", all.join(", ")))
    }

    /// The shortest form that parses to the same value.
    fn written(&self, value: f64, unit: &str, scale: f64) -> Option<String> {
        let same = |text: &String| {
            let Some((again, unit)) = Number::begin(text) else { return false };
            let amount = (self.scale)(unit).map(|scale| again.value * scale);
            amount.is_some_and(|amount| (amount - value * scale).abs() <= 1e-9 * (value * scale).abs())
        };
        let same_unit = self.units.iter().find(|own| **own == unit || (self.scale)(own) == Some(scale));
        let own = same_unit.map(|unit| format!("{value}{unit}"));
        let all = [own, Some((self.write)(value * scale)?)];
        all.into_iter().flatten().filter(|text| value > 0.0 && same(text)).min_by_key(String::len)
    }

    fn without_unit(&self, written: &Number) -> UnitError {
        let Some(value) = written.certain().filter(|value| *value >= 0.0) else {
            return UnitError("needs a unit".to_owned());
        };
        let [one, other] = self.examples;
        UnitError(format!("needs a unit, such as \"{value}{one}\" or \"{value}{other}\""))
    }
}

/// A parsed number.
struct Number {
    value: f64,
    /// Whether the text has the accepted form, with a decimal point.
    plain: bool,
    /// Whether the value is ambiguous, such as `1,000`.
    ambiguous: bool,
}

impl Number {
    /// The number at the start of a text, and the text after it. `None` without a number.
    fn begin(text: &str) -> Option<(Self, &str)> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '_');
        let mut end = text.find(|c| !is_part(c)).unwrap_or(text.len());
        if let Some(power) = text[end..].strip_prefix(['e', 'E']) {
            let sign = usize::from(power.starts_with(['-', '+']));
            let digits = power[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(power.len() - sign);
            end += if digits > 0 { 1 + sign + digits } else { 0 };
        }
        let (number, rest) = text.split_at(end);
        let plain = number.replace('_', "");
        if let Ok(value) = plain.parse::<f64>() {
            return Some((Self { value, plain: true, ambiguous: false }, rest));
        }
        let (whole, fraction) = plain.split_once(',')?;
        let value = format!("{whole}.{fraction}").parse::<f64>().ok().filter(|value| value.is_finite())?;
        let ambiguous = fraction.len() == 3 && whole.trim_start_matches(['-', '+']) != "0";
        Some((Self { value, plain: false, ambiguous }, rest))
    }

    fn certain(&self) -> Option<f64> {
        (!self.ambiguous).then_some(self.value)
    }
}

/// The number at the start of a text, and the text after it. `None` without a number, or if it is ambiguous.
pub(super) fn number(text: &str) -> Option<(f64, &str)> {
    let (number, rest) = Number::begin(text.trim())?;
    Some((number.certain()?, rest.trim()))
}

/// The factor of a unit in a list.
pub(super) fn scale_of(unit: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find(|(name, _)| *name == unit).map(|&(_, scale)| scale)
}

/// Bits per unit of data: `kB`, `Mbit`, `GiB`, `bytes`. `None` for ambiguous units.
pub(super) fn bits(unit: &str) -> Option<f64> {
    const PREFIXES: [(&str, f64); 13] = [
        ("kilo", 1e3),
        ("mega", 1e6),
        ("giga", 1e9),
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("k", 1e3),
        ("K", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("", 1.0),
    ];
    PREFIXES.iter().find_map(|&(prefix, factor)| {
        let bits = match unit.strip_prefix(prefix)? {
            "bit" | "bits" | "Bit" | "Bits" => 1.0,
            // 1 KB is 1024 bytes, as in sysctl and in the published studies.
            "B" | "byte" | "bytes" | "Byte" | "Bytes" if prefix == "K" => 8.0 * 1.024,
            "B" if !prefix.is_empty() => 8.0,
            "B" | "byte" | "bytes" | "Byte" | "Bytes" | "octets" => 8.0,
            _ => return None,
        };
        Some(bits * factor)
    })
}

/// An integer multiple of the smallest unit, or an error with the maximum. Never saturates.
pub(super) fn whole(value: f64, most: u64, words: &str) -> Result<u64, UnitError> {
    let rounded = value.round();
    if rounded <= most as f64 {
        Ok(rounded as u64)
    } else {
        Err(UnitError(format!("must be at most {words}")))
    }
}

/// The nearest integer, from 1 to 9e18; `None` if the value differs from it by more than 1e-9 of the value.
pub(super) fn nearly_whole(value: f64) -> Option<u64> {
    let rounded = value.round();
    ((1.0..9e18).contains(&rounded) && (value - rounded).abs() <= 1e-9 * value).then_some(rounded as u64)
}

/// Prints `value` in the largest unit that gives an integer.
pub(super) fn write_whole(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let fits = |(factor, _): &&(u64, &str)| value != 0 && value.is_multiple_of(*factor);
    let &(factor, unit) = units.iter().find(fits).or(units.last()).ok_or(fmt::Error)?;
    write!(f, "{}{unit}", value / factor)
}

/// Implements serde and the JSON schema for a type that is written as a string.
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
