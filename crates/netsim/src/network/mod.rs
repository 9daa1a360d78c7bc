//! The interface of the network to its driver, which is the program that runs it.
//!
//! Owns all parts, and the event queue that orders them. `build` constructs nodes and links, `drive` advances
//! time, `forward` moves frames, `tap` and `impaired` hand frames to the driver, and `budget` limits the
//! number of events. A direction is one half of a duplex link. Does nothing between two calls.

mod budget;
mod build;
mod drive;
mod forward;
mod impaired;
mod sources;
mod tap;
mod wireless;

use std::collections::{BTreeMap, VecDeque};

use mptcp_clock::{Duration, Instant, Rng};

use crate::direction::{Direction, DropLog};
use crate::event_queue::EventQueue;
use crate::filter::Pipe;
use crate::frame::{Cause, DirectionId, Frame, NodeId, TimerId};
use crate::parameters::Change;
use crate::topology::Topology;
use crate::wifi::{CellId, Cells};
use budget::Meter;
pub use budget::{Budget, Exhausted};

/// A network of nodes and links that carries payloads of type `P`.
///
/// Simultaneous events have this order: changes of parameters, then arrivals, held frames, departures and
/// timers, in the order in which links, filters, watches and timers were created.
#[derive(Debug)]
pub struct Network<P> {
    now: Instant,
    root: Rng,
    event_queue: EventQueue,
    /// The source of each number in the event queue.
    sources: Vec<Source>,
    topology: Topology,
    /// Directions with their filters and taps, by index.
    lines: Vec<DirectionEntry<P>>,
    timers: Vec<Timer>,
    /// Scheduled changes, by time and order of scheduling.
    changes: BTreeMap<(Instant, u64), (DirectionId, Change)>,
    /// Time of the first change. It precedes all other events at its instant.
    next_change: Instant,
    scheduled: u64,
    drops: DropLog<P>,
    /// Names and access points of cells.
    cells: Vec<(String, NodeId)>,
    /// Names of groups of background stations.
    backgrounds: Vec<(CellId, String)>,
    wifi: Cells,
    /// Frames at taps, in order: held before a queue, or passed on by the driver to a node.
    tapped: VecDeque<Event<P>>,
    /// Number of the taps in the event queue; `None` until a tap is added.
    tap_source: Option<u32>,
    meter: Meter,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Arrivals(DirectionId),
    Departures(DirectionId),
    Pipe(DirectionId, u32),
    Timer(TimerId),
    Medium(u32),
    Taps,
}

/// The source of the next event: see [`Network::next_turn`].
#[derive(Clone, Copy, Debug)]
pub struct Turn(Source);

/// The result of [`Network::arrival`].
#[derive(Debug)]
pub enum Arrival<P> {
    /// A frame at its destination: see [`Event::Arrived`].
    Here {
        /// The node that owns the destination.
        node: NodeId,
        /// The incoming direction.
        by: DirectionId,
        /// The frame.
        frame: Frame<P>,
    },
    /// No event: the frame was dropped or forwarded, or no frame has arrived.
    PassedOn,
    /// Another event, which [`Network::otherwise`] handles.
    Otherwise,
}

/// A direction with its filters and taps.
#[derive(Debug)]
struct DirectionEntry<P> {
    direction: Direction<P>,
    pipes: Vec<Pipe<P>>,
    /// Number of its arrivals in the event queue.
    source: u32,
    /// Number of its departures in the event queue; `None` if they are not watched.
    watch: Option<u32>,
    /// Radio number in `wifi`; `None` for a wire.
    radio: Option<u32>,
    tap: Option<TapSide>,
    /// Whether delivered frames may stop for the driver, because of a tap, duplication or corruption.
    stops: bool,
    /// Whether the direction is a wire without a tap before the queue and without filters.
    open: bool,
}

#[derive(Debug)]
struct Timer {
    source: u32,
    /// Time of expiry. The event queue may have an earlier time, never a later one, so postponing a timer
    /// changes only this field.
    deadline: Instant,
}

/// The place at which frames of a direction stop for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TapSide {
    /// Before the filters and the queue.
    Entry,
    /// At the far end.
    Exit,
}

/// The result of sending a frame on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The frame is in the queue or in service.
    Queued,
    /// A filter or tap holds the frame before the queue.
    Held,
    /// The frame was dropped.
    Lost(Cause),
}

/// An event for the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<P> {
    /// A frame reached the node that owns its destination.
    Arrived {
        /// That node.
        node: NodeId,
        /// The incoming direction.
        by: DirectionId,
        /// The frame.
        frame: Frame<P>,
    },
    /// A frame left the queue of a watched direction: it was transmitted, dropped by a discipline, or flushed
    /// because the link went down. On a wireless direction, the MAC received its acknowledgement or gave up.
    Departed {
        /// The direction.
        direction: DirectionId,
        /// The frame's label.
        label: u32,
        /// The frame's bytes.
        bytes: u32,
        /// Time at the head of the queue: on a wire the serialisation, in a cell the time since the end of the
        /// previous frame, with all attempts. Zero for frames that never reached the head.
        service: Duration,
        /// Mean of this time on an idle medium: DIFS, half of the minimum contention window, the frame, SIFS
        /// and ACK, divided among the frames of an aggregate. On a wire equal to `service`; zero if the MAC
        /// gave up.
        alone: Duration,
    },
    /// A frame is at a tap (see [`Network::tap`]), and waits until the driver passes it on.
    Tapped {
        /// The direction of the frame.
        direction: DirectionId,
        /// The frame.
        frame: Frame<P>,
    },
    /// A frame was duplicated or corrupted. The driver creates the copy or the bit error in its payload, and
    /// continues each frame with [`Network::go_on`].
    Impaired {
        /// The direction.
        direction: DirectionId,
        /// The frame.
        frame: Frame<P>,
        /// The driver has to create a copy, which is intact.
        duplicated: bool,
        /// The frame has a bit error.
        corrupted: bool,
    },
    /// A timer expired.
    Timer(TimerId),
}
