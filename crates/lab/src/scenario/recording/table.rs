//! Reads a recording from a text table of link properties over time, as measurement datasets publish them.
//!
//! Owns the accepted syntax: with or without column names, with commas, semicolons, tabs or blanks as
//! separators, and with times since any epoch.

use mptcp_clock::Duration;

use super::columns::{self, Column, Quantity};
use super::step::{STANDSTILL, Step, lines};
use crate::scenario::error::shown;

/// Maximum number of lines, because each is a simulator event for each direction.
const MAX_STEPS: usize = 100_000;
/// Cells without a value.
const NOTHING: [&str; 8] = ["", "-", "nan", "na", "n/a", "null", "none", "?"];
/// Example of column names for messages.
const EXAMPLE: &str = "time_s, and rate_mbit, delay_ms or loss_percent";

/// Whether a text is a table. Otherwise it is a list of delivery times.
pub(super) fn is_one(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| {
        let separated = Separator::of(line).split(line).count() > 1;
        separated || line.contains(|letter: char| letter.is_alphabetic())
    })
}

/// The steps of a table.
///
/// # Errors
/// The first error, with its line.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut all = lines(text).peekable();
    let Some(&(_, first)) = all.peek() else { return Err("is empty".to_owned()) };
    let separator = Separator::of(first);
    let names: Vec<String> = separator.split(first).collect();
    let columns = if names.iter().all(|name| separator.number(name).is_some()) {
        unnamed(names.len())?
    } else {
        all.next();
        named(&names)?
    };
    let mut reader = Reader { separator, columns, begin: None, scale: 1.0, steps: Vec::new() };
    for (number, line) in all {
        reader.take(line).map_err(|problem| format!("line {number}: {problem}"))?;
    }
    if reader.steps.is_empty() {
        return Err("has no line of values".to_owned());
    }
    Ok(reader.steps)
}

/// The columns of a table without names: seconds and Mb/s.
fn unnamed(count: usize) -> Result<Vec<Option<Column>>, String> {
    let problem = format!("has {count} columns without names; name them in a first line (try {EXAMPLE})");
    let column = |quantity, scale| Some(Column { quantity, scale });
    match count {
        2 => Ok(vec![column(Quantity::Time, None), column(Quantity::Rate, Some(1e6))]),
        _ => Err(problem),
    }
}

fn named(names: &[String]) -> Result<Vec<Option<Column>>, String> {
    let columns = names.iter().map(|name| columns::column(name)).collect::<Result<Vec<_>, _>>()?;
    for (at, column) in columns.iter().enumerate() {
        let Some(column) = column else { continue };
        let same = |other: &Option<Column>| other.is_some_and(|other| other.quantity == column.quantity);
        if let Some(other) = columns[..at].iter().position(same) {
            let (one, other) = (shown(&names[other]), shown(&names[at]));
            return Err(format!(
                "must have one column of each quantity: {one:?} and {other:?} have the same quantity \
                 (mptcplab convert-trace selects one)"
            ));
        }
    }
    let has = |wanted| columns.iter().flatten().any(|column| column.quantity == wanted);
    if has(Quantity::Time) && columns.iter().flatten().count() > 1 {
        return Ok(columns);
    }
    let said = shown(&names.join(", "));
    Err(format!("must begin with the names of its columns: {EXAMPLE}; its first line is {said:?}"))
}

struct Reader {
    separator: Separator,
    columns: Vec<Option<Column>>,
    /// Time of the first line, as written; `None` before the first line.
    begin: Option<f64>,
    /// Factor to seconds for times without a unit.
    scale: f64,
    steps: Vec<Step>,
}

impl Reader {
    fn take(&mut self, line: &str) -> Result<(), String> {
        let cells: Vec<String> = self.separator.split(line).collect();
        if cells.len() != self.columns.len() {
            return Err(format!("{} values under {} columns", cells.len(), self.columns.len()));
        }
        let mut step = Step::default();
        for (column, cell) in self.columns.clone().into_iter().zip(&cells) {
            let Some(column) = column else { continue };
            if NOTHING.contains(&cell.to_lowercase().as_str()) {
                if column.quantity == Quantity::Time {
                    return Err("has no time".to_owned());
                }
                continue;
            }
            let value = self.separator.number(cell).filter(|value| *value >= 0.0);
            let value = value.ok_or_else(|| refused(column.quantity, cell))?;
            self.put(&mut step, column, value).ok_or_else(|| refused(column.quantity, cell))?;
        }
        self.push(step)
    }

    /// Sets a value of a step; `None` if it is out of range.
    fn put(&mut self, step: &mut Step, column: Column, value: f64) -> Option<()> {
        let within = |value: f64, most: f64| (value <= most).then_some(value);
        match column.quantity {
            Quantity::Time => {
                let begin = *self.begin.get_or_insert(value);
                if self.steps.is_empty() && column.scale.is_none() {
                    self.scale = scale_of(begin);
                }
                // A difference of large times is accurate only to nanoseconds.
                let since = within((value - begin) * column.scale.unwrap_or(self.scale), 1e6)?;
                if since < 0.0 {
                    return None;
                }
                step.at = Duration::from_nanos((since * 1e9).round() as u64);
            }
            Quantity::Rate => {
                let rate = within(value * column.scale.unwrap_or(1e6), 1e12)?;
                step.rate = Some((rate as u64).max(STANDSTILL));
            }
            Quantity::Delay => {
                let delay = within(value * column.scale.unwrap_or(1e-3), 1e3)?;
                step.delay = Some(Duration::from_secs_f64(delay));
            }
            Quantity::Loss => step.loss = Some(within(value * column.scale.unwrap_or(1e-2), 1.0)?),
        }
        Some(())
    }

    fn push(&mut self, step: Step) -> Result<(), String> {
        let wanted = self.columns.iter().flatten().any(|column| column.quantity == Quantity::Rate);
        if self.steps.is_empty() && wanted && step.rate.is_none() {
            return Err("the first line must have a rate".to_owned());
        }
        let is_full = self.steps.len() == MAX_STEPS;
        match self.steps.last_mut() {
            Some(last) if last.at > step.at => {
                return Err("its time must not be before that of the line above".to_owned());
            }
            // Among lines with the same time, the last value of each column wins.
            Some(last) if last.at == step.at => {
                last.rate = step.rate.or(last.rate);
                last.delay = step.delay.or(last.delay);
                last.loss = step.loss.or(last.loss);
            }
            _ if is_full => {
                return Err(format!("has more than the limit of {MAX_STEPS} lines"));
            }
            _ => self.steps.push(step),
        }
        Ok(())
    }
}

fn refused(quantity: Quantity, cell: &str) -> String {
    let range = match quantity {
        Quantity::Time => {
            "be a number, not before the line above and at most 1000000 s after the first \
             (mptcplab convert-trace reads dates)"
        }
        Quantity::Rate => "be between 0 and 1000000 Mb/s",
        Quantity::Delay => "be between 0 and 1000 s",
        Quantity::Loss => "be between 0 and 100 percent",
    };
    let name = quantity.name().split('_').next().unwrap_or_default();
    format!("{name} = {:?}: must {range}", shown(cell))
}

/// Seconds per unit of a time without a unit: the Unix epoch in seconds, milliseconds, microseconds or
/// nanoseconds.
fn scale_of(first: f64) -> f64 {
    match first {
        ..1e11 => 1.0,
        ..1e14 => 1e-3,
        ..1e17 => 1e-6,
        _ => 1e-9,
    }
}

/// The separator of cells.
#[derive(Clone, Copy)]
enum Separator {
    Character(char),
    Blanks,
}

impl Separator {
    /// The separator of a table with this first line.
    fn of(line: &str) -> Self {
        [';', '\t', ','].into_iter().find(|&one| line.contains(one)).map_or(Self::Blanks, Self::Character)
    }

    fn split(self, line: &str) -> Box<dyn Iterator<Item = String> + '_> {
        let clean = |cell: &str| cell.trim().trim_matches('"').trim().to_owned();
        match self {
            Self::Character(one) => Box::new(line.split(one).map(clean)),
            Self::Blanks => Box::new(line.split_whitespace().map(clean)),
        }
    }

    /// A number in a table with this separator; a comma is a decimal point if it is not the separator.
    fn number(self, cell: &str) -> Option<f64> {
        let text = match self {
            Self::Character(',') => cell.to_owned(),
            _ => cell.replace(',', "."),
        };
        text.parse::<f64>().ok().filter(|value| value.is_finite())
    }
}
