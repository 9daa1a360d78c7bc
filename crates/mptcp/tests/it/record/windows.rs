//! Windows and buffers: tiny, closed, growing and full.

use mptcp::{Config, Keepalive, LinuxStack, Mechanisms};
use mptcp_clock::{Duration, Instant};

use super::check_with_details;
use super::link::Link;
use super::scenario::Scenario;
use super::world::SERVER;

fn kinds() -> Vec<(&'static str, Config)> {
    let mechanisms = Mechanisms { autotuning: true, shrink_send_buffer: true, ..Mechanisms::default() };
    let queues = LinuxStack { subflow_queues: true, ..LinuxStack::default() };
    let windows = LinuxStack { windows_by_subflow: true, data_level_timer: true, ..queues };
    let memory = LinuxStack { buffer_memory: true, ..LinuxStack::default() };
    vec![
        ("mptcp", Config::default()),
        ("tcp", Config::tcp()),
        ("autotuning", Config { mechanisms, ..Config::default() }),
        ("historical", Config::historical()),
        ("queues", Config { linux_stack: queues, ..Config::default() }),
        ("windows by subflow", Config { linux_stack: windows, ..Config::default() }),
        ("memory", Config { linux_stack: memory, ..Config::default() }),
        ("linux, autotuning", Config { linux_stack: LinuxStack::LINUX, mechanisms, ..Config::default() }),
    ]
}

#[test]
fn windows_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(10, 1250, 60), Link::new(30, 1250, 90)];
        for size in [1_000, 4_000, 20_000, 70_000] {
            let config = Config { receive_buffer: size, ..config.clone() };
            let scenario = Scenario::new(format!("{name}, {size} bytes to receive"), config.clone(), &links);
            all.push(scenario.up(120_000));
            let config = Config { receive_buffer: 6 << 20, send_buffer: size, ..config };
            let scenario = Scenario::new(format!("{name}, {size} bytes to send"), config, &links);
            all.push(scenario.up(120_000));
        }
        let small = Config { receive_buffer: 40_000, ..config.clone() };
        let slow = |what: &str| Scenario::new(format!("{name}, {what}"), small.clone(), &links);
        all.push(slow("a reader that is slow").up(200_000).slow(5_000, 20));
        all.push(slow("a reader that takes little").up(60_000).slow(300, 9));
        all.push(slow("a reader that comes late").up(100_000).app(SERVER, |app| {
            app.reads_from = Instant::ZERO + Duration::from_secs(7);
        }));
        let lossy = [Link::new(10, 1250, 60).loss(0.15), Link::new(30, 1250, 90).loss(0.15)];
        all.push(
            Scenario::new(format!("{name}, a closed window and losses"), small.clone(), &lossy)
                .up(60_000)
                .app(SERVER, |app| app.reads_from = Instant::ZERO + Duration::from_secs(4)),
        );
        let lowat = Config { notsent_lowat: Some(8_000), ..config.clone() };
        all.push(Scenario::new(format!("{name}, little unsent"), lowat, &links).up(150_000).blocks(3_000, 0));
        let watched = Config {
            user_timeout: Some(Duration::from_secs(3)),
            keepalive: Some(Keepalive {
                idle: Duration::from_secs(1),
                interval: Duration::from_secs(1),
                probes: 3,
            }),
            ..small
        };
        all.push(
            Scenario::new(format!("{name}, a window that stays closed"), watched, &links)
                .up(100_000)
                .app(SERVER, |app| app.reads_from = Instant::ZERO + Duration::from_secs(60))
                .ends_otherwise(),
        );
        let tuned = Config { receive_buffer: 2 << 20, send_buffer: 2 << 20, ..config };
        let quick = [Link::new(20, 6000, 200), Link::new(40, 3000, 200)];
        all.push(
            Scenario::new(format!("{name}, buffers that could grow"), tuned, &quick)
                .up(1_500_000)
                .at(250, |w| w.links[0].rate = 500_000),
        );
    }
    check_with_details("windows", &["tcp, a ", "mptcp, a ", "autotuning, buffers", "mptcp, 4000"], all);
}
