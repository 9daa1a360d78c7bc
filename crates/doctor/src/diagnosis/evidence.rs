//! One connection under examination: the best view of it, others of the same connection, and helpers for evidence.

use crate::capture::PacketRef;
use crate::report::{Evidence, Role, Verdict};
use crate::track::{Limit, Subflow, View};

/// A connection under examination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) view: &'a View,
    /// The connection at its other end, if that was captured too.
    pub(crate) other: Option<&'a View>,
    pub(crate) flows: &'a [Subflow],
    /// The side that sends most data.
    pub(crate) side: usize,
    /// Time of the first packet, ns.
    pub(crate) start: u64,
}

/// Shortest episode that proves anything, ns.
const SHORTEST: u64 = 1_000_000;

impl<'a> Case<'a> {
    pub(crate) fn subflow(&self, number: usize) -> &'a Subflow {
        &self.flows[self.view.subflows[number]]
    }

    pub(crate) fn subflows(&self) -> impl Iterator<Item = (usize, &'a Subflow)> {
        let flows = self.flows;
        self.view.subflows.iter().enumerate().map(move |(number, &id)| (number, &flows[id]))
    }

    /// Time after the first packet, s.
    pub(crate) fn at(&self, time: u64) -> f64 {
        time.saturating_sub(self.start) as f64 / 1e9
    }

    pub(crate) fn evidence(&self, time: u64, packet: PacketRef, what: impl Into<String>) -> Evidence {
        Evidence { packet, time: self.at(time), what: what.into(), until: None }
    }

    /// The sender of most data, and its peer.
    pub(crate) fn sender(&self) -> &'static str {
        Role::of(self.side).word()
    }

    pub(crate) fn receiver(&self) -> &'static str {
        Role::of(1 - self.side).word()
    }

    /// A subflow in a sentence.
    pub(crate) fn name(&self, number: usize) -> String {
        let subflow = self.subflow(number);
        format!("subflow {} ({} - {})", number + 1, subflow.ends[0].ip(), subflow.ends[1].ip())
    }

    /// The longest episodes of a limit, as evidence.
    pub(crate) fn episodes(&self, limit: Limit, subflow: Option<usize>, what: &str) -> Vec<Evidence> {
        let mut episodes: Vec<_> = self.view.directions[self.side]
            .episodes()
            .filter(|one| {
                one.limit == limit && subflow.is_none_or(|number| usize::from(one.subflow) == number)
            })
            .collect();
        episodes.sort_by_key(|one| std::cmp::Reverse(one.length()));
        let mut shown: Vec<Evidence> = Vec::new();
        for one in episodes {
            // Several subflows are in the same state at the same time.
            if one.length() < SHORTEST {
                break;
            }
            if shown.len() < 3 && shown.iter().all(|known| known.packet != one.first.1) {
                let milliseconds = one.length() as f64 / 1e6;
                let evidence =
                    self.evidence(one.first.0, one.first.1, format!("{what} for {milliseconds:.0} ms"));
                shown.push(Evidence { until: Some(one.last), ..evidence });
            }
        }
        shown
    }
}

/// A number with its noun.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A verdict with a share of the potential.
pub(crate) fn verdict(name: &str, subflow: Option<usize>, share: f64, summary: String) -> Verdict {
    Verdict {
        name: name.to_owned(),
        subflow: subflow.map(|number| number as u16),
        summary,
        share,
        ..Verdict::default()
    }
}
