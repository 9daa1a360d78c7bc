//! Names and descriptions of the public interface, as tables and commands print them.

use mptcp::observe::{Detection, Field, Kind, PathLimit, Picked, Reinjected, WindowChange};
use mptcp::policy::{Parameters, Policies, Value};
use mptcp::{Config, EndpointBounds, Limit};

use super::check_text;

#[test]
fn public_names_match_the_record() {
    let mut lines = Vec::new();
    let policies = Policies::default();
    let mut add = |line: String| lines.push(line);
    for entry in policies.congestion.entries() {
        add(format!("{} {}: {}", policies.congestion.kind(), entry.name(), entry.about()));
    }
    for entry in policies.schedulers.entries() {
        add(format!("{} {}: {}", policies.schedulers.kind(), entry.name(), entry.about()));
    }
    for entry in policies.path_managers.entries() {
        add(format!("{} {}: {}", policies.path_managers.kind(), entry.name(), entry.about()));
    }
    add(format!("{policies:?}"));
    for kind in Kind::ALL {
        let fields: Vec<_> = kind.fields().iter().map(|field| field.name()).collect();
        add(format!("event {} {fields:?}: {} {:?}", kind.name(), kind.says(), Kind::named(kind.name())));
    }
    for field in Field::ALL {
        add(format!("field {}: {}", field.name(), field.says()));
    }
    for limit in PathLimit::ALL {
        add(format!("path limit {limit:?}: {}", limit.name()));
    }
    for limit in Limit::ALL {
        add(format!("limit {limit:?}: {}", limit.name()));
    }
    let windows = [
        WindowChange::Initial,
        WindowChange::SlowStart,
        WindowChange::Avoidance,
        WindowChange::Loss,
        WindowChange::Recovery,
        WindowChange::Timeout,
        WindowChange::Marks,
        WindowChange::Undone,
        WindowChange::Penalty,
        WindowChange::Reduced,
    ];
    add(format!("windows {:?}", windows.map(WindowChange::word)));
    let found = [Detection::Rack, Detection::Sack, Detection::Duplicates, Detection::Timeout];
    add(format!("losses {:?}", found.map(Detection::word)));
    let picked = [Picked::Only, Picked::Fastest, Picked::FasterFull, Picked::PassedOver, Picked::OutOfTurn];
    add(format!("picked {:?}", picked.map(Picked::word)));
    let again = [Reinjected::Stalled, Reinjected::Opportunistic, Reinjected::Redundant];
    add(format!("reinjected {:?}", again.map(Reinjected::word)));
    add(format!("{:?}", EndpointBounds::default()));
    for (name, config) in
        [("default", Config::default()), ("historical", Config::historical()), ("tcp", Config::tcp())]
    {
        add(format!("{name}: {config:?}"));
    }
    check_text("public_names", &lines.join("\n"));
}

#[test]
fn parameter_errors_match_the_record() {
    let policies = Policies::default();
    let mut lines = Vec::new();
    let with = |key: &str, value: Value| Parameters::default().with(key, value);
    let wrong = [
        ("cubic", with("as", Value::Text("other".into()))),
        ("cubic", with("as", Value::Integer(3))),
        ("cubic", with("as", Value::Text("linux".into())).with("hertz", Value::Integer(0))),
        ("cubic", with("as", Value::Text("linux".into())).with("hertz", Value::Integer(1000))),
        ("cubic", with("as", Value::Text("linux".into())).with("hertz", Value::Integer(1001))),
        ("cubic", with("as", Value::Text("linux".into())).with("hertz", Value::Float(0.5))),
        ("cubic", with("hertz", Value::Integer(100))),
        ("reno", with("beta", Value::Float(0.5)).with("c", Value::Boolean(true))),
        ("rneo", Parameters::default()),
    ];
    for (name, parameters) in wrong {
        let given: Vec<_> = parameters.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let found = policies.congestion.find_with(name, parameters);
        let said = found.map_or_else(|error| error.to_string(), |_| "taken".into());
        lines.push(format!("{name} with {}: {said}", given.join(", ")));
    }
    for count in [0, 1, 8, 9] {
        let parameters = with("subflows", Value::Integer(count));
        let found = policies.path_managers.find_with("ndiffports", parameters);
        let said = found.map_or_else(|error| error.to_string(), |made| format!("{made:?}"));
        lines.push(format!("ndiffports with {count}: {said}"));
    }
    let mut all = with("a", Value::Float(0.5)).with("b", Value::Boolean(true)).with("c", Value::Integer(7));
    lines.push(format!("{:?} {:?}", all.number("a", 1.0, 0.0..=1.0), all.number("none", 1.0, 0.0..=1.0)));
    lines.push(format!("{:?} {:?}", all.number("a", 1.0, 0.6..=1.0), all.number("c", 1.0, 0.0..=7.0)));
    lines.push(format!("{:?} {:?} {:?}", all.flag("b", false), all.flag("none", true), all.flag("c", false)));
    lines.push(format!("{:?} {:?}", all.count("c", 1, 0..=9), all.count("b", 1, 0..=9)));
    lines.push(format!("{:?} {:?}", all.text("c"), all.text("none")));
    lines.push(format!("{} {:?}", all.is_empty(), all.with("d", Value::Integer(1)).finish()));
    check_text("parameter_errors", &lines.join("\n"));
}
