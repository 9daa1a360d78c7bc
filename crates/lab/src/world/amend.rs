//! Changes to a running scenario: events that are added while the run advances.
//!
//! A person who watches a run unplugs a link or moves a slider. The program that shows the run writes the change into
//! the scenario as an event at a later time, and passes the new scenario here. So the scenario always contains the
//! whole history of the run, and a run of it from the start gives the same results.

use mptcp_clock::{Duration, Instant};

use super::build::notices_of;
use super::{ScheduledAction, World};
use crate::scenario::Scenario;

impl World {
    /// Continues the run with `scenario`, which must have more events after [`Self::now`] than the current scenario and
    /// no other difference. Returns false, and changes nothing, if the two differ otherwise: a run from the start is
    /// then necessary. An event that sets `path_mtu` is such a difference, because it changes how frames are handled
    /// from the start.
    #[must_use]
    pub fn amend(&mut self, scenario: &Scenario) -> bool {
        let new = scenario.drawn(self.seed);
        if without_events(&new) != without_events(&self.scenario) {
            return false;
        }
        let now = self.network.now();
        let Some(events) = added(&self.scenario.events, &new.events) else { return false };
        let Some(switches) = added(&self.scenario.switches, &new.switches) else { return false };
        let Some(policies) = added(&self.scenario.policy_changes, &new.policy_changes) else { return false };
        let later = |time: Duration| Instant::ZERO + time > now;
        let possible = |at: &usize| later(new.events[*at].at) && new.events[*at].set.path_mtu.is_none();
        if !events.iter().all(possible)
            || !switches.iter().all(|at| later(new.switches[*at].at))
            || !policies.iter().all(|at| later(new.policy_changes[*at].at))
        {
            return false;
        }
        for event in events.iter().map(|at| &new.events[*at]) {
            self.wiring.schedule_event(&mut self.network, &new, event);
            let due = Instant::ZERO + event.at;
            let notices: Vec<ScheduledAction> = notices_of(&self.hosts, event).collect();
            notices.into_iter().for_each(|notice| self.schedule(due, notice));
            if self.attribution.is_some() {
                self.schedule(due, ScheduledAction::Settle);
            }
        }
        // Their numbers are positions in the scenario, which new ones shift.
        self.scheduled
            .retain(|(_, action)| !matches!(action, ScheduledAction::Switch(_) | ScheduledAction::Policy(_)));
        self.scenario = new;
        let switches = self.scenario.switches.iter().map(|one| one.at).enumerate();
        let switches = switches.map(|(number, at)| (at, ScheduledAction::Switch(number)));
        let policies = self.scenario.policy_changes.iter().map(|one| one.at).enumerate();
        let policies = policies.map(|(number, at)| (at, ScheduledAction::Policy(number)));
        let all = switches.chain(policies).map(|(at, action)| (Instant::ZERO + at, action));
        self.scheduled.extend(all.filter(|(at, _)| *at > now));
        let first = self.scheduled.first().map(|(at, _)| *at);
        self.network.set_timer(self.scheduled_timer, first);
        let routes = self.routes();
        if let Some(attribution) = &mut self.attribution {
            attribution.replace_routes(routes);
        }
        true
    }
}

fn without_events(scenario: &Scenario) -> Scenario {
    Scenario { events: Vec::new(), switches: Vec::new(), policy_changes: Vec::new(), ..scenario.clone() }
}

/// Positions in `new` of the items that `old` lacks. `None` if `new` lacks an item of `old`, or has them in another
/// order.
fn added<T: PartialEq>(old: &[T], new: &[T]) -> Option<Vec<usize>> {
    let mut known = old.iter().peekable();
    let is_new = |(_, item): &(usize, &T)| known.next_if(|next| *next == *item).is_none();
    let found = new.iter().enumerate().filter(is_new).map(|(at, _)| at).collect();
    known.next().is_none().then_some(found)
}
