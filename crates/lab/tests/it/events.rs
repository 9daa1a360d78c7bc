//! Observed runs: their results, no effect of observation, and bounded memory. `UPDATE=1 cargo test -p
//! mptcp-lab --test it events::` writes the tables of docs/events.md.

use mptcp_lab::Instant;
use mptcp_lab::events::{Events, Filter, RENAMED_KINDS, kinds};
use mptcp_lab::measurements::Measurements;
use mptcp_lab::mptcp::observe::{Field, PathLimit};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

const TWO: &str = "duration = \"4s\"\n[paths.wifi]\nrate = \"10Mbit\"\ndelay = \"10ms\"\nqueue = \"50p\"\n\
                   [paths.lte]\nrate = \"8Mbit\"\ndelay = \"30ms\"\nloss = \"1%\"\n[flows.a]\n";

fn run(text: &str, filter: Option<Filter>) -> Measurements {
    let scenario = Scenario::parse(text, "events").expect("a scenario");
    let mut world = World::new(&scenario, 1).expect("a network");
    if let Some(filter) = filter {
        world.observe(filter);
    }
    world.run().expect("it ends")
}

fn traced(text: &str, names: &[&str]) -> (Measurements, Events) {
    let mut measured = run(text, Some(Filter::named(names.iter().copied()).expect("names of kinds")));
    let events = measured.events.take().expect("it was observed");
    (measured, events)
}

/// Number of rows with this type and detail.
fn count(events: &Events, kind: &str, what: &str) -> usize {
    let columns = &events.columns;
    let word = |at: u8| columns.words[usize::from(at)];
    (0..columns.len()).filter(|&at| word(columns.kind[at]) == kind && word(columns.what[at]) == what).count()
}

#[test]
fn who_looks_changes_nothing() {
    let silent = TWO.replace("loss = \"1%\"", "loss = \"100%\"") + "direction = \"download\"\n";
    let voice = format!("{TWO}[flows.voice]\ntransport = \"udp\"\nrate = \"64kbit\"\n");
    for text in [TWO, &silent, &voice] {
        let (plain, (mut seen, events)) = (run(text, None), traced(text, &["all"]));
        assert!(plain.events.is_none() && events.columns.len() > 10_000, "{}", events.columns.len());
        for flow in &mut seen.flows {
            (flow.capacity, flow.best_capacity, flow.full_buffers) = (None, None, Vec::new());
            for path in &mut flow.paths {
                (path.limits, path.sender_limits, path.blamed) = (Vec::new(), Vec::new(), 0.0);
                (path.capacity, path.best_capacity, path.base_rtt) = (None, None, None);
                (path.ack_wait, path.ack_queue) = (None, None);
                path.is_backup = false;
                (path.queue_wait, path.queue_at, path.places) = (None, None, Vec::new());
                path.drops = None;
            }
            for absent in &mut flow.never_joined {
                (absent.best_capacity, absent.down) = (None, 0.0);
            }
        }
        assert_eq!(plain.samples, seen.samples);
        // As text, because a path without RTT samples has NaN.
        assert_eq!(format!("{:?}", plain.flows), format!("{:?}", seen.flows));
        assert_eq!(plain.links, seen.links);
    }
    let absent = &run(&silent, None).flows[0].never_joined;
    assert!(absent.len() == 1 && absent[0].path == "lte", "{absent:?}");
    assert!(run(TWO, None).flows[0].never_joined.is_empty());
}

#[test]
fn nothing_is_said_of_what_holds_datagrams_back() {
    let text = format!("{TWO}[flows.voice]\ntransport = \"udp\"\nrate = \"64kbit\"\n");
    let flows = run(&text, Some(Filter::NONE)).flows;
    let voice = flows.iter().find(|flow| flow.flow == "voice").expect("it is there");
    assert!(voice.paths.len() == 1 && voice.paths[0].limits.is_empty(), "{voice:?}");
}

#[test]
fn a_path_is_joining_before_its_first_subflow() {
    let measured = run(&TWO.replace("[flows.a]", "[flows.a]\nbytes = \"100kB\""), Some(Filter::NONE));
    let lte = &measured.flows[0].paths[1];
    let share = |limit: PathLimit| {
        lte.limits.iter().find(|(name, _)| *name == limit.name()).expect("all are there").1
    };
    assert!(share(PathLimit::Joining) > 0.2 && share(PathLimit::Closed) < 0.01, "{lte:?}");
}

#[test]
fn subflows_of_shared_addresses_keep_their_own_names() {
    let flow = |name: &str, path: &str, count: u32| {
        format!("[flows.{name}]\npaths = [\"{path}\"]\npath_manager = \"ndiffports\"\nsubflows = {count}\n")
    };
    let flows = [flow("a", "wifi", 2), flow("b", "lte", 2), flow("c", "wifi", 3)].concat();
    let (measured, events) = traced(&TWO.replace("[flows.a]\n", &flows), &["subflow"]);
    assert_eq!(measured.path_names, ["wifi", "lte", "wifi#2", "lte#2", "wifi#3"]);
    let of = |flow: u16| {
        let rows = (0..events.columns.len()).filter(|&at| events.columns.flow[at] == flow);
        rows.map(|at| events.columns.path[at]).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(
        [of(0), of(1), of(2)].map(|paths| paths.into_iter().collect::<Vec<_>>()),
        [vec![0, 2], vec![1, 3], vec![0, 2, 4]]
    );
    let limits = |flow: usize| measured.flows[flow].paths.iter().map(|path| path.limits.len()).min();
    assert!(limits(2) > Some(0), "{:?}", measured.flows[2].paths);
}

#[test]
fn losses_retransmissions_and_drops_agree() {
    let (measured, events) =
        traced(TWO, &["loss", "retransmission", "drop", "timeout", "rtt", "window", "subflow"]);
    let sum = |pick: fn(&mptcp_lab::measurements::PathSummary) -> u64| {
        measured.flows[0].paths.iter().map(pick).sum::<u64>() as usize
    };
    assert_eq!(count(&events, "retransmission", "again"), sum(|path| path.retransmits));
    assert_eq!(count(&events, "timeout", "retransmission"), sum(|path| path.timeouts));
    let lost: u64 = measured.links.iter().map(|link| link.random_losses).sum();
    assert_eq!(count(&events, "drop", "random_loss"), lost as usize);
    let full: u64 = measured.links.iter().map(|link| link.queue_drops).sum();
    assert_eq!(count(&events, "drop", "queue_full"), full as usize);
    assert!(count(&events, "loss", "rack") > 5 && count(&events, "rtt", "sample") > 500);
    assert_eq!(count(&events, "subflow", "established"), 4);
    assert!(events.columns.at.is_sorted());
    assert_eq!(events.hosts, ["client", "server"]);
}

#[test]
fn each_new_byte_is_told_of_once_in_order() {
    let (measured, events) = traced(TWO, &["schedule"]);
    let columns = &events.columns;
    let mut next = 0;
    for (offset, bytes) in columns.numbers[0].iter().zip(&columns.numbers[1]) {
        assert_eq!(*offset, next);
        next += bytes;
    }
    assert!(next >= measured.flows[0].bytes_received_total);
}

#[test]
fn options_come_as_they_left() {
    let (_, events) = traced(TWO, &["option_in", "option_out"]);
    for what in ["mp_capable", "mp_join"] {
        assert_eq!((count(&events, "option_out", what), count(&events, "option_in", what)), (3, 3), "{what}");
    }
}

#[test]
fn reinjections_and_penalties_are_those_of_the_summary() {
    let text = "duration = \"6s\"\n[paths.wifi]\nrate = \"20Mbit\"\nrtt = \"20ms\"\nqueue = \"40p\"\n[paths.lte]\nrate = \"10Mbit\"\n\
                rtt = \"150ms\"\n[flows.a]\nrcvbuf = \"300kB\"\nscheduler = \"minrtt\"\npenalisation = true\n\
                opportunistic_retransmission = true\nopportunistic_rule = \"original\"\npenalty_rule = \"original\"\n";
    let (measured, events) =
        traced(text, &["penalty", "reinjection", "connection_blocked", "subflow_blocked"]);
    let flow = &measured.flows[0];
    assert!(flow.penalties > 0 && flow.reinjected > 0, "{flow:?}");
    assert_eq!(count(&events, "penalty", "halved"), flow.penalties as usize);
    let word = |at: u8| events.columns.words[usize::from(at)];
    let columns = &events.columns;
    let again = (0..columns.len()).filter(|&at| word(columns.kind[at]) == "reinjection");
    assert_eq!(again.map(|at| columns.numbers[1][at]).sum::<u64>(), flow.reinjected);
    let lte = flow.paths.iter().find(|path| path.path == "lte").expect("it was used");
    assert!(lte.limits.iter().any(|(name, share)| *name == "penalty" && *share > 0.5), "{lte:?}");
}

/// Slow start overflows a queue of a third of a BDP, because delays show the queue one RTT late; there is no
/// random loss. Penalisation (M2) halves the window once during the repair, which then takes the rest of the
/// time to grow back.
#[test]
fn a_window_that_m2_halved_among_losses_is_m2_s() {
    let share = |more: &str, wanted: &str| {
        let text = format!(
            "duration = \"15s\"\n[paths.wifi]\nrate = \"17937kbit\"\ndelay = \"65978us\"\nqueue = \"63p\"\n[paths.lte]\n\
             rate = \"14492kbit\"\ndelay = \"14315us\"\nqueue = \"57p\"\n[flows.a]\nrcvbuf = \"805kB\"\nsndbuf = \"16MB\"\n\
             scheduler = \"minrtt\"\ncongestion = \"lia\"\ncoupling_scope = \"all\"\nopportunistic_retransmission = true\nopportunistic_rule = \"original\"\n{more}\n\
             [jitter]\nstart = \"0s\"\nprocessing = \"0s\"\n"
        );
        let (measured, _) = traced(&text, &["penalty"]);
        let wifi = measured.flows[0].paths.iter().find(|path| path.path == "wifi").expect("it was used");
        wifi.limits.iter().find(|(name, _)| *name == wanted).map_or(0.0, |(_, share)| *share)
    };
    let (with_it, without) = ("penalisation = true\npenalty_rule = \"original\"", "penalisation = false");
    // The link was busy for the rest of the time.
    assert!(share(with_it, "penalty") > 0.4, "{}", share(with_it, "penalty"));
    assert!(share(without, "penalty") == 0.0 && share(without, "loss") < 0.2, "{}", share(without, "loss"));
}

#[test]
fn shares_of_a_path_leave_no_time_unexplained() {
    let measured = run(TWO, Some(Filter::NONE));
    assert!(measured.events.as_ref().is_some_and(|events| events.columns.is_empty()));
    for path in &measured.flows[0].paths {
        // They add up to one by construction, but the remainder must be zero.
        let left =
            path.limits.iter().find(|(name, _)| *name == PathLimit::Closed.name()).expect("all are there").1;
        assert!(left < 1e-3, "{left} {path:?}");
    }
    let share = |path: usize, limit: PathLimit| {
        let limits = &measured.flows[0].paths[path].limits;
        limits.iter().find(|(name, _)| *name == limit.name()).map_or(0.0, |(_, share)| *share)
    };
    assert!(
        share(0, PathLimit::Capacity) > 0.6 && share(1, PathLimit::Loss) > 0.3,
        "{:?}",
        measured.flows[0].paths
    );
}

#[test]
fn what_is_beyond_the_limit_is_counted_and_not_kept() {
    let (_, events) = traced(&format!("{TWO}[limits]\ntrace = 100\n"), &["all"]);
    assert_eq!(events.columns.len(), 100);
    assert!(events.columns.dropped > 10_000, "{}", events.columns.dropped);
}

#[test]
fn a_billion_rows_are_refused_or_fit() {
    let text = format!("{TWO}[limits]\ntrace = 1000000000\n");
    let said = Scenario::parse(&text, "much").expect_err("too many").to_string();
    assert!(said.contains("limits.trace = 1000000000: the rows of events would take 44.0 GB"), "{said}");
    let text = format!("{TWO}[limits]\ntrace = 1000000000\nmemory = \"50GB\"\n");
    assert!(Scenario::parse(&text, "much").is_ok());
}

#[test]
fn events_of_many_runs_are_refused_or_fit() {
    let scenario = Scenario::parse(TWO, "many").expect("a scenario");
    assert_eq!((scenario.check_traced_runs(10), scenario.check_runs(1000)), (Ok(()), Ok(())));
    let said = scenario.check_traced_runs(1000).expect_err("too many").to_string();
    assert!(
        said.contains("the events of 1000 runs would take") && said.contains("lower limits.trace"),
        "{said}"
    );
    let text = format!("{TWO}[limits]\ntrace = 1000\n");
    assert_eq!(Scenario::parse(&text, "few").expect("a scenario").check_traced_runs(1000), Ok(()));
}

#[test]
fn only_the_time_that_was_asked_for() {
    let filter = Filter::named(["all"]).expect("a name");
    let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
    let measured = run(TWO, Some(Filter { from: at(1), until: at(2), ..filter }));
    let events = measured.events.expect("it was observed");
    let within = |&time: &u64| (1_000_000_000..2_000_000_000).contains(&time);
    assert!(!events.columns.is_empty() && events.columns.at.iter().all(within));
    assert_eq!(Filter::named(["loss", "nonsense"]).expect_err("no kind"), "nonsense");
}

#[test]
fn marks_are_told_of() {
    let text = "duration = \"3s\"\n[paths.dsl]\nrate = \"10Mbit\"\nrtt = \"40ms\"\nqueue = { kind = \"codel\", ecn = true }\n\
                [flows.a]\ntransport = \"tcp\"\necn = \"on\"\n";
    let (measured, events) = traced(text, &["mark", "window"]);
    let marks: u64 = measured.links.iter().filter_map(|link| link.queue_marks).sum();
    assert!(marks > 0);
    assert_eq!(count(&events, "mark", "marked"), marks as usize);
    assert!(count(&events, "window", "marks") > 0);
}

#[test]
fn old_names_of_types_select_the_new_ones() {
    for (old, new) in RENAMED_KINDS {
        let filter = |name| Filter::named([name]).expect("a type");
        assert_eq!(filter(*old), filter(*new), "{old}");
    }
}

#[test]
fn the_tables_of_the_page_are_up_to_date() {
    let mut table = String::from("| kind | says | its numbers |\n|---|---|---|\n");
    for (name, says, fields) in kinds() {
        table += &format!(
            "| `{name}` | {says} | {} |\n",
            fields.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        );
    }
    table += "\n| column | says |\n|---|---|\n";
    for field in Field::ALL {
        table += &format!("| `{}` | {} |\n", field.name(), field.says());
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (begin, end) = ("<!-- kinds -->\n", "<!-- end -->");
    let from = page.find(begin).expect("a place for the tables") + begin.len();
    let to = page.find(end).expect("its end");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &page[..from], &page[to..])).expect("it can be written");
        return;
    }
    assert!(page[from..to] == table, "UPDATE=1 cargo test -p mptcp-lab --test it events:: writes it");
}
