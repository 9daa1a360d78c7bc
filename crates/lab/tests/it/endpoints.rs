//! Endpoints of Linux's path manager in scenarios: which paths get subflows, and which carry data.

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// A flow over three paths of 8 Mb/s, whose client has the interfaces 0 to 2.
fn flow(keys: &str) -> Result<FlowSummary, String> {
    let text = format!(
        "duration = \"8s\"\n[paths.wifi]\nrate = \"8Mbit\"\nrtt = \"20ms\"\n[paths.lte]\nrate = \"8Mbit\"\nrtt = \"50ms\"\n\
         [paths.sat]\nrate = \"8Mbit\"\nrtt = \"80ms\"\n[flows.f]\n{keys}\n"
    );
    let scenario = Scenario::parse(&text, "endpoints").map_err(|error| error.to_string())?;
    let measured = World::new(&scenario, 1).expect("a network").run().expect("it ends");
    let flow = measured.flows.into_iter().next().expect("one flow");
    assert!(flow.intact && flow.multipath);
    Ok(flow)
}

/// Bytes sent on each path, in megabytes.
fn sent(endpoints: &str, limits: &str) -> [f64; 3] {
    let keys = format!("path_manager = {{ kind = \"kernel\", endpoints = \"{endpoints}\"{limits} }}");
    let flow = flow(&keys).unwrap_or_else(|error| panic!("{error}"));
    let on = |name: &str| {
        let path = flow.paths.iter().find(|path| path.path == name);
        path.map_or(0.0, |path| path.bytes_acked as f64 / 1e6)
    };
    let sent = [on("wifi"), on("lte"), on("sat")];
    println!("{endpoints:?}{limits}: {sent:.2?} MB");
    sent
}

#[test]
fn only_paths_with_a_subflow_endpoint_are_used() {
    assert!(matches!(sent("", ""), [wifi, 0.0, 0.0] if wifi > 6.0));
    assert!(matches!(sent("dev 2 subflow", ""), [_, 0.0, sat] if sat > 5.0));
    assert!(matches!(sent("any subflow", ", subflows = 1"), [_, lte, 0.0] if lte > 5.0));
    assert!(matches!(sent("any subflow", ""), [_, lte, sat] if lte > 5.0 && sat > 5.0));
}

/// With one address of the server, a `subflow` endpoint on each address opens the subflows of `fullmesh`: one per path.
#[test]
fn endpoints_on_all_addresses_open_the_subflows_of_fullmesh() {
    let subflows = |manager: &str| {
        let flow = flow(&format!("path_manager = {manager}")).unwrap_or_else(|error| panic!("{error}"));
        flow.paths.iter().map(|path| (path.path.clone(), path.subflows)).collect::<Vec<_>>()
    };
    let mesh = subflows("\"fullmesh\"");
    println!("fullmesh: {mesh:?}");
    assert_eq!(mesh, [("wifi", 1), ("lte", 1), ("sat", 1)].map(|(path, count)| (path.to_owned(), count)));
    for endpoints in ["any subflow", "any subflow fullmesh"] {
        assert_eq!(subflows(&format!("{{ kind = \"kernel\", endpoints = \"{endpoints}\" }}")), mesh);
    }
}

#[test]
fn backup_endpoint_carries_no_data_while_another_path_works() {
    assert!(matches!(sent("dev 1 subflow backup", ""), [wifi, lte, 0.0] if wifi > 6.0 && lte < 0.01));
}

#[test]
fn errors_name_the_endpoint() {
    for (keys, problem) in [
        (
            "endpoints = \"wifi subflow\"",
            "flows.f.path_manager.endpoints = \"wifi subflow\": \"wifi subflow\": expected an address",
        ),
        ("endpoints = \"any signal fullmesh\"", "signal and fullmesh exclude each other"),
        ("subflows = 9", "flows.f.path_manager.subflows = 9: expected a whole number from 0 to 8, not 9"),
    ] {
        let error =
            flow(&format!("path_manager = {{ kind = \"kernel\", {keys} }}")).err().unwrap_or_default();
        assert!(error.contains(problem), "{keys}: {error}");
    }
}
