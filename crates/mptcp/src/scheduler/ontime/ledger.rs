//! What a path brings, and what waiting for it costs the others.
//!
//! Owns the accounts. A path whose account is overdrawn rests, for longer each time; the others lose no more than the
//! allowance before that. Measured, not predicted: whatever makes a path late, it is noticed.

use mptcp_clock::{Duration, Instant};

use super::trial::{Finding, Meter, Trial};
use crate::ids::SubflowId;
use crate::scheduler::{Candidate, SendView};

/// Part of what the others can have under way that waiting may cost them before a path rests.
const ALLOWANCE: f64 = 0.25;
/// What waiting cost counts for more than what a path brings: it is measured at its end, and some of it comes after.
const COST: f64 = 1.5;
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(32);
/// The first one is four of the longest round trips, but no less and no more than these.
const FIRST_REST: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(1));
/// As long a path is left alone at first whose rest was a mistake; each time twice as long, as with rests.
const TRUST: Duration = Duration::from_secs(1);
/// Who was in use for so many times its next rest, and for so many seconds, begins anew.
const FORGIVEN: u64 = 4;

/// A path's account, bytes.
#[derive(Clone, Copy, Debug)]
struct Account {
    id: Option<SubflowId>,
    /// What it cost beyond what it brought.
    overdrawn: f64,
    /// What it had delivered when that was last looked at.
    delivered: u64,
    rests_until: Instant,
    /// How long it will rest next; zero before the first time.
    rest: Duration,
    /// When it was last admitted again.
    since: Instant,
    /// Until then it does not rest, because without it less came.
    trusted_until: Instant,
    /// How long it is trusted next.
    trust: Duration,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            id: None,
            overdrawn: 0.0,
            delivered: 0,
            rests_until: Instant::ZERO,
            rest: Duration::ZERO,
            since: Instant::ZERO,
            trusted_until: Instant::ZERO,
            trust: TRUST,
        }
    }
}

/// A time in which the window or the send buffer was full.
#[derive(Clone, Copy, Debug)]
struct Stall {
    /// The subflow that has the oldest data.
    waits_for: usize,
    since: Instant,
    /// What the others lacked at its start, bytes.
    lacked: f64,
    /// Those that had something under way, one bit each.
    busy: u64,
}

impl Stall {
    fn begin(view: &SendView<'_>, waits_for: usize, window: u64) -> Self {
        let busy =
            view.candidates.iter().filter(|c| c.in_flight > 0).fold(0, |busy, c| busy | bit(c.subflow));
        Self { waits_for, since: view.now, lacked: lacked(view, waits_for, window), busy }
    }
}

/// All accounts.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    accounts: Vec<Account>,
    stall: Option<Stall>,
    meter: Meter,
    /// One at a time.
    trial: Option<Trial>,
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64().max(1e-6)
}

/// What a path's congestion window carries, bytes a second, as far as the shared one lets it.
fn rate(candidate: &Candidate, window: u64) -> f64 {
    capacity(candidate, window) / seconds(candidate.min_rtt)
}

/// What a path can have under way without a queue, bytes; no more than the window.
fn capacity(candidate: &Candidate, window: u64) -> f64 {
    candidate.cwnd.min(window) as f64 * (seconds(candidate.min_rtt) / seconds(candidate.srtt)).min(1.0)
}

impl Ledger {
    /// Whether a path is to carry nothing now.
    pub(super) fn rests(&self, now: Instant, path: &Candidate) -> bool {
        let tried = self.trial.as_ref().is_some_and(|trial| trial.subflow == path.subflow);
        self.accounts
            .get(path.subflow)
            .is_some_and(|account| (tried || account.rests_until > now) && account.id == Some(path.id))
    }

    /// Whether a look at a moment would change nothing, unless a window or the send buffer is full or the application is silent.
    #[inline]
    pub(super) fn is_quiet(&self, now: Instant) -> bool {
        self.stall.is_none() && self.trial.is_none() && !self.meter.is_due(now)
    }

    /// There is one path only: nobody waits for anybody.
    pub(super) fn pause(&mut self) {
        (self.stall, self.trial) = (None, None);
    }

    fn account(&mut self, subflow: usize) -> &mut Account {
        if self.accounts.len() <= subflow {
            self.accounts.resize(subflow + 1, Account::default());
        }
        &mut self.accounts[subflow]
    }

    /// Looks at a moment; called for each choice.
    pub(super) fn look(&mut self, view: &SendView<'_>) {
        if view.unsent == 0 && !view.more_to_come {
            // The application has nothing to say: what comes tells nothing of the paths.
            self.trial = None;
            self.meter = Meter::default();
        }
        self.meter.note(view);
        if let Some(trial) = &mut self.trial
            && let Some(finding) = trial.look(view)
        {
            let subflow = trial.subflow;
            self.trial = None;
            self.account(subflow).learn(view.now, finding);
        }
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
                let lack = lacked(view, stall.waits_for, window) - stall.lacked;
                let cost = lack.max(missed(view, &stall, window));
                self.account(stall.waits_for).overdrawn += COST * cost;
                self.settle(view, stall.waits_for, window);
                self.stall = waits_for.map(|at| Stall::begin(view, at, window));
            }
            (None, Some(at)) => {
                self.stall = Some(Stall::begin(view, at, window));
            }
            _ => {}
        }
    }

    /// The most that the paths in use could deliver in this window, all `but` one: while a path of a round trip is in use, all
    /// that is sent within it has to fit (docs/never-slower.md, "The bound"). Bytes a second.
    fn reach(&self, view: &SendView<'_>, window: u64, with: usize, but: Option<usize>) -> f64 {
        let in_use = |c: &&Candidate| {
            Some(c.subflow) != but && (c.in_flight > 0 || c.subflow == with) && !self.rests(view.now, c)
        };
        let used = || view.candidates.iter().filter(in_use);
        let up_to = |last: &Candidate| {
            let rates: f64 = used().filter(|c| c.min_rtt <= last.min_rtt).map(|c| rate(c, window)).sum();
            rates.min(window as f64 / seconds(last.min_rtt))
        };
        used().map(up_to).fold(0.0, f64::max)
    }

    /// Balances a path's account after it was waited for.
    fn settle(&mut self, view: &SendView<'_>, subflow: usize, window: u64) {
        let Some(candidate) = view.candidates.iter().find(|c| c.subflow == subflow) else { return };
        let others = || view.candidates.iter().filter(|c| c.subflow != subflow);
        let most = others().map(|c| capacity(c, window)).fold(0.0, f64::max);
        // Where the window is less than the paths would fill, what a path has in it others cannot have.
        let gain = self.reach(view, window, subflow, None) - self.reach(view, window, subflow, Some(subflow));
        let worth = (gain / rate(candidate, window)).clamp(0.0, 1.0);
        let now = view.now;
        // One round trip's worth of its own is what a path may cost before it is known.
        let allowance = (ALLOWANCE * most).max(capacity(candidate, window));
        let spared = self.trial.is_some() || carries_most(candidate, others(), window);
        let account = self.account(subflow);
        if account.id != Some(candidate.id) {
            // Another subflow has got its place.
            *account = Account { id: Some(candidate.id), ..Account::default() };
        }
        let delivered = candidate.delivered.saturating_sub(account.delivered) as f64;
        let brought = delivered * worth;
        account.delivered = candidate.delivered;
        // What it brought long ago does not pay for now.
        account.overdrawn = (account.overdrawn - brought).max(-most);
        if now < account.trusted_until {
            account.overdrawn = account.overdrawn.min(0.0);
        } else if account.overdrawn > allowance && !spared && account.rests_until <= now {
            let longest = view.candidates.iter().map(|c| c.srtt).max().unwrap_or_default();
            account.begin_rest(now, (longest * 4).clamp(FIRST_REST.0, FIRST_REST.1));
            self.trial = Trial::begin(view, candidate, &self.meter);
        }
    }
}

impl Account {
    fn begin_rest(&mut self, now: Instant, first: Duration) {
        if now.since(self.since) > self.rest.max(FIRST_REST.1) * FORGIVEN {
            self.rest = Duration::ZERO;
        }
        let rest = self.rest.max(first);
        self.rests_until = now + rest;
        self.since = self.rests_until;
        self.rest = (rest * 2).min(LONGEST_REST);
        self.overdrawn = 0.0;
    }

    /// A rest was measured.
    fn learn(&mut self, now: Instant, finding: Finding) {
        match finding {
            Finding::Right => self.trust = TRUST,
            Finding::Wrong => {
                (self.rests_until, self.since, self.rest) = (now, now, Duration::ZERO);
                self.trusted_until = now + self.trust;
                self.trust = (self.trust * 2).min(LONGEST_REST);
            }
        }
    }
}

/// Whether a path has delivered more than the others could together: no waiting for it costs more than to be without it.
fn carries_most<'a>(path: &Candidate, others: impl Iterator<Item = &'a Candidate>, window: u64) -> bool {
    let could: f64 = others.map(|c| rate(c, window).max(c.delivery_rate.unwrap_or_default())).sum();
    path.delivery_rate.is_some_and(|own| own > could)
}

/// What all but one path could have under way now and have not, bytes.
fn lacked(view: &SendView<'_>, but: usize, window: u64) -> f64 {
    let others = view.candidates.iter().filter(|c| c.subflow != but);
    others.map(|c| (capacity(c, window) - c.in_flight as f64).max(0.0)).sum()
}

/// What the others that have run dry in a stall could have sent in all of it, bytes: more than a window, where it was longer than
/// their round trips.
fn missed(view: &SendView<'_>, stall: &Stall, window: u64) -> f64 {
    let ran_dry =
        |c: &&Candidate| c.subflow != stall.waits_for && c.in_flight == 0 && stall.busy & bit(c.subflow) != 0;
    let lasted = view.now.since(stall.since).as_secs_f64();
    view.candidates.iter().filter(ran_dry).map(|c| rate(c, window) * lasted).sum()
}

/// A subflow's bit; those beyond 64 have none.
fn bit(subflow: usize) -> u64 {
    if subflow < 64 { 1 << subflow } else { 0 }
}

#[cfg(test)]
mod tests;
