//! Queries about the link directions of flows: who shares a direction, which links a path uses, how many
//! bytes a flow sent.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. One cause is
//! cross traffic, the bytes of other flows on a shared link. The attribution computes it as all bytes of the
//! link minus the flow's own bytes, which this module computes.
//!
//! Stateless: [`Attribution`] owns the routes and the accounts. The account of a subflow counts the bytes
//! that the sender `offered` to the first link. Bytes dropped before transmission are `unsent` (see `notes`);
//! `unsent_before` are those dropped before the measured time.

use std::collections::BTreeSet;

use netsim::{DirectionId, LinkId};

use super::account::Account;
use super::notes::Notes;
use super::{Attribution, Route, subflows_of};

impl Attribution {
    /// Whether another flow uses a direction.
    pub(super) fn is_shared(&self, flow: u16, direction: DirectionId) -> bool {
        let uses = |route: &Route| route.forth.contains(&direction) || route.back.contains(&direction);
        self.routes.iter().any(|((other, _), route)| *other != flow && uses(route))
    }

    /// The links that the data of a path uses.
    pub(in crate::world) fn links_of(&self, flow: u16, path: u16) -> BTreeSet<LinkId> {
        let route = self.routes.get(&(flow, path));
        route.map(|route| route.forth.iter().map(|hop| hop.link()).collect()).unwrap_or_default()
    }

    /// Bytes of a flow's data frames that a direction transmitted, since the start of the measured time.
    pub(super) fn sent_over(&self, flow: u16, direction: DirectionId, notes: &Notes) -> u64 {
        let passes = |account: &Account| {
            self.routes.get(&(flow, account.path)).is_some_and(|route| route.forth.contains(&direction))
        };
        let own = self.accounts.range(subflows_of(flow)).filter(|(_, account)| passes(account));
        own.map(|(key, account)| {
            let unsent = notes.drops_of(*key).unsent.saturating_sub(account.unsent_before);
            account.offered.saturating_sub(unsent)
        })
        .sum()
    }
}
