//! What this crate adds, used as anybody would: from scenario files, by its command, from Python.

mod command;
mod python;
mod scenarios;

use std::path::{Path, PathBuf};

/// The scenario that names everything.
fn scenario() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenario.toml")
}

/// An empty directory for one test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).expect("it is ours");
    }
    std::fs::create_dir_all(&directory).expect("there is room");
    directory
}
