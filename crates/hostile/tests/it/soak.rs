//! A short day of virtual time: the heap of its last hour equals the heap of its second.

use mptcp_clock::Duration;
use mptcp_hostile::soak::{Plan, run};

#[test]
fn nothing_piles_up_in_a_day() {
    let plan = Plan { connections: 10_000, hostile: 100, day: Duration::from_secs(86_400) };
    let hours = run(plan, |_, _| {});
    assert!(hours[23].complete > 9_890, "honest clients got their answers: {:?}", hours[23]);
    let ratio = hours[23].live / hours[1].live;
    assert!(ratio <= 1.02, "hour 24 / hour 2: {ratio}");
}

/// Without attackers, the same holds, and each client gets its answer.
#[test]
fn honest_clients_leave_nothing() {
    let plan = Plan { connections: 5_000, hostile: u64::MAX, day: Duration::from_secs(86_400) };
    let hours = run(plan, |_, _| {});
    assert!(hours[23].complete >= 4_999, "{:?}", hours[23]);
    assert!(hours[23].live / hours[1].live <= 1.02, "{:?} and {:?}", hours[1], hours[23]);
}
