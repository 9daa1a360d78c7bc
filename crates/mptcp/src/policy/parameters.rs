//! The parameters that come with a name, such as the β of ECF.
//!
//! Owns their checks: whoever reads one says its default and its range, and what nobody read is an error.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// A value that a person gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Yes or no.
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

/// What is wrong with a parameter, and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ParameterError {
    /// Which one.
    pub key: String,
    /// A sentence without its name.
    pub problem: String,
}

/// Parameters by name. Reading one takes its default and its range; [`Parameters::finish`] finds what nobody asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    values: BTreeMap<String, Value>,
    known: Vec<String>,
}

impl Parameters {
    /// With one more value.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.values.insert(key.into(), value);
        self
    }

    /// Whether none was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Those that were given, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    fn get(&mut self, key: &str) -> Option<Value> {
        if !self.known.iter().any(|known| known == key) {
            self.known.push(key.into());
        }
        self.values.get(key).cloned()
    }

    /// A number of `range`; `default` where none was given.
    ///
    /// # Errors
    /// When it is no number or outside of the range.
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
        let wanted = || format!("a number from {} to {} is wanted", range.start(), range.end());
        self.within(key, value.filter(|value| range.contains(value)), wanted)
    }

    /// A whole number of `range`; `default` where none was given.
    ///
    /// # Errors
    /// When it is no whole number or outside of the range.
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
        let wanted = || format!("a whole number from {} to {} is wanted", range.start(), range.end());
        self.within(key, value.filter(|value| range.contains(value)), wanted)
    }

    /// True or false; `default` where nothing was given.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&mut self, key: &str, default: bool) -> Result<bool, ParameterError> {
        let value = match self.get(key) {
            None => return Ok(default),
            Some(Value::Boolean(value)) => Some(value),
            Some(_) => None,
        };
        self.within(key, value, || "true or false is wanted".into())
    }

    /// Text; None where nothing was given.
    ///
    /// # Errors
    /// When it is something else.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, ParameterError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(value)) => Ok(Some(value)),
            Some(_) => self.within(key, None, || "text is wanted".into()),
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

    /// Everything was read that there is.
    ///
    /// # Errors
    /// Names the first parameter that nobody has read, and those that were.
    pub fn finish(self) -> Result<(), ParameterError> {
        let Some(key) = self.values.keys().find(|key| !self.known.contains(key)) else { return Ok(()) };
        let problem = match self.known.as_slice() {
            [] => "there are no parameters here".into(),
            known => format!("there is no such parameter; there is {}", known.join(", ")),
        };
        Err(ParameterError { key: key.clone(), problem })
    }
}
