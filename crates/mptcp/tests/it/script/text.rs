//! Parses the text of scripts: lines, words, numbers and times.
//!
//! Owns the words of a file with their places. Never interprets a word.

use std::fmt;
use std::rc::Rc;

use mptcp_clock::Duration;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: Rc<str>,
    pub line: usize,
}

/// A fault of a script, or of the stack under test.
#[derive(Clone, Debug)]
pub struct Fault {
    place: Place,
    what: String,
}

impl Place {
    pub fn fault(&self, what: impl Into<String>) -> Fault {
        Fault { place: self.clone(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.file, self.place.line, self.what)
    }
}

/// The time of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Relative to the previous line.
    After(Duration),
    /// Relative to the start of the script.
    At(Duration),
}

/// A line with words.
#[derive(Clone, Debug)]
pub struct Line {
    pub place: Place,
    pub when: When,
    /// The tolerance of the time.
    pub tolerance: Duration,
    /// At least one.
    pub words: Vec<String>,
}

/// Reads the lines of a file, without empty ones and comments.
pub fn read(file: &str, text: &str) -> Result<Vec<Line>, Fault> {
    let file: Rc<str> = file.into();
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = Place { file: file.clone(), line: number + 1 };
        let text = line.split('#').next().unwrap_or_default();
        let mut words = split(text).map_err(|what| place.fault(what))?;
        let (mut when, mut tolerance) = (When::After(Duration::ZERO), Duration::ZERO);
        if let Some(first) = words.first().cloned()
            && first.starts_with(['+', '@'])
        {
            words.remove(0);
            let (time, slack) = first[1..].split_once('~').unwrap_or((&first[1..], "0s"));
            let time = duration(time).map_err(|what| place.fault(what))?;
            tolerance = duration(slack).map_err(|what| place.fault(what))?;
            when = if first.starts_with('@') { When::At(time) } else { When::After(time) };
            if words.is_empty() {
                return Err(place.fault("expected a line after the time; `wait` only waits"));
            }
        }
        if !words.is_empty() {
            lines.push(Line { place, when, tolerance, words });
        }
    }
    Ok(lines)
}

/// Splits at blanks outside of parentheses.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Err("`)` without `(`".into()),
            ')' => depth -= 1,
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        } else {
            word.push(letter);
        }
    }
    if depth > 0 {
        return Err(format!("`{word}`: `)` is missing"));
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    Ok(words)
}

/// A time with its unit: `10ms`, `1.5s`, `300us`, `2min`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let nanos = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        _ => return Err(format!("`{text}`: expected a time: a number with ns, us, ms, s or min")),
    };
    let number: f64 =
        number.parse().map_err(|_| format!("`{text}`: expected a time: `{number}` must be a number"))?;
    Ok(Duration::from_nanos((number * nanos).round() as u64))
}

/// Formats a time.
pub fn show(time: Duration) -> String {
    let nanos = time.as_nanos();
    for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if nanos >= unit && nanos.is_multiple_of(unit / 1000) {
            let (whole, rest) = (nanos / unit, nanos % unit * 1000 / unit);
            let text = if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}") };
            let text = if rest == 0 { &text } else { text.trim_end_matches('0') };
            return format!("{text}{name}");
        }
    }
    format!("{nanos}ns")
}

/// Parses a number; `what` names it in the message.
pub fn number<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{what} = `{text}`: must be a number"))
}

/// `on` or `off`.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{text}`: must be on or off")),
    }
}
