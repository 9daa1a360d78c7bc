//! docs/congestion.md lists exactly the existing tests.

use std::path::Path;

/// Every test that `docs/congestion.md` names exists, and every key is in the registry.
#[test]
fn what_the_page_names_exists() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/congestion.md"))?;
    let mut found = 0;
    for name in page.split('`').skip(1).step_by(2).filter(|name| name.contains("::")) {
        let (place, test) = name.rsplit_once("::").unwrap_or_default();
        // Tests of other crates follow the name of the crate.
        let (owner, module) = place.split_once('/').unwrap_or(("lab", place));
        let file =
            root.join("..").join(owner).join("tests/it").join(module.replace("::", "/")).with_extension("rs");
        let file = if file.exists() { file } else { file.with_extension("").join("mod.rs") };
        let source = std::fs::read_to_string(&file)?;
        assert!(source.contains(&format!("#[test]\nfn {test}(")), "{name} is not in {}", file.display());
        found += 1;
    }
    assert!(found > 15, "{found}");
    for entry in mptcp_lab::mptcp::policy::Policies::default().congestion.entries() {
        assert!(page.contains(&format!("\n| `{}` |", entry.name())), "no line for {}", entry.name());
    }
    Ok(())
}
