//! Scenarios that need too many resources are refused before they run, or end at a limit.
//!
//! Each of them once used excessive time or memory.

use mptcp_lab::Instant;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::{MAX_LOST, World};

/// A scenario of one path and one flow, with other lines.
fn text(top: &str, path: &str, flow: &str) -> String {
    format!("duration = \"10s\"\n{top}\n[paths.wifi]\n{path}\n[flows.bulk]\n{flow}\n")
}

const PATH: &str = "rate = \"8Mbit\"\ndelay = \"10ms\"";

/// The error message of a scenario.
fn refused(text: &str) -> String {
    Scenario::parse(text, "big.toml").map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

#[test]
fn a_path_that_takes_no_time_is_refused() {
    let said = refused(&text("", "rate = \"unlimited\"", ""));
    assert_eq!(
        said,
        "big.toml:4: paths.wifi.rate = \"unlimited\": flow \"bulk\" would send over this path for ever at one \
         instant, because nothing on the way takes time (give it a rate, such as \"1Gbit\", or a delay)"
    );
    for (path, flow) in [
        ("rate = \"unlimited\"", "transport = \"tcp\""),
        ("rate = \"unlimited\"", "blocks = \"8KB\""),
        ("rate = \"unlimited\"\ndelay = \"5ms\"", "transport = \"udp\""),
        ("rate = \"1000000Tbit\"", ""),
        ("rate = \"unlimited\"", "direction = \"download\""),
    ] {
        assert!(refused(&text("", path, flow)).contains("for ever at one instant"), "{path} {flow}");
    }
}

#[test]
fn a_route_that_takes_no_time_is_refused_and_one_that_does_is_not() {
    let of = |core: &str| {
        format!(
            "duration = \"1s\"\n[links.a]\nends = [\"client\", \"r\"]\nrate = \"unlimited\"\n[links.b]\n\
             ends = [\"r\", \"server\"]\n{core}\n[flows.bulk]\n"
        )
    };
    assert!(refused(&of("rate = \"unlimited\"")).contains("links.a.rate"));
    assert_eq!(refused(&of("rate = \"10Mbit\"")), "nothing");
    assert_eq!(refused(&of("rate = \"unlimited\"\ndelay = \"10ms\"")), "nothing");
    // Finite transfers may complete at one instant.
    let file = text("", "rate = \"unlimited\"", "bytes = \"15MB\"");
    let flows = World::new(&Scenario::parse(&file, "file").expect("valid"), 1).expect("a network").run();
    assert_eq!(flows.expect("it comes to its end").flows[0].bytes_received_total, 15_000_000);
}

#[test]
fn a_path_that_takes_no_time_any_more_ends_the_run() {
    let events = "[[events]]\nat = \"2s\"\npath = \"wifi\"\nset = { rate = \"unlimited\", delay = \"0s\" }\n";
    let text = text("", "rate = \"8Mbit\"\ndelay = \"10ms\"", "") + events;
    let scenario = Scenario::parse(&text, "stops.toml").expect("valid");
    let error = World::new(&scenario, 1).expect("a network").run().expect_err("it stands still");
    let said = error.to_string();
    assert!(
        said.starts_with("the simulation makes no progress at 2.0") && said.contains("at one instant"),
        "{said}"
    );
}

#[test]
fn what_would_not_fit_is_refused_with_its_key() {
    let beyond = [
        (
            text("sample = \"1ns\"", PATH, ""),
            "big.toml:2: sample = \"1ns\": would give",
            "limits.samples is 20000000",
        ),
        (
            text("", "rate = \"1Gbit\"\ndelay = \"1ms\"", "blocks = \"1B\""),
            "flows.bulk.blocks = \"1B\": would time",
            "limits.blocks",
        ),
        (
            text("", "rate = \"8Mbit\"", "transport = \"udp\"\ndatagram = \"1B\"\nrate = \"1Tbit\""),
            "flows.bulk.rate = \"1Tbit\": would make",
            "limits.events is 4000000000",
        ),
        (
            text("", PATH, "sndbuf = \"8000000000GB\""),
            "flows.bulk.sndbuf",
            "of memory, but limits.memory is 4.0 GB",
        ),
        (
            text("", PATH, "count = 10000\n[flows.more]\ncount = 10000"),
            "flows.more.count = 10000: there would be 20000 flows",
            "limits.flows is 10000",
        ),
        (
            text(
                "sample = \"1h\"",
                "rate = \"100Gbit\"\ndelay = \"1ms\"",
                "rcvbuf = \"4GB\"\nsndbuf = \"4GB\"",
            )
            .replace("10s", "1000h"),
            "duration = \"1000h\": would make",
            "limits.events",
        ),
    ];
    for (text, place, limit) in beyond {
        let said = refused(&text);
        assert!(said.contains(place) && said.contains(limit) && !said.contains('\n'), "{said}");
    }
    let huge = refused(&text("", PATH, "sndbuf = \"18446744073709551616B\""));
    assert!(huge.contains("a size must be at most 9000000000GB"), "{huge}");
}

#[test]
fn neighbours_that_never_rest_are_refused() {
    let cell = |background: &str| {
        format!(
            "duration = \"10s\"\n[cells.home]\naccess_point = \"server\"\n[stations.sta]\n{background}\n[flows.bulk]\n"
        )
    };
    let said = refused(&cell("[background.others]\nstations = 10\non = \"1ns\"\noff = \"1ns\""));
    assert!(said.contains("background") && said.contains("limits.events"), "{said}");
    let crowd: String = (0..200).map(|n| format!("[background.g{n}]\nstations = 100\n")).collect();
    let said = refused(&cell(&crowd));
    assert!(said.contains("20000 stations, but limits.stations is 1000"), "{said}");
    assert_eq!(refused(&cell("[background.others]\nstations = 10\non = \"100ms\"\noff = \"1s\"")), "nothing");
}

#[test]
fn a_limit_that_is_raised_lets_it_pass() {
    let fine = "sample = \"1us\"\n[limits]\nsamples = 400000000\nmemory = \"1000GB\"";
    assert_eq!(refused(&text(fine, PATH, "").replace("10s", "15s")), "nothing");
    let many =
        text("sample = \"1s\"\n[limits]\nflows = 20000", PATH, "count = 10000\n[flows.more]\ncount = 10000");
    assert_eq!(refused(&many), "nothing");
    let said = refused(&text("[limits]\nflows = 70000", PATH, ""));
    assert_eq!(said, "big.toml:3: limits.flows = 70000: must be at most 60000");
}

#[test]
fn limits_that_were_changed_are_written_back_and_others_are_not() {
    let own = Scenario::parse(&text("[limits]\nevents = 5000000000\nmemory = \"1GB\"", PATH, ""), "own");
    let own = own.expect("valid");
    let written = own.to_toml();
    assert!(written.contains("[limits]\nevents = 5000000000\nmemory = \"1000MB\"\n"), "{written}");
    let again = Scenario::parse(&written, "own").expect("valid");
    assert_eq!(again.limits, own.limits);
    let usual = Scenario::parse(&text("", PATH, ""), "usual").expect("valid");
    assert!(!usual.to_toml().contains("limits"));
}

#[test]
fn a_run_keeps_the_limits_too() {
    // The estimate with one sample is below a lower limit, which applies at the end of the second.
    let mut scenario = Scenario::parse(&text("", PATH, ""), "small").expect("valid");
    scenario.limits.events = 1000;
    let said = World::new(&scenario, 1).expect("a network").run().expect_err("too many").to_string();
    assert!(said.starts_with("the run reached limits.events = 1000 at "), "{said}");
    scenario.limits.events = 1_000_000_000;
    scenario.limits.samples = 30;
    let said = World::new(&scenario, 1).expect("a network").run().expect_err("too many").to_string();
    assert!(said.starts_with("the run reached limits.samples = 30 at 0."), "{said}");
}

#[test]
fn baselines_and_seeds_are_counted_before_they_are_made() {
    let text = text("", PATH, "count = 4001\nbaselines = true");
    let scenario = Scenario::parse(&text, "many").expect("valid");
    assert_eq!(scenario.baseline_count(), 4001);
    let said = scenario.check_runs(1).expect_err("too many").to_string();
    assert!(said.contains("the results of 4002 runs") && said.contains("limits.memory is 4.0 GB"), "{said}");
    let one = Scenario::parse(&self::text("", PATH, ""), "one").expect("valid");
    let said = one.check_runs(1_000_000_000).expect_err("too many").to_string();
    assert_eq!(
        said,
        "1000000000 runs including baselines, but limits.runs is 100000 (use fewer runs, or raise limits.runs)"
    );
    assert_eq!(one.check_runs(1000), Ok(()));
}

#[test]
fn more_hosts_and_interfaces_than_addresses_have_room_for_are_refused() {
    let pairs: String = (0..8_200)
        .map(|n| format!("[links.l{n}]\nends = [\"a{n}\", \"b{n}\"]\nrate = \"1Mbit\"\n[flows.f{n}]\nfrom = \"a{n}\"\nto = \"b{n}\"\n"))
        .collect();
    let said = refused(&format!("duration = \"1s\"\n[limits]\nlinks = 10000\n{pairs}"));
    assert!(said.contains("flows: must join at most 16384 hosts, but join 16400"), "{said}");
    let ways: String = (0..300).map(|n| format!("[paths.p{n}]\nrate = \"1Mbit\"\n")).collect();
    let said = refused(&format!("duration = \"1s\"\n{ways}[flows.bulk]\n"));
    assert!(said.contains("has 300 interfaces, but a host must have at most 255"), "{said}");
}

#[test]
fn times_sizes_rates_and_lengths_do_not_saturate() {
    for (key, said) in [
        ("duration = \"1000000000h\"", "a duration must be at most 2562047h"),
        ("duration = \"1s\"\nsample = \"99999999999999999999s\"", "a time must be at most 2562047h"),
    ] {
        assert!(refused(key).contains(said), "{key}: {}", refused(key));
    }
    let nines = "9".repeat(400);
    for (path, said) in [
        (format!("rate = \"{nines}Mbit\""), "a rate must be at most 1000000Tbit, or \"unlimited\""),
        (format!("rate = \"1Mbit\"\ndelay = \"{nines}s\""), "a delay must be at most 2562047h"),
        ("rate = \"1Mbit\"\nqueue = \"99999999999GB\"".to_owned(), "a queue must be at most 9000000000GB"),
        ("rate = \"1Mbit\"\nqueue = \"99999999h\"".to_owned(), "a queue must be at most 2562047h"),
    ] {
        let found = refused(&text("", &path, ""));
        assert!(found.contains(said) && found.len() < 600, "{found}");
    }
    let far = "duration = \"1s\"\n[cells.c]\n[stations.s]\ndistance = \"1000000000000m\"\n[flows.f]\n";
    assert!(refused(far).contains("a distance must be at most 1000000000m"), "{}", refused(far));
}

/// A chain of links without a rate, each of which duplicates frames.
#[test]
fn copies_of_copies_are_reckoned_with() {
    let chain = |links: usize, share: &str| {
        let link = |n: usize| {
            let name = |n: usize| {
                if n == 0 {
                    "a".to_owned()
                } else if n == links {
                    "b".to_owned()
                } else {
                    format!("r{n}")
                }
            };
            let (from, to) = (name(n), name(n + 1));
            format!(
                "[links.l{n}]\nends = [\"{from}\", \"{to}\"]\nrate = \"unlimited\"\ndelay = \"1ms\"\nqueue = \"unlimited\"\nduplicate = \"{share}\"\n"
            )
        };
        let links: String = (0..links).map(link).collect();
        format!(
            "duration = \"1s\"\n{links}[flows.bulk]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nrate = \"1Mbit\"\n"
        )
    };
    let said = refused(&chain(20, "100%"));
    assert!(said.contains("flows.bulk.rate") && said.contains("limits.events"), "{said}");
    let said = refused(&chain(20, "100%").replace("1Mbit", "12kbit"));
    assert!(said.contains("of memory, but limits.memory is 4.0 GB"), "{said}");
    assert_eq!(refused(&chain(20, "1%")), "nothing");
    let of = |links, share| Scenario::parse(&chain(links, share), "chain").expect("valid").estimate();
    assert!(of(4, "100%").events > 10.0 * of(4, "0%").events);
    assert!(of(4, "100%").at_once >= 16.0 * of(4, "0%").at_once);
}

#[test]
fn batches_are_reckoned_with() {
    let of = |slot: &str, flow: &str| {
        let path = format!("rate = \"1Gbit\"\ndelay = \"10ms\"\n{slot}");
        Scenario::parse(&text("", &path, flow).replace("10s", "30s"), "batch").expect("valid").estimate()
    };
    let udp = "transport = \"udp\"\nrate = \"900Mbit\"";
    let (plain, batched) = (of("", udp), of("slot = \"14s\"", udp));
    // 900 Mb/s in packets of 1472 bytes for 14 s.
    let frames = 900e6 / 8.0 / 1472.0 * 14.0;
    assert!(
        batched.at_once > plain.at_once + frames && batched.memory > plain.memory + 500.0 * frames,
        "{batched:?}"
    );
    let few = of("slot = \"14s\"\nslot_frames = 32", udp);
    assert!(few.at_once < plain.at_once + 10_000.0, "{few:?}");
    // A window waits for its batch.
    assert!(of("slot = \"2s\"", "").events < of("", "").events);
}

#[test]
fn pauses_without_end_are_refused() {
    let of = |on: &str| {
        refused(&text(
            "",
            PATH,
            &format!("transport = \"udp\"\nrate = \"1kbit\"\non = \"{on}\"\noff = \"{on}\""),
        ))
    };
    assert!(of("1ns").contains("flows.bulk.rate = \"1kbit\": would make"), "{}", of("1ns"));
    assert_eq!(of("1ms"), "nothing");
}

#[test]
fn lost_frames_do_not_wait_for_the_next_sample() {
    // 125,000 datagrams per second, of which the path carries one in a thousand, without samples.
    let text = "duration = \"1s\"\nsample = \"10s\"\n[paths.wifi]\nrate = \"1Mbit\"\nqueue = \"2p\"\n\
                [flows.flood]\ntransport = \"udp\"\nrate = \"100Mbit\"\ndatagram = \"100B\"\n";
    let scenario = Scenario::parse(text, "flood").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::new(&scenario, 1).unwrap_or_else(|error| panic!("{error}"));
    world.advance(Instant::from_nanos(1_000_000_000)).unwrap_or_else(|error| panic!("{error}"));
    assert!(world.lost_frames() <= MAX_LOST, "{}", world.lost_frames());
}

#[test]
fn datagrams_that_propagate_are_reckoned_with() {
    let text = |delay: &str| {
        format!(
            "duration = \"100s\"\n[paths.a]\nrate = \"1Gbit\"\ndelay = \"{delay}\"\n[flows.f]\ntransport = \"udp\"\n\
             datagram = \"1B\"\nrate = \"1Gbit\"\n[limits]\nevents = 1000000000000\n"
        )
    };
    let memory = |delay| match Scenario::parse(&text(delay), "udp.toml") {
        Ok(scenario) => scenario.estimate().memory,
        Err(error) => {
            assert!(error.to_string().contains("of memory"), "{error}");
            f64::INFINITY
        }
    };
    assert!(memory("10ms") < 1e9);
    // 2.5 million frames per second, each with 100 bytes or more, propagate for 100 s.
    assert!(memory("100s") > 2e9);
}
