//! Recordings of links: when frames left (mahimahi's format), or what the link was like over time (CSV).
//!
//! Owns both formats and their errors. Never runs anything.

use std::io::Read;
use std::path::Path;

use mptcp_clock::Duration;
use netsim::Trace;

/// No file is read further, bytes.
const LONGEST: u64 = 64 << 20;
/// A rate of zero: what is in service then goes on when there is a rate again, bit/s.
const STANDSTILL: u64 = 8;
/// Opportunities of a recording: two and a half hours of 12 Mb/s.
const MOST_OPPORTUNITIES: usize = 10_000_000;
/// Lines of a CSV: each is an event for each direction.
const MOST_STEPS: usize = 100_000;

/// A recording, and the file as the scenario names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The file.
    pub file: String,
    /// What it says.
    pub what: Recorded,
}

/// What a recording says.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A millisecond a line: a full frame may leave then. From the beginning again at the end.
    Opportunities(Trace),
    /// From each time on, what the link is like; the last holds.
    Steps(Vec<Step>),
}

/// What a link is like from a time on. What a recording does not say stays as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Since the start of the run.
    pub at: Duration,
    /// bit/s.
    pub rate: Option<u64>,
    /// Propagation, one way.
    pub delay: Option<Duration>,
    /// Loss, 0..=1.
    pub loss: Option<f64>,
}

impl Recording {
    /// Reads a file; says with its line what is wrong.
    pub(super) fn read(path: &Path, file: &str) -> Result<Self, String> {
        let text = text_of(path)?;
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let what = if first.contains(|c: char| c == ',' || c.is_ascii_alphabetic()) {
            Recorded::Steps(steps(&text)?)
        } else {
            Recorded::Opportunities(opportunities(&text)?)
        };
        Ok(Self { file: file.to_owned(), what })
    }

    /// The mean rate, bit/s, or that of the first step; `None` if the recording says nothing of the rate.
    pub(super) fn rate(&self) -> Option<u64> {
        match &self.what {
            // No rate at all would be an infinite one.
            Recorded::Opportunities(trace) => Some(trace.mean_rate().max(STANDSTILL)),
            Recorded::Steps(steps) => steps.first()?.rate,
        }
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let open = || -> std::io::Result<Vec<u8>> {
        let file = std::fs::File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("it is no file"));
        }
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = open().map_err(|error| format!("{shown} cannot be read: {error}"))?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("{shown} is longer than 64 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| format!("{shown} is not text"))
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn opportunities(text: &str) -> Result<Trace, String> {
    let mut times = Vec::new();
    let mut last = 0_u64;
    for (number, line) in lines(text) {
        let Some(time) = line.parse::<u64>().ok().filter(|&time| time <= 86_400_000_000) else {
            return Err(format!(
                "line {number}, {line:?}: a recording has a time in whole milliseconds in each line"
            ));
        };
        if time < last {
            return Err(format!("line {number}: {time} ms comes after {last} ms; times do not go back"));
        }
        if times.len() == MOST_OPPORTUNITIES {
            return Err(format!("has more than {MOST_OPPORTUNITIES} lines"));
        }
        last = time;
        times.push(Duration::from_millis(time));
    }
    if times.is_empty() {
        return Err("is empty: a recording has a time in whole milliseconds in each line".to_owned());
    }
    Trace::new(&times).ok_or_else(|| "has no opportunity after 0 ms: nothing would ever leave".to_owned())
}

const COLUMNS: [&str; 4] = ["time_s", "rate_mbit", "delay_ms", "loss_percent"];

fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut all = lines(text);
    let header: Vec<&str> =
        all.next().map_or(Vec::new(), |(_, line)| line.split(',').map(str::trim).collect());
    if header.first() != Some(&"time_s")
        || header.iter().any(|name| !COLUMNS.contains(name))
        || header.len() < 2
    {
        let all = COLUMNS.join(", ");
        return Err(format!(
            "begins with the names of its columns: time_s, and some of {all} (it says {:?})",
            header.join(",")
        ));
    }
    let mut steps: Vec<Step> = Vec::new();
    for (number, line) in all {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != header.len() {
            return Err(format!("line {number}: {} values under {} columns", cells.len(), header.len()));
        }
        let mut step = Step::default();
        for (name, cell) in header.iter().zip(cells) {
            let most = if *name == "loss_percent" { 100.0 } else { 1e6 };
            let value = cell.parse::<f64>().ok().filter(|value| (0.0..=most).contains(value));
            let Some(value) = value else {
                return Err(format!("line {number}: {name} = {cell:?} lies between 0 and {most}"));
            };
            match *name {
                "time_s" => step.at = Duration::from_secs_f64(value),
                "rate_mbit" => step.rate = Some(((value * 1e6) as u64).max(STANDSTILL)),
                "delay_ms" => step.delay = Some(Duration::from_secs_f64(value / 1e3)),
                _ => step.loss = Some(value / 100.0),
            }
        }
        if steps.last().is_some_and(|last| last.at >= step.at) {
            return Err(format!("line {number}: its time does not come after that of the line before"));
        }
        if steps.len() == MOST_STEPS {
            return Err(format!("has more than {MOST_STEPS} lines"));
        }
        steps.push(step);
    }
    if steps.first().is_none_or(|first| !first.at.is_zero()) {
        return Err("begins at time_s = 0".to_owned());
    }
    Ok(steps)
}
