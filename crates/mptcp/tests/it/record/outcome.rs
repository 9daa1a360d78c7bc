//! The result of one scenario as a line of its record, and the comparison of two records.

use std::collections::BTreeMap;
use std::fmt;

use super::event_counter::Hash;
use super::scenario::RunResult;

/// First line of a record.
pub const HEADER: &str = "completed_us segments retransmitted reinjected             hash scenario";

/// Maximum number of changed scenarios that a failure prints.
const SHOWN: usize = 40;

/// The numbers of one scenario; see the parent module for their units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub scenario: String,
    pub completed_us: Option<u64>,
    pub segments: u64,
    pub retransmitted: u64,
    pub reinjected: u64,
    pub hash: u64,
}

impl Outcome {
    pub fn new(scenario: String, result: &RunResult) -> Self {
        let mut hash = Hash::default();
        result.lines.iter().for_each(|line| hash.bytes(line.as_bytes()));
        Self {
            scenario,
            completed_us: result.completed.map(|at| at.as_nanos() / 1000),
            segments: result.segments,
            retransmitted: result.retransmitted,
            reinjected: result.reinjected,
            hash: hash.0,
        }
    }

    /// Reads a line; `None` if it is not a valid one.
    pub fn parse(line: &str) -> Option<Self> {
        let mut rest = line;
        let mut column = || {
            let (value, after) = rest.trim_start().split_once(' ')?;
            rest = after;
            Some(value)
        };
        let completed = column()?;
        Some(Self {
            completed_us: if completed == "-" { None } else { Some(completed.parse().ok()?) },
            segments: column()?.parse().ok()?,
            retransmitted: column()?.parse().ok()?,
            reinjected: column()?.parse().ok()?,
            hash: u64::from_str_radix(column()?, 16).ok()?,
            scenario: rest.to_owned(),
        })
    }

    /// Relative change of the completion time; infinite if only one of the two completed.
    fn slowdown(&self, after: &Self) -> f64 {
        match (self.completed_us, after.completed_us) {
            (Some(before), Some(after)) => (after as f64 / before.max(1) as f64 - 1.0).abs(),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        }
    }

    /// All numbers but the hash.
    fn numbers(&self) -> (Option<u64>, u64, u64, u64) {
        (self.completed_us, self.segments, self.retransmitted, self.reinjected)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let completed = self.completed_us.map_or_else(|| "-".to_owned(), |time| time.to_string());
        let Self { segments, retransmitted, reinjected, hash, scenario, .. } = self;
        write!(f, "{completed:>12} {segments:>8} {retransmitted:>13} {reinjected:>10} {hash:016x} {scenario}")
    }
}

/// Change of a number, such as `1200 -> 1260 (+5.0%)`; only the number if it is unchanged.
fn change(before: Option<u64>, after: Option<u64>) -> String {
    let text = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    match (before, after) {
        _ if before == after => text(after),
        (Some(old), Some(new)) if old > 0 => {
            format!("{old} -> {new} ({:+.1}%)", 100.0 * (new as f64 / old as f64 - 1.0))
        }
        _ => format!("{} -> {}", text(before), text(after)),
    }
}

/// A table of the changed scenarios, the largest change of the completion time first, and the totals.
pub fn difference(before: &[Outcome], after: &[Outcome]) -> String {
    let stored: BTreeMap<&str, &Outcome> = before.iter().map(|one| (one.scenario.as_str(), one)).collect();
    let names: BTreeMap<&str, ()> = after.iter().map(|one| (one.scenario.as_str(), ())).collect();
    let pairs: Vec<(&Outcome, &Outcome)> =
        after.iter().filter_map(|new| Some((*stored.get(new.scenario.as_str())?, new))).collect();
    let differs = |pair: &&(&Outcome, &Outcome)| pair.0 != pair.1;
    let (mut changed, same_numbers): (Vec<_>, Vec<_>) =
        pairs.iter().filter(differs).partition(|(old, new)| old.numbers() != new.numbers());
    changed.sort_by(|one, other| {
        let size = |pair: &&(&Outcome, &Outcome)| pair.0.slowdown(pair.1);
        size(other).total_cmp(&size(one))
    });
    let mut lines = Vec::new();
    let row = |cells: [String; 5]| {
        let [completed, segments, retransmitted, reinjected, name] = cells;
        format!("{completed:<34} {segments:<26} {retransmitted:<26} {reinjected:<30} {name}")
    };
    if !changed.is_empty() {
        lines.push(row(
            ["completed_us", "segments", "retransmitted", "reinjected", "scenario"].map(Into::into)
        ));
    }
    for (old, new) in changed.iter().take(SHOWN) {
        lines.push(row([
            change(old.completed_us, new.completed_us),
            change(Some(old.segments), Some(new.segments)),
            change(Some(old.retransmitted), Some(new.retransmitted)),
            change(Some(old.reinjected), Some(new.reinjected)),
            new.scenario.clone(),
        ]));
    }
    if changed.len() > SHOWN {
        lines.push(format!("... and {} more", changed.len() - SHOWN));
    }
    let list = |title: &str, names: &[&str]| {
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        (!names.is_empty()).then(|| {
            format!("{title} ({}): {}{more}", names.len(), names[..names.len().min(SHOWN)].join("; "))
        })
    };
    let hash_only: Vec<&str> = same_numbers.iter().map(|(_, new)| new.scenario.as_str()).collect();
    let added: Vec<&str> =
        after.iter().map(|new| new.scenario.as_str()).filter(|name| !stored.contains_key(name)).collect();
    let removed: Vec<&str> =
        before.iter().map(|old| old.scenario.as_str()).filter(|name| !names.contains_key(name)).collect();
    lines.extend(list("only the hash changed", &hash_only));
    lines.extend(list("new scenarios", &added));
    lines.extend(list("missing scenarios", &removed));
    let total = |number: fn(&Outcome) -> u64| {
        let (old, new) =
            pairs.iter().fold((0, 0), |sum, (old, new)| (sum.0 + number(old), sum.1 + number(new)));
        change(Some(old), Some(new))
    };
    lines.push(format!(
        "{} of {} scenarios changed. Totals: completed_us {}, segments {}, retransmitted {}, reinjected {}",
        changed.len() + hash_only.len(),
        pairs.len(),
        total(|one| one.completed_us.unwrap_or(0)),
        total(|one| one.segments),
        total(|one| one.retransmitted),
        total(|one| one.reinjected),
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Outcome, difference};

    fn outcome(scenario: &str, completed_us: u64, hash: u64) -> Outcome {
        Outcome {
            scenario: scenario.into(),
            completed_us: Some(completed_us),
            segments: 100,
            retransmitted: 3,
            reinjected: 0,
            hash,
        }
    }

    #[test]
    fn written_line_is_read_back() {
        let mut one = outcome("v1, two addresses each", 150_000, 7);
        assert_eq!(Outcome::parse(&one.to_string()), Some(one.clone()));
        one.completed_us = None;
        assert_eq!(Outcome::parse(&one.to_string()), Some(one));
    }

    #[test]
    fn difference_shows_the_largest_change_first_and_the_totals() {
        let before = ["a", "b", "c", "d"].map(|name| outcome(name, 1_000, 1));
        let mut after = [("a", 1_010, 2), ("b", 1_500, 2), ("c", 1_000, 2), ("e", 1_000, 1)]
            .map(|(name, completed_us, hash)| outcome(name, completed_us, hash));
        after[0].retransmitted = 6;
        let text = difference(&before, &after);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("1000 -> 1500 (+50.0%)") && lines[1].ends_with(" b"), "{text}");
        assert!(lines[2].starts_with("1000 -> 1010 (+1.0%)"), "{text}");
        assert!(lines[2].contains("3 -> 6 (+100.0%)") && lines[2].ends_with(" a"), "{text}");
        assert_eq!(lines[3], "only the hash changed (1): c");
        assert_eq!(lines[4], "new scenarios (1): e");
        assert_eq!(lines[5], "missing scenarios (1): d");
        assert!(
            lines[6].starts_with("3 of 3 scenarios changed. Totals: completed_us 3000 -> 3510 (+17.0%)"),
            "{text}"
        );
    }
}
