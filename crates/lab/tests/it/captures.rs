//! Captures are written during the run, get their names when they are complete, and stay in their directory.

use std::path::{Path, PathBuf};

use mptcp_clock::{Duration, Instant};
use mptcp_lab::events::Filter;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mptcplab-captures-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a directory");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("it is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn bytes(folder: &Path) -> u64 {
    names(folder).iter().map(|name| std::fs::metadata(folder.join(name)).expect("a file").len()).sum()
}

fn world(more: &str) -> World {
    let text = format!("duration = \"4s\"\n[paths.wifi]\nrate = \"20Mbit\"\ndelay = \"5ms\"\n{more}");
    World::new(&Scenario::parse(&text, "captured").expect("valid"), 1).expect("a network")
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

#[test]
fn packets_are_on_the_disk_while_the_run_goes_on() {
    let folder = folder("stream");
    let mut world = world("[flows.bulk]\n");
    world.capture(&folder).expect("files");
    world.advance(at(2)).expect("it runs");
    let half = bytes(&folder);
    assert!(names(&folder).iter().all(|name| name.starts_with('.') && name.ends_with(".part")));
    world.advance(at(4)).expect("it runs");
    world.finish_captures().expect("they are written");
    let whole = bytes(&folder);
    // 20 Mb/s for two seconds at both ends; the write buffer is small.
    assert!(half > 9_000_000 && half * 2 > whole - 1_000_000, "{half} of {whole}");
    assert_eq!(names(&folder), ["client-wifi.pcapng", "server-any.pcapng"]);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_run_without_an_end_leaves_no_capture() {
    let folder = folder("none");
    let mut world = world("[flows.bulk]\n");
    world.capture(&folder).expect("files");
    world.advance(at(1)).expect("it runs");
    drop(world);
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
#[cfg(unix)]
fn a_link_that_stands_there_is_replaced() {
    let folder = folder("links");
    let precious = folder.join("precious");
    std::fs::write(&precious, "untouched").expect("a file");
    std::os::unix::fs::symlink(&precious, folder.join("client-wifi.pcapng")).expect("a link");
    let part = folder.join(format!(".client-wifi.pcapng.{}.part", std::process::id()));
    std::os::unix::fs::symlink(&precious, part).expect("a link");
    let mut world = world("[flows.bulk]\nbytes = \"10kB\"\n");
    world.capture(&folder).expect("files");
    world.advance(at(4)).expect("it runs");
    world.finish_captures().expect("they are written");
    assert_eq!(std::fs::read_to_string(&precious).expect("a file"), "untouched");
    let kind = std::fs::symlink_metadata(folder.join("client-wifi.pcapng")).expect("a capture");
    assert!(kind.is_file() && kind.len() > 1000);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn hosts_of_any_name_stay_in_the_directory() {
    let folder = folder("names");
    let inner = folder.join("inner");
    std::fs::create_dir_all(&inner).expect("a directory");
    let more = "[links.l]\nends = [\"../up\", \"a/b\"]\nrate = \"1Mbit\"\n[flows.f]\nfrom = \"../up\"\nto = \"a/b\"\nbytes = \"1kB\"\n";
    let mut world = world(more);
    world.capture(&inner).expect("files");
    world.advance(at(4)).expect("it runs");
    world.finish_captures().expect("they are written");
    assert_eq!(names(&folder), ["inner"]);
    assert_eq!(names(&inner), ["_.._up-l.pcapng", "a_b-any.pcapng"]);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn what_cannot_be_written_is_said_with_its_reason() {
    let missing = std::env::temp_dir().join("mptcplab-no-such-directory");
    let said = world("[flows.bulk]\n").capture(&missing).expect_err("it is not there").to_string();
    assert!(said.contains("client-wifi.pcapng: No such file or directory"), "{said}");
}

#[test]
fn packets_say_why_they_left_where_the_run_is_traced() {
    let folder = folder("comments");
    let mut world = world("loss = \"1%\"\n[flows.bulk]\n");
    world.capture(&folder).expect("files");
    world.observe(Filter::named(["retransmission", "loss", "rtt"]).expect("kinds"));
    world.advance(at(4)).expect("it runs");
    world.finish_captures().expect("they are written");
    let count = |name: &str, said: &str| {
        let bytes = std::fs::read(folder.join(name)).expect("a file");
        bytes.windows(said.len()).filter(|part| *part == said.as_bytes()).count()
    };
    let again: u64 = world.finish().flows[0].paths.iter().map(|path| path.retransmits).sum();
    assert!(again > 10);
    assert_eq!(count("client-wifi.pcapng", "mptcp retransmission again bulk wifi offset="), again as usize);
    assert!(count("client-wifi.pcapng", "mptcp loss rack bulk wifi seq=") > 5);
    assert_eq!(count("client-wifi.pcapng", "mptcp rtt") + count("server-any.pcapng", "mptcp"), 0);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn comments_stand_at_packets_of_their_own_path_and_connection() {
    let folder = folder("own");
    let more = "[paths.lte]\nrate = \"8Mbit\"\ndelay = \"30ms\"\nloss = \"1%\"\n[flows.a]\n[flows.b]\n";
    let mut world = world(&format!("loss = \"1%\"\n{more}"));
    world.capture(&folder).expect("files");
    world.observe(Filter::named(["retransmission", "timeout"]).expect("kinds"));
    world.advance(at(4)).expect("it runs");
    world.finish_captures().expect("they are written");
    let count = |name: &str, said: &str| {
        let bytes = std::fs::read(folder.join(name)).expect("a file");
        bytes.windows(said.len()).filter(|part| *part == said.as_bytes()).count()
    };
    let flows = world.finish().flows;
    for flow in &flows {
        for path in &flow.paths {
            let said = format!("mptcp retransmission again {} {} offset=", flow.flow, path.path);
            assert!(path.retransmits > 1);
            assert_eq!(
                count(&format!("client-{}.pcapng", path.path), &said),
                path.retransmits as usize,
                "{said}"
            );
        }
    }
    assert_eq!(count("client-wifi.pcapng", " lte offset=") + count("client-lte.pcapng", " wifi offset="), 0);
    let _ = std::fs::remove_dir_all(folder);
}
