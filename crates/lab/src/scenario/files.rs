//! Reads a scenario file, and merges the files that it includes.
//!
//! Owns limits, so that a file cannot block the reader or exhaust memory: regular files only, and a maximum
//! size. Each file is read once. The only key that this module knows is `include`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::deprecated::{self, Deprecation};
use super::error::{Place, ScenarioError, nearest, shown};
use super::regular;
use super::tree::{Content, Node};

/// Maximum size of a file, bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum size of all files of a scenario, bytes.
const ALL: u64 = 4 << 20;
/// Maximum number of includes.
const INCLUDES: usize = 128;
/// Maximum number of directory entries that are searched for a similar name.
const LISTED: usize = 10_000;

/// A merged scenario, and the deprecated names in its files.
type Merged = (Node, Vec<Deprecation>);

/// Reads a scenario file and all files that it includes.
pub(super) fn load(path: &Path) -> Result<Merged, ScenarioError> {
    let mut reader = Reader::default();
    let tree = reader.read(path, None)?;
    Ok((tree, reader.deprecations))
}

/// Parses a text. Its includes are relative to the working directory.
pub(super) fn parse(text: &str, name: &str) -> Result<Merged, ScenarioError> {
    let mut reader = Reader::default();
    let tree = Node::parse(text, &name.into())?;
    let tree = reader.include(tree, Path::new(""))?;
    Ok((tree, reader.deprecations))
}

/// `; did you mean "two.toml"?` if the directory of a missing file has a similar name.
fn near(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name.filter(|_| !path.exists()) else { return String::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(LISTED).flatten();
    let scenarios = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "toml"));
    let files = scenarios.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let mut names: Vec<String> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|other| *other != name)
        .collect();
    // Directory order is not deterministic.
    names.sort();
    let stem = |file: &str| {
        Path::new(file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    };
    let stems: Vec<String> = names.iter().map(|name| stem(name)).collect();
    let Some(meant) = nearest(&stem(&name), stems.iter().map(String::as_str)) else { return String::new() };
    format!(
        "; did you mean {:?}?",
        shown(&path.with_file_name(format!("{meant}.toml")).display().to_string())
    )
}

#[derive(Default)]
struct Reader {
    /// Files that are being read, to detect cycles.
    open: Vec<PathBuf>,
    /// Files that were read, merged with their includes.
    done: HashMap<PathBuf, Node>,
    bytes: u64,
    includes: usize,
    deprecations: Vec<Deprecation>,
}

impl Reader {
    /// Reads a file with its includes. `from` is the place that includes it; `None` for the first file.
    fn read(&mut self, path: &Path, from: Option<Place>) -> Result<Node, ScenarioError> {
        let file: Arc<str> = shown(&path.display().to_string()).into();
        let place = from.unwrap_or(Place { file: file.clone(), line: None });
        let fail = |problem: String| ScenarioError::File { place: place.clone(), problem };
        let identity = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.open.contains(&identity) {
            return Err(fail(format!("including {file} makes a cycle")));
        }
        if let Some(known) = self.done.get(&identity) {
            return Ok(known.clone());
        }
        let bytes = regular::read(path, LARGEST)
            .map_err(|reason| fail(format!("cannot read {file}: {reason}{}", near(path))))?;
        self.bytes += bytes.len() as u64;
        if self.bytes > ALL {
            return Err(fail(format!(
                "the files of a scenario must not exceed {} MiB in total; {file} exceeds that",
                ALL >> 20
            )));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            fail(format!("{file} is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
        })?;
        self.open.push(identity.clone());
        let tree = self.include(Node::parse(&text, &file)?, path.parent().unwrap_or(Path::new("")))?;
        self.open.pop();
        self.done.insert(identity, tree.clone());
        Ok(tree)
    }

    /// Merges a tree with its includes. Values of the tree take precedence.
    fn include(&mut self, mut tree: Node, folder: &Path) -> Result<Node, ScenarioError> {
        self.deprecations.extend(deprecated::translate(&mut tree));
        let Content::Table(table) = &mut tree.content else { return Ok(tree) };
        let Some(list) = table.shift_remove("include") else { return Ok(tree) };
        let malformed = || ScenarioError::Value {
            place: list.place.clone(),
            key: "include".to_owned(),
            value: shown(&list.value().to_string()),
            problem: "expected an array of file names (try [\"base.toml\"])".to_owned(),
        };
        let Content::Array(files) = &list.content else { return Err(malformed()) };
        let mut merged = Node::empty(&tree.place.file);
        for file in files {
            let Content::Scalar(toml::Value::String(name)) = &file.content else { return Err(malformed()) };
            self.includes += 1;
            if self.includes > INCLUDES {
                let problem = format!("a scenario must not include more than {INCLUDES} files");
                return Err(ScenarioError::File { place: file.place.clone(), problem });
            }
            merged.overlay(self.read(&folder.join(name), Some(file.place.clone()))?);
        }
        merged.overlay(tree);
        Ok(merged)
    }
}
