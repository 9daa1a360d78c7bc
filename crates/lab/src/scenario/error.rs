//! What is wrong with a scenario, said once and in full. Only words: nothing here decides anything.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use thiserror::Error;

use super::synonyms;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the person named it, or `--set` for an override.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: Option<usize>,
}

impl Place {
    /// Whether it is that of a value that was put over a scenario whose own place is `whole`.
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

/// Why a scenario cannot be used. Each message says where, which key, which value, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// A file cannot be read.
    #[error("{place}: {problem}")]
    File {
        /// The file, or the line that includes it.
        place: Place,
        /// What is wrong.
        problem: String,
    },
    /// A file is not TOML.
    #[error("{place}: this is not TOML: {problem}")]
    Syntax {
        /// Where the parser stopped.
        place: Place,
        /// What it says.
        problem: String,
    },
    /// A key that does not belong there, or that is missing something.
    #[error("{place}: {key}: {problem}")]
    Key {
        /// Where the key stands.
        place: Place,
        /// The key with all its tables, as `paths.wifi.delay`.
        key: String,
        /// What is wrong, what is allowed, and the nearest valid choice.
        problem: String,
    },
    /// A value that does not fit its key.
    #[error("{place}: {key} = {value}: {problem}")]
    Value {
        /// Where the key stands.
        place: Place,
        /// The key with all its tables.
        key: String,
        /// The value as TOML writes it.
        value: String,
        /// What is wrong, what is allowed, and the nearest valid choice.
        problem: String,
    },
}

impl ScenarioError {
    /// This error without the number of its line.
    pub(super) fn without_line(mut self) -> Self {
        let (Self::File { place, .. }
        | Self::Syntax { place, .. }
        | Self::Key { place, .. }
        | Self::Value { place, .. }) = &mut self;
        place.line = None;
        self
    }
}

/// Bytes of the longest name that anything is compared with.
const LONG: usize = 64;
/// How many names a message lists.
const MOST: usize = 40;
/// How many letters of a value a message shows.
const SHOWN: usize = 200;
/// How many letters a message says of it.
const SAID: usize = 1_500;

/// The problem of a number outside `bounds`; `unit` follows each number.
pub(crate) fn must_be_between(value: u64, bounds: &RangeInclusive<u64>, unit: &str) -> String {
    let (low, high) = (*bounds.start(), *bounds.end());
    format!("must be between {low}{unit} and {high}{unit} (nearest: {}{unit})", value.clamp(low, high))
}

/// The nearest of `choices` to `word`, if any is near.
pub(super) fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONG {
        return None;
    }
    let choices = choices.into_iter().filter(|choice| choice.len() <= LONG);
    let distance = |choice: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &choice.to_lowercase());
    let best = choices.min_by_key(|choice| distance(choice))?;
    (distance(best) <= (word.chars().count() / 2).max(2)).then_some(best)
}

/// `; did you mean "x"?`, or nothing if nothing is near.
pub(super) fn suggestion<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> String {
    asked(nearest(word, choices))
}

/// As [`suggestion`], for a key or a name of the format, for which people may have another word.
pub(super) fn word_suggestion<'a>(word: &str, choices: impl IntoIterator<Item = &'a str> + Clone) -> String {
    asked(nearest_word(word, choices))
}

/// The one of `choices` that `word` is another word for, as `latency` is for `delay`, or the most similar one; `None` if no
/// choice is similar.
pub fn nearest_word<'a>(word: &str, choices: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    synonyms::meant(word, choices.clone()).or_else(|| nearest(word, choices))
}

fn asked(choice: Option<&str>) -> String {
    choice.map_or_else(String::new, |choice| format!("; did you mean {choice:?}?"))
}

/// What is there, for a message: `there are: a, b`, or `there are none`.
pub(super) fn listed<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let mut choices = choices.into_iter();
    let first: Vec<String> = choices.by_ref().take(MOST).map(shown).collect();
    match choices.count() {
        0 if first.is_empty() => "none".to_owned(),
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// What was written, for a message of one line: cut, and without line breaks.
pub(super) fn shown(text: &str) -> String {
    cut(text, SHOWN)
}

/// The same for what is said of it.
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
