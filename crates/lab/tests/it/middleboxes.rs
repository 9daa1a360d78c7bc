//! Every middlebox with both versions of MPTCP. The data arrives intact over MPTCP or TCP. Only a box that changes the
//! payload may damage it, and then the summary reports it. No transfer gets stuck.
//!
//! `UPDATE=1 cargo test -p mptcp-lab --test it middleboxes::` writes docs/reference/middlebox-outcomes.md.

use crate::boxes::page::{self, Cell};
use crate::boxes::{self, CASES, PLACES, VERSIONS, Variant, run, simulate};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

const FILE: &str = "../../docs/reference/middlebox-outcomes.md";

/// Asserts the outcomes that any transfer may have. The page has the exact ones.
fn judge(case: &str, place: &str, variant: Variant, outcome: &boxes::Outcome) {
    let what = format!("{case} on {place}, {variant:?}: {outcome:?}");
    let rewrites = case.starts_with("rewrite-payload");
    // Data can be damaged only without a checksum, or over TCP.
    assert!(outcome.intact || rewrites && (!variant.checksum || !outcome.multipath), "{what}");
    assert!(outcome.closed, "stuck: {what}");
    // If a box breaks mappings on every path, no subflow is left.
    let breaks = rewrites || case == "coalesce";
    assert!(outcome.finished || breaks && place == "both", "{what}");
    assert_eq!(outcome.reason.is_some(), !outcome.multipath, "{what}");
}

#[test]
fn every_box_in_every_place() {
    let mut results = Vec::new();
    for case in CASES {
        let mut cells: Vec<Cell> = Vec::new();
        for version in VERSIONS {
            for place in PLACES {
                let cell: Cell =
                    Variant::all().map(|variant| (variant, run(case, version, place, variant))).collect();
                cell.iter().for_each(|(variant, outcome)| judge(case.name, place.0, *variant, outcome));
                cells.push(cell);
            }
        }
        results.push((case, cells));
    }
    let now = page::page(&results);
    println!("{now}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(FILE, &now).expect("docs/ can be written");
    }
    let before = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        now == before,
        "the outcomes changed; if that is intended, UPDATE=1 writes docs/reference/middlebox-outcomes.md"
    );
}

const TWO_PATHS: &str = "sample = \"1s\"\n[paths.first]\nrate = \"8Mbit\"\ndelay = \"10ms\"\n\
                         [paths.second]\nrate = \"8Mbit\"\ndelay = \"15ms\"\n";
const ONE_PATH: &str = "sample = \"1s\"\n[paths.first]\nrate = \"8Mbit\"\ndelay = \"10ms\"\n";

/// A flow through a NAT on the first path that removes mappings after five seconds.
fn through_a_forgetful_nat(paths: &str, flow: &str) -> mptcp_lab::measurements::FlowSummary {
    simulate(&format!(
        "duration = \"120s\"\n{paths}[middleboxes.home]\npath = \"first\"\nkind = \"nat\"\ntimeout = \"5s\"\n{flow}"
    ))
}

/// A block, then a pause longer than the lifetime of mappings.
const RARE: &str = "[flows.f]\nblocks = \"10kB\"\nrate = \"8kbit\"\nstop = \"55s\"\n";

#[test]
fn a_nat_that_forgets_costs_the_subflow_and_not_the_connection() {
    for direction in ["", "direction = \"download\"\n"] {
        for version in ["v0", "v1"] {
            let flow =
                through_a_forgetful_nat(TWO_PATHS, &format!("{RARE}{direction}version = \"{version}\"\n"));
            assert!(flow.intact && flow.multipath, "{direction} {version}: {flow:?}");
            assert_eq!(flow.bytes_received_total, 60_000, "{direction} {version}: {flow:?}");
        }
    }
}

/// The server resets the unknown port; the client joins again, and the connection continues.
#[test]
fn a_connection_of_one_path_comes_back_after_a_nat_forgot() {
    let flow = through_a_forgetful_nat(ONE_PATH, RARE);
    assert!(flow.intact && flow.multipath, "{flow:?}");
    assert_eq!((flow.bytes_received_total, flow.closed.as_deref()), (60_000, Some("Finished")), "{flow:?}");
    assert!(flow.paths[0].subflows > 1, "{:?}", flow.paths);
}

#[test]
fn a_nat_remembers_what_is_used() {
    let steady = "[flows.f]\nblocks = \"10kB\"\nrate = \"80kbit\"\nstop = \"55s\"\n";
    let flow = through_a_forgetful_nat(ONE_PATH, steady);
    assert_eq!(
        (flow.bytes_received_total, flow.closed.as_deref()),
        (550_000, Some("Finished")),
        "{:?}",
        flow.paths
    );
}

#[test]
fn boxes_come_and_go() {
    let scenario = |paths: &str, kind: &str, on: bool| {
        simulate(&format!(
            "duration = \"100s\"\n{paths}[middleboxes.box]\npath = \"first\"\nkind = \"{kind}\"\non = {on}\n\
             [flows.f]\nbytes = \"2MB\"\n[[events]]\nat = \"300ms\"\nmiddlebox = \"box\"\nset = {{ on = {} }}\n",
            !on
        ))
    };
    let kinds = ["nat", "rewrite-sequence", "strip-options", "split", "coalesce", "early-ack"];
    for kind in kinds {
        for on in [false, true] {
            let flow = scenario(TWO_PATHS, kind, on);
            assert!(
                flow.intact && flow.bytes_received_total == 2_000_000,
                "{kind}, on at first: {on}: {flow:?}"
            );
        }
    }
    // Options are removed on the only path.
    let flow = scenario(ONE_PATH, "strip-options", false);
    let fallback = flow.fallback.expect("nothing else is left");
    assert!(flow.intact && flow.bytes_received_total == 2_000_000 && fallback.at > 0.3, "{fallback:?}");
    assert_eq!(fallback.path, "first");
}

#[test]
fn a_data_fin_that_waits_for_data_is_no_sign_of_stripped_options() {
    // The acknowledgements of the proxy make RTTs look short, so the timer of the DATA_FIN expires early.
    let proxy = "[middleboxes.proxy]\npath = \"first\"\nkind = \"early-ack\"\n";
    let flow = simulate(&format!("duration = \"20s\"\n{ONE_PATH}{proxy}[flows.f]\nbytes = \"1MB\"\n"));
    assert_eq!((flow.fallback, flow.closed.as_deref()), (None, Some("Finished")));
}

#[test]
fn boxes_stand_in_the_order_of_the_file() {
    // A NAT, an offset, a splitter and another NAT in series: still one connection.
    let boxes = ["nat", "rewrite-sequence", "split", "nat"];
    let text: String = boxes
        .iter()
        .enumerate()
        .map(|(number, kind)| format!("[middleboxes.b{number}]\npath = \"first\"\nkind = \"{kind}\"\n"))
        .collect();
    let flow = simulate(&format!("duration = \"30s\"\n{TWO_PATHS}{text}[flows.f]\nbytes = \"1MB\"\n"));
    assert!(flow.multipath && flow.intact && flow.bytes_received_total == 1_000_000, "{flow:?}");
}

#[test]
fn the_same_seed_gives_the_same_run_and_a_box_that_is_off_changes_nothing() {
    let run = |boxes: &str| {
        let text = format!("duration = \"10s\"\n{TWO_PATHS}loss = \"1%\"\n{boxes}[flows.f]\n");
        World::new(&Scenario::parse(&text, "twice").expect("valid"), 3)
            .expect("a network")
            .run()
            .expect("it comes to its end")
    };
    let on = "[middleboxes.a]\npath = \"second\"\nkind = \"rewrite-sequence\"\n\
              [middleboxes.b]\npath = \"first\"\nkind = \"early-ack\"\n";
    assert_eq!(run(on), run(on));
    let off = "[middleboxes.a]\npath = \"second\"\nkind = \"nat\"\non = false\n";
    assert_eq!(run(off), run(""));
}

#[test]
fn a_host_whose_queue_lies_behind_a_box_does_not_wait_for_departures() {
    // The middlebox loses no data, but fewer segments leave the queue than were sent.
    let coalesce = "[middleboxes.box]\npath = \"first\"\nkind = \"coalesce\"\n";
    let flow = "[flows.f]\ntransport = \"tcp\"\ndirection = \"download\"\nbytes = \"2MB\"\nsmall_queues = \"20KB\"\n";
    let flow = simulate(&format!("duration = \"10s\"\n{ONE_PATH}{coalesce}{flow}"));
    assert!(flow.intact && flow.completion.is_some_and(|seconds| seconds < 3.0), "{flow:?}");
}

#[test]
fn datagrams_pass_untouched() {
    let text = "duration = \"5s\"\n[paths.wifi]\nrate = \"8Mbit\"\n[middleboxes.home]\npath = \"wifi\"\nkind = \"nat\"\n\
                [flows.f]\ntransport = \"udp\"\nrate = \"1Mbit\"\ndirection = \"download\"\n";
    let flow = simulate(text);
    assert!((flow.goodput - 1e6).abs() < 2e4, "{}", flow.goodput);
}

#[test]
fn boxes_stand_on_links_and_stations_too() {
    let text = "duration = \"20s\"\n[cells.home]\n[stations.wlan0]\n[links.core]\nends = [\"home\", \"server\"]\n\
                rate = \"20Mbit\"\ndelay = \"5ms\"\n[middleboxes.home]\nstation = \"wlan0\"\nkind = \"nat\"\n\
                [middleboxes.proxy]\nlink = \"core\"\nkind = \"strip-options\"\n[flows.f]\nbytes = \"1MB\"\n";
    let flow = simulate(text);
    assert!(flow.intact && flow.bytes_received_total == 1_000_000, "{flow:?}");
    assert_eq!(flow.fallback.map(|fallback| fallback.reason), Some("options were removed from the SYN"));
}
