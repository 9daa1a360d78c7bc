//! Every scheduler over similar and different paths, with and without each mechanism.

use mptcp::policy::Policies;
use mptcp::{Config, Mechanisms, OpportunisticRule, PenaltyRule};

use super::link::Link;
use super::scenario::Scenario;
use super::{check, check_with_details};

fn each() -> Vec<(&'static str, Config)> {
    let policies = Policies::default();
    let of =
        |name| (name, Config { scheduler: policies.schedulers.find(name).unwrap(), ..Config::default() });
    policies.schedulers.names().map(of).collect()
}

#[test]
fn schedulers_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let fast = Link::new(10, 1250, 40);
        let (near, far) = (Link::new(15, 1000, 40), Link::new(120, 500, 60));
        let three = [fast.clone(), near.clone(), far.clone()];
        all.push(Scenario::new(format!("{name}, alike"), config.clone(), &[fast.clone(), near]).up(600_000));
        all.push(Scenario::new(format!("{name}, three"), config.clone(), &three).up(600_000).down(50_000));
        let small = Config { receive_buffer: 60_000, ..config.clone() };
        let two = [fast.clone(), far.clone()];
        all.push(Scenario::new(format!("{name}, a small receive buffer"), small, &two).up(400_000));
        let small = Config { send_buffer: 50_000, ..config.clone() };
        all.push(Scenario::new(format!("{name}, a small send buffer"), small, &two).up(400_000));
        all.push(
            Scenario::new(format!("{name}, blocks"), config.clone(), &two).up(200_000).blocks(20_000, 90),
        );
        let lossy = [fast.clone().loss(0.02), far.loss(0.02)];
        all.push(Scenario::new(format!("{name}, losses"), config.clone(), &lossy).up(300_000).down(100_000));
        let backup = Link { backup: true, ..Link::new(20, 1000, 40) };
        all.push(
            Scenario::new(
                format!("{name}, a backup that is needed"),
                config.clone(),
                &[fast.clone(), backup],
            )
            .up(500_000)
            .at(150, |w| w.links[0].dead = true)
            .at(2500, |w| w.links[0].dead = false),
        );
        let devices = |delay| Link { departures: true, gso: 40_000, ..Link::new(delay, 2500, 90) };
        let queues = Config { small_queues: Some(10_000), ..config };
        all.push(
            Scenario::new(
                format!("{name}, small queues, large segments"),
                queues,
                &[devices(10), devices(30)],
            )
            .up(600_000),
        );
    }
    check_with_details("schedulers", &["ontime"], all);
}

#[test]
fn mechanisms_match_the_record() {
    let mut all = Vec::new();
    let links = [Link::new(10, 1250, 40), Link::new(100, 400, 60).loss(0.003)];
    for bits in 0..16_u32 {
        let mechanisms = Mechanisms {
            opportunistic_retransmission: bits & 1 != 0,
            penalisation: bits & 2 != 0,
            autotuning: bits & 4 != 0,
            shrink_send_buffer: bits & 4 != 0 && bits & 8 != 0,
            receive_buffer_per_path: bits & 1 != 0,
            cwnd_capping: bits & 8 != 0,
            opportunistic_rule: if bits & 2 != 0 {
                OpportunisticRule::Original
            } else {
                OpportunisticRule::Speculative
            },
            penalty_rule: if bits & 4 != 0 { PenaltyRule::Later } else { PenaltyRule::Original },
        };
        for (name, base) in [("default", Config::default()), ("historical", Config::historical())] {
            let config = Config { mechanisms, receive_buffer: 120_000, send_buffer: 150_000, ..base };
            let name = format!("{name}, mechanisms {bits:04b}");
            all.push(Scenario::new(name, config, &links).up(500_000));
        }
    }
    for (name, config) in each() {
        let mechanisms = Mechanisms { penalisation: true, cwnd_capping: true, ..config.mechanisms };
        let config = Config { mechanisms, receive_buffer: 50_000, ..config };
        let rule = OpportunisticRule::Original;
        let first =
            Config { mechanisms: Mechanisms { opportunistic_rule: rule, ..mechanisms }, ..config.clone() };
        all.push(Scenario::new(format!("{name}, M1, M2 and M4"), config, &links).up(300_000));
        all.push(Scenario::new(format!("{name}, M1 as it was"), first, &links).up(300_000));
    }
    check("mechanisms", all);
}
