//! Lost, delayed, duplicated and reordered segments, and their recovery.

use mptcp::{Config, SpuriousLoss};
use mptcp_clock::Duration;

use super::check;
use super::link::Link;
use super::scenario::Scenario;

type Way = (&'static str, Config);

/// Loss recovery methods from NewReno to RACK, over TCP.
fn each() -> Vec<Way> {
    let tcp = Config::tcp();
    let old = Config { rack: false, ..tcp.clone() };
    vec![
        ("rack", tcp.clone()),
        ("rack and undo", Config { spurious_loss: Some(SpuriousLoss::LINUX), ..tcp.clone() }),
        (
            "rack and F-RTO",
            Config { spurious_loss: Some(SpuriousLoss { undo: false, frto: true }), ..tcp.clone() },
        ),
        ("sack", old.clone()),
        ("sack and undo", Config { spurious_loss: Some(SpuriousLoss::LINUX), ..old.clone() }),
        ("rack without timestamps", Config { timestamps: false, ..tcp.clone() }),
        (
            "undo without timestamps",
            Config { timestamps: false, spurious_loss: Some(SpuriousLoss::LINUX), ..tcp.clone() },
        ),
        ("newreno", Config { sack: false, ..old.clone() }),
        (
            "newreno and F-RTO without timestamps",
            Config {
                sack: false,
                timestamps: false,
                spurious_loss: Some(SpuriousLoss::LINUX),
                ..old.clone()
            },
        ),
        (
            "linux",
            Config {
                spurious_loss: Some(SpuriousLoss::LINUX),
                linux_compat: mptcp::LinuxCompat::LINUX,
                byte_counting: true,
                ..tcp.clone()
            },
        ),
        ("no byte counting", Config { byte_counting: false, delayed_ack: true, ..tcp.clone() }),
        ("an acknowledgement for each", Config { delayed_ack: false, ..tcp }),
    ]
}

#[test]
fn one_path() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let link = Link::new(20, 1250, 80);
        let mut add = |what: &str, link: Link| {
            let scenario = Scenario::new(format!("{name}, {what}"), config.clone(), &[link]);
            all.push(scenario.up(200_000));
        };
        add("one is lost", link.clone().lost(&[30]));
        add("a burst is lost, and one sent again", link.clone().lost(&[30, 31, 32, 34, 36, 50, 52, 53]));
        add("the last are lost", link.clone().lost(&[134, 135, 136]));
        add("the first and the last", link.clone().lost(&[0, 1, 2, 136]));
        add("a whole window", link.clone().lost(&(10..32).collect::<Vec<_>>()));
        add("one in thirty", link.clone().loss(0.033));
        add("order changes a little", link.clone().reorder(0.05, 3));
        add("order changes much", link.clone().reorder(0.05, 30).loss(0.005));
        add("twice", link.clone().duplicate(0.1).loss(0.01));
        add("it varies", link.clone().jitter(30));
        all.push(
            Scenario::new(
                format!("{name}, nothing for a while"),
                config.clone(),
                std::slice::from_ref(&link),
            )
            .up(200_000)
            .at(160, |w| w.links[0].dead = true)
            .at(1100, |w| w.links[0].dead = false),
        );
        all.push(
            Scenario::new(format!("{name}, a delay that grows at once"), config.clone(), &[link])
                .up(300_000)
                .at(150, |w| w.links[0].delay = Duration::from_millis(400))
                .at(900, |w| w.links[0].delay = Duration::from_millis(20)),
        );
    }
    check("loss_recovery", all);
}

#[test]
fn two_paths() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let config = Config { multipath: true, congestion: Config::default().congestion, ..config };
        let links = [Link::new(20, 1000, 50), Link::new(35, 1000, 50)];
        let [a, b] = links.clone();
        all.push(
            Scenario::new(format!("{name}, order changes on one"), config.clone(), &[a.reorder(0.1, 15), b])
                .up(300_000),
        );
        let [a, b] = links.clone();
        let lossy = [a.loss(0.03), b.lost(&[5, 6, 7, 8, 20, 21])];
        all.push(Scenario::new(format!("{name}, losses"), config.clone(), &lossy).up(300_000).down(60_000));
        all.push(
            Scenario::new(format!("{name}, one is silent"), config.clone(), &links)
                .up(400_000)
                .at(180, |w| w.links[1].dead = true)
                .at(4000, |w| w.links[1].dead = false),
        );
        let quick = Config { min_rto: Duration::from_millis(20), ..config };
        all.push(
            Scenario::new(format!("{name}, both are silent, a short timeout"), quick, &links)
                .up(400_000)
                .at(180, |w| w.links.iter_mut().for_each(|link| link.dead = true))
                .at(700, |w| w.links.iter_mut().for_each(|link| link.dead = false)),
        );
    }
    check("loss_recovery_two_paths", all);
}
