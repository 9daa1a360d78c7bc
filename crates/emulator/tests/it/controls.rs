//! Manual changes of running links, in virtual time.

use mptcp_emulator::{Control, Emulation};
use mptcp_lab::scenario::Scenario;

use crate::scenes::{ms, offer, there, until};

const TEXT: &str = "duration = \"10s\"\n[paths.p]\nrate = \"1Mbit\"\ndelay = \"5ms\"\n[flows.f]\n";

fn network() -> (Scenario, Emulation) {
    let scenario = Scenario::parse(TEXT, "s.toml").expect("a scenario");
    let emulation = Emulation::new(&scenario, 1).expect("a network");
    (scenario, emulation)
}

/// Number of delivered packets, out of packets offered every 20 ms.
fn delivered(emulation: &mut Emulation, from: u64, to: u64) -> usize {
    let mut count = 0;
    for now in (from..to).step_by(20) {
        offer(emulation, ms(now), 0, &there(1000));
        count += until(emulation, ms(now + 19)).len();
    }
    count
}

#[test]
fn a_link_goes_down_and_comes_back() {
    let (scenario, mut emulation) = network();
    let set = |emulation: &mut Emulation, now, key, value| {
        emulation.change(ms(now), &Control::read(&scenario, "p", key, value).expect("a change"));
    };
    assert_eq!(delivered(&mut emulation, 0, 200), 10);
    set(&mut emulation, 200, "up", "false");
    assert_eq!(delivered(&mut emulation, 200, 400), 0);
    set(&mut emulation, 400, "up", "true");
    assert_eq!(delivered(&mut emulation, 400, 600), 10);
    set(&mut emulation, 600, "loss", "100%");
    assert_eq!(delivered(&mut emulation, 600, 800), 0);
    set(&mut emulation, 800, "loss", "0%");
    assert_eq!(delivered(&mut emulation, 800, 1000), 10);
}

#[test]
fn rate_and_delay_change_when_a_packet_arrives() {
    let (scenario, mut emulation) = network();
    let arrives = |emulation: &mut Emulation, now: u64| {
        offer(emulation, ms(now), 0, &there(986));
        (now..now + 500).find(|&at| !until(emulation, ms(at)).is_empty()).map(|at| at - now)
    };
    // A frame of 1000 bytes takes 8 ms at 1 Mb/s, plus 5 ms of propagation.
    assert_eq!(arrives(&mut emulation, 0), Some(13));
    emulation.change(ms(1000), &Control::read(&scenario, "p", "rate", "100kbit").expect("a change"));
    assert_eq!(arrives(&mut emulation, 1000), Some(85));
    emulation.change(ms(2000), &Control::read(&scenario, "p", "delay", "50ms").expect("a change"));
    assert_eq!(arrives(&mut emulation, 2000), Some(130));
}

#[test]
fn what_cannot_be_changed_is_said() {
    let (scenario, _) = network();
    for (link, key, value, says) in [
        ("q", "up", "true", "there is no link \"q\" (there are: p)"),
        ("p", "colour", "red", "there is no \"colour\" to change (there are: up, rate, delay, loss, queue)"),
        ("p", "up", "no", "up = \"no\": expected true or false"),
        ("p", "rate", "2", "rate = \"2\": needs a unit"),
        ("p", "delay", "-1ms", "delay = \"-1ms\": must not be negative"),
        ("p", "loss", "200%", "loss = \"200%\": must be between 0% and 100%"),
        ("p", "queue", "0p", "queue = \"0p\": must be a whole number of packets, at least 1p"),
    ] {
        let problem = Control::read(&scenario, link, key, value).expect_err(says);
        assert!(problem.contains(says), "{problem}");
    }
}
