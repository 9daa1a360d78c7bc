//! Ends a case, a random attack on a host, and checks that no connection and no memory is left.
//!
//! The application closes everything, waits for 90 minutes, aborts the rest, and waits for two days. The
//! check finds leaks, and timers that never end.

use mptcp_clock::Duration;

use super::{Arena, Manners, Report};
use crate::meter;

const MINUTES: Duration = Duration::from_secs(600);
const DAY: Duration = Duration::from_secs(86_400);

impl Arena<'_> {
    /// Ends the case and checks the remaining state.
    pub(super) fn finish(mut self) -> Report {
        self.tell(|| "the end".to_owned());
        self.close_all();
        for _ in 0..8 {
            self.pass(MINUTES);
            self.read_all();
        }
        if let Some(friend) = &self.friend {
            friend.assert_unharmed();
        }
        self.friend = None;
        // From here on, the peer does not answer.
        self.manners = Manners { shakes: false, acknowledges: false };
        self.abort_all();
        let wakeups = self.pass(DAY);
        assert!(
            wakeups < 10_000 || !self.budget.wakeups,
            "{wakeups} wakeups in a day after everything was aborted"
        );
        self.abort_all();
        self.pass(DAY);
        self.check_nothing_left();
        self.report
    }

    fn close_all(&mut self) {
        if let Some(mut friend) = self.friend.take() {
            friend.work(self.now, &mut self.victim);
            self.friend = Some(friend);
            self.settle();
        }
        let now = self.now;
        self.application.connections.iter_mut().for_each(|one| one.reads = true);
        self.application.reads = true;
        for at in 0..self.application.connections.len() {
            let id = self.application.connections[at].id;
            self.victim.close(now, id);
        }
        self.settle();
        // Long streams must end before their connections close.
        self.pass(MINUTES);
        if let Some(friend) = &mut self.friend {
            friend.close(self.now, &mut self.victim);
        }
        self.settle();
        self.read_all();
    }

    fn read_all(&mut self) {
        for at in 0..self.application.connections.len() {
            let id = self.application.connections[at].id;
            while self.victim.read(self.now, id).is_some() {}
        }
        self.settle();
    }

    /// Aborts all connections, also those of which the application has had no event. A driver does the same
    /// when its sockets are dropped.
    fn abort_all(&mut self) {
        let all: Vec<_> = self.victim.connections().collect();
        for id in all {
            while self.victim.read(self.now, id).is_some() {}
            self.victim.abort(self.now, id);
        }
        self.settle();
    }

    fn check_nothing_left(&mut self) {
        let left: Vec<String> = self
            .victim
            .connections()
            .filter_map(|id| self.victim.info(self.now, id))
            .map(|info| {
                format!(
                    "{:?}, {:?}, {:?}",
                    info.mode,
                    info.closed,
                    info.subflows.iter().map(|s| s.state).collect::<Vec<_>>()
                )
            })
            .collect();
        if !left.is_empty() {
            assert!(
                !self.budget.immortal,
                "{} connections outlive their abort by a day: {}",
                left.len(),
                left[0]
            );
            return;
        }
        self.peer.clear();
        self.application = super::Application::default();
        (self.queued, self.owed, self.bytes) = Default::default();
        self.addresses = Vec::new();
        self.report.left = meter::live() - self.base;
        let (endpoint, connection) = self.budget.left;
        let limit = endpoint + connection * self.most as i64;
        assert!(
            !self.budget.leak || self.report.left <= limit,
            "leak: {} bytes left after {} simultaneous connections, {limit} allowed",
            self.report.left,
            self.most
        );
    }
}
