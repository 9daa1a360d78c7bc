//! Recordings of links: when frames left (mahimahi's format), or what the link was like over time (a table).
//!
//! Owns both formats and their errors, and how a recording is played: from where on, and whether again. Never runs anything.

mod columns;
mod step;
mod table;

use std::path::Path;
use std::sync::Arc;

use mptcp_clock::Duration;
use netsim::Trace;

use self::step::{STANDSTILL, lines};
use super::regular;

pub use self::step::Step;

/// No file is read further, bytes.
const LONGEST: u64 = 64 << 20;
/// Opportunities of a recording: two and a half hours of 12 Mb/s.
const MOST_OPPORTUNITIES: usize = 10_000_000;
/// Changes of a table that is played over and over.
const MOST_CHANGES: u64 = 2_000_000;

/// A recording, the file as the scenario names it, and how it is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The file.
    pub file: String,
    /// What it says.
    pub what: Recorded,
    /// Where in it a run begins.
    pub start: Start,
    /// Whether a table is played again from its beginning; opportunities always are.
    pub repeats: bool,
}

/// Where in a recording a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At its beginning.
    #[default]
    Beginning,
    /// So long after it.
    At(Duration),
    /// Anywhere, drawn by the seed of the run.
    Random,
}

/// What a recording says.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A full frame may leave at each of these times, over and over; they are kept where a run may begin within.
    Opportunities(Trace, Arc<[Duration]>),
    /// From each time on, what the link is like; the last holds.
    Steps(Vec<Step>),
}

impl Recording {
    /// Reads a file; says with its line what is wrong.
    pub(super) fn read(path: &Path, file: &str, start: Start, repeats: Option<bool>) -> Result<Self, String> {
        let text = text_of(path)?;
        let what = if table::is_one(&text) {
            Recorded::Steps(table::steps(&text)?)
        } else if repeats == Some(false) {
            return Err("is a list of delivery times, which always repeats; omit trace_repeat".to_owned());
        } else {
            opportunities(&text, start != Start::Beginning)?
        };
        let repeats =
            repeats.unwrap_or(start == Start::Random) || matches!(what, Recorded::Opportunities(..));
        let read = Self { file: file.to_owned(), what, start, repeats };
        if !repeats && start == Start::Random {
            return Err("starts at a random time and must repeat; omit trace_repeat".to_owned());
        }
        match start {
            Start::At(at) if at >= read.period() => Err(format!(
                "must start before its end, at {:.3} s (see trace_start)",
                read.period().as_secs_f64()
            )),
            _ => Ok(read),
        }
    }

    /// Whether it would change the link too often in a run of this length.
    pub(super) fn changes_too_often(&self, duration: Duration) -> Option<String> {
        let Recorded::Steps(steps) = &self.what else { return None };
        let rounds = if self.repeats { duration.as_nanos() / self.period().as_nanos().max(1) + 1 } else { 1 };
        (rounds.saturating_mul(steps.len() as u64) > MOST_CHANGES)
            .then(|| format!("would change the link more than {MOST_CHANGES} times in this run"))
    }

    /// The mean rate, bit/s, or that of the first step; `None` if the recording says nothing of the rate.
    pub(super) fn rate(&self) -> Option<u64> {
        match &self.what {
            // No rate at all would be an infinite one.
            Recorded::Opportunities(trace, _) => Some(trace.mean_rate().max(STANDSTILL)),
            Recorded::Steps(steps) => steps.first()?.rate,
        }
    }

    /// When it is over, and may begin again. The last step of a table lasts as long as the one before.
    fn period(&self) -> Duration {
        match &self.what {
            Recorded::Opportunities(_, times) => times.last().copied().unwrap_or(Duration::MAX),
            Recorded::Steps(steps) => match steps[..] {
                [.., before, last] => last.at + (last.at - before.at),
                _ => Duration::MAX,
            },
        }
    }

    /// The opportunities or steps of one run that lasts this long; `draw` is a number from 0 to 1.
    pub(crate) fn played(&self, draw: f64, duration: Duration) -> Recorded {
        let period = self.period();
        let offset = match self.start {
            Start::Beginning => Duration::ZERO,
            Start::At(offset) => offset,
            Start::Random if period == Duration::MAX => Duration::ZERO,
            Start::Random => Duration::from_nanos((period.as_nanos() as f64 * draw) as u64),
        };
        match &self.what {
            Recorded::Opportunities(trace, times) => {
                let turned = turned(times, offset).unwrap_or_else(|| trace.clone());
                Recorded::Opportunities(turned, Arc::default())
            }
            Recorded::Steps(steps) => {
                Recorded::Steps(shifted(steps, offset, self.repeats.then_some(period), duration))
            }
        }
    }
}

/// The times from the first one after `offset` on, and those before behind them: the same opportunities, over and over.
fn turned(times: &[Duration], offset: Duration) -> Option<Trace> {
    let period = *times.last()?;
    if offset.is_zero() {
        return None;
    }
    let begin = times.get(times.partition_point(|&time| time < offset)).copied()?;
    let split = times.partition_point(|&time| time <= begin);
    let (before, after) = times.split_at(split);
    let all = after.iter().map(|&time| time - begin).chain(before.iter().map(|&time| time + period - begin));
    Trace::new(&all.collect::<Vec<_>>())
}

/// The steps from `offset` on, as they follow each other in a run of this length.
fn shifted(steps: &[Step], offset: Duration, period: Option<Duration>, duration: Duration) -> Vec<Step> {
    let period = period.filter(|&period| period != Duration::MAX);
    let mut state = Step::default();
    let mut found = Vec::new();
    let mut base = Duration::ZERO;
    loop {
        for step in steps {
            let at = base + step.at;
            state.rate = step.rate.or(state.rate);
            state.delay = step.delay.or(state.delay);
            state.loss = step.loss.or(state.loss);
            if at <= offset {
                found.clear();
                found.push(Step { at: Duration::ZERO, ..state });
            } else if at - offset <= duration {
                found.push(Step { at: at - offset, ..*step });
            } else {
                return found;
            }
        }
        let Some(period) = period else { return found };
        base += period;
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes =
        regular::read(path, LONGEST).map_err(|problem| format!("{shown} cannot be read: {problem}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{shown} must be text in UTF-8"))?;
    // What some systems write before a text.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

const OPPORTUNITY: &str = "expected a time in whole milliseconds in each line";

fn opportunities(text: &str, kept: bool) -> Result<Recorded, String> {
    let mut times = Vec::new();
    let mut last = 0_u64;
    for (number, line) in lines(text) {
        let Some(time) = line.parse::<u64>().ok().filter(|&time| time <= 86_400_000_000) else {
            return Err(format!("line {number}, {line:?}: {OPPORTUNITY}"));
        };
        if time < last {
            return Err(format!("line {number}: {time} ms follows {last} ms; times must not decrease"));
        }
        if times.len() == MOST_OPPORTUNITIES {
            return Err(format!("has more than the limit of {MOST_OPPORTUNITIES} lines"));
        }
        last = time;
        times.push(Duration::from_millis(time));
    }
    if times.is_empty() {
        return Err(format!("is empty: {OPPORTUNITY}"));
    }
    let trace = Trace::new(&times).ok_or("has no delivery time after 0 ms: the link would never send")?;
    Ok(Recorded::Opportunities(trace, if kept { times.into() } else { Arc::default() }))
}
