//! The command of this crate: what it says, what it writes, how it ends.

use std::process::{Command, Output};

fn extension(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_extension")).args(arguments).output().expect("it was built")
}

fn file() -> String {
    super::scenario().to_string_lossy().into_owned()
}

#[test]
fn it_runs_a_file_says_what_happened_and_writes_it() {
    let directory = super::directory("written");
    let output = directory.to_string_lossy();
    let done = extension(&["run", &file(), "--seed", "3", "--output", &output]);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for part in
        ["scenario, seed 3\n", "application of pages: think", "pages (MPTCP): goodput", "8 blocks, read"]
    {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    let mut names: Vec<_> = std::fs::read_dir(&directory)
        .expect("it was made")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["blocks.csv", "flows.csv", "links.csv", "paths.csv", "run.json", "samples.csv", "scenario.toml"]
    );
    // What was written runs again and gives the same.
    let again = super::directory("written-again");
    let scenario = directory.join("scenario.toml");
    let arguments = ["run", &scenario.to_string_lossy(), "--seed", "3", "--output", &again.to_string_lossy()];
    assert!(extension(&arguments).status.success());
    for name in names {
        let [first, second] =
            [&directory, &again].map(|from| std::fs::read(from.join(&name)).expect("it is there"));
        assert!(first == second, "{name} differs");
    }
}

#[test]
fn values_are_put_over_a_file() {
    let done = extension(&["run", &file(), "--set", "paths.wifi.loss_model.n=1"]);
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said, "--set: paths.wifi.loss_model.n = 1: must be between 2 and 1000000 (nearest: 2)\n");
}

#[test]
fn bad_arguments_are_said_with_the_usage() {
    for (arguments, wanted) in [
        (&["run"][..], "run takes one FILE, not 0"),
        (&["run", "a", "b"], "run takes one FILE, not 2"),
        (&["run", "a", "--seed", "x"], "--seed x: must be a whole number"),
        (&["run", "a", "--set", "x"], "--set x: must be KEY=VALUE"),
        (&["run", "a", "--seed"], "--seed needs a value"),
        (&["run", "a", "--sede", "1"], "there is no option --sede"),
        (&["walk"], "usage: COMMAND run FILE"),
    ] {
        let done = extension(arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && said.starts_with(wanted), "{arguments:?}: {said}");
    }
    let missing = extension(&["run", "no-such.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(extension(&["--help"]).status.success());
}

#[test]
fn it_prints_schema_and_reference() {
    let schema = extension(&["schema"]);
    assert!(schema.status.success() && String::from_utf8_lossy(&schema.stdout).contains("clamp-window"));
    let page = extension(&["reference"]);
    assert!(
        page.status.success()
            && String::from_utf8_lossy(&page.stdout).contains("## Loss models of this build")
    );
}
