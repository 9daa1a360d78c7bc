//! Distances of WiFi stations in scenario files: `"3m"`. An error for `ft` suggests the distance in metres.

use std::fmt;
use std::str::FromStr;

use super::text::{Quantity, UnitError, scale_of, written_as_string};

/// The maximum length, metres.
const FARTHEST: f64 = 1e9;

const DISTANCE: Quantity = Quantity {
    units: &["cm", "m"],
    scale: |unit| {
        const UNITS: [(&str, f64); 15] = [
            ("m", 1.0),
            ("metre", 1.0),
            ("metres", 1.0),
            ("meter", 1.0),
            ("meters", 1.0),
            ("cm", 0.01),
            ("centimetres", 0.01),
            ("centimeters", 0.01),
            ("mm", 0.001),
            ("km", 1000.0),
            ("kilometres", 1000.0),
            ("kilometers", 1000.0),
            ("ft", 0.3048),
            ("feet", 0.3048),
            ("in", 0.0254),
        ];
        scale_of(unit, &UNITS)
    },
    meanings: |_| Vec::new(),
    write: |metres| (metres <= FARTHEST).then(|| format!("{}m", (metres * 1e9).round() / 1e9)),
    examples: ["m", "cm"],
};

/// A length: `m` or `cm`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance(
    /// Metres.
    pub f64,
);

impl FromStr for Distance {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = DISTANCE.split(text)?;
        if value > FARTHEST {
            return Err(UnitError("must be at most 1000000000m".to_owned()));
        }
        Ok(Self(if unit == "cm" { value / 100.0 } else { value }))
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}m", self.0)
    }
}

written_as_string!(Distance, "distance", ["3m", "60cm"], "A length in m or cm.");
