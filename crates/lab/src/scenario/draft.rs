//! A scenario before validation. The command line and Python load a draft, override values in it, and turn it
//! into a [`Scenario`].
//!
//! Owns the overrides and the keys of `defaults`. `files` reads files, `check` and `resolve` validate.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize as _;

use super::deprecated::Deprecation;
use super::error::{Place, ScenarioError, listed, said, shown, suggestion};
use super::fabrics::Made;
use super::file::ScenarioFile;
use super::model::{Link, Scenario};
use super::recording::Recordings;
use super::tree::{Content, Node};
use super::{check, deprecated, fabrics, files, keys, nearest_key, resolve};
use crate::registry::Registry;

/// Maximum number of parts of a key, with a margin above `paths.wifi.forward.gilbert_elliott.p`.
const DEEPEST: usize = 16;
/// The place of overrides in messages.
const OVERRIDE: &str = "--set";
/// Keys of a flow that take a policy.
const POLICIES: [&str; 3] = ["congestion", "scheduler", "path_manager"];
/// Maximum number of values that `defaults` adds to all flows together.
const MAX_FILLED: usize = 10_000_000;

/// The values of a scenario as written, each with its file and line. Clone a draft to vary it.
#[derive(Clone, Debug)]
pub struct Draft {
    tree: Node,
    /// The default name of the scenario.
    name: String,
    /// The names of middleboxes, policies and so on that the scenario may use.
    registry: Arc<Registry>,
    deprecations: Vec<Deprecation>,
    /// Contents of recordings whose files are not read.
    recordings: Arc<Recordings>,
}

impl Draft {
    /// Reads a scenario file and its includes.
    ///
    /// # Errors
    /// A file that is missing, not regular, above 1 MiB, not UTF-8 or not TOML. Includes that form a cycle,
    /// or too many of them.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        Self::load_with(path, &Registry::built_in())
    }

    /// As [`Self::load`], with the names of `registry`.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_with(path: impl AsRef<Path>, registry: &Arc<Registry>) -> Result<Self, ScenarioError> {
        let path = path.as_ref();
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let (tree, deprecations) = files::load(path)?;
        Ok(Self { tree, name, registry: registry.clone(), deprecations, recordings: Arc::default() })
    }

    /// Parses a scenario from text. `name` replaces the file name in messages. Includes are relative to the
    /// working directory.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(text: &str, name: &str) -> Result<Self, ScenarioError> {
        Self::parse_with(text, name, &Registry::built_in())
    }

    /// As [`Self::parse`], with the names of `registry`.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse_with(text: &str, name: &str, registry: &Arc<Registry>) -> Result<Self, ScenarioError> {
        let (tree, deprecations) = files::parse(text, name)?;
        let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
        let (name, registry) = (stem.into_owned(), registry.clone());
        Ok(Self { name, tree, registry, deprecations, recordings: Arc::default() })
    }

    /// Parses text that a program generated: messages contain no line numbers.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn built_with(text: &str, name: &str, registry: &Arc<Registry>) -> Result<Self, ScenarioError> {
        let mut draft = Self::parse_with(text, name, registry).map_err(ScenarioError::without_line)?;
        draft.tree.forget_lines(&name.into());
        draft.deprecations.iter_mut().for_each(|found| found.place.line = None);
        Ok(Self { name: name.to_owned(), ..draft })
    }

    /// Replaces the files of recordings by these contents, as [`Scenario::recordings`] returns them.
    #[must_use]
    pub fn with_recordings(self, recordings: Recordings) -> Self {
        Self { recordings: Arc::new(recordings), ..self }
    }

    /// Overrides a value: `set("paths.wifi.loss", "1%")`. The value is a string, a boolean, an integer, or an
    /// array or table in TOML syntax. Array elements are addressed by index, as in `events.0.at`. A `*`
    /// selects all entries, and braces select several: `flows.*.{rcvbuf,sndbuf}`.
    ///
    /// # Errors
    /// An array element, path, link or flow that neither the file nor its topology has; a `*` without a
    /// match. [`Self::finish`] validates keys and values.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ScenarioError> {
        self.set_by(OVERRIDE, key, value)
    }

    /// As [`Self::set`]; messages name `origin` instead of `--set`.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn set_by(&mut self, origin: &str, key: &str, value: &str) -> Result<(), ScenarioError> {
        let file: Arc<str> = origin.into();
        let refused = |problem: &str| Err(refused(&file, key, value, problem));
        // Checked first, because the time of later steps is quadratic in the number of parts.
        let parts = key.split('.').count();
        if parts > DEEPEST {
            let problem = format!("has {parts} parts, but keys have at most {DEEPEST}");
            return refused(&problem);
        }
        let translated = deprecated::translate_key(key);
        if let Some((_, new)) = &translated {
            let place = Place { file: file.clone(), line: None };
            self.deprecations.push(Deprecation { place, written: shown(key), new });
        }
        let key = translated.as_ref().map_or(key, |(key, _)| key.as_str());
        if let Some(meant) = nearest_key::nearest(&self.tree, self.registry.json_schema(), key) {
            return refused(&format!("there is no such key; did you mean {meant:?}?"));
        }
        let paths = match keys::named(&self.tree, key) {
            Ok(paths) => paths,
            Err(problem) => return refused(&problem),
        };
        // The topology is generated at most once, and only if a name is not in the file.
        let made = OnceCell::new();
        for path in paths {
            self.set_one(&file, &path.iter().map(String::as_str).collect::<Vec<_>>(), value, &made)?;
        }
        // The value may be an old name, or a table with old keys.
        self.deprecations.extend(deprecated::translate(&mut self.tree));
        Ok(())
    }

    /// The deprecated names in the files and overrides so far, in order.
    #[must_use]
    pub fn deprecations(&self) -> &[Deprecation] {
        &self.deprecations
    }

    fn set_one(
        &mut self,
        file: &Arc<str>,
        path: &[&str],
        value: &str,
        made: &OnceCell<Made>,
    ) -> Result<(), ScenarioError> {
        let refuse = |problem: String| Err(refused(file, &path.join("."), value, &problem));
        if path[0] == "include" {
            return refuse("cannot be overridden; set include in the file".to_owned());
        }
        if let [kind @ ("paths" | "links" | "flows"), name, ..] = *path {
            let known = self.tree.get(&[kind]).and_then(Node::table);
            let names = || known.iter().flat_map(|table| table.keys().map(String::as_str));
            let made = || made.get_or_init(|| fabrics::made(&self.tree));
            let written = names().any(|known| known == name);
            if let ("flows", false, Some(line)) = (kind, written, made().line_of(name)) {
                return refuse(format!(
                    "a permutation makes this flow, and its flows differ only in their hosts (try flows.{line})"
                ));
            }
            if !written && (kind != "links" || !made().links.contains(name)) {
                let near = suggestion(name, names());
                return refuse(format!("{kind} has no {name:?}{near} (there are: {})", listed(names())));
            }
        }
        let content = Node::parse(&format!("value = {value}"), file)
            .ok()
            .and_then(|node| node.get(&["value"]).map(|node| node.content.clone()))
            .filter(|content| match content {
                // Quantities have units; only parameters of policies are numbers with decimals.
                Content::Scalar(toml::Value::Float(_)) => {
                    matches!(*path, [.., key, _] if POLICIES.contains(&key))
                }
                Content::Scalar(toml::Value::Datetime(_)) => false,
                _ => true,
            })
            .unwrap_or_else(|| Content::Scalar(toml::Value::String(value.to_owned())));
        let Some(entry) = self.tree.entry(path) else {
            let array = self.tree.outside(path);
            return refuse(array.unwrap_or_else(|| "the scenario has no such key".to_owned()));
        };
        *entry = Node { place: Place { file: file.clone(), line: None }, content };
        Ok(())
    }

    /// Validates and resolves the scenario.
    ///
    /// # Errors
    /// The first error.
    pub fn finish(&self) -> Result<Scenario, ScenarioError> {
        check::check(&self.tree, self.registry.json_schema())?;
        let mut tree = self.tree.clone();
        fill_flows(&mut tree)?;
        let expanded = fabrics::expand(&mut tree)?;
        let file = ScenarioFile::deserialize(tree.value()).map_err(|error| ScenarioError::File {
            place: tree.place.clone(),
            problem: error.message().to_owned(),
        })?;
        resolve::resolve(&file, &tree, &self.name, &self.registry, &self.recordings)
            .map_err(|error| expanded.blame(error))
    }
}

impl Scenario {
    /// Reads, merges and validates a scenario file.
    ///
    /// # Errors
    /// The first error.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        Draft::load(path)?.finish()
    }

    /// As [`Self::load`], for text. `name` replaces the file name in messages.
    ///
    /// # Errors
    /// The first error.
    pub fn parse(text: &str, name: &str) -> Result<Self, ScenarioError> {
        Draft::parse(text, name)?.finish()
    }

    /// The contents of all recordings. With them, the text of [`Self::to_toml`] needs no other file.
    #[must_use]
    pub fn recordings(&self) -> Recordings {
        let sides = |link: &Link| {
            let name = link.name.clone();
            [("forward", link.forward.clone()), ("backward", link.backward.clone())]
                .map(|(side, line)| Some(((name.clone(), side.to_owned()), line.recording?.what)))
        };
        self.links.iter().flat_map(sides).flatten().collect()
    }
}

fn refused(file: &Arc<str>, key: &str, value: &str, problem: &str) -> ScenarioError {
    let place = Place { file: file.clone(), line: None };
    let (key, value) = (shown(key), shown(&format!("{value:?}")));
    ScenarioError::Value { place, key, value, problem: said(problem) }
}

/// Adds the keys of `defaults` that a flow lacks. Traffic keys are added only if the flow sets no traffic.
fn fill_flows(tree: &mut Node) -> Result<(), ScenarioError> {
    const TRAFFIC: [&str; 5] = ["bulk", "bytes", "blocks", "rate", "application"];
    let Some(defaults) = tree.get(&["defaults"]).cloned() else { return Ok(()) };
    let count = tree.get(&["flows"]).and_then(Node::table).map_or(0, IndexMap::len);
    if count == 0 {
        return Ok(());
    }
    if count.saturating_mul(defaults.size()) > MAX_FILLED {
        let problem =
            format!("{} values for each of {count} flows exceed the limit of {MAX_FILLED}", defaults.size());
        return Err(tree.error(&["defaults"], problem));
    }
    let Some(Content::Table(flows)) = tree.entry(&["flows"]).map(|flows| &mut flows.content) else {
        return Ok(());
    };
    for flow in flows.values_mut() {
        let mut filled = defaults.clone();
        if let Content::Table(table) = &mut filled.content
            && TRAFFIC.iter().any(|key| flow.get(&[key]).is_some())
        {
            table.retain(|key, _| !TRAFFIC.contains(&key.as_str()));
        }
        // Parameters in `defaults` must not reach a policy that the flow itself names.
        if let Content::Table(table) = &mut filled.content {
            table.retain(|key, _| !POLICIES.contains(&key.as_str()) || flow.get(&[key, "kind"]).is_none());
        }
        filled.overlay(std::mem::replace(flow, Node::empty(&defaults.place.file)));
        *flow = filled;
    }
    Ok(())
}
