//! Checks the keys, types, units and names of a scenario against the JSON Schema, so that an error names the
//! line, the key and the nearest valid choice.
//!
//! Walks the scenario tree and the schema in parallel. [`super::file`] is the only definition of the keys.

use serde_json::Value as Schema;

use super::error::{ScenarioError, shown, word_suggestion};
use super::tree::{Content, Node};
use super::units;

/// Hint in the error about an unknown policy, such as a scheduler.
const HOW_TO_ADD: &str = "; docs/extending.md explains how to add one";

/// Returns the first violation of the schema in `tree`.
pub(super) fn check(tree: &Node, schema: &Schema) -> Result<(), ScenarioError> {
    Walk { root: tree }.node(tree, schema, &mut Vec::new())
}

/// As `check`, for the value at `path` in `tree`. A missing value is valid.
pub(super) fn check_value(tree: &Node, path: &[&str], schema: &Schema) -> Result<(), ScenarioError> {
    let mut names = path.iter().map(|key| (*key).to_owned()).collect();
    tree.get(path).map_or(Ok(()), |node| Walk { root: tree }.node(node, schema, &mut names))
}

struct Walk<'a> {
    root: &'a Node,
}

impl<'a> Walk<'a> {
    fn node(&self, node: &'a Node, schema: &Schema, path: &mut Vec<String>) -> Result<(), ScenarioError> {
        if let (Some(_), Some(form)) = (node.table(), table_form(schema)) {
            return self.table(node, form, path);
        }
        match schema.get("type").and_then(Schema::as_str) {
            Some("object") => self.table(node, schema, path),
            Some("array") => match &node.content {
                Content::Array(items) => {
                    let empty = Schema::Null;
                    let schema = schema.get("items").unwrap_or(&empty);
                    items
                        .iter()
                        .enumerate()
                        .try_for_each(|(index, item)| self.below(item, schema, path, &index.to_string()))
                }
                _ => self.fail(path, "expected an array (try [\"…\"], or [[…]] for tables)".to_owned()),
            },
            Some("boolean") => match node.content {
                Content::Scalar(toml::Value::Boolean(_)) => Ok(()),
                _ => self.fail(path, "expected true or false, without quotes".to_owned()),
            },
            Some("integer") => match node.content {
                Content::Scalar(toml::Value::Integer(0..=0xffff_ffff)) => Ok(()),
                Content::Scalar(toml::Value::Integer(0..))
                    if schema.get("format").is_some_and(|format| format == "uint64") =>
                {
                    Ok(())
                }
                _ => self.fail(path, "expected a whole number, 0 or more, without quotes".to_owned()),
            },
            _ => self.string(node, schema, path),
        }
    }

    fn table(&self, node: &'a Node, schema: &Schema, path: &mut Vec<String>) -> Result<(), ScenarioError> {
        let Some(table) = node.table() else {
            return self.fail(path, "expected a table (try [name] or { key = value })".to_owned());
        };
        let no_properties = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Schema::as_object).unwrap_or(&no_properties);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        // The table has keys that another crate defines; its `read` function validates them.
        let open = schema.get("additionalProperties") == Some(&Schema::Bool(true));
        for (key, child) in table {
            let Some(schema) = properties.get(key).or(others) else {
                if open {
                    continue;
                }
                path.push(key.clone());
                let keys = || properties.keys().map(String::as_str);
                let near = key_below(properties, key).map_or_else(
                    || word_suggestion(key, keys().collect::<Vec<_>>()),
                    |table| match &child.content {
                        Content::Scalar(value) => {
                            format!("; did you mean {table} = {{ {key} = {} }}?", shown(&value.to_string()))
                        }
                        _ => format!("; did you mean \"{table}.{key}\"?"),
                    },
                );
                let allowed = keys().collect::<Vec<_>>().join(", ");
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                return Err(self.root.key_error(&names, format!("unknown key{near} (allowed: {allowed})")));
            };
            self.below(child, schema, path, key)?;
        }
        Ok(())
    }

    fn string(&self, node: &Node, schema: &Schema, path: &[String]) -> Result<(), ScenarioError> {
        let schema = plain_form(schema);
        let names = names(schema);
        let format = schema.get("format").and_then(Schema::as_str);
        let text = match (&node.content, format) {
            (Content::Scalar(toml::Value::String(text)), _) => text.clone(),
            (Content::Scalar(number @ (toml::Value::Integer(_) | toml::Value::Float(_))), Some(_)) => {
                number.to_string()
            }
            (_, Some(_)) => {
                let example = schema.pointer("/examples/0").and_then(Schema::as_str).unwrap_or_default();
                return self.fail(path, format!("expected a string (try {example:?})"));
            }
            _ if names.is_empty() => return self.fail(path, "expected a string, in quotes".to_owned()),
            _ => return self.fail(path, format!("expected one of {}, in quotes", quoted(&names))),
        };
        // The loader of a policy checks a name of its form, such as `module:Class`.
        let is_loaded = has_pattern(schema) && text.contains(':');
        if !names.is_empty() && !names.contains(&text.as_str()) && !is_loaded {
            let near = word_suggestion(&text, names.iter().copied());
            let own = table_form(schema).filter(|_| near.is_empty()).map_or("", |_| HOW_TO_ADD);
            return self.fail(path, format!("is not one of {}{near}{own}", quoted(&names)));
        }
        let key = path.last().map_or("", String::as_str);
        match format.and_then(|format| units::check(format, &text)) {
            Some(Err(error)) => {
                let noun = noun(key, format.unwrap_or_default());
                self.fail(path, format!("{noun} {error}"))
            }
            _ => Ok(()),
        }
    }

    fn below(
        &self,
        node: &'a Node,
        schema: &Schema,
        path: &mut Vec<String>,
        key: &str,
    ) -> Result<(), ScenarioError> {
        path.push(key.to_owned());
        self.node(node, schema, path)?;
        path.pop();
        Ok(())
    }

    fn fail(&self, path: &[String], problem: String) -> Result<(), ScenarioError> {
        Err(self.root.error(&path.iter().map(String::as_str).collect::<Vec<_>>(), problem))
    }
}

/// The names that a schema allows; empty if it allows others too.
pub(super) fn names(schema: &Schema) -> Vec<&str> {
    let plain =
        schema.get("enum").and_then(Schema::as_array).into_iter().flatten().filter_map(Schema::as_str);
    let described = schema.get("oneOf").and_then(Schema::as_array).into_iter().flatten();
    plain.chain(described.filter_map(|choice| choice.get("const")?.as_str())).collect()
}

/// Whether a schema has a form for names that match a pattern.
fn has_pattern(schema: &Schema) -> bool {
    let mut forms = schema.get("oneOf").and_then(Schema::as_array).into_iter().flatten();
    forms.any(|form| form.get("pattern").is_some())
}

/// The only table among `properties` that has `key`; `None` if none or several have it.
fn key_below<'a>(properties: &'a serde_json::Map<String, Schema>, key: &str) -> Option<&'a str> {
    let has = |schema: &Schema| {
        let form = table_form(schema).unwrap_or(schema);
        form.get("properties").is_some_and(|keys| keys.get(key).is_some())
    };
    let mut found = properties.iter().filter(|(_, schema)| has(schema)).map(|(name, _)| name.as_str());
    let only = found.next();
    only.filter(|_| found.next().is_none())
}

/// The table form of a key that takes a string or a table.
pub(super) fn table_form(schema: &Schema) -> Option<&Schema> {
    let mut forms = schema.get("oneOf").and_then(Schema::as_array).into_iter().flatten();
    forms.find(|form| form.get("type").is_some_and(|name| name == "object"))
}

/// The string form of a key that takes a string or a table; `schema` itself for other keys.
pub(super) fn plain_form(schema: &Schema) -> &Schema {
    let mut forms = schema.get("oneOf").and_then(Schema::as_array).into_iter().flatten();
    forms.find(|form| form.get("format").is_some()).unwrap_or(schema)
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The noun for the value of `key` in messages.
fn noun(key: &str, format: &str) -> &'static str {
    match (key, format) {
        ("delay", _) => "a delay",
        ("duration", _) => "a duration",
        ("loss" | "loss_bad" | "loss_good", _) => "a loss",
        (_, "distance") => "a distance",
        (_, "time") => "a time",
        (_, "rate") => "a rate",
        (_, "size") => "a size",
        (_, "queue") => "a queue",
        (_, "start") => "a start",
        _ => "a probability",
    }
}
