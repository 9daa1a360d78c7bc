//! What a scenario says to a kind: its keys, read one by one, with the same errors as all other keys.
//!
//! Owns what was asked for: a key that nobody asks for is an error, and each value that was read, default or not, is
//! written back. Never knows what a value means.

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

/// The table of a kind, as a scenario has it. What is missing takes the default; a default of `None` says that the key
/// is needed.
#[derive(Debug)]
pub struct Parameters<'a> {
    root: &'a Node,
    /// Where the table stands.
    at: Vec<String>,
    /// What was read so far, in full.
    values: toml::Table,
    /// Keys that were asked for, are not there and have no default.
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

    /// Bytes, written as `"64KB"`.
    ///
    /// # Errors
    /// What is no size.
    pub fn size(&mut self, key: &str, default: impl Into<Option<u64>>) -> Result<u64, ScenarioError> {
        self.value(key, default.into().map(Size)).map(|Size(bytes)| bytes)
    }

    /// Bytes, at least one.
    ///
    /// # Errors
    /// What is no size, and nothing.
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
    /// What is no time.
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
    /// What is no time, and none at all.
    pub fn positive_time(
        &mut self,
        key: &str,
        default: impl Into<Option<Duration>>,
    ) -> Result<Duration, ScenarioError> {
        let time = self.time(key, default)?;
        if time.is_zero() { Err(self.error(key, "must be longer than 0s (try \"5s\")")) } else { Ok(time) }
    }

    /// A time that may be missing.
    ///
    /// # Errors
    /// What is no time.
    pub fn optional_time(&mut self, key: &str) -> Result<Option<Duration>, ScenarioError> {
        if self.has(key) {
            return self.time(key, None).map(Some);
        }
        self.optional.push(key.to_owned());
        Ok(None)
    }

    /// bit/s, written as `"8Mbit"`; `None` is `"unlimited"`, and a default of `Some(None)` too.
    ///
    /// # Errors
    /// What is no rate.
    pub fn rate(&mut self, key: &str, default: Option<Option<u64>>) -> Result<Option<u64>, ScenarioError> {
        self.value(key, default.map(LineRate)).map(|LineRate(rate)| rate)
    }

    /// A share from 0 to 1, written as `"3%"`.
    ///
    /// # Errors
    /// What is no percentage.
    pub fn share(&mut self, key: &str, default: impl Into<Option<f64>>) -> Result<f64, ScenarioError> {
        self.value(key, default.into().map(|share| Percent(share * 100.0))).map(Percent::fraction)
    }

    /// A whole number within bounds.
    ///
    /// # Errors
    /// What is none, or out of bounds.
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

    /// `true` or `false`.
    ///
    /// # Errors
    /// Anything else.
    pub fn flag(&mut self, key: &str, default: impl Into<Option<bool>>) -> Result<bool, ScenarioError> {
        self.value(key, default.into())
    }

    /// One of several words, by its place among them; so is the default.
    ///
    /// # Errors
    /// Any other word.
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

    /// An error about a key of this table, for what a kind finds out by itself.
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

    /// Whether a key stands there. It does not count as read.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.root.get(&self.path(key)).is_some()
    }

    /// All that was read, unless there is more beside it and `others`.
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
