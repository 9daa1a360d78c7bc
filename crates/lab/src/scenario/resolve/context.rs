//! The common context of resolution: the tree of the scenario and the registry.
//!
//! The tree has the place of each value in the file, which errors name. The registry has the kinds: named
//! types of elements such as middleboxes. Owns errors with places, and the validation of names. Makes no
//! decisions about tables.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::registry::Registry;
use crate::scenario::error::{ScenarioError, listed, must_be_between, suggestion};
use crate::scenario::is_called;
use crate::scenario::kinds::{Chosen, Kinds};
use crate::scenario::model::{Flow, Link, LinkKind};
use crate::scenario::recording::Recordings;
use crate::scenario::tree::Node;

/// The hosts at the ends of every path.
pub(in crate::scenario) const ENDS: [&str; 2] = ["client", "server"];

/// The tree, the registry, and the recordings whose files are not read.
pub(super) struct Context<'a> {
    pub(super) tree: &'a Node,
    pub(super) registry: &'a Registry,
    pub(super) recordings: &'a Recordings,
}

impl Context<'_> {
    pub(super) fn error(&self, path: &[&str], problem: impl Into<String>) -> ScenarioError {
        self.tree.error(path, problem)
    }

    /// The error for `word`, which is not one of `choices`.
    pub(super) fn unknown<'a>(
        &self,
        path: &[&str],
        what: &str,
        word: &str,
        choices: impl Iterator<Item = &'a str> + Clone,
    ) -> ScenarioError {
        let near = suggestion(word, choices.clone());
        self.error(path, format!("there is no {what} {word:?}{near} (there are: {})", listed(choices)))
    }

    /// The error for two mutually exclusive keys of the table at `path`. If one key is an override, the
    /// message names the place of the other key, because an override cannot remove a key.
    pub(super) fn both(&self, path: &[&str], keys: [&str; 2], more: &str) -> ScenarioError {
        let at = |key| [path, &[key]].concat();
        let place = |key| self.tree.get(&at(key)).map(|node| &node.place);
        let is_over = |key| place(key).is_some_and(|place| place.is_over(&self.tree.place));
        let [first, second] = keys;
        let (own, other) = if is_over(second) && !is_over(first) { (second, first) } else { (first, second) };
        let problem = match place(other) {
            Some(place) if is_over(own) && !is_over(other) => {
                let over = at(other).join(".");
                format!(
                    "{other} is also given, at {place}, and an override cannot remove it; set {over} instead{more}"
                )
            }
            _ if more.is_empty() => format!("{other} is also given; give only one of them"),
            _ => format!("{other} is also given; give only one of them ({})", more.trim_start_matches("; ")),
        };
        self.error(&at(own), problem)
    }

    /// Whether an override set the value at `path`.
    pub(super) fn is_override(&self, path: &[&str]) -> bool {
        self.tree.get(path).is_some_and(|node| node.place.is_over(&self.tree.place))
    }

    /// Whether a value is at `path`.
    pub(super) fn has(&self, path: &[&str]) -> bool {
        self.tree.get(path).is_some()
    }

    /// Whether a table is at `path`.
    pub(super) fn is_table(&self, path: &[&str]) -> bool {
        self.tree.get(path).is_some_and(|node| node.table().is_some())
    }

    /// The file that the value at `path` names, relative to the file of that value.
    pub(super) fn relative_file(&self, path: &[&str], file: &str) -> PathBuf {
        let place = self.tree.get(path).map(|node| Path::new(&*node.place.file));
        place.and_then(Path::parent).unwrap_or(Path::new("")).join(file)
    }

    /// An integer within bounds, or the default.
    pub(super) fn number(
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
        let bounds = u64::from(*bounds.start())..=u64::from(*bounds.end());
        Err(self.error(path, must_be_between(u64::from(value), &bounds, "")))
    }

    /// The kind that the table at `path` names, with its parameters.
    pub(super) fn kind<M>(&self, path: &[&str], kinds: &Kinds<M>) -> Result<Chosen<M>, ScenarioError> {
        let name = self.tree.get(&[path, &["kind"]].concat()).map(Node::value);
        let Some(name) = name.as_ref().and_then(toml::Value::as_str) else {
            let first = kinds.all().next().map_or("", |kind| &kind.name);
            return Err(self.error(path, format!("needs a kind (try kind = {first:?})")));
        };
        let names = kinds.all().map(|kind| kind.name.as_str()).collect::<Vec<_>>();
        let Some(kind) = kinds.get(name) else {
            return Err(self.unknown(&[path, &["kind"]].concat(), "kind", name, names.into_iter()));
        };
        kind.choose(self.tree, path, &["kind"])
    }

    /// Checks a name. It must be usable in overrides such as `paths.NAME.rate`, columns and file names.
    pub(super) fn name(&self, path: &[&str], name: &str) -> Result<(), ScenarioError> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        if !name.is_empty() && name.chars().all(fits) && name.contains(|c: char| !c.is_ascii_digit()) {
            return Ok(());
        }
        let problem =
            format!("the name {name:?} must be made of letters, digits, - and _, with at least one letter");
        Err(self.error(path, problem))
    }

    /// The link that the table at `at` names by `path`, `link` or `station`.
    pub(super) fn link<'a>(
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
                let problem = links.first().map_or("needs a path or link".to_owned(), |link| {
                    let key = link.kind.key();
                    format!("needs a {key} (try {key} = {:?})", link.name)
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

/// The flows that `word` names: one, or all copies made by `count`.
pub(super) fn flow_names<'a>(flows: &'a [Flow], word: &'a str) -> impl Iterator<Item = &'a Flow> {
    flows.iter().filter(move |flow| is_called(&flow.name, word))
}
