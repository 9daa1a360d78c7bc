//! Paths and links: what joins two nodes. Only values.

use mptcp_clock::Duration;
use netsim::{Batch, Loss, QueueKind, QueueLimit};

use super::air::Station;
use crate::scenario::recording::Recording;

/// A duplex link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name; no other link has it.
    pub name: String,
    /// How it was written.
    pub kind: LinkKind,
    /// The nodes at its ends; `client` and `server` for a path.
    pub ends: [String; 2],
    /// The largest IP packet in bytes.
    pub mtu: u32,
    /// From the first end to the second.
    pub forward: Line,
    /// From the second end to the first.
    pub backward: Line,
    /// What is wireless about it; then the lines have no rate of their own.
    pub station: Option<Station>,
}

impl Link {
    /// Whether a recording says the rate of one of its directions.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        let lines = [&self.forward, &self.backward];
        lines.iter().filter_map(|line| line.recording.as_ref()).any(|recording| recording.rate().is_some())
    }

    /// Whether one of its queues has a discipline.
    #[must_use]
    pub fn has_discipline(&self) -> bool {
        self.forward.discipline.is_some() || self.backward.discipline.is_some()
    }

    /// Whether frames may come out of it twice or with a wrong bit.
    #[must_use]
    pub fn impairs(&self) -> bool {
        [&self.forward, &self.backward].iter().any(|line| line.duplicate > 0.0 || line.corrupt > 0.0)
    }

    /// Whether one of its queues may mark.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.forward.mark.is_some() || self.backward.mark.is_some() || self.has_discipline()
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// bit/s of frame bytes (IP + 14); `None` is unlimited.
    pub rate: Option<u64>,
    /// A recording that says what the link carries, and when.
    pub recording: Option<Recording>,
    /// Propagation, one way.
    pub delay: Duration,
    /// Random loss.
    pub loss: Loss,
    /// Probability that a frame comes out twice.
    pub duplicate: f64,
    /// Probability that a frame comes out with a wrong bit.
    pub corrupt: f64,
    /// When frames that are held at the far end come out; `None` holds none.
    pub batch: Option<Batch>,
    /// Half-width of the uniform jitter.
    pub jitter: Duration,
    /// Whether jitter reorders.
    pub reorder: bool,
    /// The limit of the queue.
    pub queue: QueueLimit,
    /// What the queue is instead of a drop-tail one; then `queue` says nothing.
    pub discipline: Option<QueueKind>,
    /// Above it packets are marked; `None` marks none.
    pub mark: Option<QueueLimit>,
    /// Longer IP packets are dropped, bytes; `None` drops none.
    pub path_mtu: Option<u32>,
    /// Who sent one is told.
    pub icmp: bool,
    /// Whether it works at the start.
    pub up: bool,
}

/// Whether a link was written as a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Between client and server.
    Path,
    /// Between two named nodes.
    Link,
    /// Between a host and the access point of a cell.
    Station,
}

impl LinkKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Path, Self::Link, Self::Station];

    /// The key by which an event or a filter names such a link.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Link => "link",
            Self::Station => "station",
        }
    }
}
