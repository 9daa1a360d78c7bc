//! Which timers a connection wants.

use mptcp_clock::{Duration, Instant};

use crate::config::Keepalive;
use crate::config_ends::user_timeout_within_limits;
use crate::connection::Connection;
use crate::subflow::State;

/// How long the peer may keep its half of an ended connection open: Linux's `tcp_fin_timeout`.
const LINGER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long what is corked waits for more at least: Linux's `TCP_RTO_MIN`, or as long as the timeout is.
const CORK_TIMEOUT: Duration = Duration::from_millis(200);

impl Connection {
    /// When [`Connection::handle_timeout`] wants to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.subflows.iter().fold(self.timers.earliest(), |at, subflow| at.min(subflow.deadline()))
    }

    /// Keepalive on or off, or with other times.
    pub(crate) fn set_keepalive(&mut self, now: Instant, keepalive: Option<Keepalive>) {
        let keepalive = keepalive.map(Keepalive::within_limits);
        self.config.keepalive = keepalive;
        self.subflows.iter_mut().filter(|s| s.is_synchronised()).for_each(|s| s.keep_alive(now, keepalive));
    }

    /// How long data may stay unacknowledged.
    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        let timeout = user_timeout_within_limits(timeout);
        self.config.user_timeout = timeout;
        self.subflows.iter_mut().for_each(|subflow| subflow.liveness_mut().user_timeout = timeout);
    }

    /// How often a SYN may go again.
    pub(crate) fn set_syn_retries(&mut self, count: u32) {
        self.config.syn_retries = count;
    }

    /// How much may wait unsent.
    pub(crate) fn set_notsent_lowat(&mut self, most: Option<u64>) {
        self.config.notsent_lowat = most.filter(|&most| most > 0);
    }

    /// Sets what the state after a round of sending calls for.
    pub(crate) fn arm(&mut self, now: Instant, window_closed: bool) {
        let writer = &mut self.writer;
        if self.send.unsent() == 0 {
            writer.set_pushing(false);
            self.timers.disarm_cork();
        } else if self.writer.is_corked_or_more() && !self.writer.is_pushing() && !self.timers.is_cork_armed()
        {
            let wait = self.longest_rto().max(CORK_TIMEOUT);
            self.timers.arm_cork(now + wait);
        }
        if window_closed && self.subflows.iter().all(|subflow| subflow.sender().is_idle()) {
            let wait = self.longest_rto();
            self.timers.arm_probe(now, wait);
        } else {
            self.timers.disarm_probe();
        }
        if self.negotiation.is_multipath() {
            if self.send.nothing_in_flight() {
                self.timers.disarm_data();
            } else if !self.timers.waits_for_data() {
                self.arm_data_timer(now);
            }
        }
    }

    /// Later than any subflow's own timeout, which comes first and knows better.
    pub(crate) fn arm_data_timer(&mut self, now: Instant) {
        if self.config.linux_stack.has_data_level_timer() {
            return self.timers.arm_data_at(now + self.data_level_wait(now));
        }
        let wait = self.longest_rto() * 2;
        self.timers.arm_data(now, wait);
    }

    /// The DATA_FIN has gone.
    pub(crate) fn arm_data_fin(&mut self, now: Instant) {
        let tries = self.timers.data_fin_tries().min(8);
        let wait = if self.config.linux_compat.quick_data_fin {
            self.config.min_rto * (1 << tries.saturating_sub(1))
        } else {
            self.longest_rto() * (1 << tries)
        };
        self.timers.arm_data_fin(now + wait.min(LINGER_TIMEOUT), self.send.una());
    }

    /// The DATA_FIN need not go, or not again.
    pub(crate) fn disarm_data_fin(&mut self) {
        self.timers.disarm_data_fin();
        self.data_fin.forget_due();
    }

    fn longest_rto(&self) -> Duration {
        let all = self.subflows.iter().zip(&self.congestion.paths);
        let live = all.filter(|(s, _)| s.is_synchronised() && s.state() != State::TimeWait);
        live.map(|(subflow, path)| subflow.sender().timeout.base(path))
            .max()
            .unwrap_or(Duration::from_secs(1))
    }
}
