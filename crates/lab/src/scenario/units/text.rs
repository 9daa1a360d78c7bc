//! What all quantities have in common: a number and its unit in one string.
//!
//! Owns how they are taken apart and written, and what is said of wrong ones: a suggestion has the value that was written,
//! or there is none. Knows no unit by name.

use std::fmt;

use thiserror::Error;

/// Why a string is not such a quantity: what follows "a rate" or "a delay" in the message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnitError(pub String);

/// A quantity: its units, and what else people write.
pub(super) struct Quantity {
    /// The units that are read.
    pub(super) units: &'static [&'static str],
    /// How much of the smallest unit one of a unit is, of those that are read and of others whose meaning is clear.
    pub(super) scale: fn(&str) -> Option<f64>,
    /// Meanings of a unit that has several to people: how much of the smallest unit one of it is, and in words.
    pub(super) meanings: fn(&str) -> Vec<(f64, &'static str)>,
    /// So much of the smallest unit as it is read; `None` where it has no such text.
    pub(super) write: fn(f64) -> Option<String>,
    /// Units that a number without one may be meant in.
    pub(super) examples: [&'static str; 2],
}

impl Quantity {
    /// The number and the unit behind it.
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

    /// Each meaning of a unit that has several, as it is written here; nothing where one of them has no text.
    fn choices(&self, written: &Number, unit: &str) -> String {
        let Some(value) = written.certain().filter(|value| *value > 0.0) else { return String::new() };
        let one =
            |(scale, words): (f64, &str)| Some(format!("{:?} for {words}", self.written(value, "", scale)?));
        let all: Option<Vec<String>> = (self.meanings)(unit).into_iter().map(one).collect();
        all.filter(|all| !all.is_empty())
            .map_or_else(String::new, |all| format!(" (write {})", all.join(", ")))
    }

    /// So much in the fewest letters that read as the same.
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

/// A number as people write it.
struct Number {
    value: f64,
    /// As all numbers are written here.
    plain: bool,
    /// `1,000` is one to some and a thousand to others.
    ambiguous: bool,
}

impl Number {
    /// The number with which a text begins, and the rest.
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

/// A number and what stands behind it, if it is a number alone that is clear.
pub(super) fn number(text: &str) -> Option<(f64, &str)> {
    let (number, rest) = Number::begin(text.trim())?;
    Some((number.certain()?, rest.trim()))
}

/// The scale of a unit among pairs.
pub(super) fn scale_of(unit: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find(|(name, _)| *name == unit).map(|&(_, scale)| scale)
}

/// Bits of a unit of data, `per` of which is at its end: `kB`, `Mbit`, `GiB`, `bytes`. What has two meanings has none.
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
            // As sysctl counts, and the published studies.
            "B" | "byte" | "bytes" | "Byte" | "Bytes" if prefix == "K" => 8.0 * 1.024,
            "B" if !prefix.is_empty() => 8.0,
            "B" | "byte" | "bytes" | "Byte" | "Bytes" | "octets" => 8.0,
            _ => return None,
        };
        Some(bits * factor)
    })
}

/// A whole number of the smallest unit, or what the most is. Nothing saturates in silence.
pub(super) fn whole(value: f64, most: u64, words: &str) -> Result<u64, UnitError> {
    let rounded = value.round();
    if rounded <= most as f64 {
        Ok(rounded as u64)
    } else {
        Err(UnitError(format!("must be at most {words}")))
    }
}

/// The nearest whole number, where the value is as good as one and has a text.
pub(super) fn nearly_whole(value: f64) -> Option<u64> {
    let rounded = value.round();
    ((1.0..9e18).contains(&rounded) && (value - rounded).abs() <= 1e-9 * value).then_some(rounded as u64)
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
