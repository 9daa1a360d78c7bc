//! Linux configurations and the kernels of the early papers, in difficult situations.

use mptcp::policy::Policies;
use mptcp::{Config, LinuxCompat, LinuxStack, Mechanisms, SpuriousLoss};
use mptcp_clock::{Duration, Instant};

use super::check;
use super::link::Link;
use super::scenario::Scenario;
use super::world::SERVER;

fn kinds() -> Vec<(String, Config)> {
    let policies = Policies::default();
    let scheduler = |name: &str| policies.schedulers.find(name).unwrap();
    let mut all = Vec::new();
    let linux = Config {
        linux_compat: LinuxCompat::LINUX,
        linux_stack: LinuxStack::LINUX,
        scheduler: scheduler("linux"),
        congestion: policies.congestion.find("cubic").unwrap(),
        spurious_loss: Some(SpuriousLoss::LINUX),
        restart_after_idle: Some(true),
        mechanisms: Mechanisms {
            opportunistic_retransmission: false,
            autotuning: true,
            ..Mechanisms::default()
        },
        ..Config::default()
    };
    all.push(("linux".to_string(), linux.clone()));
    let fixed = Mechanisms { opportunistic_retransmission: false, ..Mechanisms::default() };
    let config = Config { mechanisms: fixed, receive_buffer: 150_000, send_buffer: 150_000, ..linux.clone() };
    all.push(("linux, small buffers".into(), config));
    for bits in 0..8_u32 {
        let linux_stack = LinuxStack {
            subflow_queues: true,
            buffer_memory: bits & 1 != 0,
            data_level_timer: bits & 2 != 0,
            windows_by_subflow: bits & 4 != 0,
            failed_path_probe: (bits & 1 == 0).then(|| Duration::from_millis(400)),
            blackhole_timeout: None,
        };
        let config = Config { linux_stack, receive_buffer: 200_000, send_buffer: 300_000, ..linux.clone() };
        all.push((format!("queues {bits:03b}"), config));
    }
    for name in ["ontime", "minrtt", "roundrobin", "redundant"] {
        let config = Config { scheduler: scheduler(name), ..linux.clone() };
        all.push((format!("linux with {name}"), config));
    }
    all.push(("historical".into(), Config::historical()));
    let config = Config { receive_buffer: 150_000, send_buffer: 150_000, ..Config::historical() };
    all.push(("historical, small buffers".into(), config));
    all
}

#[test]
fn linux_configurations_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(10, 1250, 50), Link::new(50, 800, 60)];
        let new = |what: &str| Scenario::new(format!("{name}, {what}"), config.clone(), &links).up(500_000);
        all.push(new("nothing happens").down(100_000));
        all.push(new("the first path goes silent").at(200, |w| w.links[0].dead = true));
        all.push(
            new("the second path goes silent for long, then the first")
                .at(200, |w| w.links[1].dead = true)
                .at(6_000, |w| w.links[1].dead = false)
                .at(6_500, |w| w.links[0].dead = true),
        );
        all.push(new("an interface goes").at(220, |w| w.interface(0, 1, mptcp::InterfaceChange::Down)));
        all.push(new("a slow reader").slow(20_000, 60));
        all.push(new("a late reader").app(SERVER, |app| {
            app.reads_from = Instant::ZERO + Duration::from_secs(3);
        }));
        let lossy = [Link::new(10, 1250, 50).loss(0.03), Link::new(50, 800, 60).loss(0.03).reorder(0.05, 20)];
        all.push(Scenario::new(format!("{name}, losses"), config.clone(), &lossy).up(300_000).down(50_000));
        all.push(Scenario::new(format!("{name}, blocks"), config, &links).up(200_000).blocks(25_000, 150));
    }
    check("linux", all);
}
