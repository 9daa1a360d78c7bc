//! Congestion controllers, schedulers and path managers in scenarios: by name, with parameters, and from a
//! registry.

use std::sync::Arc;

use mptcp_lab::mptcp::congestion::Reno;
use mptcp_lab::mptcp::path_manager::NdiffPorts;
use mptcp_lab::mptcp::scheduler::{Scheduler, SendView};
use mptcp_lab::scenario::{Draft, Flow, Scenario};
use mptcp_lab::world::World;
use mptcp_lab::{Duration, Instant, Registry, registered};

/// Uses the last available subflow.
#[derive(Clone, Debug)]
struct Last;

impl Scheduler for Last {
    fn name(&self) -> &'static str {
        "last"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        view.candidates.iter().rposition(|candidate| candidate.is_available)
    }
}

/// One policy of each kind, with a parameter of each type.
fn registry() -> Arc<Registry> {
    let registry = Registry::new()
        .scheduler("last", "The last with room", |values| {
            values.number("weight", 0.5, 0.0..=1.0)?;
            values.flag("often", false)?;
            values.text("word")?;
            Ok(Last.into())
        })
        .and_then(|registry| registry.congestion("calm", "Reno again", |_| Ok(Reno.into())))
        .and_then(|registry| {
            registry.path_manager("ports", "Several, of the same ports", |values| {
                let subflows = values.count("subflows", 3, 1..=5)? as u8;
                Ok(NdiffPorts { subflows }.into())
            })
        });
    Arc::new(registry.expect("no name is taken"))
}

fn draft(keys: &str) -> Draft {
    let text = format!(
        "duration = \"5s\"\n[paths.wifi]\nrate = \"8Mbit\"\n[paths.lte]\nrate = \"8Mbit\"\n[flows.f]\n{keys}\n"
    );
    Draft::parse_with(&text, "test.toml", &registry()).expect("it is TOML")
}

fn finish(keys: &str) -> Result<Scenario, String> {
    draft(keys).finish().map_err(|error| error.to_string())
}

fn flow(keys: &str) -> Flow {
    finish(keys).unwrap_or_else(|error| panic!("{error}")).flows.remove(0)
}

#[test]
fn a_name_is_short_for_a_table_without_values() {
    let table = "congestion = { kind = \"olia\" }\nscheduler = { kind = \"last\" }\npath_manager = { kind = \"fullmesh\" }";
    assert_eq!(flow("congestion = \"olia\"\nscheduler = \"last\"\npath_manager = \"fullmesh\""), flow(table));
    let ports = flow("path_manager = \"ndiffports\"\nsubflows = 4");
    assert_eq!(ports, flow("path_manager = { kind = \"ndiffports\", subflows = 4 }"));
    assert_eq!((ports.ports(), flow("path_manager = \"ndiffports\"").ports()), (Some(4), Some(2)));
    let others = flow("path_manager = { kind = \"ports\", subflows = 5 }");
    assert_eq!((others.ports(), flow("").ports()), (Some(5), None));
}

#[test]
fn what_was_chosen_is_written_back_in_the_shortest_form() {
    for (keys, wanted) in [
        ("scheduler = \"last\"", "scheduler = \"last\"\n"),
        ("scheduler = { kind = \"last\" }", "scheduler = \"last\"\n"),
        ("congestion = { kind = \"calm\" }", "congestion = \"calm\"\n"),
        ("path_manager = { kind = \"ndiffports\", subflows = 4 }", "subflows = 4\n"),
        (
            "scheduler = { kind = \"last\", weight = 0.25, often = true, word = \"x\" }",
            "[flows.f.scheduler]\nkind = \"last\"\nweight = 0.25\noften = true\nword = \"x\"\n",
        ),
    ] {
        let scenario = finish(keys).unwrap_or_else(|error| panic!("{error}"));
        let text = scenario.to_toml();
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
        let again = Draft::parse_with(&text, "again.toml", &registry()).and_then(|draft| draft.finish());
        assert_eq!(again, Ok(scenario));
    }
}

#[test]
fn what_comes_from_elsewhere_is_told() {
    let scenario = finish(
        "congestion = \"calm\"\nscheduler = { kind = \"last\", weight = 1 }\npath_manager = \"ports\"",
    );
    assert_eq!(
        registered(&scenario.unwrap_or_else(|error| panic!("{error}"))),
        ["congestion of f: calm", "scheduler of f: last (weight = 1)", "path manager of f: ports"]
    );
    let page = registry().reference_page();
    for line in
        ["## Schedulers of this build", "| `\"last\"` | The last with room |", "`\"reno\"`, `\"cubic\"`"]
    {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (keys, wanted) in [
        (
            "scheduler = \"lst\"",
            r#"test.toml:7: flows.f.scheduler = "lst": is not one of "ontime", "minrtt", "maxrtt", "linux", "roundrobin", "redundant", "opportunistic-redundant", "weighted-roundrobin", "priority", "backup", "blest", "ecf", "daps", "otias", "sttf", "last"; did you mean "last"?"#,
        ),
        (
            "congestion = \"reno\"\nscheduler = { kind = \"lst\" }",
            r#"test.toml:8: flows.f.scheduler.kind = "lst": is not one of "ontime", "minrtt", "maxrtt", "linux", "roundrobin", "redundant", "opportunistic-redundant", "weighted-roundrobin", "priority", "backup", "blest", "ecf", "daps", "otias", "sttf", "last"; did you mean "last"?"#,
        ),
        (
            "scheduler = { weight = 1 }",
            "test.toml:7: flows.f.scheduler: needs a kind (try kind = \"ontime\")",
        ),
        (
            "scheduler = 5",
            r#"test.toml:7: flows.f.scheduler = 5: expected one of "ontime", "minrtt", "maxrtt", "linux", "roundrobin", "redundant", "opportunistic-redundant", "weighted-roundrobin", "priority", "backup", "blest", "ecf", "daps", "otias", "sttf", "last", in quotes"#,
        ),
        (
            "scheduler = { kind = \"last\", weight = 2 }",
            "test.toml:7: flows.f.scheduler.weight = 2: expected a number from 0 to 1, not 2",
        ),
        (
            "scheduler = { kind = \"last\", weight = [1] }",
            "test.toml:7: flows.f.scheduler.weight = [1]: expected a number, a text, true or false",
        ),
        (
            "scheduler = { kind = \"last\", wait = 2 }",
            "test.toml:7: flows.f.scheduler.wait = 2: unknown parameter; expected one of weight, often, word",
        ),
        (
            "congestion = { kind = \"balia\", beta = 0.5 }",
            "test.toml:7: flows.f.congestion.beta = 0.5: unknown parameter; this policy has none",
        ),
        (
            "path_manager = { kind = \"ndiffports\", subflows = 9 }",
            "test.toml:7: flows.f.path_manager.subflows = 9: expected a whole number from 1 to 8, not 9",
        ),
        (
            "path_manager = { kind = \"ndiffports\", subflows = 3 }\nsubflows = 3",
            "test.toml:8: flows.f.subflows = 3: is also given in path_manager; give only one of them",
        ),
    ] {
        assert_eq!(finish(keys).err().as_deref(), Some(wanted), "{keys}");
    }
}

#[test]
fn values_are_put_over_a_file() {
    let mut draft = draft("scheduler = { kind = \"last\", weight = 0.25 }");
    draft.set("flows.f.scheduler.weight", "0.75").expect("there is such a place");
    let weight = |draft: &Draft| {
        let scenario = draft.finish().unwrap_or_else(|error| panic!("{error}"));
        scenario.flows[0].scheduler.values().get("weight").cloned()
    };
    assert_eq!(weight(&draft), Some(toml::Value::Float(0.75)));
    draft.set("flows.f.scheduler", "minrtt").expect("there is such a place");
    assert_eq!(weight(&draft), None);
}

#[test]
fn values_for_a_default_are_not_those_of_another_policy() {
    let text = |own: &str| format!("{own}\n[defaults]\nscheduler = {{ kind = \"last\", weight = 0.25 }}");
    assert_eq!(flow(&text("")).scheduler.values().len(), 1);
    assert_eq!(flow(&text("scheduler = { weight = 0.5, often = true }")).scheduler.values().len(), 2);
    assert!(flow(&text("scheduler = { kind = \"minrtt\" }")).scheduler.values().is_empty());
    assert_eq!(flow(&text("scheduler = \"redundant\"")).scheduler.kind(), "redundant");
}

#[test]
fn a_name_is_given_once() {
    let said = |registry: Result<Registry, _>| {
        registry.err().map(|error: mptcp_lab::RegistryError| error.to_string())
    };
    let again = Registry::new().scheduler("minrtt", "", |_| Ok(Last.into()));
    assert_eq!(said(again).as_deref(), Some("there is a scheduler called \"minrtt\" already"));
    let capital = Registry::new().congestion("Calm", "", |_| Ok(Reno.into()));
    assert!(said(capital).is_some_and(|said| said.contains("of a congestion controller must begin with")));
}

const SWITCHED: &str = r#"
duration = "10s"
[paths.a]
rate = "10Mbit"
rtt = "20ms"
[paths.b]
rate = "10Mbit"
rtt = "20ms"
[flows.one]
scheduler = "redundant"
[flows.late]
transport = "tcp"
paths = ["a"]
start = "7s"
[[events]]
at = "5s"
flow = "one"
set = { scheduler = "minrtt" }
[[events]]
at = "6s"
flow = "late"
set = { congestion = "cubic" }
"#;

/// Goodput of the flow `one` between two times, Mb/s.
fn goodput_between(world: &mut World, from: f64, until: f64) -> f64 {
    let at = |seconds| Instant::ZERO + Duration::from_secs_f64(seconds);
    let received = |world: &mut World, seconds| {
        world.advance(at(seconds)).expect("it runs");
        world.progress(at(seconds), 0).expect("a flow").received
    };
    let before = received(world, from);
    (received(world, until) - before) as f64 * 8.0 / (until - from) / 1e6
}

#[test]
fn an_event_changes_the_policies_of_a_flow() {
    let scenario = Scenario::parse(SWITCHED, "test.toml").expect("a scenario");
    let mut world = World::new(&scenario, 1).expect("a network");
    let redundant = goodput_between(&mut world, 2.0, 5.0);
    let split = goodput_between(&mut world, 5.5, 7.0);
    assert!(redundant < 10.0 && split > 1.6 * redundant, "{redundant} and {split} Mb/s");
    // A connection that opens after the event has the new policy too.
    world.advance(Instant::ZERO + Duration::from_secs(10)).expect("it runs");
    let slot = world.progress(Instant::ZERO + Duration::from_secs(10), 1).expect("a flow");
    assert!(slot.received > 0);
    let again = Scenario::parse(&scenario.to_toml(), "again.toml").expect("its own text");
    assert_eq!(again.policy_changes, scenario.policy_changes);
}

#[test]
fn an_event_of_a_flow_that_cannot_be_names_its_key() {
    for (wrong, key) in [
        ("flow = \"one\"\nset = { scheduler = \"best\" }", "events[0].set.scheduler"),
        ("flow = \"two\"\nset = { scheduler = \"minrtt\" }", "events[0].flow"),
        ("flow = \"one\"\nset = { up = false }", "events[0]:"),
        ("flow = \"one\"\npath = \"a\"\nset = { scheduler = \"minrtt\" }", "events[0].path"),
        ("path = \"a\"\nset = { congestion = \"cubic\" }", "events[0].set.congestion"),
        ("flow = \"late\"\nset = { scheduler = \"minrtt\" }", "events[0].set.scheduler"),
    ] {
        let (network, _) = SWITCHED.split_once("[[events]]").expect("events");
        let text = format!("{network}[[events]]\nat = \"5s\"\n{wrong}\n");
        let error = Scenario::parse(&text, "test.toml").expect_err(wrong).to_string();
        assert!(error.contains(key), "{wrong}: {error}");
    }
}
