//! Parameters of a policy in a scenario file, such as `beta` of Reno.
//!
//! Owns their checks: the policy reads each parameter with a default and a range. Unread parameters are
//! errors, which finds misspelt names.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// A parameter value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// Text.
    Text(String),
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "\"{value}\""),
        }
    }
}

/// An invalid parameter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub key: String,
    /// Description of the problem, without the name.
    pub problem: String,
}

/// Parameters by name. Each is read with its default and its range; [`Parameters::finish`] rejects those that
/// were not read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    values: BTreeMap<String, Value>,
    known: Vec<String>,
}

impl Parameters {
    /// Adds a value.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.values.insert(key.into(), value);
        self
    }

    /// Whether no parameters are given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The given parameters, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    fn get(&mut self, key: &str) -> Option<Value> {
        if !self.known.iter().any(|known| known == key) {
            self.known.push(key.into());
        }
        self.values.get(key).cloned()
    }

    /// Reads a number in `range`; `default` if it is not given.
    ///
    /// # Errors
    ///
    /// If the value is not a number, or is out of range.
    pub fn number(
        &mut self,
        key: &str,
        default: f64,
        range: RangeInclusive<f64>,
    ) -> Result<f64, ParameterError> {
        let value = match self.get(key) {
            None => return Ok(default),
            Some(Value::Float(value)) => Some(value),
            Some(Value::Integer(value)) => Some(value as f64),
            Some(_) => None,
        };
        let wanted = || format!("expected a number from {} to {}", range.start(), range.end());
        self.within(key, value.filter(|value| range.contains(value)), wanted)
    }

    /// Reads an integer in `range`; `default` if it is not given.
    ///
    /// # Errors
    ///
    /// If the value is not an integer, or is out of range.
    pub fn count(
        &mut self,
        key: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ParameterError> {
        let value = match self.get(key) {
            None => return Ok(default),
            Some(Value::Integer(value)) => u64::try_from(value).ok(),
            Some(_) => None,
        };
        let wanted = || format!("expected a whole number from {} to {}", range.start(), range.end());
        self.within(key, value.filter(|value| range.contains(value)), wanted)
    }

    /// Reads true or false; `default` if it is not given.
    ///
    /// # Errors
    ///
    /// If the value is neither.
    pub fn flag(&mut self, key: &str, default: bool) -> Result<bool, ParameterError> {
        let value = match self.get(key) {
            None => return Ok(default),
            Some(Value::Boolean(value)) => Some(value),
            Some(_) => None,
        };
        self.within(key, value, || "expected true or false".into())
    }

    /// Reads text; `None` if it is not given.
    ///
    /// # Errors
    ///
    /// If the value is not text.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, ParameterError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(value)) => Ok(Some(value)),
            Some(_) => self.within(key, None, || "expected text".into()),
        }
    }

    fn within<T>(
        &self,
        key: &str,
        value: Option<T>,
        wanted: impl FnOnce() -> String,
    ) -> Result<T, ParameterError> {
        value.ok_or_else(|| {
            let given = self.values.get(key).map_or_else(String::new, |value| format!(", not {value}"));
            ParameterError { key: key.into(), problem: wanted() + &given }
        })
    }

    /// Checks that every given parameter was read.
    ///
    /// # Errors
    ///
    /// Names the first unread parameter and the known ones.
    pub fn finish(self) -> Result<(), ParameterError> {
        let Some(key) = self.values.keys().find(|key| !self.known.contains(key)) else { return Ok(()) };
        let problem = match self.known.as_slice() {
            [] => "unknown parameter; this policy has none".into(),
            known => format!("unknown parameter; expected one of {}", known.join(", ")),
        };
        Err(ParameterError { key: key.clone(), problem })
    }
}
