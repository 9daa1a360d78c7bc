//! Reaction of the protocol to duplicated, corrupted and batched frames.

use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;
use netsim::Loss;

fn scenario(path: &str, flow: &str) -> Scenario {
    let text = format!(
        "duration = \"5s\"\n[paths.first]\nrate = \"10Mbit\"\nrtt = \"20ms\"\n{path}\n\
         [paths.second]\nrate = \"10Mbit\"\nrtt = \"20ms\"\n{path}\n[flows.bulk]\n{flow}\n"
    );
    Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn run(path: &str, flow: &str) -> Measurements {
    World::new(&scenario(path, flow), 1).expect("a network").run().expect("it comes to its end")
}

#[test]
fn copies_change_nothing_of_what_is_read() {
    let measured = run("duplicate = \"5%\"", "");
    let flow = &measured.flows[0];
    assert!(flow.intact && flow.multipath && flow.goodput > 17e6, "{flow:?}");
    let copies: u64 = measured.links.iter().filter_map(|link| link.duplicated).sum();
    assert!(copies > 500, "{copies}");
    assert!(measured.links.iter().all(|link| link.corrupted == Some(0)));
}

#[test]
fn datagrams_come_twice() {
    let flow = "transport = \"udp\"\nrate = \"1Mbit\"\ndatagram = \"1000B\"";
    let plain = run("", flow).flows[0].bytes_received_total;
    let doubled = run("duplicate = \"100%\"", flow).flows[0].bytes_received_total;
    assert_eq!(doubled, plain * 2);
    assert_eq!(run("corrupt = \"100%\"", flow).flows[0].bytes_received_total, 0);
    assert_eq!(run("corrupt = \"100%\"\nduplicate = \"100%\"", flow).flows[0].bytes_received_total, plain);
}

/// A bit error never reaches the DSS checksum: the checksum of TCP drops the segment (no RFC 8684 section 3.7
/// fallback).
#[test]
fn damage_is_a_loss_and_no_fallback() {
    for checksum in ["true", "false"] {
        let measured = run("corrupt = \"1%\"", &format!("checksum = {checksum}"));
        let flow = &measured.flows[0];
        assert!(
            flow.intact && flow.multipath && flow.fallback.is_none() && flow.closed.is_none(),
            "{flow:?}"
        );
        assert!(flow.paths.iter().all(|path| path.subflows == 1), "no subflow was ended: {:?}", flow.paths);
        let damaged: u64 = measured.links.iter().filter_map(|link| link.corrupted).sum();
        let again: u64 = flow.paths.iter().map(|path| path.retransmits).sum();
        assert!(damaged > 30 && again > 10, "{damaged} {again}");
        assert!(measured.links.iter().all(|link| link.random_losses == 0));
    }
}

#[test]
fn damage_costs_what_loss_costs() {
    let mean = |path: &str| run(path, "transport = \"tcp\"").flows[0].goodput;
    let (damaged, lost) = (mean("corrupt = \"2%\""), mean("loss = \"2%\""));
    assert!((0.6..1.6).contains(&(damaged / lost)), "{damaged} {lost}");
    assert!(damaged < 0.8 * mean(""));
}

#[test]
fn a_middlebox_drops_what_is_damaged() {
    let text = "duration = \"5s\"\n[paths.first]\nrate = \"10Mbit\"\nrtt = \"20ms\"\ncorrupt = \"1%\"\nduplicate = \"1%\"\n\
                [middleboxes.home]\npath = \"first\"\nkind = \"nat\"\n[flows.bulk]\nchecksum = true\n";
    let scenario = Scenario::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    let measured = World::new(&scenario, 1).expect("a network").run().expect("it ends");
    let flow = &measured.flows[0];
    assert!(flow.intact && flow.multipath && flow.goodput > 2e6, "{flow:?}");
    assert!(measured.links[0].corrupted > Some(10) && measured.links[0].duplicated > Some(10));
}

#[test]
fn batches_delay_and_lose_nothing() {
    let short = |more: &str| run(&format!("queue = \"50p\"\n{more}"), "transport = \"tcp\"");
    let single = short("");
    let batched = short("slot = \"5ms\"");
    let early = short("slot = \"5ms\"\nslot_frames = 2");
    let rtt = |measured: &Measurements| measured.flows[0].paths[0].mean_srtt;
    for measured in [&batched, &early] {
        assert!(measured.flows[0].intact && measured.flows[0].goodput > 8e6, "{:?}", measured.flows[0]);
    }
    let shake = |measured: &Measurements| measured.flows[0].handshake.expect("it was connected");
    assert!(
        (shake(&batched) - shake(&single) - 0.010).abs() < 1e-6,
        "a SYN waits alone, and so does its answer"
    );
    assert!(rtt(&batched) > 0.024, "{}", rtt(&batched));
}

#[test]
fn presets_are_models_written_in_full() {
    let scenario = scenario("gilbert_elliott = { preset = \"in_flight_short\" }", "");
    let Loss::GilbertElliott(model) = &scenario.links[0].forward.loss else { panic!("a model") };
    assert!((model.mean_loss() - 0.124).abs() < 0.001, "{}", model.mean_loss());
    let written = scenario.to_toml();
    assert!(written.contains("p = \"8%\"") && !written.contains("preset"), "{written}");
    assert_eq!(Scenario::parse(&written, "again.toml").expect("valid"), scenario);
}

#[test]
fn what_a_queue_says_survives_whatever_it_is_asked_first() {
    // RED reads min first if it is set; found by the fuzzer.
    let text = "duration = \"1s\"\n[paths.wifi]\nrate = \"8Mbit\"\n\
        queue = { kind = \"red\", limit = \"99KB\", max = \"20KB\" }\n[flows.bulk]\n";
    let scenario = Scenario::parse(text, "queue.toml").unwrap();
    assert_eq!(Scenario::parse(&scenario.to_toml(), "written.toml").unwrap(), scenario);
}

#[test]
fn impairments_survive_being_written() {
    let first = scenario("duplicate = \"0.1%\"\ncorrupt = \"0.01%\"\nslot = \"5ms\"\nslot_frames = 16", "");
    assert_eq!(Scenario::parse(&first.to_toml(), "again.toml").expect("valid"), first);
}

/// Exponential periods of 100 ms and 300 ms: a quarter of the time at 4 Mb/s.
#[test]
fn datagrams_with_pauses_send_a_share_of_the_time() {
    let flow = "transport = \"udp\"\nrate = \"4Mbit\"\ndatagram = \"500B\"\non = \"100ms\"\noff = \"300ms\"";
    let text = format!(
        "duration = \"200s\"\nsample = \"50ms\"\n[paths.first]\nrate = \"10Mbit\"\n[flows.bulk]\n{flow}\n"
    );
    let scenario = Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Scenario::parse(&scenario.to_toml(), "again.toml").expect("valid"), scenario);
    let measured = World::new(&scenario, 1).expect("a network").run().expect("it ends");
    let share = measured.flows[0].goodput / 4e6;
    assert!((0.21..0.29).contains(&share), "{share}");
    // Over all paths: about exp(-50/300) of the sampling intervals in pauses are empty, and full ones are at
    // the rate.
    let samples = &measured.samples;
    let goodput = mptcp_lab::measurements::Metric::Goodput as u8;
    let all = measured.path_names.len() as u16;
    let rows =
        (0..samples.time.len()).filter(|&row| samples.metric[row] == goodput && samples.path[row] == all);
    let values: Vec<f64> = rows.map(|row| samples.value[row]).collect();
    let empty = values.iter().filter(|&&value| value == 0.0).count() as f64 / values.len() as f64;
    assert!((0.5..0.75).contains(&empty), "{empty}");
    assert!(values.iter().any(|&value| (3.9e6..4.1e6).contains(&value)));
}

/// On periods shorter than the time between two datagrams also give a quarter of the time.
#[test]
fn the_rate_while_datagrams_are_sent_is_exact_however_short_that_is() {
    for (on, off) in [("1ms", "3ms"), ("4ms", "12ms"), ("40ms", "120ms")] {
        let text = format!(
            "duration = \"400s\"\nsample = \"1s\"\n[paths.first]\nrate = \"10Mbit\"\n[flows.bulk]\ntransport = \"udp\"\n\
             rate = \"1Mbit\"\ndatagram = \"500B\"\non = \"{on}\"\noff = \"{off}\"\n"
        );
        let scenario = Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
        let measured = World::new(&scenario, 1).expect("a network").run().expect("it ends");
        let share = measured.flows[0].goodput / 1e6;
        assert!((0.235..0.265).contains(&share), "{on} {off}: {share}");
    }
}

/// A segment that is corrupted and then lost leaves no state: later segments in its slot are intact.
#[test]
fn damage_ends_with_the_segment_that_was_lost() {
    let links = "[links.a-r]\nends = [\"a\", \"r\"]\nrate = \"10Mbit\"\ndelay = \"1ms\"\nCORRUPT\n\
                 [links.r-b]\nends = [\"r\", \"b\"]\nrate = \"10Mbit\"\ndelay = \"1ms\"\nloss = \"20%\"\n\
                 [links.c-d]\nends = [\"c\", \"d\"]\nrate = \"10Mbit\"\ndelay = \"1234567ns\"\n\
                 [flows.hurt]\nfrom = \"a\"\nto = \"b\"\ntransport = \"tcp\"\n\
                 [flows.whole]\nfrom = \"c\"\nto = \"d\"\ntransport = \"tcp\"\nrcvbuf = \"64KB\"\n";
    let of = |corrupt: &str| {
        let text = format!("duration = \"10s\"\n{}", links.replace("CORRUPT", corrupt));
        let scenario = Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
        let measured = World::new(&scenario, 1).expect("a network").run().expect("it ends");
        assert!(measured.flows.iter().all(|flow| flow.intact));
        let lines = measured.links.iter().filter(|link| link.link == "c-d");
        let sent = lines.map(|link| (link.sent_frames, link.sent_bytes)).collect::<Vec<_>>();
        let whole = &measured.flows[1];
        let again = whole.paths.iter().map(|path| path.retransmits).sum::<u64>();
        (sent, whole.bytes_received_total, again)
    };
    let hurt = of("corrupt = \"20%\"");
    assert_eq!(hurt.2, 0);
    assert_eq!(hurt, of(""), "another flow over another link");
}
