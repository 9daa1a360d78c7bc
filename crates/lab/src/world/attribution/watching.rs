//! Updates silences: intervals in which no data arrives at an application that waits for data.
//!
//! An account holds the time of one subflow by cause. The causes of a silence are the difference of the
//! accounts between its start and its end. Stateless: [`Attribution`] owns the accounts, and
//! [`super::silence`] the intervals.

use std::collections::BTreeMap;

use mptcp_clock::Instant;
use netsim::Network;

use super::silence::{Spent, is_long};
use super::{Attribution, paths_of, subflows_of};

impl Attribution {
    /// Reports that the application of `flow` has waited for data since `since`. `None` if the application
    /// does not wait.
    pub(in crate::world) fn watch_silence(
        &mut self,
        now: Instant,
        flow: u16,
        since: Option<Instant>,
        network: &mut Network<u32>,
    ) {
        let Some(since) = since.filter(|since| is_long(now.since(*since))) else {
            return self.silences.end(flow);
        };
        let spent = self.spent(now, flow, network);
        self.silences.look(now, flow, since, spent);
    }

    /// Shares by cause of a path in the longest interval of its flow; empty unless the interval started at
    /// `since`.
    pub(in crate::world) fn silence(&self, flow: u16, path: u16, since: Instant) -> Vec<(&'static str, f64)> {
        self.silences.longest(flow, path, since)
    }

    /// Times of every path of a flow so far. Leaves the accounts unchanged.
    pub(super) fn spent(&self, now: Instant, flow: u16, network: &mut Network<u32>) -> BTreeMap<u16, Spent> {
        let own = self.routes.range(paths_of(flow));
        own.map(|((_, path), route)| {
            let mut spent = Spent::default();
            for hop in &route.forth {
                spent.down = spent.down.max(network.link_use(*hop).down.as_secs_f64());
            }
            let accounts = self.accounts.range(subflows_of(flow)).filter(|(_, one)| one.path == *path);
            for (_, account) in accounts {
                let mut account = account.clone();
                account.settle(now, route, self.acks.get(&(flow, route.interface)), network);
                for (sum, more) in spent.by_cause.iter_mut().zip(account.totals()) {
                    *sum += more;
                }
            }
            (*path, spent)
        })
        .collect()
    }
}
