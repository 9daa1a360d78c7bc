//! Reads the parameters of a kind, one key at a time, with the same errors as for other keys.
//!
//! A kind is a named type of an element, such as a queue discipline, middlebox or application. Other crates
//! can register kinds, so the file format does not know their keys. Each kind reads its own keys through
//! [`Parameters`].
//!
//! Owns the record of keys that were read. A key that the kind does not read is an error. Every value that
//! was read is written with the results. Never knows the meaning of a value.

use std::ops::RangeInclusive;

use mptcp_clock::Duration;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::check;
use super::error::{ScenarioError, must_be_between, suggestion};
use super::schema;
use super::tree::Node;
use super::units::{LineRate, Percent, Size, Span};

/// The table of a kind. A missing key takes the default. If the default is `None`, the key is required.
#[derive(Debug)]
pub struct Parameters<'a> {
    root: &'a Node,
    /// The path of the table.
    at: Vec<String>,
    /// All values read so far, including defaults.
    values: toml::Table,
    /// Keys that were read, but are missing and have no default.
    optional: Vec<String>,
}

impl<'a> Parameters<'a> {
    pub(super) fn new(root: &'a Node, at: &[&str]) -> Self {
        Self {
            root,
            at: at.iter().map(|key| (*key).to_owned()).collect(),
            values: toml::Table::new(),
            optional: Vec::new(),
        }
    }

    /// A size in bytes, written as `"64KB"`.
    ///
    /// # Errors
    /// An invalid size.
    pub fn size(&mut self, key: &str, default: impl Into<Option<u64>>) -> Result<u64, ScenarioError> {
        self.value(key, default.into().map(Size)).map(|Size(bytes)| bytes)
    }

    /// A size of at least one byte.
    ///
    /// # Errors
    /// An invalid size, or zero.
    pub fn positive_size(
        &mut self,
        key: &str,
        default: impl Into<Option<u64>>,
    ) -> Result<u64, ScenarioError> {
        match self.size(key, default)? {
            0 => Err(self.error(key, "must be at least 1B (nearest: 1B)")),
            bytes => Ok(bytes),
        }
    }

    /// A time, written as `"10ms"`.
    ///
    /// # Errors
    /// An invalid time.
    pub fn time(
        &mut self,
        key: &str,
        default: impl Into<Option<Duration>>,
    ) -> Result<Duration, ScenarioError> {
        self.value(key, default.into().map(Span)).map(|Span(time)| time)
    }

    /// A time above zero.
    ///
    /// # Errors
    /// An invalid time, or zero.
    pub fn positive_time(
        &mut self,
        key: &str,
        default: impl Into<Option<Duration>>,
    ) -> Result<Duration, ScenarioError> {
        let time = self.time(key, default)?;
        if time.is_zero() { Err(self.error(key, "must be longer than 0s (try \"5s\")")) } else { Ok(time) }
    }

    /// A time; `None` if the key is missing.
    ///
    /// # Errors
    /// An invalid time.
    pub fn optional_time(&mut self, key: &str) -> Result<Option<Duration>, ScenarioError> {
        if self.has(key) {
            return self.time(key, None).map(Some);
        }
        self.optional.push(key.to_owned());
        Ok(None)
    }

    /// A rate in bit/s, written as `"8Mbit"`. `None` means `"unlimited"`, as does the default `Some(None)`.
    ///
    /// # Errors
    /// An invalid rate.
    pub fn rate(&mut self, key: &str, default: Option<Option<u64>>) -> Result<Option<u64>, ScenarioError> {
        self.value(key, default.map(LineRate)).map(|LineRate(rate)| rate)
    }

    /// A fraction from 0 to 1, written as `"3%"`.
    ///
    /// # Errors
    /// An invalid percentage.
    pub fn share(&mut self, key: &str, default: impl Into<Option<f64>>) -> Result<f64, ScenarioError> {
        self.value(key, default.into().map(|share| Percent(share * 100.0))).map(Percent::fraction)
    }

    /// An integer within bounds.
    ///
    /// # Errors
    /// An invalid or out-of-range integer.
    pub fn number(
        &mut self,
        key: &str,
        bounds: RangeInclusive<u64>,
        default: impl Into<Option<u64>>,
    ) -> Result<u64, ScenarioError> {
        let number = self.value(key, default.into())?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        Err(self.error(key, must_be_between(number, &bounds, "")))
    }

    /// A boolean.
    ///
    /// # Errors
    /// Another value.
    pub fn flag(&mut self, key: &str, default: impl Into<Option<bool>>) -> Result<bool, ScenarioError> {
        self.value(key, default.into())
    }

    /// The index of the value in `words`. The default is an index too.
    ///
    /// # Errors
    /// Another word.
    pub fn choice(
        &mut self,
        key: &str,
        words: &[&str],
        default: impl Into<Option<usize>>,
    ) -> Result<usize, ScenarioError> {
        let default = default.into().and_then(|place| words.get(place)).map(|word| (*word).to_owned());
        let word: String = self.value(key, default)?;
        words.iter().position(|known| *known == word).ok_or_else(|| {
            let near = suggestion(&word, words.iter().copied());
            let all = words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
            self.error(key, format!("is not one of {all}{near}"))
        })
    }

    /// An error about a key of this table, for checks that the kind itself makes.
    #[must_use]
    pub fn error(&self, key: &str, problem: impl Into<String>) -> ScenarioError {
        self.root.error(&self.path(key), problem)
    }

    /// A value of any type of the format.
    pub(crate) fn value<T: JsonSchema + Serialize + DeserializeOwned>(
        &mut self,
        key: &str,
        default: Option<T>,
    ) -> Result<T, ScenarioError> {
        let path = self.path(key);
        let value = match self.root.get(&path) {
            Some(node) => {
                check::check_value(self.root, &path, &schema::of::<T>())?;
                let read = T::deserialize(node.value());
                read.map_err(|error| self.error(key, error.message().to_owned()))?
            }
            None => default.ok_or_else(|| self.missing::<T>(key))?,
        };
        if let Ok(written) = toml::Value::try_from(&value) {
            self.values.insert(key.to_owned(), written);
        }
        Ok(value)
    }

    /// Whether a key is set. This does not count as reading it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.root.get(&self.path(key)).is_some()
    }

    /// All values read. Unread keys other than `others` are an error.
    pub(super) fn finish(self, others: &[&str]) -> Result<toml::Table, ScenarioError> {
        let at: Vec<&str> = self.at.iter().map(String::as_str).collect();
        let given = self.root.get(&at).and_then(Node::table);
        let known = |key: &str| self.values.contains_key(key) || others.contains(&key);
        let Some(stray) = given.into_iter().flat_map(|table| table.keys()).find(|key| !known(key)) else {
            return Ok(self.values);
        };
        let optional = self.optional.iter().map(String::as_str);
        let own =
            || others.iter().copied().chain(self.values.keys().map(String::as_str)).chain(optional.clone());
        let near = suggestion(stray, own());
        let allowed = own().collect::<Vec<_>>().join(", ");
        let problem = if allowed.is_empty() {
            "this kind has no keys (omit it)".to_owned()
        } else {
            format!("unknown key{near} (allowed: {allowed})")
        };
        Err(self.root.key_error(&self.path(stray), problem))
    }

    fn missing<T: JsonSchema>(&self, key: &str) -> ScenarioError {
        let schema = schema::of::<T>();
        let example = schema.pointer("/examples/0").and_then(serde_json::Value::as_str);
        let example = example.map_or_else(String::new, |example| format!(" (try {key} = {example:?})"));
        self.error(key, format!("must be set{example}"))
    }

    fn path<'b>(&'b self, key: &'b str) -> Vec<&'b str> {
        self.at.iter().map(String::as_str).chain([key]).collect()
    }
}
