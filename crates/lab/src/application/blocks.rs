//! The application of flows with `blocks`: writes blocks of one size, at a rate or as fast as possible.
//!
//! Measures the delay of each block, from writing until the receiver has read all of it.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant};

use super::{Application, Outlet};
use crate::measurements::Block;

#[derive(Debug)]
pub(crate) struct Blocks {
    size: u64,
    /// Interval between blocks; `None` without a rate.
    interval: Option<Duration>,
    /// Time of the next block.
    due: Option<Instant>,
    /// Bytes of all blocks that were started.
    begun: u64,
    /// Start times of blocks that are not completely read, in order.
    open: VecDeque<Instant>,
}

impl Blocks {
    /// Blocks of `size` bytes at `rate` bit/s; `None` means as fast as possible.
    pub(crate) fn new(size: u64, rate: Option<u64>) -> Self {
        let interval = rate.map(|rate| Duration::from_secs_f64(size as f64 * 8.0 / rate as f64));
        Self { size, interval, due: None, begun: 0, open: VecDeque::new() }
    }
}

impl Application for Blocks {
    /// Finishes started blocks first. A new block starts at its time or, without a rate, when the send buffer
    /// has space.
    fn write(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        if !outlet.write_to(self.begun) {
            return;
        }
        loop {
            if let Some(interval) = self.interval {
                let due = *self.due.get_or_insert(now);
                if due > now {
                    return outlet.wake_at(due);
                }
                self.due = Some(due + interval);
                self.open.push_back(due);
            } else {
                if outlet.room() == 0 {
                    return outlet.await_writable();
                }
                self.open.push_back(now);
            }
            self.begun += self.size;
            if !outlet.write_to(self.begun) {
                return;
            }
        }
    }

    fn waits_since(&self) -> Option<Instant> {
        self.open.front().copied()
    }

    fn overdue(&self, since: Instant) -> u64 {
        let begun = self.open.iter().take_while(|&&ready| ready < since).count() as u64;
        // Blocks that could not start because the send buffer was full are overdue too.
        let unbegun = match (self.interval, self.due) {
            (Some(interval), Some(due)) if due < since => {
                1 + (since.since(due).as_nanos() - 1) / interval.as_nanos().max(1)
            }
            _ => 0,
        };
        begun + unbegun
    }

    fn read(&mut self, now: Instant, received: u64, blocks: &mut Vec<Block>) {
        while (blocks.len() as u64 + 1) * self.size <= received {
            let Some(written_at) = self.open.pop_front() else { break };
            blocks.push(Block { written_at, latency: now.since(written_at) });
        }
    }
}
