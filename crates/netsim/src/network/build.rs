//! Construction of a network from nodes, links, addresses, routes, filters and timers, also during a run.
//!
//! Random streams derive from the seed and the names of links and cells. A new link therefore does not change
//! the random numbers of the others. Owns the numbers of parts in the event queue. Never moves frames.

use mptcp_clock::{Duration, Instant, Rng};

use super::{DirectionEntry, Meter, Network, Source, Timer};
use crate::direction::{Direction, DropLog};
use crate::event_queue::EventQueue;
use crate::filter::{Labels, Pipe};
use crate::frame::{AddressId, DirectionId, LinkId, NodeId, TimerId};
use crate::loss::Loss;
use crate::parameters::Parameters;
use crate::spreading::Spreading;
use crate::topology::{Topology, TopologyError};
use crate::wifi::Cells;

impl<P> Network<P> {
    /// An empty network at time zero. All random streams derive from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            now: Instant::ZERO,
            root: Rng::new(seed, "netsim"),
            event_queue: EventQueue::new(),
            sources: Vec::new(),
            topology: Topology::default(),
            lines: Vec::new(),
            timers: Vec::new(),
            changes: std::collections::BTreeMap::new(),
            next_change: Instant::FAR_FUTURE,
            scheduled: 0,
            drops: DropLog { keep: false, frames: Vec::new(), observer: None },
            cells: Vec::new(),
            backgrounds: Vec::new(),
            wifi: Cells::new(),
            tapped: std::collections::VecDeque::new(),
            tap_source: None,
            meter: Meter::default(),
        }
    }

    /// A node that sends and receives, but does not forward.
    pub fn add_host(&mut self) -> NodeId {
        self.topology.add_node(false)
    }

    /// A node that forwards frames by their destination, without delay.
    pub fn add_router(&mut self) -> NodeId {
        self.topology.add_node(true)
    }

    /// A duplex link called `name` between `a` and `b`. `forward` leads from `a` to `b`. Random streams of
    /// each direction derive from seed, name, direction and purpose.
    ///
    /// # Errors
    /// Unknown nodes, equal nodes, or a name already in use.
    pub fn add_link(
        &mut self,
        name: &str,
        a: NodeId,
        b: NodeId,
        forward: Parameters,
        backward: Parameters,
    ) -> Result<LinkId, TopologyError> {
        let link = self.topology.add_link(name, a, b)?;
        for (id, parameters) in [(link.forward(), forward), (link.backward(), backward)] {
            let source = self.add_source(Source::Arrivals(id));
            let direction = Direction::new(id, parameters, &self.stream_of(id));
            let stops = direction.impairs();
            self.lines.push(DirectionEntry {
                direction,
                pipes: Vec::new(),
                source,
                watch: None,
                radio: None,
                tap: None,
                stops,
                open: true,
            });
        }
        Ok(link)
    }

    /// Adds an address of `node`. With `by`, frames reach it by that link only, as if bound to one
    /// interface.
    ///
    /// # Errors
    /// An unknown node or link, or a link that does not end at the node.
    pub fn add_address(&mut self, node: NodeId, by: Option<LinkId>) -> Result<AddressId, TopologyError> {
        self.topology.add_address(node, by)
    }

    /// Routes frames at `node` for address `to` by `direction`, instead of the shortest path.
    ///
    /// # Errors
    /// Unknown names, or a direction that does not start at the node.
    pub fn set_route(
        &mut self,
        node: NodeId,
        to: AddressId,
        direction: DirectionId,
    ) -> Result<(), TopologyError> {
        self.topology.set_route(node, to, direction)
    }

    /// Pins frames of one class (see [`crate::Frame::label`]) at `node` for address `to` to `direction`. With a
    /// detail, only frames whose label has it are pinned; this pin takes precedence over one of the whole class.
    ///
    /// # Errors
    /// As [`Self::set_route`].
    pub fn pin(
        &mut self,
        node: NodeId,
        to: AddressId,
        class: (u32, Option<u8>),
        direction: DirectionId,
    ) -> Result<(), TopologyError> {
        self.topology.pin(node, to, class, direction)
    }

    /// Sets the use of equal-cost paths by `node`, for frames that it forwards, and for [`Self::choose`].
    ///
    /// # Errors
    /// An unknown node.
    pub fn set_spreading(&mut self, node: NodeId, spreading: Spreading) -> Result<(), TopologyError> {
        self.topology.set_spreading(node, spreading)
    }

    /// The direction by which a frame with this label leaves `node` for `to`: [`Self::route`], unless the
    /// frame is pinned or the node spreads frames over equal-cost paths. `None` without a path.
    pub fn choose(&mut self, node: NodeId, to: AddressId, label: u32) -> Option<DirectionId> {
        self.topology.onward(node, to, label)
    }

    /// The direction by which frames at `node` for `to` leave: the explicit route, or a path with the fewest
    /// hops. `None` without a path.
    pub fn route(&mut self, node: NodeId, to: AddressId) -> Option<DirectionId> {
        self.topology.route(node, to)
    }

    /// The node at the far end of a direction.
    #[must_use]
    pub fn head(&self, direction: DirectionId) -> NodeId {
        self.topology.head(direction)
    }

    /// The name of a link.
    #[must_use]
    pub fn link_name(&self, link: LinkId) -> &str {
        self.topology.link_name(link)
    }

    /// The parameters of a direction at this moment.
    #[must_use]
    pub fn parameters(&self, direction: DirectionId) -> &Parameters {
        self.lines[direction.index()].direction.parameters()
    }

    /// Adds a filter with extra delay and loss before the queue of `direction`, for the frames that match
    /// `labels`. Only the first matching filter handles a frame.
    ///
    /// # Errors
    /// An unknown link.
    pub fn add_filter(
        &mut self,
        direction: DirectionId,
        labels: Labels,
        delay: Duration,
        loss: Loss,
    ) -> Result<(), TopologyError> {
        self.topology.check_direction(direction)?;
        let number = self.lines[direction.index()].pipes.len() as u32;
        let source = self.add_source(Source::Pipe(direction, number));
        let stream = self.stream_of(direction).child(&format!("filter {number}"));
        let line = &mut self.lines[direction.index()];
        line.pipes.push(Pipe::new(labels, delay, loss, stream, source));
        line.open = false;
        Ok(())
    }

    /// Sets the maximum random processing time per frame of the host at the far end of `direction`. Frames
    /// stay in order.
    pub fn set_processing(&mut self, direction: DirectionId, most: Duration) {
        let stream = self.stream_of(direction);
        self.lines[direction.index()].direction.set_processing(most, &stream);
        self.reschedule(direction);
    }

    /// Sets whether departures from the queue of `direction` are reported as [`crate::Event::Departed`]. This
    /// costs one more event per frame.
    pub fn watch_departures(&mut self, direction: DirectionId, watch: bool) {
        let line = &mut self.lines[direction.index()];
        line.direction.watch(self.now, watch, &mut self.drops);
        if watch && line.watch.is_none() {
            let source = self.add_source(Source::Departures(direction));
            self.lines[direction.index()].watch = Some(source);
        }
        self.reschedule(direction);
    }

    /// Adds a timer, which is not set.
    pub fn add_timer(&mut self) -> TimerId {
        let timer = TimerId(self.timers.len() as u32);
        let source = self.add_source(Source::Timer(timer));
        self.timers.push(Timer { source, deadline: Instant::FAR_FUTURE });
        timer
    }
}
