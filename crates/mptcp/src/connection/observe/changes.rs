//! What has changed since an observer was told last: windows, round trips, losses, states.
//!
//! Owns the comparison. What changes a connection does not know that somebody looks; who is called from outside lets it be
//! looked at afterwards, and only where somebody does.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{DataSequence, Dss, MpJoin, MptcpOption, Segment};

use crate::congestion::PathState;
use crate::connection::Connection;
use crate::connection::handshake::negotiation::Mode;
use crate::connection::observe::watch::{PenaltyRecord, Seen, Watch};
use crate::ids::{ConnectionId, SubflowId};
use crate::observe::{Event, Observer, PathClock, PathReasons, Place, Wanted, WindowChange};
use crate::subflow::Subflow;
use crate::subflow::sender::Recovery;

impl Connection {
    /// Somebody wants to be told.
    pub(crate) fn set_observer(
        &mut self,
        now: Instant,
        id: ConnectionId,
        observer: Arc<dyn Observer>,
        wanted: Wanted,
    ) {
        self.watch = Some(Box::new(Watch::new(now, id, observer, wanted)));
        self.observe(now);
    }

    /// What held each subflow back so far; empty where nobody observes.
    #[must_use]
    pub fn reasons(&self, now: Instant) -> Vec<PathReasons> {
        self.watch.as_ref().map_or_else(Vec::new, |watch| watch.reasons(now))
    }

    /// Tells what has changed since it was told last.
    #[cold]
    #[inline(never)]
    pub(crate) fn observe(&mut self, now: Instant) {
        let Some(watch) = self.watch.as_deref_mut() else { return };
        for (slot, (subflow, path)) in self.subflows.iter().zip(&self.congestion.paths).enumerate() {
            let place = place_of(subflow);
            match watch.seen.get(slot) {
                None => {
                    watch.seen.push(first_sight(now, place, subflow, path));
                    watch.tell(now, place, Event::Subflow { state: subflow.state() }, None);
                }
                Some(seen) if seen.place.subflow != place.subflow => {
                    watch.replace(now, slot, first_sight(now, place, subflow, path));
                    watch.tell(now, place, Event::Subflow { state: subflow.state() }, None);
                }
                Some(_) => {}
            }
            compare(watch, now, slot, subflow, path);
        }
        let mode = self.negotiation.mode();
        if mode != watch.mode {
            watch.mode = mode;
            let what = match mode {
                Mode::Negotiating => "negotiating",
                Mode::Multipath => "multipath",
                Mode::Plain if watch.fell_back => "fell_back",
                Mode::Plain => "tcp",
            };
            watch.tell_of_all(now, Event::Connection { what }, None);
        }
        if let (None, Some(_)) = (watch.closed, self.fate.closed()) {
            watch.closed = self.fate.closed();
            watch.tell_of_all(now, Event::Connection { what: "closed" }, None);
        }
    }

    /// A segment of a subflow has come, and what follows from it has happened.
    #[cold]
    pub(crate) fn observe_received(&mut self, now: Instant, id: SubflowId, segment: &Segment) {
        if let Some(slot) = self.subflows.slot(id) {
            if self
                .watch
                .as_ref()
                .is_some_and(|watch| watch.place(slot).is_none_or(|known| known.subflow != id))
            {
                self.observe(now);
            }
            self.observe_options(now, slot, segment, false);
        }
        self.observe(now);
    }

    pub(crate) fn observe_options(&self, now: Instant, slot: usize, segment: &Segment, out: bool) {
        let Some(watch) = self.watch.as_deref() else { return };
        let Some(place) = watch.place(slot) else { return };
        for option in &segment.options.mptcp {
            let (name, number) = name_of(option);
            let event =
                if out { Event::OptionOut { name, number } } else { Event::OptionIn { name, number } };
            watch.tell(now, place, event, None);
        }
        if let Some(dss) = &segment.options.dss {
            watch.tell(now, place, dss_event(dss, out), None);
        }
    }

    /// A segment went again on its own subflow.
    #[cold]
    pub(crate) fn observe_repeated(&self, now: Instant, slot: usize, seq: u64, offset: u64, bytes: usize) {
        let event = Event::Retransmission { offset, bytes: bytes as u64, seq };
        self.tell(now, slot, event, None);
    }

    /// M2 has halved the window of `slow`, which was `before`, because `fast` was held up.
    #[cold]
    pub(crate) fn observe_penalty(&mut self, now: Instant, slow: usize, fast: usize, before: u64) {
        let path = &self.congestion.paths[slow];
        let (cwnd, ssthresh) = (path.cwnd, threshold(path));
        if let Some(seen) = self.watch.as_deref_mut().and_then(|watch| watch.seen.get_mut(slow)) {
            seen.penalised = Some(PenaltyRecord::again(seen.penalised, before));
            (seen.cwnd, seen.ssthresh) = (path.cwnd, path.ssthresh);
        }
        self.tell(now, slow, Event::Penalty { cwnd, ssthresh }, Some(fast));
        let in_flight = self.subflows[slow].sender().in_flight();
        self.tell(now, slow, Event::Window { why: WindowChange::Penalty, cwnd, ssthresh, in_flight }, None);
    }

    pub(crate) fn tell(&self, now: Instant, slot: usize, event: Event, other: Option<usize>) {
        let Some(watch) = self.watch.as_deref() else { return };
        if let Some(place) = watch.place(slot) {
            watch.tell(now, place, event, other.and_then(|other| watch.place(other)));
        }
    }
}

fn place_of(subflow: &Subflow) -> Place {
    let ends = subflow.ends();
    Place { subflow: subflow.record().id, local: ends.local, remote: ends.remote }
}

fn first_sight(now: Instant, place: Place, subflow: &Subflow, path: &PathState) -> Seen {
    Seen {
        place,
        state: subflow.state(),
        cwnd: 0,
        ssthresh: path.ssthresh,
        samples: 0,
        marked: 0,
        recoveries: 0,
        timeouts: 0,
        undone: 0,
        reductions: 0,
        reinjected: 0,
        penalised: None,
        clock: PathClock::new(now),
        blamed: Duration::ZERO,
    }
}

/// Tells what has changed of a subflow.
fn compare(watch: &mut Watch, now: Instant, slot: usize, subflow: &Subflow, path: &PathState) {
    let sender = subflow.sender();
    let (board, in_flight) = (&sender.board, sender.in_flight());
    let seen = &mut watch.seen[slot];
    let before = seen.clone();
    seen.state = subflow.state();
    (seen.cwnd, seen.ssthresh) = (path.cwnd, path.ssthresh);
    (seen.samples, seen.marked) = (path.samples, board.marked);
    (seen.recoveries, seen.timeouts) = (sender.recoveries, sender.timeouts);
    (seen.undone, seen.reductions) = (sender.spurious.undone, sender.marks.reductions);
    let (timed_out, found) = (sender.timeouts > before.timeouts, sender.recoveries > before.recoveries);
    if found || timed_out {
        seen.penalised = seen.penalised.and_then(|cut| cut.after_loss(before.cwnd, path.ssthresh));
    }
    // While losses are repaired, the window is what lets them be, and no measure.
    seen.penalised = seen.penalised.filter(|cut| sender.state != Recovery::Open || !cut.is_over(path.cwnd));
    let place = before.place;
    if subflow.state() != before.state {
        watch.tell(now, place, Event::Subflow { state: subflow.state() }, None);
    }
    if path.samples > before.samples {
        let (latest, srtt) = (path.latest_rtt.unwrap_or_default(), path.srtt.unwrap_or_default());
        watch.tell(now, place, Event::RoundTrip { latest, srtt, rttvar: path.rttvar }, None);
    }
    if timed_out {
        let (rto, consecutive) = (sender.timeout.after(path), sender.timeout.consecutive());
        watch.tell(now, place, Event::Timeout { rto, consecutive, in_flight }, None);
    }
    if board.marked > before.marked {
        let (seq, bytes) = (board.last_marked, board.marked - before.marked);
        let event = Event::Loss { by: sender.detection(timed_out), seq, bytes, in_flight };
        watch.tell(now, place, event, None);
    }
    let undone = sender.spurious.undone > before.undone;
    if undone {
        watch.tell(now, place, Event::Spurious { cwnd: path.cwnd, ssthresh: threshold(path) }, None);
    }
    if (path.cwnd, path.ssthresh) != (before.cwnd, before.ssthresh) {
        let grown = path.cwnd > before.cwnd;
        let why = if before.cwnd == 0 {
            WindowChange::Initial
        } else if timed_out {
            WindowChange::Timeout
        } else if found {
            WindowChange::Loss
        } else if undone {
            WindowChange::Undone
        } else if sender.marks.reductions > before.reductions {
            WindowChange::Marks
        } else if matches!(sender.state, Recovery::Recovery { .. })
            || (sender.state == Recovery::Open && path.cwnd == path.ssthresh && !grown)
        {
            WindowChange::Recovery
        } else if grown && path.cwnd <= path.ssthresh {
            WindowChange::SlowStart
        } else if grown {
            WindowChange::Avoidance
        } else {
            WindowChange::Reduced
        };
        let event = Event::Window { why, cwnd: path.cwnd, ssthresh: threshold(path), in_flight };
        watch.tell(now, place, event, None);
    }
}

fn threshold(path: &PathState) -> Option<u64> {
    (path.ssthresh < u64::MAX).then_some(path.ssthresh)
}

/// RFC 8684's name of an option in small letters, and its number.
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
