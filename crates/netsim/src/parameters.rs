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
    /// Probability that a frame comes out twice: see [`crate::Event::Impaired`].
    pub duplicate: f64,
    /// Probability that a frame comes out damaged: see [`crate::Event::Impaired`].
    pub corrupt: f64,
    /// Frames are held at the far end, and come out together.
    pub batch: Option<Batch>,
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
            duplicate: 0.0,
            corrupt: 0.0,
            batch: None,
            longest: None,
            up: true,
        }
    }
}

/// When frames that are held at the far end come out, as with interrupts that wait for more (ethtool's rx-usecs and rx-frames) or a
/// scheduler that gives a station its turn now and then (netem's slot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// So long after the first of them came.
    pub time: Duration,
    /// Or as soon as there are so many; `None` waits for the time alone.
    pub frames: Option<u32>,
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
    /// Up, or down as with [`Self::Up`], but what it holds arrives.
    Open(bool),
    /// Metres between a station and its access point, for both directions. Wires ignore it.
    Distance(f64),
    /// The rate of a wireless direction, which ignores [`Self::Rate`]. Wires ignore this one.
    StationRate(StationRate),
}
