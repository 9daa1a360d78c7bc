//! Recordings of real links, which a scenario replays instead of a fixed rate (`trace`): delivery times
//! (mahimahi format), or link properties over time (a table).
//!
//! Owns both formats, their errors, and the part of a recording that one run replays.

mod columns;
mod step;
mod table;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use mptcp_clock::Duration;
use netsim::Trace;

use self::step::{STANDSTILL, lines};
use super::regular;

pub use self::step::Step;

/// Maximum file size, bytes.
const LONGEST: u64 = 64 << 20;
/// Maximum number of delivery times: two and a half hours at 12 Mb/s.
const MAX_OPPORTUNITIES: usize = 10_000_000;
/// Maximum number of changes by a repeated table.
const MAX_CHANGES: u64 = 2_000_000;

/// A recording: its file name in the scenario, contents and replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The file.
    pub file: String,
    /// Contents.
    pub what: Recorded,
    /// Position at which a run starts.
    pub start: Start,
    /// Whether a table repeats; delivery times always do.
    pub repeats: bool,
}

/// The start position in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The beginning.
    #[default]
    Beginning,
    /// This long after the beginning.
    At(Duration),
    /// A random position, selected by the seed.
    Random,
}

/// The contents of a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// Times at which a full frame may depart, repeated. The list is empty if runs start at the beginning.
    Opportunities(Trace, Arc<[Duration]>),
    /// Link properties from each time on. The last step lasts until the end of the run.
    Steps(Vec<Step>),
}

/// Contents of recordings without their files, by name of the link and direction (`forward` or `backward`).
pub type Recordings = HashMap<(String, String), Recorded>;

impl Recorded {
    /// The delivery times of a list, in order; `None` for a table.
    #[must_use]
    pub fn times(&self) -> Option<Vec<Duration>> {
        match self {
            Self::Opportunities(trace, kept) if kept.is_empty() => Some(trace.times().collect()),
            Self::Opportunities(_, kept) => Some(kept.to_vec()),
            Self::Steps(_) => None,
        }
    }

    /// A list of delivery times, as [`Self::times`] returns it. `None` without a time above zero, or if times
    /// decrease.
    #[must_use]
    pub fn list(times: &[Duration]) -> Option<Self> {
        Some(Self::Opportunities(Trace::new(times)?, times.into()))
    }
}

impl Recording {
    /// Reads a file. Errors name the line.
    pub(super) fn read(path: &Path, file: &str, start: Start, repeats: Option<bool>) -> Result<Self, String> {
        let text = text_of(path)?;
        let what =
            if table::is_one(&text) { Recorded::Steps(table::steps(&text)?) } else { opportunities(&text)? };
        Self::of(what, file, start, repeats)
    }

    /// A recording with these contents. The file name appears only in the written scenario.
    pub(super) fn of(
        mut what: Recorded,
        file: &str,
        start: Start,
        repeats: Option<bool>,
    ) -> Result<Self, String> {
        if let Recorded::Opportunities(_, times) = &mut what {
            if repeats == Some(false) {
                return Err("is a list of delivery times, which always repeats; omit trace_repeat".to_owned());
            }
            if start == Start::Beginning {
                *times = Arc::default();
            }
        }
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

    /// The problem if the recording changes the link more than [`MAX_CHANGES`] times in a run of this length.
    pub(super) fn changes_too_often(&self, duration: Duration) -> Option<String> {
        let Recorded::Steps(steps) = &self.what else { return None };
        let rounds = if self.repeats { duration.as_nanos() / self.period().as_nanos().max(1) + 1 } else { 1 };
        (rounds.saturating_mul(steps.len() as u64) > MAX_CHANGES)
            .then(|| format!("would change the link more than {MAX_CHANGES} times in this run"))
    }

    /// Mean rate, or the rate of the first step, bit/s; `None` if the recording has no rates.
    pub(super) fn rate(&self) -> Option<u64> {
        match &self.what {
            // A rate of zero would mean unlimited.
            Recorded::Opportunities(trace, _) => Some(trace.mean_rate().max(STANDSTILL)),
            Recorded::Steps(steps) => steps.first()?.rate,
        }
    }

    /// Length of one repetition. The last step of a table is as long as the previous one.
    fn period(&self) -> Duration {
        match &self.what {
            Recorded::Opportunities(_, times) => times.last().copied().unwrap_or(Duration::MAX),
            Recorded::Steps(steps) => match steps[..] {
                [.., before, last] => last.at + (last.at - before.at),
                _ => Duration::MAX,
            },
        }
    }

    /// The contents for one run of this length; `draw` is a random number from 0 to 1.
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

/// The times, rotated to start at the first one from `offset` on; `None` if `offset` is zero.
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

/// The steps from `offset` on, for a run of this length.
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
    // A byte order mark.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

const OPPORTUNITY: &str = "expected a time in whole milliseconds in each line";

fn opportunities(text: &str) -> Result<Recorded, String> {
    let mut times = Vec::new();
    let mut last = 0_u64;
    for (number, line) in lines(text) {
        let Some(time) = line.parse::<u64>().ok().filter(|&time| time <= 86_400_000_000) else {
            return Err(format!("line {number}, {line:?}: {OPPORTUNITY}"));
        };
        if time < last {
            return Err(format!("line {number}: {time} ms follows {last} ms; times must not decrease"));
        }
        if times.len() == MAX_OPPORTUNITIES {
            return Err(format!("has more than the limit of {MAX_OPPORTUNITIES} lines"));
        }
        last = time;
        times.push(Duration::from_millis(time));
    }
    if times.is_empty() {
        return Err(format!("is empty: {OPPORTUNITY}"));
    }
    Recorded::list(&times)
        .ok_or_else(|| "has no delivery time after 0 ms: the link would never send".to_owned())
}
