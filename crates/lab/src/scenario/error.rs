//! Errors of scenarios. Owns the form of their messages, so that each names the file, line, key and fix.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use thiserror::Error;

use super::synonyms;

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file name as given, or `--set` for an override.
    pub file: Arc<str>,
    /// The line, from 1; `None` for overrides and generated values.
    pub line: Option<usize>,
}

impl Place {
    /// Whether this is the place of an override. `whole` is the place of the scenario file.
    pub(super) fn is_over(&self, whole: &Self) -> bool {
        self.line.is_none() && self.file != whole.file
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// An error of a scenario. Messages contain place, key, value, problem and fix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// A file cannot be read.
    #[error("{place}: {problem}")]
    File {
        /// The file, or the line that includes it.
        place: Place,
        /// The problem.
        problem: String,
    },
    /// A file is not TOML.
    #[error("{place}: this is not TOML: {problem}")]
    Syntax {
        /// The place of the syntax error.
        place: Place,
        /// The message of the parser.
        problem: String,
    },
    /// An unknown key, or a missing one.
    #[error("{place}: {key}: {problem}")]
    Key {
        /// The place of the key.
        place: Place,
        /// The full key, such as `paths.wifi.delay`.
        key: String,
        /// The problem, the allowed values, and the nearest valid one.
        problem: String,
    },
    /// An invalid value.
    #[error("{place}: {key} = {value}: {problem}")]
    Value {
        /// The place of the key.
        place: Place,
        /// The full key.
        key: String,
        /// The value in TOML syntax.
        value: String,
        /// The problem, the allowed values, and the nearest valid one.
        problem: String,
    },
}

impl ScenarioError {
    /// The error without its line number.
    pub(super) fn without_line(mut self) -> Self {
        let (Self::File { place, .. }
        | Self::Syntax { place, .. }
        | Self::Key { place, .. }
        | Self::Value { place, .. }) = &mut self;
        place.line = None;
        self
    }
}

/// Maximum length of names that are compared for suggestions, bytes.
const LONG: usize = 64;
/// Maximum number of names in a message.
const MOST: usize = 40;
/// Maximum number of characters of a value in a message.
const SHOWN: usize = 200;
/// Maximum number of characters of a problem in a message.
const SAID: usize = 1_500;

/// The message for a number outside `bounds`. `unit` is appended to each number.
pub(crate) fn must_be_between(value: u64, bounds: &RangeInclusive<u64>, unit: &str) -> String {
    let (low, high) = (*bounds.start(), *bounds.end());
    format!("must be between {low}{unit} and {high}{unit} (nearest: {}{unit})", value.clamp(low, high))
}

/// The most similar of `choices`, if any is similar.
pub(super) fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONG {
        return None;
    }
    let choices = choices.into_iter().filter(|choice| choice.len() <= LONG);
    let distance = |choice: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &choice.to_lowercase());
    let best = choices.min_by_key(|choice| distance(choice))?;
    (distance(best) <= (word.chars().count() / 2).max(2)).then_some(best)
}

/// `; did you mean "x"?`, or empty without a similar choice.
pub(super) fn suggestion<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> String {
    asked(nearest(word, choices))
}

/// As [`suggestion`], including synonyms of keys and names.
pub(super) fn word_suggestion<'a>(word: &str, choices: impl IntoIterator<Item = &'a str> + Clone) -> String {
    asked(nearest_word(word, choices))
}

/// The choice that has `word` as a synonym, as `delay` has `latency`; otherwise the most similar choice.
/// `None` if no choice is similar.
pub fn nearest_word<'a>(word: &str, choices: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    synonyms::meant(word, choices.clone()).or_else(|| nearest(word, choices))
}

fn asked(choice: Option<&str>) -> String {
    choice.map_or_else(String::new, |choice| format!("; did you mean {choice:?}?"))
}

/// A list of names for a message.
pub(super) fn listed<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let mut choices = choices.into_iter();
    let first: Vec<String> = choices.by_ref().take(MOST).map(shown).collect();
    match choices.count() {
        0 if first.is_empty() => "none".to_owned(),
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A value for a single-line message: truncated, and without line breaks.
pub(super) fn shown(text: &str) -> String {
    cut(text, SHOWN)
}

/// The text of a problem for a single-line message: truncated, and without line breaks.
pub(super) fn said(problem: &str) -> String {
    cut(problem, SAID)
}

fn cut(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == most {
            shown.push('…');
            break;
        }
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}
