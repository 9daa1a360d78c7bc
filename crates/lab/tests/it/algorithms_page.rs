//! The table of `docs/algorithms.md` has a row for each built-in policy, and names tests that exist.

use std::path::Path;

use mptcp_lab::mptcp::policy::Policies;

/// The cells of a row of the table: name, type, source, property, published, measured, test.
fn rows(page: &str) -> Vec<Vec<String>> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn every_built_in_policy_has_a_row() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rows = rows(&std::fs::read_to_string(root.join("docs/algorithms.md"))?);
    let Policies { congestion, schedulers, path_managers } = Policies::default();
    let controllers = congestion.names().map(|name| (name, "controller"));
    let schedulers = schedulers.names().map(|name| (name, "scheduler"));
    let managers = path_managers.names().map(|name| (name, "path manager"));
    let registered: Vec<(&str, &str)> = controllers.chain(schedulers).chain(managers).collect();
    for (name, kind) in &registered {
        let found = rows.iter().filter(|row| row[0] == format!("`{name}`") && row[1] == *kind).count();
        assert_eq!(found, 1, "rows of the {kind} {name}");
    }
    assert_eq!(rows.len(), registered.len(), "a row names a policy that is not registered");
    for row in &rows {
        assert_eq!(row.len(), 7, "{row:?}");
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
    Ok(())
}

#[test]
fn every_row_names_a_test_that_exists() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for row in rows(&std::fs::read_to_string(root.join("docs/algorithms.md"))?) {
        let tests: Vec<&str> = row[6].split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{} names no test", row[0]);
        for name in tests {
            let (place, test) = name.rsplit_once("::").unwrap_or_default();
            let (owner, module) = place.split_once('/').unwrap_or(("lab", place));
            let module = module.replace("::", "/");
            let places =
                ["tests/it", "src"].map(|folder| root.join("crates").join(owner).join(folder).join(&module));
            let files = places.iter().flat_map(|file| [file.with_extension("rs"), file.join("mod.rs")]);
            let sources: String = files.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
            assert!(sources.contains(&format!("fn {test}(")), "{name} does not exist");
        }
    }
    Ok(())
}
