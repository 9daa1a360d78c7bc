//! The connection's own timers, beside those of its subflows.
//!
//! Owns deadlines, backoffs and what ran out; what follows is `timeouts`' affair.

use mptcp_clock::{Duration, Instant};

/// Deadlines, [`Instant::FAR_FUTURE`] when not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// The peer's window is closed: ask again (RFC 9293 section 3.8.6.1).
    probe: Instant,
    probe_backoff: u32,
    /// Probes, and timeouts of the data level, since the peer was heard last.
    unanswered: u32,
    probe_wanted: bool,
    /// When data was acknowledged last at the data level.
    progressed: Instant,
    /// No acknowledgement at the data level.
    data: Instant,
    data_backoff: u32,
    /// Timeouts of the data level in a row after which the peer had not said what it lacks.
    questions: u32,
    /// The DATA_FIN goes again.
    data_fin: Instant,
    data_fin_tries: u32,
    /// What was acknowledged at the data level when the timer of the DATA_FIN was set.
    data_fin_una: u64,
    data_fin_wanted: bool,
    /// No subflow is left.
    orphan: Instant,
    announcements: Instant,
    /// A path that failed may be tried again.
    rejoin: Instant,
    /// The first of these three and of the DATA_FIN's, which change rarely.
    slow_timers: Instant,
    /// A paced subflow may send again, or M1 looks again for what is overdue.
    wake: Instant,
    /// What is corked has waited long enough.
    cork: Instant,
    /// When the peer was first asked for its closed window.
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
            questions: 0,
            data_fin: Instant::FAR_FUTURE,
            data_fin_tries: 0,
            data_fin_una: 0,
            data_fin_wanted: false,
            orphan: Instant::FAR_FUTURE,
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
    /// The first of them.
    pub(crate) fn earliest(&self) -> Instant {
        self.probe.min(self.data).min(self.slow_timers).min(self.wake).min(self.cork)
    }

    /// One of those that change rarely has changed.
    #[cold]
    fn update_slow_timers(&mut self) {
        self.slow_timers = self.data_fin.min(self.orphan).min(self.announcements).min(self.rejoin);
    }

    /// Calls the connection again no later than `at`: a paced subflow may send then, or the scheduler or M1 looks again.
    #[inline]
    pub(crate) fn wake_at(&mut self, at: Instant) {
        self.wake = self.wake.min(at);
    }

    /// Whether that time has come.
    pub(crate) fn take_wake(&mut self, now: Instant) -> bool {
        let due = self.wake <= now;
        if due {
            self.wake = Instant::FAR_FUTURE;
        }
        due
    }

    /// Small segments that are corked are sent at `at` at the latest.
    pub(crate) fn arm_cork(&mut self, at: Instant) {
        self.cork = at;
    }

    pub(crate) fn disarm_cork(&mut self) {
        self.cork = Instant::FAR_FUTURE;
    }

    pub(crate) fn is_cork_armed(&self) -> bool {
        self.cork != Instant::FAR_FUTURE
    }

    /// Whether corked segments have waited long enough.
    pub(crate) fn take_cork(&mut self, now: Instant) -> bool {
        let due = self.cork <= now;
        if due {
            self.cork = Instant::FAR_FUTURE;
        }
        due
    }

    /// Whether a window probe is to be sent.
    #[inline]
    pub(crate) fn is_probe_wanted(&self) -> bool {
        self.probe_wanted
    }

    /// The same; the probe is sent now.
    pub(crate) fn take_probe_wanted(&mut self) -> bool {
        std::mem::take(&mut self.probe_wanted)
    }

    /// Whether the DATA_FIN is to be retransmitted.
    pub(crate) fn is_data_fin_wanted(&self) -> bool {
        self.data_fin_wanted
    }

    pub(crate) fn on_data_fin_sent(&mut self) {
        self.data_fin_wanted = false;
    }

    /// When addresses are announced again.
    pub(crate) fn announcements(&self) -> Instant {
        self.announcements
    }

    pub(crate) fn announce_at(&mut self, at: Instant) {
        self.announcements = at;
        self.update_slow_timers();
    }

    /// When a path that failed is tried again.
    pub(crate) fn rejoin(&self) -> Instant {
        self.rejoin
    }

    pub(crate) fn rejoin_at(&mut self, at: Instant) {
        self.rejoin = at;
        self.update_slow_timers();
    }

    /// The peer acknowledged new data: the wait begins anew when there is more to wait for.
    pub(crate) fn data_progress(&mut self, now: Instant) {
        self.progressed = now;
        self.data = Instant::FAR_FUTURE;
        self.data_backoff = 0;
        self.questions = 0;
    }

    /// How long nothing was acknowledged at the data level.
    #[inline]
    pub(crate) fn since_progress(&self, now: Instant) -> Duration {
        now.since(self.progressed)
    }

    /// Whether the peer's window is asked for, or was since it was closed.
    #[inline]
    pub(crate) fn asks_for_window(&self) -> bool {
        self.probe_backoff > 0
    }

    /// The peer's window has opened, by `enough` for a full segment or for all unsent data. A window that opens by less is probed no more
    /// often.
    pub(crate) fn window_opened(&mut self, enough: bool) {
        self.probing_since = None;
        if enough {
            self.probe = Instant::FAR_FUTURE;
            self.probe_backoff = 0;
            self.probe_wanted = false;
        }
    }

    /// How long the peer has been asked for its window.
    pub(crate) fn window_closed_for(&mut self, now: Instant) -> Duration {
        now.since(*self.probing_since.get_or_insert(now))
    }

    /// The peer is there.
    pub(crate) fn answered(&mut self) {
        self.unanswered = 0;
    }

    /// How often the DATA_FIN has gone.
    pub(crate) fn data_fin_tries(&self) -> u32 {
        self.data_fin_tries
    }

    /// How often the peer was asked for its window since it closed.
    pub(crate) fn probes(&self) -> u32 {
        self.probe_backoff.saturating_sub(1)
    }

    /// Whether the peer's window has to be asked for.
    pub(crate) fn take_probe(&mut self, now: Instant) -> bool {
        let due = self.probe <= now;
        if due {
            self.probe_wanted = true;
            self.probe = Instant::FAR_FUTURE;
        }
        due
    }

    /// Asks for the window after `wait`, doubled at each further time, unless that is under way.
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

    /// Questions that were not answered since the peer was heard.
    pub(crate) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// So many further questions were not answered; returns how many since the peer was heard.
    pub(crate) fn note_unanswered(&mut self, more: u32) -> u32 {
        self.unanswered += more;
        self.unanswered
    }

    /// Counts a timeout of the data level since whose predecessor a question is open; returns how many there are in a row.
    pub(crate) fn note_question(&mut self, open: bool) -> u32 {
        self.questions = if open { self.questions + 1 } else { 0 };
        self.questions
    }

    /// Whether nothing was acknowledged at the data level for too long.
    pub(crate) fn take_data(&mut self, now: Instant) -> bool {
        let due = self.data <= now;
        if due {
            self.data = Instant::FAR_FUTURE;
            self.data_backoff = (self.data_backoff + 1).min(16);
        }
        due
    }

    /// Waits for an acknowledgement at the data level, for `wait`, doubled at each further time.
    pub(crate) fn arm_data(&mut self, now: Instant, wait: Duration) {
        let wait = wait * (1 << self.data_backoff);
        self.data = now + wait.min(Duration::from_secs(120));
    }

    /// The same until `at`.
    pub(crate) fn arm_data_at(&mut self, at: Instant) {
        self.data = at;
    }

    pub(crate) fn waits_for_data(&self) -> bool {
        self.data != Instant::FAR_FUTURE
    }

    pub(crate) fn disarm_data(&mut self) {
        self.data = Instant::FAR_FUTURE;
    }

    /// Whether the DATA_FIN has to go again.
    pub(crate) fn process_data_fin(&mut self, now: Instant) -> bool {
        let due = self.data_fin <= now;
        if due {
            self.data_fin = Instant::FAR_FUTURE;
            self.data_fin_wanted = true;
            self.update_slow_timers();
        }
        due
    }

    /// The DATA_FIN goes again after `wait`; up to `una` data was acknowledged when it went now.
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

    /// What was acknowledged at the data level when the DATA_FIN went last.
    pub(crate) fn data_fin_una(&self) -> u64 {
        self.data_fin_una
    }

    /// Whether the connection was without a subflow for too long.
    pub(crate) fn take_orphan(&mut self, now: Instant) -> bool {
        let due = self.orphan <= now;
        if due {
            self.orphan = Instant::FAR_FUTURE;
            self.update_slow_timers();
        }
        due
    }

    pub(crate) fn orphaned(&mut self, at: Instant) {
        self.orphan = self.orphan.min(at);
        self.update_slow_timers();
    }

    pub(crate) fn adopted(&mut self) {
        self.orphan = Instant::FAR_FUTURE;
        self.update_slow_timers();
    }
}
