//! What a link direction is like, and how that may change. Only values.

use mptcp_clock::Duration;

use crate::jitter::Jitter;
use crate::loss::Loss;
use crate::queue::QueueKind;
use crate::queue_limit::QueueLimit;
use crate::rate::Rate;
use crate::trace::Trace;
use crate::wifi::StationRate;

/// A link direction. The default is an ideal wire: infinite rate, no delay, no loss, 1000 packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The line rate; `None` is infinite, so that nothing ever queues.
    pub rate: Option<Rate>,
    /// Propagation, one way.
    pub delay: Duration,
    /// Variation of the propagation delay.
    pub jitter: Option<Jitter>,
    /// Random loss, after serialisation.
    pub loss: Loss,
    /// The limit of the queue.
    pub queue: QueueLimit,
    /// How the queue works, if it is no plain drop-tail one: then `queue` and `mark` say nothing. A wire's.
    pub discipline: Option<QueueKind>,
    /// When frames leave, if a recording says so; `rate` is then only what limits in time are reckoned with. A wire's.
    pub trace: Option<Trace>,
    /// A frame that finds more than this in the queue is marked, if it may be (DCTCP's K; RFC 3168 section 5). `None` marks none. A
    /// wire's; stations' queues mark nothing.
    pub mark: Option<QueueLimit>,
    /// A longer frame is lost before the queue; `None` loses none. A wire's.
    pub longest: Option<u32>,
    /// Whether the link works. A link that is or goes down loses all that it holds (queued, in
    /// service and in flight) and all that is offered to it.
    pub up: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            rate: None,
            delay: Duration::ZERO,
            jitter: None,
            loss: Loss::None,
            queue: QueueLimit::Packets(1000),
            discipline: None,
            trace: None,
            mark: None,
            longest: None,
            up: true,
        }
    }
}

/// A new value for one parameter, from one instant on. Frames that departed at or before that
/// instant keep what they met.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The line rate. The frame in service sends the bits it still has at the new rate.
    Rate(Option<Rate>),
    /// The propagation delay. Without reordering, a frame still arrives no earlier than the one before.
    Delay(Duration),
    /// The jitter.
    Jitter(Option<Jitter>),
    /// The loss model; a Gilbert-Elliott model begins in its good state.
    Loss(Loss),
    /// The queue limit. Frames already queued stay, even beyond the limit.
    Queue(QueueLimit),
    /// The longest frame (see [`Parameters::longest`]).
    Longest(Option<u32>),
    /// Up, or down (see [`Parameters::up`]).
    Up(bool),
    /// Metres between a station and its access point, for both directions. Wires ignore it.
    Distance(f64),
    /// The rate of a wireless direction, which ignores [`Self::Rate`]. Wires ignore this one.
    StationRate(StationRate),
}
