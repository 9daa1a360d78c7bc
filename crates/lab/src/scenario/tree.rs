//! The syntax tree of a scenario: tables, arrays and scalars, each with its place (file and line). Plain TOML
//! values have no place, but error messages need it.
//!
//! Parses TOML, merges trees, and creates errors with places. Knows no key by name.

use std::sync::Arc;

use indexmap::IndexMap;
use toml::de::{DeTable, DeValue};

use super::error::{Place, ScenarioError, said, shown};

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Table(IndexMap<String, Node>),
    Array(Vec<Node>),
    Scalar(toml::Value),
}

impl Node {
    /// An empty table in `file`, without a line number.
    pub(super) fn empty(file: &Arc<str>) -> Self {
        Self { place: Place { file: file.clone(), line: None }, content: Content::Table(IndexMap::new()) }
    }

    /// The tree of a TOML text.
    pub(super) fn parse(text: &str, file: &Arc<str>) -> Result<Self, ScenarioError> {
        // Every node needs its line number, so the line ends are searched only once.
        let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
        let line_of = |offset: usize| 1 + ends.partition_point(|&end| end < offset);
        let place = |offset| Place { file: file.clone(), line: Some(line_of(offset)) };
        match DeTable::parse(text) {
            Ok(table) => {
                let mut node = table_node(table.get_ref(), &place, 0);
                node.place.line = None;
                Ok(node)
            }
            Err(error) => Err(ScenarioError::Syntax {
                place: place(error.span().map_or(0, |span| span.start)),
                problem: format!("{} (in: {})", shown(error.message()), shown(line_at(text, error.span()))),
            }),
        }
    }

    pub(super) fn table(&self) -> Option<&IndexMap<String, Node>> {
        if let Content::Table(table) = &self.content { Some(table) } else { None }
    }

    /// The value at a path of keys and array positions.
    pub(super) fn get(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| match &node.content {
            Content::Table(table) => table.get(*key),
            Content::Array(items) => items.get(key.parse::<usize>().ok()?),
            Content::Scalar(_) => None,
        })
    }

    /// As `get`, mutable, and creates missing tables. `None` for a scalar or a missing element on the path.
    pub(super) fn entry(&mut self, path: &[&str]) -> Option<&mut Node> {
        let place = self.place.clone();
        path.iter().try_fold(self, |node, key| match &mut node.content {
            Content::Table(table) => {
                Some(table.entry((*key).to_owned()).or_insert_with(|| Node {
                    place: place.clone(),
                    content: Content::Table(IndexMap::new()),
                }))
            }
            Content::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
            Content::Scalar(_) => None,
        })
    }

    /// The problem of a path with an array index out of range; `None` for other paths.
    pub(super) fn outside(&self, path: &[&str]) -> Option<String> {
        let (at, count) = (1..path.len()).find_map(|at| match &self.get(&path[..at])?.content {
            Content::Array(items) if self.get(&path[..=at]).is_none() => Some((at, items.len())),
            _ => None,
        })?;
        let has = match count {
            0 => return Some(format!("{} has no elements", path[..at].join("."))),
            1 => "one element, 0".to_owned(),
            _ => format!("{count} elements, 0 to {}", count - 1),
        };
        let mut near = path.to_vec();
        let last = (count - 1).to_string();
        near[at] = &last;
        let (array, near) = (path[..at].join("."), near.join("."));
        Some(format!("{array} has {has}: elements count from 0; did you mean {near:?}?"))
    }

    /// Merges `other` into this tree. Tables merge key by key, other values are replaced.
    pub(super) fn overlay(&mut self, other: Self) {
        match (&mut self.content, other.content) {
            (Content::Table(mine), Content::Table(theirs)) => {
                self.place = other.place;
                for (key, value) in theirs {
                    match mine.get_mut(&key) {
                        Some(old) => old.overlay(value),
                        None => drop(mine.insert(key, value)),
                    }
                }
            }
            (_, content) => *self = Self { place: other.place, content },
        }
    }

    /// Removes the line numbers of `file`.
    pub(super) fn forget_lines(&mut self, file: &Arc<str>) {
        if self.place.file == *file {
            self.place.line = None;
        }
        match &mut self.content {
            Content::Table(table) => table.values_mut().for_each(|node| node.forget_lines(file)),
            Content::Array(items) => items.iter_mut().for_each(|node| node.forget_lines(file)),
            Content::Scalar(_) => {}
        }
    }

    /// Number of tables, arrays and scalars in this tree, including the root.
    pub(super) fn size(&self) -> usize {
        1 + match &self.content {
            Content::Table(table) => table.values().map(Self::size).sum(),
            Content::Array(items) => items.iter().map(Self::size).sum(),
            Content::Scalar(_) => 0,
        }
    }

    /// The value without places.
    pub(super) fn value(&self) -> toml::Value {
        match &self.content {
            Content::Table(table) => {
                toml::Value::Table(table.iter().map(|(key, node)| (key.clone(), node.value())).collect())
            }
            Content::Array(items) => toml::Value::Array(items.iter().map(Self::value).collect()),
            Content::Scalar(value) => value.clone(),
        }
    }

    /// An error about the value at `path`. A missing value has the place of the nearest table above.
    pub(super) fn error(&self, path: &[&str], problem: impl Into<String>) -> ScenarioError {
        let problem = said(&problem.into());
        let found = self.get(path);
        let known = (0..=path.len()).rev().find_map(|length| self.get(&path[..length]));
        let place = known.unwrap_or(self).place.clone();
        let key = shown(&path_name(path));
        match found {
            Some(node) if node.table().is_none() => {
                ScenarioError::Value { place, key, value: shown(&node.value().to_string()), problem }
            }
            _ if key.is_empty() => ScenarioError::File { place, problem },
            _ => ScenarioError::Key { place, key, problem },
        }
    }

    /// An error about a key instead of its value.
    pub(super) fn key_error(&self, path: &[&str], problem: impl Into<String>) -> ScenarioError {
        match self.error(path, problem) {
            ScenarioError::Value { place, key, problem, .. } => ScenarioError::Key { place, key, problem },
            error => error,
        }
    }
}

/// The line at the start of a span, without indentation.
fn line_at(text: &str, span: Option<std::ops::Range<usize>>) -> &str {
    let start = span.map_or(0, |span| span.start);
    let before = text.get(..start).map_or(0, |before| before.rfind('\n').map_or(0, |newline| newline + 1));
    text.get(before..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim()
}

/// `events[0].at` for the path events, 0, at.
fn path_name(path: &[&str]) -> String {
    let mut name = String::new();
    for key in path {
        if key.parse::<usize>().is_ok() && !name.is_empty() {
            name += &format!("[{key}]");
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name += key;
        }
    }
    name
}

fn table_node(table: &DeTable<'_>, place: &impl Fn(usize) -> Place, offset: usize) -> Node {
    let entries = table.iter().map(|(key, value)| {
        let node = value_node(value.get_ref(), place, key.span().start);
        (key.get_ref().to_string(), node)
    });
    Node { place: place(offset), content: Content::Table(entries.collect()) }
}

fn value_node(value: &DeValue<'_>, place: &impl Fn(usize) -> Place, offset: usize) -> Node {
    let scalar = match value {
        DeValue::Table(table) => return table_node(table, place, offset),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| value_node(item.get_ref(), place, item.span().start));
            return Node { place: place(offset), content: Content::Array(items.collect()) };
        }
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Boolean(value) => toml::Value::Boolean(*value),
        DeValue::Datetime(value) => toml::Value::Datetime(*value),
        DeValue::Integer(value) => i64::from_str_radix(value.as_str(), value.radix())
            .map_or_else(|_| toml::Value::String(value.as_str().to_owned()), toml::Value::Integer),
        DeValue::Float(value) => value
            .as_str()
            .parse()
            .map_or_else(|_| toml::Value::String(value.as_str().to_owned()), toml::Value::Float),
    };
    Node { place: place(offset), content: Content::Scalar(scalar) }
}
