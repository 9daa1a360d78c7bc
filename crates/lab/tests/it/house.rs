//! This crate has no unit tests in `src` (`test = false`): they would never run.

use std::fs;
use std::path::Path;

fn rust_files(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|error| panic!("{error}")).flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else {
            found.push(
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            );
        }
    }
}

#[test]
fn tests_are_beside_the_library() {
    let mut files = Vec::new();
    rust_files(Path::new("src"), &mut files);
    assert!(files.len() > 50, "{}", files.len());
    assert!(!files.iter().any(|text| text.contains("#[test]") || text.contains("cfg(test)")));
}
