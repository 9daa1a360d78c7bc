//! Airtime of the frames of a flow in WiFi cells: the time for which they occupy the channel.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. The capacity
//! of a WiFi path is airtime that several flows share. The attribution needs the flow's own airtime, because
//! that of other flows is cross traffic. Owns one sum. Flows that share a direction of a link share its
//! airtime in proportion to their bytes.

use std::collections::BTreeSet;

use netsim::DirectionId;

use super::notes::Notes;
use super::{Attribution, Mark, paths_of};

impl Attribution {
    /// Airtime of the frames and acknowledgements of a flow, as far as a direction senses them, s. `since`
    /// returns the counters of a direction at the start and at the end of the flow's measured time, and the
    /// probability that its transmissions are sensed.
    pub(super) fn own_airtime(
        &self,
        flow: u16,
        notes: &Notes,
        mut since: impl FnMut(&DirectionId) -> (Mark, Mark, f64),
    ) -> f64 {
        let own = || self.routes.range(paths_of(flow)).map(|(_, route)| route);
        let hops: BTreeSet<DirectionId> =
            own().flat_map(|route| route.forth.iter().chain(&route.back).copied()).collect();
        let part = |hop: DirectionId, bytes: f64| {
            if !self.is_shared(flow, hop) || bytes <= 0.0 {
                return 1.0;
            }
            let flows: BTreeSet<u16> = self.routes.keys().map(|(flow, _)| *flow).collect();
            let data: f64 = flows.iter().map(|flow| self.sent_over(*flow, hop, notes) as f64).sum();
            let acknowledges = |flow: u16| {
                self.routes.iter().any(|((of, _), route)| *of == flow && route.back.contains(&hop))
            };
            let number = flows.iter().filter(|flow| acknowledges(**flow)).count();
            // All other bytes are acknowledgements, divided evenly among the flows.
            let acks = if acknowledges(flow) { (bytes - data).max(0.0) / number as f64 } else { 0.0 };
            ((self.sent_over(flow, hop, notes) as f64 + acks) / bytes).min(1.0)
        };
        hops.into_iter()
            .map(|hop| {
                let (then, now, sense) = since(&hop);
                let bytes = now.sent_bytes.saturating_sub(then.sent_bytes) as f64;
                sense * (now.airtime - then.airtime).as_secs_f64() * part(hop, bytes)
            })
            .sum()
    }
}
