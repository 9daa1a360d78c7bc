//! Subflows that are over: what is remembered of them, and their places, which later ones get.
//!
//! Owns the bound on both, so that a connection whose paths come and go for weeks does not grow. Never ends
//! a subflow.

use std::collections::VecDeque;

use super::{Connection, SubflowInfo};
use crate::congestion::PathState;
use crate::subflow::Subflow;

/// Places for subflows, the living and the dead; above it the dead make room. As many as a chunk of data
/// has bits for its carriers.
const PLACES: usize = 64;
/// Subflows remembered that lost their place.
const REMEMBERED: usize = 64;

/// Subflows that lost their place to a later one.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The oldest first.
    pub(super) known: VecDeque<SubflowInfo>,
    /// How many are not even remembered.
    pub(super) forgotten: u64,
}

impl Connection {
    /// Subflows that there ever were.
    pub(super) fn opened_subflows(&self) -> u64 {
        self.subflows.len() as u64 + self.past.known.len() as u64 + self.past.forgotten
    }

    /// The place of the subflow that ended first, if there are so many that it has to make room. The first
    /// subflow stays: it says what the connection was called by.
    fn vacant(&self) -> Option<usize> {
        if self.subflows.len() < PLACES {
            return None;
        }
        let dead = self.subflows.iter().enumerate().skip(1);
        let dead = dead.filter(|(_, subflow)| subflow.is_closed() && subflow.control.is_none());
        dead.min_by_key(|(_, subflow)| subflow.closed_at).map(|(id, _)| id)
    }

    /// Whether there is a place for one more subflow.
    pub(super) fn has_place(&self) -> bool {
        self.subflows.len() < PLACES || self.vacant().is_some()
    }

    /// Gives a subflow a place and its congestion state; returns the place.
    pub(super) fn add_subflow(&mut self, mut subflow: Subflow) -> usize {
        let mss = subflow.payload_size(&self.config, self.config.multipath);
        subflow.number = self.opened_subflows();
        let vacant = self.vacant();
        self.registry_changed = true;
        let Some(id) = vacant else {
            self.subflows.push(subflow);
            return self.congestion.add_path(mss, self.config.initial_window);
        };
        if self.past.known.len() == REMEMBERED {
            self.past.known.pop_front();
            self.past.forgotten += 1;
        }
        let info = self.subflow_info(id);
        self.past.known.push_back(info);
        self.signals.forget(id);
        // The endpoint may not have looked since it ended.
        self.retired.push((id, self.subflows[id].local, self.subflows[id].remote));
        self.subflows[id] = subflow;
        self.congestion.paths[id] = PathState::new(mss, self.config.initial_window);
        id
    }
}
