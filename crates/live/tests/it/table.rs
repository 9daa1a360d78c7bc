//! Every test in the table of README.md exists.

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_test_that_is_named_exists() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text = std::fs::read_to_string(here.join("README.md"))?;
    let named: BTreeSet<(&str, &str)> =
        text.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::")).collect();
    assert!(named.len() > 80, "only {} names were found", named.len());
    let mut missing = Vec::new();
    for (file, test) in named {
        let path = match file.split_once('/') {
            Some((name, file)) => here.join("../..").join(name).join("tests/it").join(file),
            None => here.join("it").join(file),
        };
        let source = std::fs::read_to_string(path.with_extension("rs")).unwrap_or_default();
        let marked = source.split("#[test]").skip(1);
        let begins = |part: &str| part.trim_start().starts_with(&format!("fn {test}("));
        if !marked.into_iter().any(begins) {
            missing.push(format!("{file}::{test}"));
        }
    }
    assert!(missing.is_empty(), "no such tests: {missing:?}");
    Ok(())
}
