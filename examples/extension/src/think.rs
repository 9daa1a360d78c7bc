//! An application that sends a page, waits for the think time of its reader, sends the next, and measures the
//! delay of each.

use mptcp_lab::application::{Application, Outlet};
use mptcp_lab::measurements::Block;
use mptcp_lab::{Duration, Instant, Parameters, ScenarioError};

pub(crate) const ABOUT: &str = "Sends `pages` pages (default 10) of `page` (default 100KB), and rests `pause` (default 1s) after each was read.";

/// Parses `application = { kind = "think", ... }`.
pub(crate) fn read(keys: &mut Parameters<'_>) -> Result<impl Fn() -> Think + use<>, ScenarioError> {
    let pages = keys.number("pages", 1..=1_000_000, 10)?;
    let page = keys.positive_size("page", 100 << 10)?;
    let pause = keys.positive_time("pause", Duration::from_secs(1))?;
    Ok(move || Think { pages, page, pause, begun: 0, began_at: Instant::ZERO, read_at: None })
}

#[derive(Debug)]
pub(crate) struct Think {
    pages: u64,
    page: u64,
    pause: Duration,
    /// Number of pages so far, and the time of the last one.
    begun: u64,
    began_at: Instant,
    /// Time at which the last page was read completely.
    read_at: Option<Instant>,
}

impl Application for Think {
    fn write(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        if self.begun > 0 {
            if !outlet.write_to(self.begun * self.page) {
                return;
            }
            if self.begun == self.pages {
                return outlet.close();
            }
            // The sender does not learn when the page is read, so it polls.
            match self.read_at {
                Some(read) if read + self.pause <= now => {}
                read => return outlet.wake_at(read.unwrap_or(now) + self.pause),
            }
        }
        (self.begun, self.began_at, self.read_at) = (self.begun + 1, now, None);
        if outlet.write_to(self.begun * self.page) {
            if self.begun == self.pages { outlet.close() } else { outlet.wake_at(now + self.pause) }
        }
    }

    fn read(&mut self, now: Instant, received: u64, blocks: &mut Vec<Block>) {
        if received >= self.begun * self.page && (blocks.len() as u64) < self.begun {
            blocks.push(Block { written_at: self.began_at, latency: now.since(self.began_at) });
            self.read_at = Some(now);
        }
    }
}
