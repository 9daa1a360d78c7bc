//! Changes of links that a user or a script requests while an emulation runs.
//!
//! An emulation passes real packets over simulated links. Owns the list of changeable quantities. Their
//! values have the syntax of scenario files. A request becomes an event of the simulated network, at the time
//! when the request arrives.

use mptcp_clock::Instant;
use mptcp_lab::scenario::units::{LineRate, Percent, QueueSize, Span};
use mptcp_lab::scenario::{LinkKind, Scenario};
use netsim::{Change, Loss, Rate};

use crate::emulation::Emulation;

/// A change of both directions of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Index of the link in the scenario.
    link: usize,
    change: Change,
}

impl Control {
    /// Parses a change: link name, quantity, and value in the syntax of scenarios.
    ///
    /// # Errors
    /// The problem, with the valid choices.
    pub fn read(scenario: &Scenario, link: &str, key: &str, value: &str) -> Result<Self, String> {
        let names = || scenario.links.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
        let at = scenario.links.iter().position(|one| one.name == link);
        let at = at.ok_or_else(|| format!("there is no link {link:?} (there are: {})", names()))?;
        let of = &scenario.links[at];
        let wired = |what: &str| match of.kind {
            LinkKind::Station => Err(format!(
                "a station has no {what} of its own; the cell and the station's distance determine it"
            )),
            LinkKind::Path | LinkKind::Link => Ok(()),
        };
        let said = |problem: &dyn std::fmt::Display| format!("{key} = {value:?}: {problem}");
        let change = match key {
            "up" => match value {
                "true" => Change::Up(true),
                "false" => Change::Up(false),
                _ => return Err(said(&"expected true or false")),
            },
            "rate" => {
                wired(key)?;
                if of.is_recorded() {
                    return Err(said(&"must not be set where the link has a trace"));
                }
                let LineRate(rate) = value.parse().map_err(|error| said(&error))?;
                Change::Rate(rate.and_then(Rate::new))
            }
            "delay" => {
                wired(key)?;
                let Span(delay) = value.parse().map_err(|error| said(&error))?;
                Change::Delay(delay)
            }
            "loss" => {
                let share = value.parse::<Percent>().map_err(|error| said(&error))?.fraction();
                Change::Loss(if share > 0.0 { Loss::Bernoulli(share) } else { Loss::None })
            }
            "queue" => {
                if of.has_discipline() {
                    return Err(said(&"needs a drop-tail queue; a discipline keeps its limit"));
                }
                Change::Queue(value.parse::<QueueSize>().map_err(|error| said(&error))?.into())
            }
            _ => {
                return Err(format!(
                    "there is no {key:?} to change (there are: up, rate, delay, loss, queue)"
                ));
            }
        };
        Ok(Self { link: at, change })
    }
}

impl Emulation {
    /// Changes a link now.
    pub fn change(&mut self, now: Instant, control: &Control) {
        self.advance(now);
        let Some(id) = self.wiring.links().get(control.link).copied() else { return };
        let now = now.max(self.network.now());
        for direction in [id.forward(), id.backward()] {
            self.network.schedule_change(now, direction, control.change.clone());
        }
        self.advance(now);
    }
}
