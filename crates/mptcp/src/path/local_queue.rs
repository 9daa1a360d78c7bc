//! The queue of this host's own interface, as one path's packets see it.
//!
//! Owns the count of what was handed over and not yet let go, and the times that the driver reports.
//! All zero when the driver reports no departures. Never decides anything.

use mptcp_clock::Duration;

/// A packet has left the local queue: it was sent, or given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Bytes of the IP packet.
    pub bytes: u64,
    /// How long it was the first of the queue: waiting for the medium, and being sent.
    pub service: Duration,
    /// How long it would have been the first on an idle medium. Zero where the driver cannot say.
    pub alone: Duration,
}

/// What one path has in the local queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalQueue {
    /// Bytes of IP packets handed to the interface and not let go.
    pub bytes: u64,
    /// Smoothed [`Departure::service`] of a data packet, with a gain of 1/16.
    pub service: Option<Duration>,
    /// Smoothed [`Departure::alone`] of a data packet, with the same gain.
    pub alone: Option<Duration>,
    /// Smoothed size of these packets, bytes.
    pub packet: u64,
}

impl LocalQueue {
    pub(crate) fn enter(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Takes a departure. Packets of less than half a segment say nothing about those with data.
    pub(crate) fn leave(&mut self, departure: Departure, mss: u64) {
        self.bytes = self.bytes.saturating_sub(departure.bytes);
        if departure.bytes < mss / 2 || departure.alone.is_zero() {
            return;
        }
        let smooth =
            |old: Option<Duration>, new: Duration| Some(old.map_or(new, |old| (old * 15 + new) / 16));
        self.service = smooth(self.service, departure.service);
        self.alone = smooth(self.alone, departure.alone);
        self.packet =
            if self.packet == 0 { departure.bytes } else { (self.packet * 15 + departure.bytes) / 16 };
    }

    /// How much longer packets wait for the medium than they would if nobody else used it; None before
    /// the first report.
    #[must_use]
    pub fn contention(&self) -> Option<f64> {
        Some(self.service?.as_secs_f64() / self.alone?.as_secs_f64())
    }

    /// Bytes a second that the interface sends while its queue is not empty.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        Some(self.packet as f64 / self.service?.as_secs_f64().max(1e-9))
    }
}
