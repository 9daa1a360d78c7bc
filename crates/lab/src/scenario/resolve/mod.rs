//! What a scenario means: defaults filled in, names looked up, nonsense refused.
//!
//! Takes what the schema allows and gives a [`Scenario`]. Never reads a file.

mod cells;
mod events;
mod flows;
mod instant;
mod limits;
mod links;
mod middleboxes;

use std::ops::RangeInclusive;

use mptcp_clock::Duration;
use netsim::QueueLimit;

use super::error::{ScenarioError, listed, suggestion};
use super::file::ScenarioFile;
use super::kinds::{Chosen, Kinds};
use super::model::{Flow, Link, LinkKind, Scenario};
use super::names::Interference;
use super::tree::Node;
use super::units::{QueueSize, Span};
use crate::registry::Registry;

/// The hosts at the ends of every path.
const ENDS: [&str; 2] = ["client", "server"];

/// Says what `file` means; `tree` is where it was written, `name` what it is called by default, `registry` what it may
/// name.
pub(super) fn resolve(
    file: &ScenarioFile,
    tree: &Node,
    name: &str,
    registry: &Registry,
) -> Result<Scenario, ScenarioError> {
    let context = Context { tree, registry };
    let Some(Span(duration)) = file.duration else {
        return Err(context.error(&["duration"], "a scenario needs a duration (try duration = \"60s\")"));
    };
    if duration.is_zero() {
        return Err(context.error(&["duration"], "a duration is longer than 0s"));
    }
    let warmup = file.warmup.map_or(Duration::ZERO, |span| span.0);
    if warmup >= duration {
        let problem = format!("the warm-up ends before the run does: less than {}", Span(duration));
        return Err(context.error(&["warmup"], problem));
    }
    let sample = file.sample.map_or(Duration::from_millis(100), |span| span.0);
    if sample.is_zero() {
        return Err(context.error(&["sample"], "the time between samples is longer than 0s"));
    }
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
    let flows = flows::resolve(&context, file, &links, duration, &limits)?;
    instant::check(&context, &links, &flows)?;
    let events = events::resolve(&context, file, &links, duration)?;
    let filters = events::filters(&context, file, &links, &flows)?;
    let middleboxes = middleboxes::resolve(&context, file, &links)?;
    let switches = middleboxes::switches(&context, file, &middleboxes, duration)?;
    let name = file.name.clone().unwrap_or_else(|| name.to_owned());
    let description = file.description.clone().unwrap_or_default();
    let scenario = Scenario {
        name,
        description,
        duration,
        warmup,
        sample,
        links,
        cells,
        background,
        interference,
        coupling,
        flows,
        events,
        filters,
        middleboxes,
        switches,
        limits,
    };
    limits::check(&context, &scenario)?;
    Ok(scenario)
}

struct Context<'a> {
    tree: &'a Node,
    registry: &'a Registry,
}

impl Context<'_> {
    fn error(&self, path: &[&str], problem: impl Into<String>) -> ScenarioError {
        self.tree.error(path, problem)
    }

    /// An error about `word`, which should be one of `choices`.
    fn unknown<'a>(
        &self,
        path: &[&str],
        what: &str,
        word: &str,
        choices: impl Iterator<Item = &'a str> + Clone,
    ) -> ScenarioError {
        let near = suggestion(word, choices.clone());
        self.error(path, format!("there is no {what} {word:?}{near} (there are: {})", listed(choices)))
    }

    /// A whole number within bounds, or the default if it was not given.
    fn number(
        &self,
        path: &[&str],
        value: Option<u32>,
        bounds: RangeInclusive<u32>,
        default: u32,
    ) -> Result<u32, ScenarioError> {
        let value = value.unwrap_or(default);
        if bounds.contains(&value) {
            return Ok(value);
        }
        let nearest = value.clamp(*bounds.start(), *bounds.end());
        let problem = format!("lies between {} and {} (nearest: {nearest})", bounds.start(), bounds.end());
        Err(self.error(path, problem))
    }

    /// The kind that the table at `path` names.
    fn kind<M>(&self, path: &[&str], kinds: &Kinds<M>) -> Result<Chosen<M>, ScenarioError> {
        let name = self.tree.get(&[path, &["kind"]].concat()).map(Node::value);
        let Some(name) = name.as_ref().and_then(toml::Value::as_str) else {
            let first = kinds.all().next().map_or("", |kind| &kind.name);
            return Err(self.error(path, format!("says no kind (try kind = {first:?})")));
        };
        let names = kinds.all().map(|kind| kind.name.as_str()).collect::<Vec<_>>();
        let Some(kind) = kinds.get(name) else {
            return Err(self.unknown(&[path, &["kind"]].concat(), "kind", name, names.into_iter()));
        };
        kind.choose(self.tree, path, &["kind"])
    }

    /// Names must survive `paths.NAME.rate` in an override, a column of a table and a file name.
    fn name(&self, path: &[&str], name: &str) -> Result<(), ScenarioError> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        if !name.is_empty() && name.chars().all(fits) && name.contains(|c: char| !c.is_ascii_digit()) {
            return Ok(());
        }
        let problem =
            format!("the name {name:?} is not made of letters, digits, - and _, with one letter or more");
        Err(self.error(path, problem))
    }

    /// The link that `path`, `link` or `station` names; `at` is where these keys stand.
    fn link<'a>(
        &self,
        at: &[&str],
        names: [Option<&str>; 3],
        links: &'a [Link],
    ) -> Result<&'a Link, ScenarioError> {
        let given = LinkKind::ALL.iter().zip(names).filter_map(|(&kind, name)| Some((kind, name?)));
        let (kind, name) = match given.collect::<Vec<_>>()[..] {
            [only] => only,
            [_, (kind, _), ..] => {
                let path = [at, &[kind.key()]].concat();
                return Err(self.error(&path, "give one of path, link and station"));
            }
            [] => {
                let problem = links.first().map_or("says no path or link".to_owned(), |link| {
                    let key = link.kind.key();
                    format!("says no {key} (try {key} = {:?})", link.name)
                });
                return Err(self.error(at, problem));
            }
        };
        let key = kind.key();
        let names = links.iter().filter(|link| link.kind == kind).map(|link| link.name.as_str());
        let found = links.iter().find(|link| link.kind == kind && link.name == name);
        found.ok_or_else(|| self.unknown(&[at, &[key]].concat(), key, name, names))
    }
}

/// Which flow names there are, and of which flows `count` made several.
fn flow_names<'a>(flows: &'a [Flow], word: &'a str) -> impl Iterator<Item = &'a Flow> {
    flows.iter().filter(move |flow| {
        let copy = flow.name.strip_prefix(word).and_then(|rest| rest.strip_prefix('-'));
        flow.name == word || copy.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn queue_limit(queue: QueueSize) -> QueueLimit {
    match queue {
        QueueSize::Packets(packets) => QueueLimit::Packets(packets),
        QueueSize::Bytes(bytes) => QueueLimit::Bytes(bytes),
        QueueSize::Time(time) => QueueLimit::Time(time),
        QueueSize::Unlimited => QueueLimit::Unlimited,
    }
}
