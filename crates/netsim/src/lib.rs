//! A packet network in virtual time.
//!
//! The laboratory runs protocol endpoints on it, and the emulator real hosts. Owns nodes, links, queues,
//! random loss, routing and timers, and the order of events. A frame is a length, a destination, a label, an
//! ECN mark and a payload that is only carried. Never looks into a payload and never reads a clock. All
//! randomness comes from one seed: the same calls with the same seed give the same events in the same order.
//!
//! On a link direction, a frame passes filters, queue, serialisation, random loss and propagation, in this
//! order. At the far end, the frame may be held with other frames ([`Batch`]), duplicated or corrupted
//! ([`Event::Impaired`]). A frame costs one event per hop, because its departure is computed when it is
//! queued. Under a queue discipline ([`QueueDiscipline`]), a frame departs when the discipline selects it.
//!
//! Stations of an 802.11 cell are links too ([`Network::add_station`]). Their frames contend for the medium,
//! which all stations of the cell and of nearby cells share. Random loss and propagation follow, as on a wire.
//!
//! ```
//! use mptcp_clock::{Duration, Instant};
//! use netsim::{Frame, Network, Event, Parameters, Rate};
//!
//! let mut network = Network::new(1);
//! let (client, server) = (network.add_host(), network.add_host());
//! let cable = Parameters { rate: Rate::new(8_000_000), delay: Duration::from_millis(10), ..Parameters::default() };
//! let link = network.add_link("cable", client, server, cable.clone(), cable)?;
//! let address = network.add_address(server, None)?;
//! let hello = Frame { bytes: 1514, destination: address, label: 0, ecn: Default::default(), payload: "hello" };
//! network.send(Instant::ZERO, link.forward(), hello);
//! let (at, event) = network.next().unwrap();
//! assert_eq!(at.as_nanos(), 1_514_000 + 10_000_000);
//! assert!(matches!(event, Event::Arrived { node, .. } if node == server));
//! # Ok::<(), netsim::TopologyError>(())
//! ```
#![forbid(unsafe_code)]

mod counters;
mod direction;
mod event_queue;
mod filter;
mod frame;
mod jitter;
mod loss;
mod network;
mod observer;
mod parameters;
mod queue;
mod queue_limit;
mod rate;
mod spreading;
mod topology;
mod trace;
mod wifi;

pub use counters::Counters;
pub use direction::{LinkUse, Position};
pub use filter::Labels;
pub use frame::{AddressId, Cause, Codepoint, DirectionId, Frame, LinkId, Lost, NodeId, TimerId};
pub use jitter::{Jitter, Spread};
pub use loss::{CustomLoss, GilbertElliott, Loss, LossModel};
pub use network::{Arrival, Budget, Event, Exhausted, Network, SendOutcome, Turn};
pub use observer::{FrameEvent, FrameEventType, Observer};
pub use parameters::{Batch, Change, Parameters};
pub use queue::{
    By, CoDel, CoDelQueue, DropTailQueue, DualPi2, DualPi2Queue, Excess, FqCoDel, FqCoDelQueue, Next, Packet,
    Pie, PieQueue, Prio, PrioQueue, QueueDiscipline, QueueKind, RateLimit, Red, RedQueue, RoundRobin,
    RoundRobinQueue, TokenBucket, TokenBucketQueue, Wire,
};
pub use queue_limit::QueueLimit;
pub use rate::Rate;
pub use spreading::Spreading;
pub use topology::TopologyError;
pub use trace::{OPPORTUNITY, Trace};
pub use wifi::{
    Activity, Aggregation, Background, CellId, CellParameters, Channel, CollisionWait, Countdown, Coupling,
    Discipline, Interference, MacCounters, Standard, StationParameters, StationRate,
};
