//! Packet scripts: the rules of RFCs, as segments in and out in virtual time.
//!
//! A script is a text file under `scripts/`, in the format of `scripts/README.md`. `text` reads its lines and `pattern` its
//! segments. `stage` plays the lines in order on a `host`, in virtual time. `compose` makes the segments of the `peer`, and
//! `judge` describes those of the host in the same format.

mod calls;
mod compose;
mod facts;
mod host;
mod judge;
mod pattern;
mod peer;
pub mod reference;
mod settings;
mod stage;
pub mod states;
mod text;

use std::path::{Path, PathBuf};

pub use stage::{Head, Script};

/// The directory of the scripts.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
}

/// The scripts of a subdirectory, sorted; paths are relative to [`directory`].
pub fn scripts_of(name: &str) -> Vec<(String, String)> {
    let directory = directory().join(name);
    let entries =
        std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut found: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            (format!("{name}/{file}"), std::fs::read_to_string(&path).expect("a script can be read"))
        })
        .collect();
    found.sort();
    found
}

/// The head of a script.
pub fn head(name: &str, text: &str) -> Result<Head, String> {
    let script = Script::parse(name, text, &directory().join("begin")).map_err(|fault| fault.to_string())?;
    Ok(script.head)
}

/// Reads and runs a script.
pub fn run(name: &str, text: &str) -> Result<Head, String> {
    let script = Script::parse(name, text, &directory().join("begin")).map_err(|fault| fault.to_string())?;
    let outcome = script.run();
    match (outcome, &script.head.unsupported) {
        (Ok(()), None) => Ok(script.head),
        (Err(_), Some(_)) => Ok(script.head),
        (Err(fault), None) => Err(fault.to_string()),
        (Ok(()), Some(_)) => Err(format!("{name}: it passes now; remove the line `unsupported`")),
    }
}
