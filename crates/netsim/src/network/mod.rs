//! The network as the driver sees it: what it may ask for, and what happens.
//!
//! Owns every part and the event queue that orders them. `build` puts nodes and links together,
//! `drive` lets time pass, `forward` moves frames, `tap` and `impaired` stop frames for the driver, `budget` says how much may happen. Never does
//! anything between two calls.

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
use crate::wifi::{Air, CellId};
use budget::Meter;
pub use budget::{Budget, Exhausted};

/// A network of nodes and links that carries payloads of type `P`.
///
/// Things that happen at one instant go in this order: changes of parameters, then arrivals, held
/// frames, departures and timers in the order in which links, filters, watches and timers were made.
#[derive(Debug)]
pub struct Network<P> {
    now: Instant,
    root: Rng,
    event_queue: EventQueue,
    /// What each source of the event queue is.
    sources: Vec<Source>,
    topology: Topology,
    /// By direction.
    lines: Vec<Line<P>>,
    timers: Vec<Timer>,
    /// By time and order of scheduling.
    changes: BTreeMap<(Instant, u64), (DirectionId, Change)>,
    /// The time of the first of them, which comes before all else at its instant.
    next_change: Instant,
    scheduled: u64,
    drops: DropLog<P>,
    /// Names and access points of cells.
    cells: Vec<(String, NodeId)>,
    /// Names of groups of background stations.
    backgrounds: Vec<(CellId, String)>,
    air: Air,
    /// Frames at taps, in order: stopped before a queue, or handed on to a node by the driver.
    tapped: VecDeque<Event<P>>,
    /// The event queue's number for them, once there is a tap.
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

/// What has its turn: see [`Network::next_turn`].
#[derive(Clone, Copy, Debug)]
pub struct Turn(Source);

/// What [`Network::arrival`] says.
#[derive(Debug)]
pub enum Arrival<P> {
    /// A frame is where it belongs: see [`Event::Arrived`].
    Here {
        /// The node that owns its destination.
        node: NodeId,
        /// The direction by which it came.
        by: DirectionId,
        /// The frame.
        frame: Frame<P>,
    },
    /// That was all: it was lost or went on, or there was none yet.
    PassedOn,
    /// Something else: [`Network::otherwise`] lets it happen.
    Otherwise,
}

/// A direction with what surrounds it.
#[derive(Debug)]
struct Line<P> {
    direction: Direction<P>,
    pipes: Vec<Pipe<P>>,
    /// The event queue's number for its arrivals.
    source: u32,
    /// The event queue's number for its departures, once watched.
    watch: Option<u32>,
    /// The air's number for it, if it is wireless.
    radio: Option<u32>,
    tap: Option<TapSide>,
    /// Whether frames that come out may have to stop for the driver.
    stops: bool,
    /// Nothing stands before its queue: neither tap nor filters, and it is a wire.
    open: bool,
}

#[derive(Debug)]
struct Timer {
    source: u32,
    /// When it fires. The event queue may say an earlier time, never a later one: putting a timer off
    /// costs nothing until then.
    deadline: Instant,
}

/// Where frames of a direction are stopped for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TapSide {
    /// Before the queue and its filters.
    Entry,
    /// Where they come out.
    Exit,
}

/// What became of a frame given to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in the queue or in service.
    Queued,
    /// A filter or a tap holds it back before the queue.
    Held,
    /// It is gone.
    Lost(Cause),
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<P> {
    /// A frame reached the node that owns its destination.
    Arrived {
        /// That node.
        node: NodeId,
        /// The direction by which it came.
        by: DirectionId,
        /// The frame.
        frame: Frame<P>,
    },
    /// A frame left the queue of a watched direction: onto the line, because the link went down, or
    /// because a discipline dropped it. A wireless direction's frame leaves when the MAC is done with it,
    /// acknowledged or given up.
    Departed {
        /// The direction.
        direction: DirectionId,
        /// The frame's label.
        label: u32,
        /// The frame's bytes.
        bytes: u32,
        /// How long it stood at the head of the queue: on a wire its serialisation, in a cell the time
        /// from the end of the frame before it to its own, all attempts included. Zero for a frame
        /// that never came so far.
        service: Duration,
        /// How long it would have stood there if nobody else used the medium, on average: DIFS, half of the
        /// least contention window, the frame at its rate, SIFS and ACK; its share of an aggregate. On
        /// a wire the same as `service`; zero for a frame that the MAC gave up.
        alone: Duration,
    },
    /// A frame is at a tap (see [`Network::tap`]): it goes on when, and as, the driver passes it on.
    Tapped {
        /// The direction in which it travels.
        direction: DirectionId,
        /// The frame.
        frame: Frame<P>,
    },
    /// A frame came out of a direction twice, or damaged. Payloads are the driver's, so the copy and the damage are its work: it
    /// makes them, and lets each frame go on by [`Network::go_on`].
    Impaired {
        /// The direction.
        direction: DirectionId,
        /// The frame.
        frame: Frame<P>,
        /// A copy follows it, which is whole.
        duplicated: bool,
        /// A bit of the frame itself is wrong.
        corrupted: bool,
    },
    /// A timer reached its time; it is not set any more.
    Timer(TimerId),
}
