//! The packet scripts of all RFCs: see `crates/mptcp/scripts/README.md`.

use crate::script;

/// Runs the scripts of a directory, and reports the expected and the sent segment of each failure.
fn run_all(name: &str) {
    let only = std::env::var("SCRIPT").unwrap_or_default();
    let scripts = script::scripts_of(name);
    let chosen = scripts.iter().filter(|(name, _)| name.contains(&only));
    let faults: Vec<_> = chosen.filter_map(|(name, text)| script::run(name, text).err()).collect();
    assert!(faults.is_empty(), "{} of {} scripts:\n{}", faults.len(), scripts.len(), faults.join("\n"));
}

macro_rules! rfcs {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            run_all(stringify!($name));
        })*

        /// All directories of scripts.
        const DIRECTORIES: &[&str] = &[$(stringify!($name)),*];
    };
}

rfcs![
    rfc1191, rfc2018, rfc2883, rfc3042, rfc3168, rfc3465, rfc3522, rfc3708, rfc4015, rfc4821, rfc4987,
    rfc5482, rfc5681, rfc5682, rfc5927, rfc5961, rfc6191, rfc6298, rfc6582, rfc6675, rfc6824, rfc6928,
    rfc6937, rfc7323, rfc7413, rfc7661, rfc8201, rfc8257, rfc8511, rfc8684, rfc8985, rfc9293, rfc9406,
    rfc9937,
];

/// RFC 9293 section 3.10.7: each state and each type of segment.
#[test]
fn what_is_answered_in_each_state() {
    let events = script::states::table();
    let rows = events.iter().flat_map(|event| event.rows.iter().map(move |row| (event, row)));
    let faults: Vec<_> = rows.filter_map(|(event, row)| script::states::run(event, row).err()).collect();
    assert!(faults.is_empty(), "{} lines:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_directory_of_scripts_is_run() {
    let entries = std::fs::read_dir(script::directory()).expect("the directory of scripts");
    let paths = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(
            name == "begin" || DIRECTORIES.contains(&name.as_str()),
            "add {name} to the list of this file"
        );
    }
}

#[test]
fn the_page_of_rfcs_is_up_to_date() {
    let wanted = script::reference::page(DIRECTORIES).unwrap_or_else(|fault| panic!("{fault}"));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rfc-coverage.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).expect("docs/ can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/rfc-coverage.md is outdated; run UPDATE=1 cargo test -p mptcp --test it scripts::"
    );
}
