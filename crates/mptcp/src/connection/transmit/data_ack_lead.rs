//! The lead of DATA_ACKs: how much earlier data is acknowledged at the data level than on its own subflow.
//!
//! A DATA_ACK returns on any path (RFC 8684 section 3.3.2). Data on a path with a long RTT may therefore be
//! acknowledged over a path with a shorter RTT. The path model uses the lead to estimate when a DATA_ACK
//! arrives. Owns one sampled segment in flight per subflow, and a smoothed lead. Never samples data that was
//! reinjected.

use mptcp_clock::{Duration, Instant};

use crate::ids::SubflowId;
use crate::path::PerPath;

/// The weight of a new sample is one part in this number.
const SMOOTHING: u64 = 4;

/// The sampled segment of a subflow.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// The offset after the segment in the subflow's stream.
    end: u64,
    /// The offset after the segment in the connection's stream.
    data_end: u64,
    /// When a DATA_ACK covered the segment.
    acknowledged: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct PathLead {
    id: SubflowId,
    watched: Option<Watched>,
    lead: Option<Duration>,
}

impl Default for PathLead {
    fn default() -> Self {
        Self { id: SubflowId::new(0, 0), watched: None, lead: None }
    }
}

/// The leads of all subflows by slot.
#[derive(Debug)]
pub(crate) struct DataAckLeads {
    paths: PerPath<PathLead>,
    /// The lowest data offset of a segment that waits for its DATA_ACK.
    next: u64,
}

impl Default for DataAckLeads {
    fn default() -> Self {
        Self { paths: PerPath::default(), next: u64::MAX }
    }
}

impl DataAckLeads {
    /// The lead of a subflow; zero if unknown.
    #[cfg(test)]
    fn of(&self, slot: usize, id: SubflowId) -> Duration {
        self.paths.get(slot).filter(|path| path.id == id).and_then(|path| path.lead).unwrap_or_default()
    }

    /// Samples new data that ends at offset `end` of a subflow and `data_end` of the connection, unless a
    /// sample of the subflow is in flight.
    #[inline]
    pub(crate) fn watch(&mut self, slot: usize, id: SubflowId, end: u64, data_end: u64) {
        if self.paths.get(slot).is_none_or(|path| path.watched.is_none() || path.id != id) {
            self.begin(slot, id, Watched { end, data_end, acknowledged: None });
        }
    }

    #[inline(never)]
    fn begin(&mut self, slot: usize, id: SubflowId, watched: Watched) {
        let path = self.paths.at(slot);
        if path.id != id {
            *path = PathLead { id, ..PathLead::default() };
        }
        path.watched = Some(watched);
        self.next = self.next.min(watched.data_end);
    }

    /// Handles a DATA_ACK up to `offset`.
    #[inline]
    pub(crate) fn on_data_acknowledged(&mut self, now: Instant, offset: u64) {
        if offset >= self.next {
            self.note(now, offset);
        }
    }

    #[inline(never)]
    fn note(&mut self, now: Instant, offset: u64) {
        self.next = u64::MAX;
        let open = self.paths.iter_mut().filter_map(|path| path.watched.as_mut());
        for watched in open.filter(|watched| watched.acknowledged.is_none()) {
            if watched.data_end <= offset {
                watched.acknowledged = Some(now);
            } else {
                self.next = self.next.min(watched.data_end);
            }
        }
    }

    /// Handles an acknowledgement up to `una` on a subflow. Returns the subflow and its new lead if the sampled segment
    /// is acknowledged.
    #[inline(always)]
    pub(crate) fn on_acknowledged(
        &mut self,
        now: Instant,
        slot: usize,
        una: u64,
    ) -> Option<(SubflowId, Duration)> {
        let path = self.paths.get_mut(slot)?;
        let watched = path.watched.filter(|watched| watched.end <= una)?;
        path.watched = None;
        let sample = watched.acknowledged.map_or(Duration::ZERO, |then| now.since(then));
        let lead = path.lead.map_or(sample, |lead| (lead * (SMOOTHING - 1) + sample) / SMOOTHING);
        path.lead = Some(lead);
        Some((path.id, lead))
    }

    /// Drops the samples, because data was reinjected.
    pub(crate) fn forget(&mut self) {
        self.paths.iter_mut().for_each(|path| path.watched = None);
        self.next = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(time)
    }

    #[test]
    fn a_lead_is_the_time_between_both_acknowledgements_and_is_smoothed() {
        let (mut data_ack_leads, id) = (DataAckLeads::default(), SubflowId::new(0, 0));
        data_ack_leads.watch(0, id, 100, 1_000);
        data_ack_leads.watch(0, id, 200, 1_100);
        data_ack_leads.on_data_acknowledged(at(60), 999);
        data_ack_leads.on_data_acknowledged(at(70), 1_000);
        data_ack_leads.on_acknowledged(at(100), 0, 99);
        assert_eq!(
            data_ack_leads.of(0, id),
            Duration::ZERO,
            "the sampled segment is not acknowledged on its subflow"
        );
        data_ack_leads.on_acknowledged(at(110), 0, 100);
        assert_eq!(data_ack_leads.of(0, id), Duration::from_millis(40));
        data_ack_leads.watch(0, id, 300, 1_200);
        data_ack_leads.on_acknowledged(at(150), 0, 300);
        assert_eq!(
            data_ack_leads.of(0, id),
            Duration::from_millis(30),
            "the subflow's acknowledgement came first"
        );
    }

    #[test]
    fn reinjected_data_gives_no_sample_and_a_reused_slot_starts_afresh() {
        let (mut data_ack_leads, id) = (DataAckLeads::default(), SubflowId::new(0, 0));
        data_ack_leads.watch(0, id, 100, 1_000);
        data_ack_leads.on_data_acknowledged(at(10), 1_000);
        data_ack_leads.forget();
        data_ack_leads.on_acknowledged(at(110), 0, 100);
        assert_eq!(data_ack_leads.of(0, id), Duration::ZERO);
        data_ack_leads.watch(0, id, 200, 2_000);
        data_ack_leads.on_data_acknowledged(at(120), 2_000);
        data_ack_leads.on_acknowledged(at(130), 0, 200);
        assert_eq!(data_ack_leads.of(0, id), Duration::from_millis(10));
        assert_eq!(data_ack_leads.of(0, SubflowId::new(7, 0)), Duration::ZERO, "another subflow has no lead");
    }
}
