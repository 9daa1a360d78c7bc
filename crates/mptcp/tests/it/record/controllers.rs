//! Every congestion controller on one and two paths, with and without losses, coupled and uncoupled.

use mptcp::policy::{Parameters, Policies, Value};
use mptcp::{Config, CouplingScope, Ecn, InterfaceChange, SendQueueRule, SlowStart};

use super::link::Link;
use super::scenario::Scenario;
use super::world::CLIENT;
use super::{check, check_with_details};

/// All registered controllers, and Linux's CUBIC.
pub fn each() -> Vec<(String, Config)> {
    let policies = Policies::default();
    let of = |name: &str| {
        let congestion = policies.congestion.find(name).unwrap();
        (name.to_string(), Config { congestion, ..Config::default() })
    };
    let mut all: Vec<_> = policies.congestion.names().map(of).collect();
    let values = Parameters::default().with("as", Value::Text("linux".into()));
    let congestion = policies.congestion.find_with("cubic", values).unwrap();
    all.push(("cubic of Linux".into(), Config { congestion, ..Config::default() }));
    all
}

#[test]
fn controllers_match_the_record_on_one_path() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let tcp = Config { multipath: false, ..config };
        let short = Link::new(10, 1250, 20);
        let long = Link::new(30, 2500, 60);
        all.push(
            Scenario::new(format!("{name}, a short queue"), tcp.clone(), std::slice::from_ref(&short))
                .up(500_000),
        );
        all.push(
            Scenario::new(format!("{name}, a long queue"), tcp.clone(), std::slice::from_ref(&long))
                .up(900_000),
        );
        all.push(
            Scenario::new(format!("{name}, losses by chance"), tcp.clone(), &[short.loss(0.01)]).up(400_000),
        );
        let idle = Config { restart_after_idle: Some(true), ..tcp };
        all.push(
            Scenario::new(format!("{name}, blocks with rests"), idle, &[long.lost(&[40, 41])])
                .up(300_000)
                .blocks(60_000, 700),
        );
    }
    check_with_details("controllers", &["reno, a", "bbr3, a", "lia, a"], all);
}

#[test]
fn controllers_match_the_record_on_two_paths() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let links = [Link::new(10, 1000, 20), Link::new(25, 1500, 40).loss(0.003)];
        for scope in [CouplingScope::All, CouplingScope::Shared] {
            let config = Config { coupling: scope, ..config.clone() };
            all.push(Scenario::new(format!("{name}, {scope:?}"), config, &links).up(700_000));
        }
        let marked = [Link { lenient: true, ..links[0].clone().marks(6) }, links[1].clone().marks(12)];
        for (what, first) in [("the second", 1), ("the first", 0)] {
            all.push(
                Scenario::new(
                    format!("{name}, {what} interface goes and comes back, twice"),
                    config.clone(),
                    &marked,
                )
                .up(900_000)
                .at(200, move |w| w.interface(CLIENT, first, InterfaceChange::Down))
                .at(350, move |w| w.interface(CLIENT, first, InterfaceChange::Up))
                .at(500, move |w| w.interface(CLIENT, first, InterfaceChange::Down))
                .at(700, move |w| w.interface(CLIENT, first, InterfaceChange::Up)),
            );
        }
        let unpaced = Config { pacing: false, ..config.clone() };
        let down = links[1].clone();
        all.push(
            Scenario::new(format!("{name}, a path that ends and comes back"), unpaced, &links)
                .up(500_000)
                .at(200, |w| w.links[1].dead = true)
                .at(900, move |w| w.links[1] = down),
        );
    }
    check("controllers_coupled", all);
}

#[test]
fn controllers_match_the_record_with_marks() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let marked = Config { ecn: Some(Ecn::On), abe: true, ..config.clone() };
        let link = Link::new(10, 1250, 60).marks(8);
        all.push(
            Scenario::new(format!("{name}, marks"), marked.clone(), std::slice::from_ref(&link)).up(400_000),
        );
        let strict = Config { abe: false, ..marked };
        let two = [link.clone().loss(0.005), Link::new(20, 1250, 30).marks(12)];
        all.push(Scenario::new(format!("{name}, marks on two paths"), strict, &two).up(400_000));
    }
    for rule in [SendQueueRule::Published, SendQueueRule::Unacked, SendQueueRule::Linked] {
        for (name, config) in each().into_iter().step_by(2) {
            let link = |delay| Link { departures: true, ..Link::new(delay, 1250, 40) };
            let config = Config { send_queue_rule: Some(rule), small_queues: Some(20_000), ..config };
            all.push(
                Scenario::new(format!("{rule:?} around {name}"), config, &[link(10), link(20)]).up(400_000),
            );
        }
    }
    for slow_start in [SlowStart::Standard, SlowStart::HyStart, SlowStart::HyStartPlusPlus] {
        for (name, config) in each().into_iter().step_by(3) {
            for (delay, queue) in [(15, 60), (60, 200)] {
                let config = Config { slow_start, initial_ssthresh: None, ..config.clone() };
                let link = Link::new(delay, 2500, queue).jitter(1);
                all.push(
                    Scenario::new(format!("{slow_start:?}, {name}, {delay} ms"), config, &[link]).up(600_000),
                );
            }
        }
    }
    check("controllers_marks", all);
}
