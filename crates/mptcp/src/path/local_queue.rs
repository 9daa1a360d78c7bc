//! The queue of the local interface, for the packets of one path.
//!
//! TCP small queues and controllers read it to limit or measure the data in this host. Owns the count of
//! queued bytes and the times reported by the driver. All values are zero or `None` if the driver reports no
//! departures. Never limits a subflow.

use mptcp_clock::Duration;

/// A packet left the local queue: it was sent, or dropped after its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Length of the IP packet, bytes.
    pub bytes: u64,
    /// Time at the head of the queue: waiting for the medium, and transmission.
    pub service: Duration,
    /// Service time of the packet on an idle medium; zero if unknown.
    pub alone: Duration,
}

/// The local queue of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalQueue {
    /// Bytes of IP packets in the queue.
    pub bytes: u64,
    /// Smoothed [`Departure::service`] of data packets, with a gain of 1/16.
    pub service: Option<Duration>,
    /// Smoothed [`Departure::alone`] of data packets, with the same gain.
    pub alone: Option<Duration>,
    /// Smoothed size of data packets, bytes.
    pub packet: u64,
}

impl LocalQueue {
    pub(crate) fn enter(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Records a departure. Packets below half a segment are not data packets.
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

    /// Ratio of the service time to that on an idle medium; `None` before the first report.
    #[must_use]
    pub fn contention(&self) -> Option<f64> {
        Some(self.service?.as_secs_f64() / self.alone?.as_secs_f64())
    }

    /// Service rate of the interface, bytes per second; `None` before the first report.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        Some(self.packet as f64 / self.service?.as_secs_f64().max(1e-9))
    }
}
