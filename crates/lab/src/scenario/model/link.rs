//! Resolved paths and links.
//!
//! Resolved means: defaults are filled in, names are checked, and values have base units. Tables of the
//! scenario file (`file`) have optional keys and values with units instead. `resolve` creates these types,
//! and the simulator and the emulator read them. A path is a link between the hosts `client` and `server`.

use mptcp_clock::Duration;
use netsim::{Batch, Loss, QueueKind, QueueLimit};

use super::wifi::Station;
use crate::scenario::recording::Recording;

/// A duplex link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// The table in which it was written.
    pub kind: LinkKind,
    /// Its nodes; `client` and `server` for a path.
    pub ends: [String; 2],
    /// The largest IP packet in bytes.
    pub mtu: u32,
    /// From the first end to the second.
    pub forward: LinkDirection,
    /// From the second end to the first.
    pub backward: LinkDirection,
    /// WiFi parameters of a station, whose directions have no rate; `None` for paths and links.
    pub station: Option<Station>,
}

impl Link {
    /// Whether a direction has a recording with rates.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        let lines = [&self.forward, &self.backward];
        lines.iter().filter_map(|line| line.recording.as_ref()).any(|recording| recording.rate().is_some())
    }

    /// Whether one of the queues has a discipline instead of drop-tail.
    #[must_use]
    pub fn has_discipline(&self) -> bool {
        self.forward.discipline.is_some() || self.backward.discipline.is_some()
    }

    /// Whether the link duplicates or corrupts frames.
    #[must_use]
    pub fn impairs(&self) -> bool {
        [&self.forward, &self.backward].iter().any(|line| line.duplicate > 0.0 || line.corrupt > 0.0)
    }

    /// Whether a queue may mark packets with CE.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.forward.mark.is_some() || self.backward.mark.is_some() || self.has_discipline()
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirection {
    /// Rate of frame bytes (IP + 14), bit/s; `None` is unlimited.
    pub rate: Option<u64>,
    /// A recording of the link, which sets rate, delay or loss over time; `None` for fixed values.
    pub recording: Option<Recording>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Random loss.
    pub loss: Loss,
    /// Probability of duplication, 0 to 1.
    pub duplicate: f64,
    /// Probability of corruption, 0 to 1.
    pub corrupt: f64,
    /// Batched delivery at the receiving end; `None` delivers each frame at once.
    pub batch: Option<Batch>,
    /// Half-width of the uniform jitter.
    pub jitter: Duration,
    /// Whether jitter reorders frames.
    pub reorder: bool,
    /// The limit of the queue.
    pub queue: QueueLimit,
    /// The discipline that replaces the drop-tail queue; `None` for drop-tail.
    pub discipline: Option<QueueKind>,
    /// Queue length above which ECN-capable packets are marked; `None` marks none.
    pub mark: Option<QueueLimit>,
    /// The largest IP packet that passes, bytes; `None` for no limit.
    pub path_mtu: Option<u32>,
    /// Whether ICMP errors are sent for larger packets.
    pub icmp: bool,
    /// Whether the direction is up at the start.
    pub up: bool,
}

/// The table in which a link was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `paths`: between client and server.
    Path,
    /// `links`: between two named nodes.
    Link,
    /// `stations`: between a host and an access point.
    Station,
}

impl LinkKind {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Path, Self::Link, Self::Station];

    /// The key that names such a link in events and filters.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Link => "link",
            Self::Station => "station",
        }
    }
}
