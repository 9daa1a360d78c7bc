//! Links that carry what a recording says.

use std::fmt::Write as _;
use std::path::PathBuf;

use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// A folder of one test with these files; it is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("mptcplab-traces-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        Self(folder)
    }

    fn load(&self) -> Scenario {
        Scenario::load(self.0.join("s.toml")).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is the system's affair.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(scenario: &Scenario) -> Measurements {
    World::new(scenario, 1).expect("a network").run().expect("it ends")
}

/// Datagrams of a full frame at five times the rate: each opportunity of the file carries one, over and over.
#[test]
fn a_full_link_delivers_exactly_the_opportunities() {
    // 137 opportunities in 400 ms, some at one millisecond, and a gap of 60 ms.
    let times = (0..137_u64).map(|n| if n < 60 { n * 170 / 60 } else { 230 + (n - 60) * 170 / 76 });
    let mut text = String::new();
    times.for_each(|time| writeln!(text, "{time}").expect("a string grows"));
    let scenario = "duration = \"20s\"\n[paths.p]\nqueue = \"50p\"\nforward = { trace = \"lte.up\" }\n\
                    backward = { rate = \"1Gbit\" }\n[flows.f]\ntransport = \"udp\"\nrate = \"20Mbit\"\n\
                    direction = \"upload\"\ndatagram = \"1472B\"\n";
    let folder = Folder::new("exact", &[("lte.up", &text), ("s.toml", scenario)]);
    let loaded = folder.load();
    let line = &run(&loaded).links[0];
    // Fifty rounds, and the frame of the last instant may still be on its way.
    assert!(line.sent_frames.abs_diff(50 * 137) <= 2, "{}", line.sent_frames);
    assert_eq!(line.sent_bytes, line.sent_frames * 1514);
    // Written and read again, beside its file, it is the same.
    std::fs::write(folder.0.join("s.toml"), loaded.to_toml()).expect("a file");
    assert_eq!(folder.load(), loaded);
}

#[test]
fn a_table_changes_rate_delay_and_loss_over_time() {
    let csv = "# what a walk through a house gave\ntime_s,rate_mbit,delay_ms,loss_percent\n0,8,10,0\n10,2,40,0\n20,0,40,0\n25,8,10,100\n";
    let scenario = "duration = \"30s\"\nsample = \"1s\"\n[paths.p]\ntrace = \"walk.csv\"\nqueue = \"20p\"\n[flows.f]\n\
                    transport = \"udp\"\nrate = \"20Mbit\"\ndirection = \"upload\"\ndatagram = \"1472B\"\n";
    let folder = Folder::new("table", &[("walk.csv", csv), ("s.toml", scenario)]);
    let loaded = folder.load();
    let measured = run(&loaded);
    let line = &measured.links[0];
    // 10 s at 8, 10 s at 2, nothing, 5 s at 8 Mb/s; all of the last part is lost.
    let wanted = (80e6 + 20e6 + 40e6) / 8.0 / 1514.0;
    assert!((line.sent_frames as f64 / wanted - 1.0).abs() < 0.005, "{} of {wanted}", line.sent_frames);
    let lost = 40e6 / 8.0 / 1514.0;
    assert!((line.random_losses as f64 / lost - 1.0).abs() < 0.01, "{} of {lost}", line.random_losses);
    std::fs::write(folder.0.join("s.toml"), loaded.to_toml()).expect("a file");
    assert_eq!(folder.load(), loaded);
}

/// A discipline works on a recorded line: CoDel keeps the delay that a long queue would have.
#[test]
fn a_recording_and_a_discipline_go_together() {
    let text: String = (1..=500).map(|n| format!("{}\n", n * 2)).collect();
    let queue = |queue: &str| {
        let scenario = format!(
            "duration = \"30s\"\nwarmup = \"10s\"\n[paths.p]\ntrace = \"six.up\"\ndelay = \"20ms\"\nqueue = {queue}\n\
             [flows.f]\ntransport = \"tcp\"\nrcvbuf = \"4MB\"\nsndbuf = \"4MB\"\n"
        );
        let folder = Folder::new("codel", &[("six.up", &text), ("s.toml", &scenario)]);
        let measured = run(&folder.load());
        (measured.flows[0].goodput, measured.flows[0].paths[0].mean_srtt)
    };
    let (full, long) = queue("\"400p\"");
    let (kept, short) = queue("{ kind = \"codel\" }");
    assert!(full > 5.6e6 && kept > 4.7e6, "{full} {kept}");
    assert!(long > 0.25 && short < 0.07, "{long} {short}");
}

/// One opportunity in a million seconds is next to no rate, and none would be an infinite one.
#[test]
fn a_recording_of_next_to_nothing_carries_next_to_nothing() {
    let scenario = "duration = \"5s\"\n[paths.p]\ntrace = \"rare.up\"\nqueue = \"80ms\"\n[flows.f]\ntransport = \"tcp\"\n";
    let folder = Folder::new("rare", &[("rare.up", "1000000000\n"), ("s.toml", scenario)]);
    let loaded = folder.load();
    assert_eq!(loaded.links[0].forward.rate, Some(8));
    assert_eq!(run(&loaded).flows[0].bytes_received_total, 0);
}
