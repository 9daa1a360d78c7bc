//! Arming of the connection's timers, and the setters of options for timeouts, SYN retries and unsent data.
//!
//! Owns the decision which timers a state needs, and their durations. Never handles an expired timer
//! (`timeouts`).

use mptcp_clock::{Duration, Instant};

use crate::config::Keepalive;
use crate::config_ends::user_timeout_within_limits;
use crate::connection::Connection;
use crate::subflow::State;

/// The maximum wait before a DATA_FIN is retransmitted: Linux's `tcp_fin_timeout`.
const LINGER_TIMEOUT: Duration = Duration::from_secs(60);
/// The minimum time that corked data waits: Linux's `TCP_RTO_MIN`. A longer RTO replaces it.
const CORK_TIMEOUT: Duration = Duration::from_millis(200);

impl Connection {
    /// The time of the next call of [`Connection::handle_timeout`]; [`Instant::FAR_FUTURE`] if none is needed.
    pub(crate) fn deadline(&self) -> Instant {
        self.subflows.iter().fold(self.timers.earliest(), |at, subflow| at.min(subflow.deadline()))
    }

    /// Sets or disables keepalive.
    pub(crate) fn set_keepalive(&mut self, now: Instant, keepalive: Option<Keepalive>) {
        let keepalive = keepalive.map(Keepalive::within_limits);
        self.config.keepalive = keepalive;
        self.subflows.iter_mut().filter(|s| s.is_synchronised()).for_each(|s| s.keep_alive(now, keepalive));
    }

    /// Sets the user timeout: how long data may stay unacknowledged.
    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        let timeout = user_timeout_within_limits(timeout);
        self.config.user_timeout = timeout;
        self.subflows.iter_mut().for_each(|subflow| subflow.liveness_mut().user_timeout = timeout);
    }

    /// Sets the maximum of SYN retransmissions.
    pub(crate) fn set_syn_retries(&mut self, count: u32) {
        self.config.syn_retries = count;
    }

    /// Sets the maximum of unsent bytes; 0 removes the limit.
    pub(crate) fn set_notsent_lowat(&mut self, most: Option<u64>) {
        self.config.notsent_lowat = most.filter(|&most| most > 0);
    }

    /// Sets the timers after a round of transmissions. `window_closed`: the peer's window blocks data.
    pub(crate) fn arm(&mut self, now: Instant, window_closed: bool) {
        let writer = &mut self.writer;
        if self.send.unsent() == 0 {
            writer.set_pushing(false);
            self.timers.disarm_cork();
        } else if self.writer.is_corked_or_more() && !self.writer.is_pushing() && !self.timers.is_cork_armed()
        {
            let wait = self.max_rto().max(CORK_TIMEOUT);
            self.timers.arm_cork(now + wait);
        }
        if window_closed && self.subflows.iter().all(|subflow| subflow.sender().is_idle()) {
            let wait = self.max_rto();
            self.timers.arm_probe(now, wait);
        } else {
            self.timers.disarm_probe();
        }
        if self.negotiation.is_multipath() {
            if self.send.nothing_in_flight() {
                self.timers.disarm_data();
            } else if !self.timers.is_data_timer_armed() {
                self.arm_data_timer(now);
            }
        }
    }

    /// Arms the data-level timer. It is longer than any subflow's RTO, because a subflow detects its own losses better.
    pub(crate) fn arm_data_timer(&mut self, now: Instant) {
        if self.config.linux_stack.has_data_level_timer() {
            return self.timers.arm_data_at(now + self.data_level_wait(now));
        }
        let wait = self.max_rto() * 2;
        self.timers.arm_data(now, wait);
    }

    /// Arms the retransmission timer of the DATA_FIN.
    pub(crate) fn arm_data_fin(&mut self, now: Instant) {
        let tries = self.timers.data_fin_tries().min(8);
        let wait = if self.config.linux_compat.quick_data_fin {
            self.config.min_rto * (1 << tries.saturating_sub(1))
        } else {
            self.max_rto() * (1 << tries)
        };
        self.timers.arm_data_fin(now + wait.min(LINGER_TIMEOUT), self.send.una());
    }

    /// Stops the transmission and retransmission of the DATA_FIN.
    pub(crate) fn disarm_data_fin(&mut self) {
        self.timers.disarm_data_fin();
        self.data_fin.forget_due();
    }

    fn max_rto(&self) -> Duration {
        let all = self.subflows.iter().zip(&self.congestion.paths);
        let live = all.filter(|(s, _)| s.is_synchronised() && s.state() != State::TimeWait);
        live.map(|(subflow, path)| subflow.sender().timeout.base(path))
            .max()
            .unwrap_or(Duration::from_secs(1))
    }
}
