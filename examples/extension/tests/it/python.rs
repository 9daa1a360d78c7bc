//! mptcplab for Python on the core that this crate builds: the same command, the same tables.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Holds the tables that Python wrote against those that the command wrote.
const COMPARE: &str = r#"
import sys
import pyarrow.csv, pyarrow.parquet
ours, theirs = sys.argv[1:]
for name in ("samples", "flows", "paths", "links", "blocks"):
    python = pyarrow.parquet.read_table(f"{ours}/{name}.parquet")
    command = pyarrow.csv.read_csv(f"{theirs}/{name}.csv")
    assert python.column_names == command.column_names, name
    for left, right in zip(python.to_pylist(), command.to_pylist()):
        for key, value in left.items():
            other = right[key]
            same = value == other or (value in (None, "") and other in (None, "")) or value != value
            assert same, (name, key, value, other)
    assert python.num_rows == command.num_rows > 0, name
"#;

/// A Python with what mptcplab needs, or why the test is left out.
fn python() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let given = std::env::var_os("PYO3_PYTHON").map(PathBuf::from);
    let python = given.unwrap_or_else(|| root.join(".venv/bin/python"));
    let tried = Command::new(&python).args(["-c", "import pyarrow, numpy, matplotlib"]).output();
    match tried {
        Ok(done) if done.status.success() => Ok(python),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        Err(error) => Err(format!("{}: {error}", python.display())),
    }
}

/// The module that was built with this test.
fn module() -> PathBuf {
    let test = std::env::current_exe().expect("it runs");
    let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/test");
    profile.join("examples").join(format!(
        "{}extension_core{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ))
}

#[test]
fn python_runs_the_same_scenario_with_the_same_outcome() {
    let python = match python() {
        Ok(python) => python,
        Err(reason) => {
            assert!(std::env::var_os("CI").is_none(), "{reason}");
            eprintln!("left out: {reason}");
            return;
        }
    };
    let directory = super::directory("python");
    std::fs::copy(module(), directory.join("extension_core.abi3.so")).expect("cargo test builds examples");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let path = std::env::join_paths([&directory, &root]).expect("no colons");
    let scenario = super::scenario();
    let (ours, theirs) = (directory.join("ours"), directory.join("theirs"));
    let done = Command::new(&python)
        .args(["-m", "mptcplab", "run"])
        .args([&scenario, Path::new("--output"), &ours])
        .env("PYTHONPATH", &path)
        .env("MPTCPLAB_CORE", "extension_core")
        .output()
        .expect("it was found");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("middlebox shaper on lte: clamp-window (window = \"32KB\")"), "{said}");
    let command = Command::new(env!("CARGO_BIN_EXE_extension"))
        .args([Path::new("run"), &scenario, Path::new("--output"), &theirs])
        .output()
        .expect("it was built");
    assert!(command.status.success());
    let [first, second] =
        [&ours, &theirs].map(|from| std::fs::read(from.join("scenario.toml")).expect("written"));
    assert!(first == second, "the scenarios as run differ");
    let compared =
        Command::new(&python).args(["-c", COMPARE]).args([&ours, &theirs]).output().expect("it was found");
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
}

#[test]
fn a_core_that_is_not_there_is_said() {
    let Ok(python) = python() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let done = Command::new(python)
        .args(["-c", "import mptcplab"])
        .env("PYTHONPATH", root)
        .env("MPTCPLAB_CORE", "no_such_core")
        .output()
        .expect("it was found");
    assert!(String::from_utf8_lossy(&done.stderr).contains("No module named 'no_such_core'"));
}
