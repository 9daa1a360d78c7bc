//! Nodes, links, addresses, and the routes to each address.
//!
//! Gives routers the next hop of each frame. Owns nodes, the ends of links, addresses and routes, which do
//! not depend on the state of links. Never holds a frame. `spreading` selects among equal-cost paths.

use std::collections::{HashMap, HashSet, VecDeque};

use thiserror::Error;

use crate::frame::{AddressId, DirectionId, LinkId, NodeId};
use crate::spreading::Spreading;

/// Errors in the construction of a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// Two links have the same name. Random streams derive from names, so both would lose the same frames.
    #[error("there are two links called {0:?}")]
    DuplicateLink(String),
    /// A link needs two different ends.
    #[error("link {0:?}: both ends are the same node; use two nodes")]
    Loop(String),
    /// A node of another network.
    #[error("this network has no node {0}")]
    UnknownNode(usize),
    /// An address of another network.
    #[error("this network has no address {0}")]
    UnknownAddress(usize),
    /// Too many addresses: frames have two bytes for their destination.
    #[error("too many addresses: a network can have at most 65536")]
    Addresses,
    /// A link of another network.
    #[error("this network has no link {0}")]
    UnknownLink(usize),
    /// A cell of another network.
    #[error("this network has no cell {0}")]
    UnknownCell(usize),
    /// Two cells or background groups have the same name, from which random streams derive.
    #[error("there are two cells or groups of background stations called {0:?}")]
    DuplicateCell(String),
    /// The parameters of a cell are inconsistent.
    #[error("cell {name:?}: {reason}")]
    BadCell {
        /// The cell.
        name: String,
        /// The inconsistency.
        reason: &'static str,
    },
    /// An address or route uses a link that is not attached to the node.
    #[error("link {link} does not end at node {node}")]
    NotAttached {
        /// Index of the link.
        link: usize,
        /// Index of the node.
        node: usize,
    },
}

#[derive(Debug)]
struct Node {
    router: bool,
    /// Outgoing directions, by link number.
    leaving: Vec<DirectionId>,
    spreading: Spreading,
    /// Whether the node has pinned routes.
    pins: bool,
}

#[derive(Debug)]
struct Address {
    owner: NodeId,
    /// The only link by which frames reach this address; `None` allows all links.
    by: Option<LinkId>,
}

#[derive(Debug, Default)]
pub(crate) struct Topology {
    nodes: Vec<Node>,
    addresses: Vec<Address>,
    /// The node at the far end of each direction.
    heads: Vec<NodeId>,
    names: Vec<String>,
    /// The same names, for a search.
    taken: HashSet<String>,
    explicit: Vec<(NodeId, AddressId, DirectionId)>,
    /// `routes[address][node]`; empty if it must be recomputed.
    routes: Vec<Vec<Option<DirectionId>>>,
    /// Whether any node spreads frames or has pinned routes. `ways` is computed only then.
    choosing: bool,
    ways: EqualWays,
    /// Pinned routes, by node, address and class (the upper 24 bits of a label).
    pins: HashMap<(NodeId, AddressId, u32), Pins>,
}

/// The pinned routes of the frames of one class at one node.
#[derive(Debug, Default)]
struct Pins {
    /// The direction of frames without a pin of their own.
    all: Option<DirectionId>,
    /// Directions of frames with this detail (the lower 8 bits of a label).
    by_detail: Vec<(u8, DirectionId)>,
}

impl Pins {
    fn direction(&self, detail: u8) -> Option<DirectionId> {
        let own = self.by_detail.iter().find(|(pinned, _)| *pinned == detail);
        own.map(|(_, direction)| *direction).or(self.all)
    }
}

impl Topology {
    pub(crate) fn add_node(&mut self, router: bool) -> NodeId {
        self.routes.clear();
        self.nodes.push(Node { router, leaving: Vec::new(), spreading: Spreading::First, pins: false });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn add_link(&mut self, name: &str, a: NodeId, b: NodeId) -> Result<LinkId, TopologyError> {
        self.check_node(a)?;
        self.check_node(b)?;
        if a == b {
            return Err(TopologyError::Loop(name.to_owned()));
        }
        if !self.taken.insert(name.to_owned()) {
            return Err(TopologyError::DuplicateLink(name.to_owned()));
        }
        self.routes.clear();
        let link = LinkId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.heads.extend([b, a]);
        self.nodes[a.index()].leaving.push(link.forward());
        self.nodes[b.index()].leaving.push(link.backward());
        Ok(link)
    }

    pub(crate) fn add_address(
        &mut self,
        owner: NodeId,
        by: Option<LinkId>,
    ) -> Result<AddressId, TopologyError> {
        self.check_node(owner)?;
        if let Some(link) = by {
            self.check_direction(link.forward())?;
            if !self.nodes[owner.index()].leaving.iter().any(|direction| direction.link() == link) {
                return Err(TopologyError::NotAttached { link: link.index(), node: owner.index() });
            }
        }
        let id = u16::try_from(self.addresses.len()).map_err(|_| TopologyError::Addresses)?;
        self.routes.clear();
        self.addresses.push(Address { owner, by });
        Ok(AddressId(id))
    }

    pub(crate) fn set_route(
        &mut self,
        node: NodeId,
        to: AddressId,
        direction: DirectionId,
    ) -> Result<(), TopologyError> {
        self.check_way(node, to, direction)?;
        self.routes.clear();
        self.explicit.push((node, to, direction));
        Ok(())
    }

    /// Pins a route: frames of one class for `to` leave `node` by `direction`; with `detail`, only frames whose
    /// label has this detail.
    pub(crate) fn pin(
        &mut self,
        node: NodeId,
        to: AddressId,
        (class, detail): (u32, Option<u8>),
        direction: DirectionId,
    ) -> Result<(), TopologyError> {
        self.check_way(node, to, direction)?;
        self.choose_from_now_on();
        self.nodes[node.index()].pins = true;
        let pins = self.pins.entry((node, to, class)).or_default();
        match detail {
            None => pins.all = Some(direction),
            Some(detail) => {
                pins.by_detail.retain(|(pinned, _)| *pinned != detail);
                pins.by_detail.push((detail, direction));
            }
        }
        Ok(())
    }

    pub(crate) fn set_spreading(&mut self, node: NodeId, spreading: Spreading) -> Result<(), TopologyError> {
        self.check_node(node)?;
        self.choose_from_now_on();
        self.nodes[node.index()].spreading = spreading;
        Ok(())
    }

    fn choose_from_now_on(&mut self) {
        if !self.choosing {
            self.choosing = true;
            self.routes.clear();
        }
    }

    /// The node at the far end of a direction.
    #[inline]
    pub(crate) fn head(&self, direction: DirectionId) -> NodeId {
        self.heads[direction.index()]
    }

    /// Whether `address` belongs to `node`.
    #[inline]
    pub(crate) fn owns(&self, node: NodeId, address: AddressId) -> bool {
        self.addresses.get(address.index()).is_some_and(|address| address.owner == node)
    }

    pub(crate) fn is_router(&self, node: NodeId) -> bool {
        self.nodes[node.index()].router
    }

    pub(crate) fn link_name(&self, link: LinkId) -> &str {
        &self.names[link.index()]
    }

    /// The first hop from `node` to `address`; `None` without a path.
    #[inline]
    pub(crate) fn route(&mut self, node: NodeId, address: AddressId) -> Option<DirectionId> {
        if self.routes.is_empty() {
            self.compute();
        }
        *self.routes.get(address.index())?.get(node.index())?
    }

    /// As [`Self::route`], for a frame with `label`: pinned routes and spreading apply.
    #[inline]
    pub(crate) fn onward(&mut self, node: NodeId, address: AddressId, label: u32) -> Option<DirectionId> {
        if self.choosing { self.chosen(node, address, label) } else { self.route(node, address) }
    }

    #[inline(never)]
    fn chosen(&mut self, node: NodeId, address: AddressId, label: u32) -> Option<DirectionId> {
        if self.routes.is_empty() {
            self.compute();
        }
        let Node { pins, spreading, .. } = self.nodes.get_mut(node.index())?;
        if *pins
            && let Some(pinned) = self.pins.get(&(node, address, label >> 8))
            && let Some(direction) = pinned.direction(label as u8)
        {
            return Some(direction);
        }
        if matches!(spreading, Spreading::First) {
            // Without pinned routes for this label, the regular route applies.
            return *self.routes.get(address.index())?.get(node.index())?;
        }
        let ways = self.ways.of(address, node)?;
        ways.get(spreading.choose(ways.len(), label, address)).copied()
    }

    fn check_way(&self, node: NodeId, to: AddressId, direction: DirectionId) -> Result<(), TopologyError> {
        self.check_node(node)?;
        self.check_direction(direction)?;
        if to.index() >= self.addresses.len() {
            return Err(TopologyError::UnknownAddress(to.index()));
        }
        if self.head(direction.reverse()) != node {
            return Err(TopologyError::NotAttached { link: direction.link().index(), node: node.index() });
        }
        Ok(())
    }

    pub(crate) fn check_direction(&self, direction: DirectionId) -> Result<(), TopologyError> {
        let known = direction.index() < self.heads.len();
        if known { Ok(()) } else { Err(TopologyError::UnknownLink(direction.link().index())) }
    }

    pub(crate) fn check_node(&self, node: NodeId) -> Result<(), TopologyError> {
        let known = node.index() < self.nodes.len();
        if known { Ok(()) } else { Err(TopologyError::UnknownNode(node.index())) }
    }

    fn compute(&mut self) {
        let found: Vec<Ways> = self.addresses.iter().map(|address| self.ways_to(address)).collect();
        if self.choosing {
            let all = |(address, ways): (&Address, &Ways)| self.equal_ways_to(address, ways);
            let mut equal = EqualWays::default();
            let mut numbers = HashMap::new();
            for to in self.addresses.iter().zip(&found) {
                let row = all(to).into_iter().map(|ways| equal.intern(ways, &mut numbers)).collect();
                equal.rows.push(row);
            }
            for &(node, address, direction) in &self.explicit {
                equal.rows[address.index()][node.index()] = equal.intern([direction].into(), &mut numbers);
            }
            self.ways = equal;
        }
        self.routes = found.into_iter().map(|ways| ways.first).collect();
        for &(node, address, direction) in &self.explicit {
            self.routes[address.index()][node.index()] = Some(direction);
        }
    }

    /// Minimum hop counts to an address from all nodes, by breadth-first search from its owner. Only routers
    /// forward frames. Among equal-cost paths, the first one found wins: nodes in the order of the search, and
    /// their links in the order of creation.
    fn ways_to(&self, address: &Address) -> Ways {
        let mut first = vec![None; self.nodes.len()];
        let mut hops = vec![u32::MAX; self.nodes.len()];
        hops[address.owner.index()] = 0;
        let mut reached = VecDeque::from([address.owner]);
        while let Some(node) = reached.pop_front() {
            for &leaving in &self.nodes[node.index()].leaving {
                let neighbour = self.head(leaving);
                if address.bars(node, leaving)
                    || neighbour == address.owner
                    || first[neighbour.index()].is_some()
                {
                    continue;
                }
                first[neighbour.index()] = Some(leaving.reverse());
                hops[neighbour.index()] = hops[node.index()] + 1;
                if self.nodes[neighbour.index()].router {
                    reached.push_back(neighbour);
                }
            }
        }
        Ways { first, hops }
    }

    /// All next hops with the minimum hop count, by node.
    fn equal_ways_to(&self, address: &Address, ways: &Ways) -> Vec<Box<[DirectionId]>> {
        let of = |(at, node): (usize, &Node)| {
            let nearer = |&&leaving: &&DirectionId| {
                let next = self.head(leaving);
                let passes = next == address.owner || self.nodes[next.index()].router;
                let hops = ways.hops[next.index()];
                passes && !address.bars(next, leaving) && hops.checked_add(1) == Some(ways.hops[at])
            };
            node.leaving.iter().filter(nearer).copied().collect()
        };
        self.nodes.iter().enumerate().map(of).collect()
    }
}

/// The equal-cost next hops, by link number, from each node to each address.
///
/// Many addresses have the same next hops, so each list is stored once.
#[derive(Debug, Default)]
struct EqualWays {
    lists: Vec<Box<[DirectionId]>>,
    /// `rows[address][node]`: an index of `lists`.
    rows: Vec<Vec<u32>>,
}

impl EqualWays {
    #[inline]
    fn of(&self, address: AddressId, node: NodeId) -> Option<&[DirectionId]> {
        let number = *self.rows.get(address.index())?.get(node.index())?;
        self.lists.get(number as usize).map(|list| &**list)
    }

    /// The index of a list, which is added if it is new.
    fn intern(&mut self, list: Box<[DirectionId]>, numbers: &mut HashMap<Box<[DirectionId]>, u32>) -> u32 {
        *numbers.entry(list).or_insert_with_key(|list| {
            self.lists.push(list.clone());
            self.lists.len() as u32 - 1
        })
    }
}

/// Paths to an address, by node.
struct Ways {
    first: Vec<Option<DirectionId>>,
    /// Hop count; `u32::MAX` without a path.
    hops: Vec<u32>,
}

impl Address {
    /// Whether frames for the address may not enter `node` by this direction.
    fn bars(&self, node: NodeId, direction: DirectionId) -> bool {
        node == self.owner && self.by.is_some_and(|by| by != direction.link())
    }
}
