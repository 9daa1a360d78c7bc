//! Limits on reading a scenario: type and size of files, includes, and work.
//!
//! Never measures time: work is counted in bytes read, or the test would not end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mptcp_lab::scenario::{Draft, Scenario};

const REST: &str = "duration = \"10s\"\n[paths.wifi]\nrate = \"8Mbit\"\n[flows.bulk]\n";

/// An empty directory for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mptcplab-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a directory");
    folder
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn said(path: &Path) -> String {
    Scenario::load(path).map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

#[test]
#[cfg(unix)]
fn pipes_and_devices_are_refused_at_once() {
    let folder = folder("pipes");
    let pipe = folder.join("pipe.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
    assert!(made.success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
        assert!(said(path).contains("this is a pipe or a device, not a regular file"), "{}", said(path));
    }
    // Includes follow the same rules.
    let outer = write(&folder, "outer.toml", &format!("include = [\"pipe.toml\"]\n{REST}"));
    assert!(said(&outer).contains("outer.toml:1: cannot read"), "{}", said(&outer));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_file_beyond_every_scenario_is_refused() {
    let folder = folder("large");
    let large = write(&folder, "large.toml", &format!("# {}\n{REST}", "x".repeat(1 << 20)));
    assert!(said(&large).ends_with("it is larger than the limit of 1 MiB"), "{}", said(&large));
    let part = format!("# {}\n", "x".repeat(1_000_000));
    let names: Vec<String> = (0..5).map(|n| format!("\"part{n}.toml\"")).collect();
    for n in 0..5 {
        write(&folder, &format!("part{n}.toml"), &part);
    }
    let all = write(&folder, "all.toml", &format!("include = [{}]\n{REST}", names.join(", ")));
    assert!(said(&all).contains("the files of a scenario must not exceed 4 MiB in total"), "{}", said(&all));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_file_that_many_include_is_read_once() {
    let folder = folder("diamonds");
    // Each includes the next twice: 2^60 paths to the last one.
    for n in 0..60 {
        write(&folder, &format!("d{n}.toml"), &format!("include = [\"d{0}.toml\", \"d{0}.toml\"]\n", n + 1));
    }
    write(&folder, "d60.toml", "warmup = \"1s\"\n");
    let top = write(&folder, "top.toml", &format!("include = [\"d0.toml\"]\n{REST}"));
    let scenario = Scenario::load(&top).expect("valid");
    assert_eq!(scenario.warmup.as_millis(), 1000);
    let again = write(&folder, "again.toml", &format!("include = [{}]\n{REST}", "\"d60.toml\",".repeat(200)));
    assert!(said(&again).contains("must not include more than 128 files"), "{}", said(&again));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn later_files_of_a_diamond_still_win() {
    let folder = folder("order");
    write(&folder, "base.toml", "warmup = \"1s\"\n");
    write(&folder, "left.toml", "include = [\"base.toml\"]\nwarmup = \"2s\"\n");
    write(&folder, "right.toml", "include = [\"base.toml\"]\n");
    let top = write(&folder, "top.toml", &format!("include = [\"left.toml\", \"right.toml\"]\n{REST}"));
    assert_eq!(Scenario::load(&top).expect("valid").warmup.as_millis(), 1000);
    let _ = std::fs::remove_dir_all(folder);
}

/// `count` events on separate lines.
fn with_events(count: usize) -> String {
    let mut text = REST.to_owned();
    for n in 0..count {
        write!(
            text,
            "[[events]]\nat = \"{}us\"\npath = \"wifi\"\nset = {{ loss = \"1%\" }}\n",
            1 + n % 9_000_000
        )
        .expect("memory");
    }
    text
}

#[test]
fn many_events_keep_their_places() {
    // 100,000 lines: line numbers must not be computed from the start of the file each time.
    let text = with_events(25_000);
    let scenario = Scenario::parse(&text, "events.toml").expect("valid");
    assert_eq!(scenario.events.len(), 25_000);
    let wrong = text + "[[events]]\nat = \"11s\"\npath = \"wifi\"\nset = { loss = \"1%\" }\n";
    let error = Scenario::parse(&wrong, "events.toml").expect_err("too late").to_string();
    assert!(error.starts_with("events.toml:100006: events[25000].at = \"11s\""), "{error}");
}

#[test]
fn defaults_are_not_copied_beyond_measure() {
    let backup = "\"wifi\", ".repeat(40_000);
    let mut text = format!("{REST}[defaults]\nbackup = [{backup}]\n");
    for n in 0..5_000 {
        writeln!(text, "[flows.f{n}]").expect("memory");
    }
    let error = Scenario::parse(&text, "wide.toml").expect_err("too much").to_string();
    assert!(error.contains("defaults: 40002 values for each of 5001 flows"), "{error}");
}

#[test]
fn a_message_stays_one_short_line() {
    let long = "x".repeat(300_000);
    for text in [
        format!("{REST}rcvbuf = \"{long}\"\n"),
        format!("{REST}\"{long}\" = 1\n"),
        format!("{REST}paths = [\"a\\nb\"]\n"),
        format!("{REST}\"a\\nb\" = 1\n"),
        format!("{REST}congestion = \"{long}\"\n"),
        format!("{REST}{long}\n"),
        format!("{REST}paths = [\"{long}\"]\n"),
        format!("duration = \"{long}\"\n"),
    ] {
        let error = Scenario::parse(&text, "long.toml").expect_err("wrong").to_string();
        assert!(!error.contains('\n') && error.len() < 2_000, "{} bytes: {:.300}", error.len(), error);
    }
}

#[test]
fn a_key_as_deep_as_the_sea_is_refused() {
    let mut draft = Draft::parse(REST, "deep.toml").expect("TOML");
    let key = ["a"; 100_000].join(".");
    let error = draft.set(&key, "1").expect_err("too deep").to_string();
    assert!(error.contains("keys have at most 16") && error.len() < 1_000, "{:.300}", error);
}
