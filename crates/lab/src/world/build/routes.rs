//! Routes of the simulated network: how a node chooses among equal-cost links (`wiring::spread`), and the
//! routes that a scenario lists link by link (`[[routes]]`).
//!
//! Owns nothing: it configures the network that the builder makes. A class (`classes`) identifies
//! the flow and the interface of a frame. Filters and routes match classes.

use netsim::{AddressId, DirectionId, TopologyError};

use super::Builder;
use crate::classes::class_of;
use crate::scenario::{Link, Route};
use crate::wiring;

impl<'a> Builder<'a> {
    pub(super) fn add_routing(&mut self) -> Result<(), TopologyError> {
        let nodes = self.nodes.iter().map(|(name, node)| (name.as_str(), *node));
        wiring::spread(&mut self.network, self.scenario, &self.root, nodes)?;
        self.scenario.routes.iter().try_for_each(|route| self.pin(route))
    }

    /// Fixes the links of one listed route, from its start to its end. Where the start of the route opens a
    /// flow, the route applies to the subflow over its first link. Where the end of the route opens the flow,
    /// it applies to the subflow over its last link.
    fn pin(&mut self, route: &Route) -> Result<(), TopologyError> {
        let (Some(first), Some(last)) = (route.links.first(), route.links.last()) else { return Ok(()) };
        let (from, to) = (self.host(&route.from), self.host(&route.to));
        let own = self.hosts[to].interface_names.iter().position(|name| name == last).unwrap_or(0);
        let Some(&address) = self.addresses[to].get(own) else { return Ok(()) };
        let mut classes = Vec::new();
        for (number, flow) in
            self.scenario.flows.iter().enumerate().filter(|(_, flow)| route.flows.contains(&flow.name))
        {
            let (opener, link) = if flow.from == route.from { (from, first) } else { (to, last) };
            classes.extend(self.interface_named(opener, link).map(|own| class_of(number, own.0 as usize)));
        }
        // Labels count subflows from 0.
        let subflow = route.subflow.map(|number| number - 1);
        let mut here: &str = &route.from;
        for name in &route.links {
            let Some((direction, next)) = self.step(here, name) else { return Ok(()) };
            self.pin_at(here, address, (&classes, subflow), direction)?;
            here = next;
        }
        Ok(())
    }

    /// The direction over a link from one of its ends, and the other end.
    fn step(&self, here: &str, link: &str) -> Option<(DirectionId, &'a str)> {
        let links: &'a [Link] = &self.scenario.links;
        let at = links.iter().position(|known| known.name == link)?;
        let ([first, second], id) = (&links[at].ends, *self.wiring.links().get(at)?);
        if first == here { Some((id.forward(), second)) } else { Some((id.backward(), first)) }
    }

    fn pin_at(
        &mut self,
        node: &str,
        to: AddressId,
        (classes, subflow): (&[u32], Option<u8>),
        direction: DirectionId,
    ) -> Result<(), TopologyError> {
        let Some(node) = self.node(node) else { return Ok(()) };
        classes.iter().try_for_each(|&class| self.network.pin(node, to, (class, subflow), direction))
    }
}
