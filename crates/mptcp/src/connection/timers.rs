//! The connection's own timers, beside those of its subflows.

use mptcp_clock::{Duration, Instant};

use super::{Connection, Mode};
use crate::config::Keepalive;
use crate::event::Closed;
use crate::subflow::{Closure, Control, State};

/// Retransmission timeouts in a row after which a subflow is dead: Linux's `tcp_retries2`.
const MOST_TIMEOUTS: u32 = 15;
/// The same for a subflow whose data was acknowledged at the data level, when there is no more to send.
const NEEDLESS_TIMEOUTS: u32 = 6;
/// How long the peer may keep its half of an ended connection open: Linux's `tcp_fin_timeout`.
const LINGER_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeouts in a row after which a path counts as silent.
const SILENT: u32 = 2;
/// How long what is corked waits for more: Linux's `TCP_RTO_MIN`.
const CORK_TIMEOUT: Duration = Duration::from_millis(200);
/// How often a silent path is probed while others carry the data.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Deadlines, [`Instant::FAR_FUTURE`] when not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// The peer's window is closed: ask again (RFC 9293 section 3.8.6.1).
    probe: Instant,
    probe_backoff: u32,
    /// Probes, and timeouts of the data level, since the peer was heard last.
    unanswered: u32,
    pub probe_wanted: bool,
    /// No acknowledgement at the data level.
    data: Instant,
    data_backoff: u32,
    /// The DATA_FIN goes again.
    data_fin: Instant,
    data_fin_tries: u32,
    /// What was acknowledged at the data level when the timer of the DATA_FIN was set.
    data_fin_una: u64,
    pub data_fin_wanted: bool,
    /// No subflow is left.
    orphan: Instant,
    pub announcements: Instant,
    /// A path that failed may be tried again.
    pub rejoin: Instant,
    /// A paced subflow may send again.
    pub pace: Instant,
    /// What is corked has waited long enough.
    pub cork: Instant,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            probe: Instant::FAR_FUTURE,
            probe_backoff: 0,
            unanswered: 0,
            probe_wanted: false,
            data: Instant::FAR_FUTURE,
            data_backoff: 0,
            data_fin: Instant::FAR_FUTURE,
            data_fin_tries: 0,
            data_fin_una: 0,
            data_fin_wanted: false,
            orphan: Instant::FAR_FUTURE,
            announcements: Instant::FAR_FUTURE,
            rejoin: Instant::FAR_FUTURE,
            pace: Instant::FAR_FUTURE,
            cork: Instant::FAR_FUTURE,
        }
    }
}

impl Timers {
    fn earliest(&self) -> Instant {
        let waits = self.probe.min(self.data).min(self.data_fin);
        waits.min(self.orphan).min(self.announcements).min(self.rejoin).min(self.pace).min(self.cork)
    }

    /// The peer acknowledged new data: the wait begins anew when there is more to wait for.
    pub(super) fn data_progress(&mut self, _now: Instant) {
        self.data = Instant::FAR_FUTURE;
        self.data_backoff = 0;
    }

    pub(super) fn window_opened(&mut self) {
        self.probe = Instant::FAR_FUTURE;
        self.probe_backoff = 0;
        self.probe_wanted = false;
    }

    /// The peer is there.
    pub(super) fn answered(&mut self) {
        self.unanswered = 0;
    }

    /// How often the DATA_FIN has gone.
    pub(super) fn data_fin_tries(&self) -> u32 {
        self.data_fin_tries
    }

    /// How often the peer was asked for its window since it closed.
    pub(super) fn probes(&self) -> u32 {
        self.probe_backoff.saturating_sub(1)
    }

    pub(super) fn orphaned(&mut self, at: Instant) {
        self.orphan = self.orphan.min(at);
    }

    pub(super) fn adopted(&mut self) {
        self.orphan = Instant::FAR_FUTURE;
    }
}

impl Connection {
    /// When [`Connection::handle_timeout`] wants to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.subflows.iter().fold(self.timers.earliest(), |at, subflow| at.min(subflow.deadline()))
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        for id in 0..self.subflows.len() {
            self.on_subflow_timers(now, id);
        }
        if self.timers.pace <= now {
            self.timers.pace = Instant::FAR_FUTURE;
        }
        if self.timers.cork <= now {
            self.timers.cork = Instant::FAR_FUTURE;
            self.pushing = true;
        }
        if self.timers.probe <= now {
            self.timers.probe_wanted = true;
            self.timers.probe = Instant::FAR_FUTURE;
            self.fall_back_if_stripped(now);
            self.timers.unanswered += 1;
            if self.timers.unanswered > MOST_TIMEOUTS {
                // RFC 9293 section 3.8.6.1 lets a closed window stay closed for ever, but only while the peer answers.
                self.end(now, Closed::TimedOut, Closure::TimedOut);
            }
        }
        if self.timers.data <= now {
            self.timers.data = Instant::FAR_FUTURE;
            self.timers.data_backoff = (self.timers.data_backoff + 1).min(16);
            self.fall_back_if_stripped(now);
            // Without a subflow nobody can answer, and `orphan` is what counts.
            let asked = self.subflows.iter().any(|subflow| subflow.is_synchronised());
            self.timers.unanswered += u32::from(asked);
            if self.timers.unanswered > MOST_TIMEOUTS {
                // Each subflow has had its data acknowledged, or cannot send; nobody says anything any more.
                self.end(now, Closed::TimedOut, Closure::TimedOut);
            } else if self.mode == Mode::Multipath {
                self.retry_oldest();
                self.arm_data_timer(now);
            }
        }
        if self.timers.data_fin <= now {
            self.timers.data_fin = Instant::FAR_FUTURE;
            self.timers.data_fin_wanted = true;
            // While data are acknowledged it has only to wait for them.
            if self.outgoing.una == self.timers.data_fin_una {
                self.fall_back_if_stripped(now);
            }
            if self.timers.data_fin_tries > MOST_TIMEOUTS && self.mode == Mode::Multipath {
                self.end(now, Closed::TimedOut, Closure::TimedOut);
            }
        }
        if self.timers.announcements <= now {
            self.timers.announcements = self.announce_again(now);
        }
        if self.timers.rejoin <= now {
            self.timers.rejoin = Instant::FAR_FUTURE;
            self.consult_path_manager(now);
        }
        if self.timers.orphan <= now {
            self.timers.orphan = Instant::FAR_FUTURE;
            if self.subflows.iter().all(|subflow| subflow.is_closed()) && self.closed.is_none() {
                self.end(now, Closed::TimedOut, Closure::TimedOut);
            }
        }
    }

    fn on_subflow_timers(&mut self, now: Instant, id: usize) {
        let subflow = &mut self.subflows[id];
        if subflow.is_closed() || subflow.deadline() > now {
            return;
        }
        if subflow.handshake_deadline <= now {
            self.on_handshake_timeout(now, id);
        }
        let subflow = &mut self.subflows[id];
        if subflow.receiver.deadline() <= now {
            subflow.receiver.on_deadline();
        }
        if subflow.keep_at <= now {
            self.ask_whether_alive(now, id);
        }
        let subflow = &mut self.subflows[id];
        if subflow.probe_deadline <= now {
            subflow.probe_deadline = now + PROBE_INTERVAL;
            subflow.control = Some(Control::Probe);
        }
        if subflow.sender.deadline() > now {
            return;
        }
        let timed_out = subflow.sender.on_deadline(now, id, &mut self.congestion);
        if !timed_out {
            return;
        }
        // A reordering network and a lossy one look the same here: the others take over at once.
        self.give_up_sending(id);
        self.watch_silent_path(now, id);
        // What it has waited for longest has arrived, some other way it seems, and no more is written: who does not even
        // acknowledge that is not waited for as long.
        let first = self.subflows[id].sender.board.queue.front();
        let arrived = first.is_some_and(|sent| sent.data + sent.payload.len() as u64 <= self.outgoing.una);
        let needless = self.mode == Mode::Multipath && self.write_closed && arrived;
        let most = if needless { NEEDLESS_TIMEOUTS } else { MOST_TIMEOUTS };
        let subflow = &mut self.subflows[id];
        if subflow.sender.rtt.backoff() > most {
            subflow.close(now, Closure::TimedOut);
            self.on_subflow_closed(now, id);
        }
    }

    /// Keepalive (RFC 9293 section 3.8.4): a peer that does not answer several questions is gone.
    fn ask_whether_alive(&mut self, now: Instant, id: usize) {
        let subflow = &mut self.subflows[id];
        let Some(keepalive) = self.config.keepalive.filter(|_| subflow.is_synchronised()) else {
            subflow.keep_at = Instant::FAR_FUTURE;
            return;
        };
        if subflow.kept >= keepalive.probes {
            subflow.close(now, Closure::TimedOut);
            return self.on_subflow_closed(now, id);
        }
        // What is in flight is its own question.
        if subflow.sender.is_idle() {
            subflow.kept += 1;
            subflow.control = Some(Control::Probe);
        }
        subflow.keep_at = now + keepalive.interval;
    }

    /// Keepalive on or off, or with other times.
    pub(crate) fn set_keepalive(&mut self, now: Instant, keepalive: Option<Keepalive>) {
        self.config.keepalive = keepalive;
        self.subflows.iter_mut().filter(|s| s.is_synchronised()).for_each(|s| s.keep_alive(now, keepalive));
    }

    /// A path that went silent would be tried again only when its doubled timeout ends, up to two
    /// minutes after it came back. While other subflows work, a probe without data asks every second:
    /// no retransmission, so RFC 6298's backoff of those stands.
    fn watch_silent_path(&mut self, now: Instant, id: usize) {
        let others = self
            .subflows
            .iter()
            .enumerate()
            .any(|(other, s)| other != id && s.can_send() && !s.sender.in_loss());
        let subflow = &mut self.subflows[id];
        let silent = subflow.sender.rtt.backoff() >= SILENT && subflow.can_send();
        if silent && others && subflow.probe_deadline == Instant::FAR_FUTURE {
            subflow.probe_deadline = now + PROBE_INTERVAL;
        }
    }

    /// Sets what the state after a round of sending calls for.
    pub(super) fn arm(&mut self, now: Instant, window_closed: bool) {
        if self.outgoing.unsent() == 0 {
            self.pushing = false;
            self.timers.cork = Instant::FAR_FUTURE;
        } else if self.corked && !self.pushing && self.timers.cork == Instant::FAR_FUTURE {
            self.timers.cork = now + CORK_TIMEOUT;
        }
        if window_closed && self.subflows.iter().all(|subflow| subflow.sender.is_idle()) {
            if self.timers.probe == Instant::FAR_FUTURE && !self.timers.probe_wanted {
                let wait = self.longest_rto() * (1 << self.timers.probe_backoff.min(9));
                self.timers.probe = now + wait.min(Duration::from_secs(60));
                self.timers.probe_backoff += 1;
            }
        } else {
            self.timers.probe = Instant::FAR_FUTURE;
        }
        if self.mode == Mode::Multipath {
            if self.outgoing.flight.is_empty() {
                self.timers.data = Instant::FAR_FUTURE;
            } else if self.timers.data == Instant::FAR_FUTURE {
                self.arm_data_timer(now);
            }
        }
    }

    /// Later than any subflow's own timeout, which comes first and knows better.
    fn arm_data_timer(&mut self, now: Instant) {
        let wait = self.longest_rto() * 2 * (1 << self.timers.data_backoff);
        self.timers.data = now + wait.min(Duration::from_secs(120));
    }

    pub(super) fn arm_data_fin(&mut self, now: Instant) {
        let tries = self.timers.data_fin_tries.min(8);
        let wait = if self.config.habits.quick_data_fin {
            self.config.min_rto * (1 << tries.saturating_sub(1))
        } else {
            self.longest_rto() * (1 << tries)
        };
        self.timers.data_fin_tries += 1;
        self.timers.data_fin_una = self.outgoing.una;
        self.timers.data_fin = now + wait.min(LINGER_TIMEOUT);
    }

    pub(super) fn disarm_data_fin(&mut self) {
        self.timers.data_fin = Instant::FAR_FUTURE;
        self.timers.data_fin_wanted = false;
        self.data_fin_due.clear();
    }

    fn longest_rto(&self) -> Duration {
        let live = self.subflows.iter().filter(|s| s.is_synchronised() && s.state != State::TimeWait);
        live.map(|subflow| subflow.sender.rtt.base_rto()).max().unwrap_or(Duration::from_secs(1))
    }
}
