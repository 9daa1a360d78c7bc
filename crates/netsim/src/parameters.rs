//! Parameters of a link direction, and their changes during a run. A driver describes its network with them.

use mptcp_clock::Duration;

use crate::jitter::Jitter;
use crate::loss::Loss;
use crate::queue::QueueKind;
use crate::queue_limit::QueueLimit;
use crate::rate::Rate;
use crate::trace::Trace;
use crate::wifi::StationRate;

/// Parameters of a link direction. The default is an ideal wire: unlimited rate, no delay, no loss, a queue
/// of 1000 packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The link rate; `None` is unlimited, so that frames never queue.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Variation of the propagation delay; `None` is a constant delay.
    pub jitter: Option<Jitter>,
    /// Random loss, after serialisation.
    pub loss: Loss,
    /// The limit of the queue.
    pub queue: QueueLimit,
    /// A queue discipline, which replaces `queue` and `mark`. Wires only.
    pub discipline: Option<QueueKind>,
    /// A recording of delivery opportunities, which replaces `rate`. Then `rate` serves only to convert a
    /// queue limit that is given as a time to bytes. Wires only.
    pub trace: Option<Trace>,
    /// Queue length above which an arriving ECN-capable frame is marked (K of DCTCP; RFC 3168 section 5).
    /// `None` marks no frames. Wires only.
    pub mark: Option<QueueLimit>,
    /// Probability of duplication: see [`crate::Event::Impaired`].
    pub duplicate: f64,
    /// Probability of corruption: see [`crate::Event::Impaired`].
    pub corrupt: f64,
    /// Batched delivery at the far end; `None` delivers each frame on its own.
    pub batch: Option<Batch>,
    /// Maximum frame length in bytes; longer frames are dropped before the queue. `None` is unlimited. Wires
    /// only.
    pub longest: Option<u32>,
    /// Whether the link is up. A link that is down drops all its frames (queued, in service and in flight),
    /// and all offered frames.
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

/// Batched delivery at the far end, as with interrupt coalescing (rx-usecs and rx-frames of ethtool) or slots
/// in netem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Maximum time from the first frame of a batch to its delivery.
    pub time: Duration,
    /// Number of frames that complete a batch early; `None` waits for the time.
    pub frames: Option<u32>,
}

/// A new value for one parameter at one instant. Frames that departed at or before that instant keep the old
/// value.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The link rate. The frame in service sends its remaining bits at the new rate.
    Rate(Option<Rate>),
    /// The propagation delay. Without reordering, a frame never arrives before the previous one.
    Delay(Duration),
    /// The jitter.
    Jitter(Option<Jitter>),
    /// The loss model. A Gilbert-Elliott model restarts in its good state.
    Loss(Loss),
    /// The queue limit. Queued frames stay, even beyond the limit.
    Queue(QueueLimit),
    /// The maximum frame length (see [`Parameters::longest`]).
    Longest(Option<u32>),
    /// Up, or down (see [`Parameters::up`]).
    Up(bool),
    /// As [`Self::Up`], except that a link that goes down still delivers its frames.
    Open(bool),
    /// Distance between a station and its access point in metres, for both directions. Wires ignore it.
    Distance(f64),
    /// The PHY rate of a wireless direction, which ignores [`Self::Rate`]. Wires ignore it.
    StationRate(StationRate),
}
