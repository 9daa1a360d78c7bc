//! Slow paths, for timers and filters of many seconds.

use mptcp::{Config, CouplingScope, Ecn};
use mptcp_clock::Duration;

use super::check;
use super::controllers::each;
use super::link::Link;
use super::scenario::Scenario;

#[test]
fn slow_paths_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in each() {
        let slow = Link::new(40, 40, 8);
        let tcp = Config { multipath: false, ..config.clone() };
        let new =
            |what: &str| Scenario::new(format!("{name}, {what}"), tcp.clone(), std::slice::from_ref(&slow));
        all.push(new("half a minute").up(1_100_000));
        all.push(
            new("a delay that grows and shrinks")
                .up(900_000)
                .at(4_000, |w| w.links[0].delay = Duration::from_millis(90))
                .at(17_000, |w| w.links[0].delay = Duration::from_millis(15)),
        );
        all.push(
            new("a rate that grows and shrinks")
                .up(900_000)
                .at(6_000, |w| w.links[0].rate = 15_000)
                .at(16_000, |w| w.links[0].rate = 70_000),
        );
        all.push(new("blocks").up(400_000).blocks(15_000, 900));
        let lossy = [slow.clone().loss(0.01)];
        all.push(Scenario::new(format!("{name}, losses"), tcp.clone(), &lossy).up(700_000));
        let marks = Config { ecn: Some(Ecn::On), ..tcp.clone() };
        let marked = [Link { queue: 30_000, ..slow.clone().marks(5) }];
        all.push(Scenario::new(format!("{name}, marks"), marks, &marked).up(800_000));
        if name.starts_with("bbr") || name == "cubic" {
            let far = [Link::new(200, 600, 250)];
            all.push(Scenario::new(format!("{name}, far away"), tcp.clone(), &far).up(4_500_000));
        }
        let two = [slow.clone(), Link::new(70, 25, 9)];
        let shared = Config { coupling: CouplingScope::Shared, ..config };
        all.push(
            Scenario::new(format!("{name}, two paths, one rests"), shared, &two)
                .up(1_000_000)
                .at(5_000, |w| w.links[1].dead = true)
                .at(13_000, |w| w.links[1].dead = false),
        );
    }
    check("slow_paths", all);
}
