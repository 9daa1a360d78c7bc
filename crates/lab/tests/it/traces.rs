//! Links with recordings.

use std::fmt::Write as _;
use std::path::PathBuf;

use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::{Draft, Recorded, Scenario, Step};
use mptcp_lab::world::World;

/// A temporary directory with these files.
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
        // Errors of the removal are ignored.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(scenario: &Scenario) -> Measurements {
    World::new(scenario, 1).expect("a network").run().expect("it ends")
}

/// Full-frame datagrams at five times the rate: each opportunity of the recording carries one, repeatedly.
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
    // Fifty rounds; the last frame may still be in flight.
    assert!(line.sent_frames.abs_diff(50 * 137) <= 2, "{}", line.sent_frames);
    assert_eq!(line.sent_bytes, line.sent_frames * 1514);
    // A round trip through TOML in the same directory gives the same scenario.
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
    // 10 s at 8, 10 s at 2, nothing, 5 s at 8 Mb/s; everything in the last part is lost.
    let wanted = (80e6 + 20e6 + 40e6) / 8.0 / 1514.0;
    assert!((line.sent_frames as f64 / wanted - 1.0).abs() < 0.005, "{} of {wanted}", line.sent_frames);
    let lost = 40e6 / 8.0 / 1514.0;
    assert!((line.random_losses as f64 / lost - 1.0).abs() < 0.01, "{} of {lost}", line.random_losses);
    std::fs::write(folder.0.join("s.toml"), loaded.to_toml()).expect("a file");
    assert_eq!(folder.load(), loaded);
}

/// A discipline on a recorded link: CoDel limits the delay of a long queue.
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

/// One opportunity in a million seconds is a minimal rate, and zero would be unlimited.
#[test]
fn a_recording_of_next_to_nothing_carries_next_to_nothing() {
    let scenario = "duration = \"5s\"\n[paths.p]\ntrace = \"rare.up\"\nqueue = \"80ms\"\n[flows.f]\ntransport = \"tcp\"\n";
    let folder = Folder::new("rare", &[("rare.up", "1000000000\n"), ("s.toml", scenario)]);
    let loaded = folder.load();
    assert_eq!(loaded.links[0].forward.rate, Some(8));
    assert_eq!(run(&loaded).flows[0].bytes_received_total, 0);
}

const TABLE: &str =
    "duration = \"30s\"\n[paths.p]\ntrace = \"walk\"\nqueue = \"20p\"\n[flows.f]\ntransport = \"tcp\"\n";

/// Time in s, Mb/s, delay in ms and loss in percent.
type Said = (f64, Option<f64>, Option<f64>, Option<f64>);

/// The steps that a recording gives, as time, Mb/s, delay in ms and loss in percent.
fn steps(name: &str, text: &[u8]) -> Result<Vec<Said>, String> {
    let folder = Folder::new(name, &[("s.toml", TABLE)]);
    std::fs::write(folder.0.join("walk"), text).expect("a file");
    let loaded = Scenario::load(folder.0.join("s.toml")).map_err(|error| error.to_string())?;
    let recording = loaded.links[0].forward.recording.clone().expect("a recording");
    let Recorded::Steps(steps) = recording.what else { return Err("no table".to_owned()) };
    let millis = |delay: mptcp_clock::Duration| (delay.as_secs_f64() * 1e6).round() / 1e3;
    let of = |step: &Step| {
        let rate = step.rate.map(|rate| rate as f64 / 1e6);
        (step.at.as_secs_f64(), rate, step.delay.map(millis), step.loss.map(|loss| loss * 100.0))
    };
    Ok(steps.iter().map(of).collect())
}

/// Common formats of the same recording: 8 Mb/s, after 10 s 2, after 20 s nothing.
#[test]
fn recordings_as_people_have_them_are_read() {
    let wanted = [(0.0, 8.0), (10.0, 2.0), (20.0, 0.000_008)].map(|(at, rate)| (at, Some(rate), None, None));
    let same: [(&str, &[u8]); 22] = [
        ("ours", b"time_s,rate_mbit\n0,8\n10,2\n20,0\n"),
        ("blank", b"0 8\n10 2\n20 0\n"),
        ("blanks", b"  0    8\n 10   2\n 20   0\n"),
        ("tab", b"0\t8\n10\t2\n20\t0\n"),
        ("comma", b"0,8\n10,2\n20,0\n"),
        ("mark", b"\xef\xbb\xbftime_s,rate_mbit\r\n0,8\r\n10,2\r\n20,0\r\n"),
        ("semicolon", b"time_s;rate_mbit\n0;8\n10;2\n20;0\n"),
        ("decimal", b"Time (s);Rate (Mbit/s)\n0,0;8,0\n10,0;2,0\n20,0;0,0\n"),
        ("epoch", b"timestamp,bandwidth_mbps\n1700000000,8\n1700000010,2\n1700000020,0\n"),
        ("millis", b"timestamp throughput_kbps\n1700000000000 8000\n1700000010000 2000\n1700000020000 0\n"),
        ("named", b"time_ms,throughput_bps\n0,8000000\n10000,2000000\n20000,0\n"),
        ("later", b"t,rate\n100,8\n110,2\n120,0\n"),
        ("bytes", b"time_s,rate_MBps\n0,1\n10,0.25\n20,0\n"),
        ("slash", b"time [s],goodput [kB/s]\n0,1000\n10,250\n20,0\n"),
        ("hole", b"time_s,rate_mbit\n0,8\n5,\n10,2\n15,nan\n20,0\n"),
        ("twice", b"time_s,rate_mbit\n0,9\n0,8\n10,2\n10,2\n20,0\n"),
        ("extra", b"time_s,rate_mbit,operator,rsrp_dbm,lat_deg\n0,8,x,-90,48\n10,2,y,-91,48\n20,0,,,\n"),
        ("order", b"cell,rate_mbit,time_s\n1,8,0\n1,2,10\n2,0,20\n"),
        ("quoted", b"\"time\",\"dl_mbps\"\n\"0\",\"8\"\n\"10\",\"2\"\n\"20\",\"0\"\n"),
        ("comment", b"# made with a phone\n// twice\n\n0 8\n# a hill\n10 2\n20 0\n"),
        ("capitals", b"Seconds,Mbps\n0,8\n10,2\n20,0\n"),
        ("camel", b"timeMs,bitRateKbps\n0,8000\n10000,2000\n20000,0\n"),
    ];
    for (name, text) in same {
        let found = steps(name, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut dense = found.clone();
        dense.retain(|(_, rate, ..)| rate.is_some());
        assert_eq!(dense, wanted, "{name}");
    }
}

#[test]
fn delays_and_losses_have_their_units() {
    let found = steps("units", b"t,rtt_ms,loss_fraction,owd\n0,40,0.01,1\n").unwrap_err();
    assert!(found.contains("without a unit"), "{found}");
    let found = steps("units", b"t,rate_mbit,delay_s,loss_pct\n0,1,0.02,1\n5,1,0.03,2\n").expect("a table");
    assert_eq!(found, [(0.0, Some(1.0), Some(20.0), Some(1.0)), (5.0, Some(1.0), Some(30.0), Some(2.0))]);
    let found = steps("units", b"t,rate_mbit,rtt_ms\n0,1,40\n").expect("a table");
    assert_eq!(found, [(0.0, Some(1.0), Some(20.0), None)]);
}

#[test]
fn recordings_that_mean_two_things_are_refused() {
    for (text, says) in [
        ("time_s,rate_mbit,rate_mbit\n0,1,2\n", "one column of each quantity"),
        ("time_s,rate_mbit,throughput_kbps\n0,1,2\n", "one column of each quantity"),
        ("time_s,rate_mbit,loss\n0,1,2\n", "without a unit"),
        ("time_s,rate_mbit,latency_ms\n0,1,2\n", "name it delay_ms for a one-way delay"),
        ("time_s,rate_mibt\n0,1\n", "did you mean \"rate_mbit\"?"),
        ("time_s,dely_ms,rate_mbit\n0,1,2\n", "did you mean \"delay_ms\"?"),
        ("time_s,bytes\n0,1\n", "must begin with the names of its columns"),
        ("rate_mbit,loss_percent\n1,0\n", "must begin with the names of its columns"),
        ("0,1,2\n", "3 columns without names"),
        ("time_s,rate_mbit\n0,1\n5,2\n3,1\n", "line 4: its time must not be before that of the line above"),
        ("time_s,rate_mbit\n0,fast\n", "rate = \"fast\": must be between 0 and 1000000 Mb/s"),
        ("time_s,rate_mbit\n0,-1\n", "must be between 0 and 1000000 Mb/s"),
        ("time_s,rate_mbit\n0,2000000\n", "must be between 0 and 1000000 Mb/s"),
        ("time_s,rate_mbit\n0,\n1,5\n", "the first line must have a rate"),
        ("time_s,rate_mbit\n,5\n", "has no time"),
        ("time_s,rate_mbit\n0,5,6\n", "3 values under 2 columns"),
        ("time_s,rate_mbit\n", "has no line of values"),
        ("\u{fffd}\u{0}", "expected a time in whole milliseconds"),
    ] {
        let found = steps("refused", text.as_bytes()).expect_err(text);
        assert!(found.contains(says), "{text}: {found}");
    }
}

/// A list of delivery times may start with a comment.
#[test]
fn a_list_of_times_may_begin_with_a_comment() {
    let folder = Folder::new("comment", &[("walk", "# LTE, on the train\n5\n9\n9\n"), ("s.toml", TABLE)]);
    let loaded = folder.load();
    let recording = loaded.links[0].forward.recording.clone().expect("a recording");
    assert!(matches!(recording.what, Recorded::Opportunities(..)));
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    for device in ["/dev/zero", "/dev/null", "/proc/kmsg", "/"] {
        let scenario = TABLE.replace("walk", device);
        let folder = Folder::new("device", &[("s.toml", &scenario)]);
        let error = Scenario::load(folder.0.join("s.toml")).expect_err(device).to_string();
        let says =
            ["not a regular file", "is empty", "there is no such file", "ermission denied", "a directory"];
        assert!(says.iter().any(|words| error.contains(words)), "{error}");
    }
    let folder = Folder::new("pipe", &[("s.toml", TABLE)]);
    let made = std::process::Command::new("mkfifo").arg(folder.0.join("walk")).status();
    if made.is_ok_and(|status| status.success()) {
        let error = Scenario::load(folder.0.join("s.toml")).expect_err("a pipe").to_string();
        assert!(error.contains("this is a pipe or a device, not a regular file"), "{error}");
    }
}

/// Datagrams at five times the rate over a repeated table of 10 s: half of the time 8 Mb/s, half of it 2.
#[test]
fn a_table_begins_again_where_it_is_asked_to() {
    let csv = "time_s,rate_mbit\n0,8\n5,2\n";
    let scenario = "duration = \"60s\"\n[paths.p]\ntrace = \"walk.csv\"\ntrace_repeat = true\nqueue = \"20p\"\n[flows.f]\n\
                    transport = \"udp\"\nrate = \"40Mbit\"\ndirection = \"upload\"\ndatagram = \"1472B\"\n";
    let folder = Folder::new("again", &[("walk.csv", csv), ("s.toml", scenario)]);
    let loaded = folder.load();
    let wanted = 60.0 * 5e6 / 8.0 / 1514.0;
    let sent = run(&loaded).links[0].sent_frames as f64;
    assert!((sent / wanted - 1.0).abs() < 0.01, "{sent} of {wanted}");
    std::fs::write(folder.0.join("s.toml"), loaded.to_toml()).expect("a file");
    assert_eq!(folder.load(), loaded);
    // Without it, the last line persists: 5 s at 8 and 55 at 2 Mb/s.
    std::fs::write(folder.0.join("s.toml"), scenario.replace("trace_repeat = true\n", "")).expect("a file");
    let sent = run(&folder.load()).links[0].sent_frames as f64;
    let wanted = (5.0 * 8e6 + 55.0 * 2e6) / 8.0 / 1514.0;
    assert!((sent / wanted - 1.0).abs() < 0.01, "{sent} of {wanted}");
    // From 5 s on, the slow half comes first.
    let later = scenario.replace("trace_repeat = true\n", "trace_start = \"5s\"\n");
    std::fs::write(folder.0.join("s.toml"), later).expect("a file");
    let loaded = folder.load();
    let sent = run(&loaded).links[0].sent_frames as f64;
    let wanted = 60.0 * 2e6 / 8.0 / 1514.0;
    assert!((sent / wanted - 1.0).abs() < 0.01, "{sent} of {wanted}");
    std::fs::write(folder.0.join("s.toml"), loaded.to_toml()).expect("a file");
    assert_eq!(folder.load(), loaded);
}

/// The seed selects the start position, for a list and for a table; the same seed gives the same position.
#[test]
fn seeds_begin_at_different_places_of_a_recording() {
    let table: String = (0..60).map(|n| format!("{n},{}\n", 1 + (n * 7) % 13)).collect();
    // A different number of opportunities in each second: 60,000 ms in total.
    let times: String = (0..60_u64)
        .flat_map(|n| {
            let many = 100 + (n * 37) % 500;
            (0..many).map(move |at| format!("{}\n", n * 1000 + 1 + at * 999 / many))
        })
        .collect();
    for (name, text) in [("table", table), ("times", times)] {
        let scenario = "duration = \"20s\"\n[paths.p]\ntrace = \"walk\"\ntrace_start = \"random\"\nqueue = \"20p\"\n[flows.f]\n\
                        transport = \"udp\"\nrate = \"40Mbit\"\ndirection = \"upload\"\ndatagram = \"1472B\"\n";
        let folder = Folder::new(&format!("random-{name}"), &[("walk", &text), ("s.toml", scenario)]);
        let loaded = folder.load();
        let sent =
            |seed| World::new(&loaded, seed).expect("a network").run().expect("it ends").links[0].sent_frames;
        let counts: std::collections::BTreeSet<u64> = (1..=8).map(sent).collect();
        assert!(counts.len() >= 6, "{name}: {counts:?}");
        assert_eq!(sent(3), sent(3), "{name}");
        std::fs::write(folder.0.join("s.toml"), loaded.to_toml()).expect("a file");
        assert_eq!(folder.load(), loaded);
        // Without it, seeds have no effect.
        std::fs::write(folder.0.join("s.toml"), scenario.replace("trace_start = \"random\"\n", ""))
            .expect("a file");
        let loaded = folder.load();
        let sent =
            |seed| World::new(&loaded, seed).expect("a network").run().expect("it ends").links[0].sent_frames;
        assert!(sent(1).abs_diff(sent(2)) <= 1, "{name}");
    }
}

#[test]
fn a_start_needs_a_recording_that_reaches_it() {
    for (keys, says) in [
        ("rate = \"1Mbit\"\ntrace_start = \"random\"", "paths.p.trace_start = \"random\": needs a trace"),
        ("rate = \"1Mbit\"\ntrace_repeat = true", "paths.p.trace_repeat = true: needs a trace"),
        ("trace = \"walk\"\ntrace_start = \"1min\"", "must start before its end, at 20.000 s"),
        ("trace = \"walk\"\ntrace_start = \"soon\"", "a start must be a time such as \"10s\", or \"random\""),
        (
            "trace = \"walk\"\ntrace_start = \"random\"\ntrace_repeat = false",
            "starts at a random time and must repeat",
        ),
        ("trace = \"times\"\ntrace_repeat = false", "which always repeats"),
        ("trace = \"quick\"\ntrace_repeat = true", "would change the link more than 2000000 times"),
    ] {
        let scenario = format!("duration = \"2h\"\n[paths.p]\n{keys}\n[flows.f]\ntransport = \"tcp\"\n");
        let files = [
            ("walk", "0 8\n10 2\n"),
            ("times", "5\n9\n"),
            ("quick", "0 8\n0.001 7\n"),
            ("s.toml", scenario.as_str()),
        ];
        let folder = Folder::new("start", &files);
        let error = Scenario::load(folder.0.join("s.toml")).expect_err(keys).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// The written scenario and the contents of its recordings suffice; an override still reads a file.
#[test]
fn a_scenario_travels_without_the_files_of_its_recordings() {
    let times: String = (0..50).map(|n| format!("{}\n", n / 3 * 7)).collect();
    let scenario = "duration = \"3s\"\n[paths.p]\ntrace = \"walk.csv\"\ntrace_repeat = true\n[paths.q]\n\
                    forward = { trace = \"lte.up\" }\nbackward = { trace = \"lte.up\", trace_start = \"random\" }\n\
                    [flows.f]\n";
    let csv = "time_s,rate_mbit,delay_ms,loss_percent\n0,8,10,0\n1,2,40,1.7\n2,0,40,0\n";
    let folder = Folder::new("away", &[("walk.csv", csv), ("lte.up", &times), ("s.toml", scenario)]);
    let loaded = folder.load();
    let (text, recordings) = (loaded.to_toml(), loaded.recordings());
    drop(folder);
    let draft = Draft::parse(&text, "away.toml").expect("TOML").with_recordings(recordings);
    let restored = draft.finish().expect("valid");
    assert_eq!(restored, loaded);
    assert_eq!(run(&restored), run(&loaded));
    let mut changed = draft;
    changed.set("paths.p.trace", "walk.csv").expect("a key");
    let said = changed.finish().expect_err("the file is absent").to_string();
    assert!(said.contains("walk.csv cannot be read"), "{said}");
}
