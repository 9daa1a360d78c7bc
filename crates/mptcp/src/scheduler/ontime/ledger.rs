//! What a path brings, and what waiting for it costs the others.
//!
//! Owns the accounts. A path whose account is overdrawn rests, for longer each time; the others lose no more than the
//! allowance before that. Measured, not predicted: whatever makes a path late, it is noticed.

use mptcp_clock::{Duration, Instant};

use crate::scheduler::{Candidate, SendView};

/// Part of what the others can have under way that waiting may cost them before a path rests.
const ALLOWANCE: f64 = 0.25;
/// What waiting cost counts for more than what a path brings: it is measured at its end, and some of it comes after.
const COST: f64 = 1.5;
/// The first rest, and the longest.
const REST: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(32));

/// A path's account, bytes.
#[derive(Clone, Copy, Debug)]
struct Account {
    /// What it cost beyond what it brought.
    overdrawn: f64,
    /// What it had delivered when that was last looked at.
    delivered: u64,
    rests_until: Instant,
    /// How long it will rest next.
    rest: Duration,
    /// When it was last admitted again.
    since: Instant,
}

impl Default for Account {
    fn default() -> Self {
        Self { overdrawn: 0.0, delivered: 0, rests_until: Instant::ZERO, rest: REST.0, since: Instant::ZERO }
    }
}

/// A time in which the window or the send buffer was full.
#[derive(Clone, Copy, Debug)]
struct Stall {
    /// The subflow that has the oldest data.
    waits_for: usize,
    /// What the others lacked at its start, bytes.
    lacked: f64,
}

/// All accounts.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    accounts: Vec<Account>,
    stall: Option<Stall>,
}

/// What a path can have under way without a queue, bytes; no more than the window.
fn capacity(candidate: &Candidate, window: u64) -> f64 {
    let srtt = candidate.srtt.as_secs_f64().max(1e-6);
    candidate.cwnd.min(window) as f64 * (candidate.min_rtt.as_secs_f64() / srtt).min(1.0)
}

impl Ledger {
    /// Whether a path is to carry nothing now.
    pub(super) fn rests(&self, now: Instant, subflow: usize) -> bool {
        self.accounts.get(subflow).is_some_and(|account| account.rests_until > now)
    }

    fn account(&mut self, subflow: usize) -> &mut Account {
        if self.accounts.len() <= subflow {
            self.accounts.resize(subflow + 1, Account::default());
        }
        &mut self.accounts[subflow]
    }

    /// Looks at a moment; called for each choice.
    pub(super) fn look(&mut self, view: &SendView<'_>) {
        let buffer_full = view.unsent == 0 && view.more_to_come;
        let full = (buffer_full || view.candidates.iter().all(|c| view.window_room < c.mss))
            && view.candidates.iter().any(|c| c.has_room);
        if !full && self.stall.is_none() {
            return;
        }
        let window = view.window().min(view.send_buffer);
        let waits_for = view.oldest_on.filter(|_| full);
        match (self.stall, waits_for) {
            (Some(stall), waits_for) if waits_for != Some(stall.waits_for) => {
                let lack = lacked(view, stall.waits_for, window);
                self.account(stall.waits_for).overdrawn += COST * (lack - stall.lacked).max(0.0);
                self.settle(view, stall.waits_for, window);
                self.stall = waits_for.map(|at| Stall { waits_for: at, lacked: lacked(view, at, window) });
            }
            (None, Some(at)) => {
                self.stall = Some(Stall { waits_for: at, lacked: lacked(view, at, window) });
            }
            _ => {}
        }
    }

    /// Balances a path's account after it was waited for.
    fn settle(&mut self, view: &SendView<'_>, subflow: usize, window: u64) {
        let Some(candidate) = view.candidates.iter().find(|c| c.subflow == subflow) else { return };
        let others = || view.candidates.iter().filter(|c| c.subflow != subflow);
        let most = others().map(|c| capacity(c, window)).fold(0.0, f64::max);
        // Where the window is less than the paths would fill, what a path has in it others cannot have.
        let tight = view.candidates.iter().map(|c| c.cwnd).sum::<u64>() > window;
        let longest = others().map(|c| c.srtt).max().unwrap_or_default().as_secs_f64().max(1e-6);
        let displaced = if tight { (candidate.min_rtt.as_secs_f64() / longest).min(1.0) } else { 0.0 };
        let now = view.now;
        // One round trip's worth of its own is what a path may cost before it is known.
        let allowance = (ALLOWANCE * most).max(capacity(candidate, window));
        let account = self.account(subflow);
        if candidate.delivered < account.delivered {
            // Another subflow has got its place.
            *account = Account::default();
        }
        let delivered = candidate.delivered.saturating_sub(account.delivered) as f64;
        let brought = delivered * (1.0 - displaced);
        account.delivered = candidate.delivered;
        // What it brought long ago does not pay for now.
        account.overdrawn = (account.overdrawn - brought).max(-most);
        if account.overdrawn > allowance {
            if now.since(account.since) > account.rest * 4 {
                account.rest = REST.0;
            }
            account.rests_until = now + account.rest;
            account.since = account.rests_until;
            account.rest = (account.rest * 2).min(REST.1);
            account.overdrawn = 0.0;
        }
    }
}

/// What all but one path could have under way now and have not, bytes.
fn lacked(view: &SendView<'_>, but: usize, window: u64) -> f64 {
    let others = view.candidates.iter().filter(|c| c.subflow != but);
    others.map(|c| (capacity(c, window) - c.in_flight as f64).max(0.0)).sum()
}
