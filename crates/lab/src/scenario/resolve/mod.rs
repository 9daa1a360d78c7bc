//! Resolution of a scenario: fills in defaults, looks up names, refuses inconsistent values.
//!
//! Other modules then find every value set and valid. Converts the tables that the schema allows (`file`)
//! into a [`Scenario`] (`model`). Never reads a scenario file.

mod cells;
mod context;
mod events;
mod flows;
mod instant;
mod limits;
mod links;
mod middleboxes;
mod policies;
mod policy_changes;
mod published;
mod routes;
mod stack;
mod traffic;

use mptcp_clock::Duration;

use context::Context;
pub(super) use context::ENDS;
pub(super) use limits::above;
pub(super) use stack::{ANNOUNCE, PROBE};

use super::error::ScenarioError;
use super::file::ScenarioFile;
use super::model::{Flow, HostJitter, Scenario};
use super::names::{Interference, Routing};
use super::recording::Recordings;
use super::tree::Node;
use super::units::Span;
use crate::registry::Registry;

/// Resolves `file`. `tree` has the line of each value, and `registry` the allowed names of middleboxes,
/// policies and so on. `name` is the default name of the scenario. `recordings` replace the files of links.
pub(super) fn resolve(
    file: &ScenarioFile,
    tree: &Node,
    name: &str,
    registry: &Registry,
    recordings: &Recordings,
) -> Result<Scenario, ScenarioError> {
    let context = Context { tree, registry, recordings };
    let Some(Span(duration)) = file.duration else {
        return Err(context.error(&["duration"], "a scenario needs a duration (try duration = \"60s\")"));
    };
    if duration.is_zero() {
        return Err(context.error(&["duration"], "must be longer than 0s"));
    }
    let warmup = file.warmup.map_or(Duration::ZERO, |span| span.0);
    if warmup >= duration {
        let problem = format!("must be less than the duration, {}", Span(duration));
        return Err(context.error(&["warmup"], problem));
    }
    let sample = file.sample.map_or(Duration::from_millis(100), |span| span.0);
    if sample.is_zero() {
        return Err(context.error(&["sample"], "must be longer than 0s"));
    }
    let jitter = jitter(&context, file)?;
    let limits = limits::resolve(&context, file)?;
    limits::count(&context, file, &limits)?;
    let mut links = links::resolve(&context, file)?;
    let cells = cells::resolve(&context, file)?;
    links.extend(cells::stations(&context, file, &cells, &links)?);
    if links.is_empty() {
        let problem = "a scenario needs a path (try [paths.wifi] with rate = \"8Mbit\" and delay = \"10ms\")";
        return Err(context.error(&["paths"], problem));
    }
    let background = cells::background(&context, file, &cells)?;
    let coupling = cells::couplings(&context, file, &cells)?;
    let interference = file.interference.unwrap_or(Interference::Ideal);
    let relays = file.relays.clone().unwrap_or_default();
    let flows = flows::resolve(&context, file, &links, &relays, duration, &limits)?;
    let until_done = file.until_done.unwrap_or(false);
    if until_done && !flows.iter().any(Flow::has_a_file) {
        let problem = "needs a flow that sends a file (try bytes = \"10MB\" in a flow)";
        return Err(context.error(&["until_done"], problem));
    }
    let relays = routes::relays(&context, relays, &flows)?;
    let routes = routes::resolve(&context, file, &links, &flows, &relays)?;
    links::disciplines(&context, &mut links, &flows)?;
    instant::check(&context, &links, &flows)?;
    let events = events::resolve(&context, file, &links, &flows, duration)?;
    let filters = events::filters(&context, file, &links, &flows)?;
    let middleboxes = middleboxes::resolve(&context, file, &links)?;
    let switches = middleboxes::switches(&context, file, &middleboxes, duration)?;
    let policy_changes = policy_changes::resolve(&context, file, &flows, duration)?;
    let name = file.name.clone().unwrap_or_else(|| name.to_owned());
    let description = file.description.clone().unwrap_or_default();
    let scenario = Scenario {
        name,
        description,
        duration,
        warmup,
        sample,
        until_done,
        links,
        routing: file.routing.unwrap_or(Routing::First),
        routes,
        relays,
        cells,
        background,
        interference,
        coupling,
        flows,
        events,
        filters,
        middleboxes,
        switches,
        policy_changes,
        jitter,
        limits,
    };
    limits::check(&context, &scenario)?;
    Ok(scenario)
}

fn jitter(context: &Context<'_>, file: &ScenarioFile) -> Result<HostJitter, ScenarioError> {
    let usual = HostJitter::default();
    let Some(table) = &file.jitter else { return Ok(usual) };
    let most = Duration::from_secs(1);
    let own = |key, value: Option<Span>, default| match value {
        Some(Span(value)) if value > most => {
            Err(context.error(&["jitter", key], format!("must be at most {}", Span(most))))
        }
        value => Ok(value.map_or(default, |Span(value)| value)),
    };
    Ok(HostJitter {
        start: own("start", table.start, usual.start)?,
        processing: own("processing", table.processing, usual.processing)?,
    })
}
