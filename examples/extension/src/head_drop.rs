//! A queue that drops the oldest packet when it is full.

use std::collections::VecDeque;

use mptcp_lab::netsim::{Next, Packet, QueueDiscipline, Wire};
use mptcp_lab::{Parameters, ScenarioError};

pub(crate) const ABOUT: &str = "Holds `packets` (1 to 100000, default 100) and drops the oldest.";

/// Parses `queue = { kind = "head-drop", ... }`.
pub(crate) fn read(keys: &mut Parameters<'_>) -> Result<impl Fn() -> HeadDrop + use<>, ScenarioError> {
    let most = keys.number("packets", 1..=100_000, 100)? as usize;
    Ok(move || HeadDrop { most, waiting: VecDeque::new() })
}

#[derive(Debug)]
pub(crate) struct HeadDrop {
    most: usize,
    waiting: VecDeque<Packet>,
}

impl QueueDiscipline for HeadDrop {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        self.waiting.push_back(packet);
        if self.waiting.len() > self.most
            && let Some(oldest) = self.waiting.pop_front()
        {
            wire.drop_full(oldest);
        }
    }

    fn dequeue(&mut self, _wire: &mut Wire<'_>) -> Next {
        self.waiting.pop_front().map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.waiting.clear();
    }
}
