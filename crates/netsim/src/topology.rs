//! Who is joined to whom, and the way to each address.
//!
//! Owns nodes, the ends of links, addresses and routes. Static: the way does not depend on whether
//! links are up. Never holds a frame.

use std::collections::VecDeque;

use thiserror::Error;

use crate::frame::{AddressId, DirectionId, LinkId, NodeId};

/// Why a network cannot be built so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// Links draw their chance by name, so two of the same name would lose the same frames.
    #[error("there are two links called {0:?}")]
    DuplicateLink(String),
    /// A link needs two different ends.
    #[error("link {0:?} joins a node with itself")]
    Loop(String),
    /// A node of another network.
    #[error("this network has no node {0}")]
    UnknownNode(usize),
    /// An address of another network.
    #[error("this network has no address {0}")]
    UnknownAddress(usize),
    /// Frames have two bytes for their destination.
    #[error("a network has 65536 addresses at most")]
    Addresses,
    /// A link of another network.
    #[error("this network has no link {0}")]
    UnknownLink(usize),
    /// A cell of another network.
    #[error("this network has no cell {0}")]
    UnknownCell(usize),
    /// Cells and their background draw their chance by name.
    #[error("there are two cells or groups of background stations called {0:?}")]
    DuplicateCell(String),
    /// A cell whose parameters do not fit together.
    #[error("cell {name:?}: {reason}")]
    BadCell {
        /// The cell.
        name: String,
        /// What does not fit.
        reason: &'static str,
    },
    /// An address or a route by a link that does not touch the node.
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
    /// Directions that lead away from it, by link number.
    leaving: Vec<DirectionId>,
}

#[derive(Debug)]
struct Address {
    owner: NodeId,
    /// The only link by which the owner may be reached under this address.
    by: Option<LinkId>,
}

#[derive(Debug, Default)]
pub(crate) struct Topology {
    nodes: Vec<Node>,
    addresses: Vec<Address>,
    /// The node at the far end of each direction.
    heads: Vec<NodeId>,
    names: Vec<String>,
    explicit: Vec<(NodeId, AddressId, DirectionId)>,
    /// `routes[address][node]`; empty when it must be computed again.
    routes: Vec<Vec<Option<DirectionId>>>,
}

impl Topology {
    pub(crate) fn add_node(&mut self, router: bool) -> NodeId {
        self.routes.clear();
        self.nodes.push(Node { router, leaving: Vec::new() });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn add_link(&mut self, name: &str, a: NodeId, b: NodeId) -> Result<LinkId, TopologyError> {
        self.check_node(a)?;
        self.check_node(b)?;
        if a == b {
            return Err(TopologyError::Loop(name.to_owned()));
        }
        if self.names.iter().any(|other| other == name) {
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
        self.check_node(node)?;
        self.check_direction(direction)?;
        if to.index() >= self.addresses.len() {
            return Err(TopologyError::UnknownAddress(to.index()));
        }
        if self.head(direction.reverse()) != node {
            return Err(TopologyError::NotAttached { link: direction.link().index(), node: node.index() });
        }
        self.routes.clear();
        self.explicit.push((node, to, direction));
        Ok(())
    }

    /// The node at the far end of a direction.
    #[inline]
    pub(crate) fn head(&self, direction: DirectionId) -> NodeId {
        self.heads[direction.index()]
    }

    /// Whether frames for `address` end at `node`.
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

    /// The first hop from `node` to `address`.
    #[inline]
    pub(crate) fn route(&mut self, node: NodeId, address: AddressId) -> Option<DirectionId> {
        if self.routes.is_empty() {
            self.compute();
        }
        *self.routes.get(address.index())?.get(node.index())?
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
        self.routes = self.addresses.iter().map(|address| self.ways_to(address)).collect();
        for &(node, address, direction) in &self.explicit {
            self.routes[address.index()][node.index()] = Some(direction);
        }
    }

    /// The fewest hops to an address from everywhere, breadth first from its owner. Only routers
    /// pass frames on. Of equally long ways, the one by the link made first wins.
    fn ways_to(&self, address: &Address) -> Vec<Option<DirectionId>> {
        let mut ways = vec![None; self.nodes.len()];
        let mut reached = VecDeque::from([address.owner]);
        while let Some(node) = reached.pop_front() {
            for &leaving in &self.nodes[node.index()].leaving {
                let neighbour = self.head(leaving);
                let barred = node == address.owner && address.by.is_some_and(|by| by != leaving.link());
                if barred || neighbour == address.owner || ways[neighbour.index()].is_some() {
                    continue;
                }
                ways[neighbour.index()] = Some(leaving.reverse());
                if self.nodes[neighbour.index()].router {
                    reached.push_back(neighbour);
                }
            }
        }
        ways
    }
}
