//! mptcplab's stack over emulated links, in real time without devices.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mptcp_emulator::wire::{Hosts, Order, refuse, run};
use mptcp_emulator::{Driver, Emulation, EmulatorError};
use mptcp_lab::scenario::Scenario;

const TWO: &str = "duration = \"1500ms\"\nsample = \"100ms\"\n\
    [paths.a]\nrate = \"20Mbit\"\nrtt = \"10ms\"\nqueue = \"60p\"\n\
    [paths.b]\nrate = \"10Mbit\"\nrtt = \"30ms\"\nqueue = \"60p\"\n";

fn scenario(flows: &str) -> Scenario {
    Scenario::parse(&format!("{TWO}{flows}"), "two").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn both_ends_speak_over_all_paths_and_a_single_address_answers_by_the_way_to_each() {
    let scenario = Arc::new(scenario("[flows.f]\n[flows.t]\ntransport = \"tcp\"\npaths = [\"b\"]\n"));
    let emulation = Emulation::new(&scenario, 1).expect("it can be");
    let plan = emulation.plan().clone();
    let (hosts, attached) = Hosts::start(&plan).expect("threads");
    // The client has both links; the accepting host has one address.
    assert_eq!(
        attached.iter().map(|one| (one.host, one.device)).collect::<Vec<_>>(),
        [(0, Some(0)), (0, Some(1)), (1, None)]
    );
    assert_eq!(plan.hosts[1].way(plan.hosts[0].devices[1].address), Some(1));
    assert_eq!(plan.hosts[1].way([10, 99, 0, 1].into()), None);
    let driver = Driver::start(emulation, scenario.links.len(), attached, None).expect("a thread");
    let order = Order { scenario, plan, hosts: Arc::new(hosts) };
    let ran = run(&order, &driver, &AtomicBool::new(false)).expect("it runs");
    assert!(driver.is_running());
    assert!(ran.flows.iter().all(|flow| flow.problem.is_none()), "{:?}", ran.flows);
    let [multi, tcp] = &ran.measured.flows[..] else { panic!("two flows") };
    assert!(multi.intact && tcp.intact && multi.multipath && !tcp.multipath);
    assert!(multi.paths.iter().all(|path| path.bytes_acked > 20_000), "{:?}", multi.paths);
    assert!(tcp.bytes_received_total > 20_000);
    // Acknowledgements return on the path of their data.
    assert!(ran.measured.links.iter().all(|link| link.sent_frames > 20), "{:?}", ran.measured.links);
    driver.stop().expect("it ends");
}

#[test]
fn what_looks_at_its_own_interface_or_is_no_stream_is_refused() {
    for (flow, says) in [
        ("small_queues = \"10KB\"\n", "small_queues"),
        ("send_queue_rule = \"published\"\n", "send_queue_rule"),
    ] {
        let refused = refuse(&scenario(&format!("[flows.f]\n{flow}")));
        assert!(
            matches!(&refused, Err(EmulatorError::Departures { key, .. }) if *key == says),
            "{refused:?}"
        );
    }
    let refused = refuse(&scenario("[flows.f]\nblocks = \"8KiB\"\n"));
    assert!(matches!(refused, Err(EmulatorError::Traffic { what: "blocks", .. })), "{refused:?}");
    assert!(refuse(&scenario("[flows.f]\nbytes = \"1MB\"\n")).is_ok());
}
