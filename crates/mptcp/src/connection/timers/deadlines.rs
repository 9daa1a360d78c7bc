//! The deadlines of a connection's own timers.
//!
//! Owns deadlines, backoffs and retry counters. Never acts on an expired timer (`timeouts`), and does not include the
//! timers of subflows.

use mptcp_clock::{Duration, Instant};

/// The timers of a connection. A deadline is [`Instant::FAR_FUTURE`] if not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// The next window probe (RFC 9293 section 3.8.6.1).
    probe: Instant,
    probe_backoff: u32,
    /// Window probes and data-level timeouts since the last segment from the peer.
    unanswered: u32,
    probe_wanted: bool,
    /// The time of the last DATA_ACK of new data.
    progressed: Instant,
    /// The data-level retransmission timer.
    data: Instant,
    data_backoff: u32,
    /// Consecutive data-level timeouts with an unanswered query for a DATA_ACK.
    unanswered_queries: u32,
    /// The retransmission of the DATA_FIN.
    data_fin: Instant,
    data_fin_tries: u32,
    /// The oldest unacknowledged offset when the DATA_FIN timer was set.
    data_fin_una: u64,
    data_fin_wanted: bool,
    /// The end of the connection if it stays without a subflow.
    no_subflow: Instant,
    /// The next retransmission of an ADD_ADDR.
    announcements: Instant,
    /// The next attempt on a failed path.
    rejoin: Instant,
    /// The earliest of `data_fin`, `no_subflow`, `announcements` and `rejoin`, which change rarely.
    slow_timers: Instant,
    /// The time at which pacing ends, or at which opportunistic retransmission (M1) or the scheduler runs again.
    wake: Instant,
    /// The time at which corked data is sent.
    cork: Instant,
    /// The time of the first window probe since the window closed.
    probing_since: Option<Instant>,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            probe: Instant::FAR_FUTURE,
            probe_backoff: 0,
            unanswered: 0,
            probe_wanted: false,
            progressed: Instant::ZERO,
            data: Instant::FAR_FUTURE,
            data_backoff: 0,
            unanswered_queries: 0,
            data_fin: Instant::FAR_FUTURE,
            data_fin_tries: 0,
            data_fin_una: 0,
            data_fin_wanted: false,
            no_subflow: Instant::FAR_FUTURE,
            announcements: Instant::FAR_FUTURE,
            rejoin: Instant::FAR_FUTURE,
            slow_timers: Instant::FAR_FUTURE,
            wake: Instant::FAR_FUTURE,
            cork: Instant::FAR_FUTURE,
            probing_since: None,
        }
    }
}

impl Timers {
    /// The earliest deadline.
    pub(crate) fn earliest(&self) -> Instant {
        self.probe.min(self.data).min(self.slow_timers).min(self.wake).min(self.cork)
    }

    #[cold]
    fn update_slow_timers(&mut self) {
        self.slow_timers = self.data_fin.min(self.no_subflow).min(self.announcements).min(self.rejoin);
    }

    /// Requests a call at `at` or earlier, for pacing, the scheduler or M1.
    #[inline]
    pub(crate) fn wake_at(&mut self, at: Instant) {
        self.wake = self.wake.min(at);
    }

    /// Whether the time of [`Self::wake_at`] has come; clears it.
    pub(crate) fn take_wake(&mut self, now: Instant) -> bool {
        let due = self.wake <= now;
        if due {
            self.wake = Instant::FAR_FUTURE;
        }
        due
    }

    pub(crate) fn arm_cork(&mut self, at: Instant) {
        self.cork = at;
    }

    pub(crate) fn disarm_cork(&mut self) {
        self.cork = Instant::FAR_FUTURE;
    }

    pub(crate) fn is_cork_armed(&self) -> bool {
        self.cork != Instant::FAR_FUTURE
    }

    /// Whether corked data has waited long enough; clears the timer.
    pub(crate) fn take_cork(&mut self, now: Instant) -> bool {
        let due = self.cork <= now;
        if due {
            self.cork = Instant::FAR_FUTURE;
        }
        due
    }

    /// Whether a window probe has to be sent.
    #[inline]
    pub(crate) fn is_probe_wanted(&self) -> bool {
        self.probe_wanted
    }

    /// Whether a window probe has to be sent; clears the request.
    pub(crate) fn take_probe_wanted(&mut self) -> bool {
        std::mem::take(&mut self.probe_wanted)
    }

    /// Whether the DATA_FIN has to be retransmitted.
    pub(crate) fn is_data_fin_wanted(&self) -> bool {
        self.data_fin_wanted
    }

    pub(crate) fn on_data_fin_sent(&mut self) {
        self.data_fin_wanted = false;
    }

    pub(crate) fn announcements(&self) -> Instant {
        self.announcements
    }

    pub(crate) fn announce_at(&mut self, at: Instant) {
        self.announcements = at;
        self.update_slow_timers();
    }

    pub(crate) fn rejoin(&self) -> Instant {
        self.rejoin
    }

    pub(crate) fn rejoin_at(&mut self, at: Instant) {
        self.rejoin = at;
        self.update_slow_timers();
    }

    /// Stops the data-level timer and resets its backoff after a DATA_ACK of new data.
    pub(crate) fn on_data_acked(&mut self, now: Instant) {
        self.progressed = now;
        self.data = Instant::FAR_FUTURE;
        self.data_backoff = 0;
        self.unanswered_queries = 0;
    }

    /// The time since the last DATA_ACK of new data.
    #[inline]
    pub(crate) fn time_since_data_ack(&self, now: Instant) -> Duration {
        now.since(self.progressed)
    }

    /// Whether window probes are scheduled, or were since the window closed.
    #[inline]
    pub(crate) fn is_probing_window(&self) -> bool {
        self.probe_backoff > 0
    }

    /// Handles a window update. `enough` means space for a full segment or for all unsent data; otherwise the probes
    /// continue with their backoff.
    pub(crate) fn on_window_opened_by(&mut self, enough: bool) {
        self.probing_since = None;
        if enough {
            self.probe = Instant::FAR_FUTURE;
            self.probe_backoff = 0;
            self.probe_wanted = false;
        }
    }

    /// The time since the first window probe.
    pub(crate) fn window_closed_for(&mut self, now: Instant) -> Duration {
        now.since(*self.probing_since.get_or_insert(now))
    }

    /// Resets the count of unanswered probes after a segment from the peer.
    pub(crate) fn answered(&mut self) {
        self.unanswered = 0;
    }

    pub(crate) fn data_fin_tries(&self) -> u32 {
        self.data_fin_tries
    }

    /// The number of window probes since the window closed.
    pub(crate) fn probes(&self) -> u32 {
        self.probe_backoff.saturating_sub(1)
    }

    /// Whether the window probe is due; requests its transmission.
    pub(crate) fn take_window_probe(&mut self, now: Instant) -> bool {
        let due = self.probe <= now;
        if due {
            self.probe_wanted = true;
            self.probe = Instant::FAR_FUTURE;
        }
        due
    }

    /// Schedules a window probe after `wait`, doubled for each probe since the window closed, unless a probe
    /// is pending.
    pub(crate) fn arm_probe(&mut self, now: Instant, wait: Duration) {
        if self.probe == Instant::FAR_FUTURE && !self.probe_wanted {
            let wait = wait * (1 << self.probe_backoff.min(9));
            self.probe = now + wait.min(Duration::from_secs(60));
            self.probe_backoff += 1;
        }
    }

    pub(crate) fn disarm_probe(&mut self) {
        self.probe = Instant::FAR_FUTURE;
    }

    /// Unanswered probes since the last segment from the peer.
    pub(crate) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// Adds `more` unanswered probes or data-level timeouts. Returns the count since the last segment from
    /// the peer.
    pub(crate) fn count_unanswered(&mut self, more: u32) -> u32 {
        self.unanswered += more;
        self.unanswered
    }

    /// Counts a data-level timeout. `open`: a query for a DATA_ACK is unanswered. Returns the number of
    /// consecutive timeouts with such a query.
    pub(crate) fn count_queries(&mut self, open: bool) -> u32 {
        self.unanswered_queries = if open { self.unanswered_queries + 1 } else { 0 };
        self.unanswered_queries
    }

    /// Whether the data-level timer has expired; doubles its backoff.
    pub(crate) fn take_data_timeout(&mut self, now: Instant) -> bool {
        let due = self.data <= now;
        if due {
            self.data = Instant::FAR_FUTURE;
            self.data_backoff = (self.data_backoff + 1).min(16);
        }
        due
    }

    /// Arms the data-level timer for `wait` times the backoff.
    pub(crate) fn arm_data(&mut self, now: Instant, wait: Duration) {
        let wait = wait * (1 << self.data_backoff);
        self.data = now + wait.min(Duration::from_secs(120));
    }

    pub(crate) fn arm_data_at(&mut self, at: Instant) {
        self.data = at;
    }

    pub(crate) fn is_data_timer_armed(&self) -> bool {
        self.data != Instant::FAR_FUTURE
    }

    pub(crate) fn disarm_data(&mut self) {
        self.data = Instant::FAR_FUTURE;
    }

    /// Whether the DATA_FIN timer has expired; requests a retransmission.
    pub(crate) fn process_data_fin(&mut self, now: Instant) -> bool {
        let due = self.data_fin <= now;
        if due {
            self.data_fin = Instant::FAR_FUTURE;
            self.data_fin_wanted = true;
            self.update_slow_timers();
        }
        due
    }

    /// Arms the DATA_FIN timer for `at`. `una` is the oldest unacknowledged data offset.
    pub(crate) fn arm_data_fin(&mut self, at: Instant, una: u64) {
        self.data_fin_tries += 1;
        self.data_fin_una = una;
        self.data_fin = at;
        self.update_slow_timers();
    }

    pub(crate) fn disarm_data_fin(&mut self) {
        self.data_fin = Instant::FAR_FUTURE;
        self.data_fin_wanted = false;
        self.update_slow_timers();
    }

    pub(crate) fn data_fin_una(&self) -> u64 {
        self.data_fin_una
    }

    /// Whether the connection has been without a subflow for too long; clears the timer.
    pub(crate) fn take_no_subflow_timeout(&mut self, now: Instant) -> bool {
        let due = self.no_subflow <= now;
        if due {
            self.no_subflow = Instant::FAR_FUTURE;
            self.update_slow_timers();
        }
        due
    }

    pub(crate) fn on_last_subflow_closed(&mut self, at: Instant) {
        self.no_subflow = self.no_subflow.min(at);
        self.update_slow_timers();
    }

    pub(crate) fn on_subflow_opened(&mut self) {
        self.no_subflow = Instant::FAR_FUTURE;
        self.update_slow_timers();
    }
}
