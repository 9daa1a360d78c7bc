//! Events about state changes of a connection and its subflows, and about options.
//!
//! Owns the calls to the observer after each operation: they report how the state differs from the last
//! snapshot. The protocol code therefore needs no code for such events. Never called unless an observer is
//! set.

use std::sync::Arc;

use mptcp_clock::Instant;
use mptcp_wire::{DataSequence, Dss, MpJoin, MptcpOption, Segment};

use crate::connection::Connection;
use crate::connection::observe::observer::{ObserverState, threshold};
use crate::ids::{ConnectionId, SubflowId};
use crate::observe::{Event, Observer, PathLimit, PathReasons, Wanted, WindowChange};

impl Connection {
    /// Sets the observer, and reports the present state.
    pub(crate) fn set_observer(
        &mut self,
        now: Instant,
        id: ConnectionId,
        observer: Arc<dyn Observer>,
        wanted: Wanted,
    ) {
        self.observer = Some(Box::new(ObserverState::new(now, id, observer, wanted)));
        self.observe(now);
    }

    /// The time that each subflow spent under each `PathLimit`. Empty if no observer is set.
    #[must_use]
    pub fn reasons(&self, now: Instant) -> Vec<PathReasons> {
        self.observer.as_ref().map_or_else(Vec::new, |observer| observer.reasons(now))
    }

    /// The current `PathLimit` of each open subflow. Empty if no observer is set.
    #[must_use]
    pub fn limits_now(&self) -> Vec<(SubflowId, PathLimit)> {
        self.observer.as_ref().map_or_else(Vec::new, |observer| observer.limits_now())
    }

    /// Reports the changes since the last call.
    #[cold]
    #[inline(never)]
    pub(crate) fn observe(&mut self, now: Instant) {
        let Some(observer) = self.observer.as_deref_mut() else { return };
        for (slot, (subflow, path)) in self.subflows.iter().zip(&self.congestion.paths).enumerate() {
            observer.update_subflow(now, slot, subflow, path);
        }
        observer.update_connection(now, self.negotiation.mode(), self.lifecycle.closed());
    }

    /// Reports a received segment and the changes that it caused.
    #[cold]
    pub(crate) fn observe_received(&mut self, now: Instant, id: SubflowId, segment: &Segment) {
        if let Some(slot) = self.subflows.slot(id) {
            if self
                .observer
                .as_ref()
                .is_some_and(|observer| observer.place(slot).is_none_or(|known| known.subflow != id))
            {
                self.observe(now);
            }
            self.observe_options(now, slot, segment, false);
        }
        self.observe(now);
    }

    pub(crate) fn observe_options(&self, now: Instant, slot: usize, segment: &Segment, out: bool) {
        let Some(observer) = self.observer.as_deref() else { return };
        let Some(place) = observer.place(slot) else { return };
        for option in &segment.options.mptcp {
            let (name, number) = name_of(option);
            let event =
                if out { Event::OptionOut { name, number } } else { Event::OptionIn { name, number } };
            observer.tell(now, place, event, None);
        }
        if let Some(dss) = &segment.options.dss {
            observer.tell(now, place, dss_event(dss, out), None);
        }
    }

    /// Reports that a subflow retransmits one of its own segments.
    #[cold]
    pub(crate) fn observe_retransmission(
        &self,
        now: Instant,
        slot: usize,
        seq: u64,
        offset: u64,
        bytes: usize,
    ) {
        let event = Event::Retransmission { offset, bytes: bytes as u64, seq };
        self.tell(now, slot, event, None);
    }

    /// Reports that penalisation (M2) has halved the window of `slow` from `before`, because `fast` was blocked.
    #[cold]
    pub(crate) fn observe_penalty(&mut self, now: Instant, slow: usize, fast: usize, before: u64) {
        let path = &self.congestion.paths[slow];
        let (cwnd, ssthresh) = (path.cwnd, threshold(path));
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_penalty(slow, before, path);
        }
        self.tell(now, slow, Event::Penalty { cwnd, ssthresh }, Some(fast));
        let in_flight = self.subflows[slow].sender().in_flight();
        self.tell(now, slow, Event::Window { why: WindowChange::Penalty, cwnd, ssthresh, in_flight }, None);
    }

    pub(crate) fn tell(&self, now: Instant, slot: usize, event: Event, other: Option<usize>) {
        let Some(observer) = self.observer.as_deref() else { return };
        if let Some(place) = observer.place(slot) {
            observer.tell(now, place, event, other.and_then(|other| observer.place(other)));
        }
    }
}

/// The option's name in RFC 8684, in lower case, and its main number, if any: version, address ID, backup
/// flag or reason.
fn name_of(option: &MptcpOption) -> (&'static str, Option<u64>) {
    match option {
        MptcpOption::Capable(capable) => ("mp_capable", Some(u64::from(capable.version))),
        MptcpOption::Join(MpJoin::Syn { address_id, .. } | MpJoin::SynAck { address_id, .. }) => {
            ("mp_join", Some(u64::from(*address_id)))
        }
        MptcpOption::Join(MpJoin::Ack { .. }) => ("mp_join", None),
        MptcpOption::AddAddress(add) => ("add_addr", Some(u64::from(add.id))),
        MptcpOption::RemoveAddress(remove) => ("remove_addr", remove.ids.first().map(|&id| u64::from(id))),
        MptcpOption::Prio(prio) => ("mp_prio", Some(u64::from(prio.backup))),
        MptcpOption::Fail(_) => ("mp_fail", None),
        MptcpOption::FastClose(_) => ("mp_fastclose", None),
        MptcpOption::TcpRst(reset) => ("mp_tcprst", Some(u64::from(reset.reason.0))),
    }
}

fn number(sequence: DataSequence) -> u64 {
    match sequence {
        DataSequence::Short(low) => u64::from(low),
        DataSequence::Wide(whole) => whole,
    }
}

fn dss_event(dss: &Dss, out: bool) -> Event {
    let sequence = dss.mapping.map(|mapping| number(mapping.sequence));
    let length = dss.mapping.map_or(0, |mapping| u64::from(mapping.length));
    let (ack, fin) = (dss.ack.map(number), dss.data_fin);
    if out {
        Event::DssOut { sequence, length, ack, fin }
    } else {
        Event::DssIn { sequence, length, ack, fin }
    }
}
