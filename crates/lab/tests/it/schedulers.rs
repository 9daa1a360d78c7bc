//! Schedulers of the literature compared with the results of their papers. Each test names its source and prints its
//! values; the table of `docs/algorithms.md` has them.
//!
//! Owns the scenarios: two paths of different rate and delay, with the mechanisms of the papers' kernels.

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Mechanisms of the kernels that the papers used.
const HISTORICAL: &str = "\n[defaults]\nopportunistic_rule = \"original\"\npenalisation = true\ncoupling_scope = \"all\"\n\
    pacing = false\nsndbuf_shrinks = true\nrcvbuf_by_path = false\n";

/// The flow of a scenario.
fn flow(text: &str, seed: u64) -> FlowSummary {
    let scenario = Scenario::parse(text, "schedulers").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let measured = World::new(&scenario, seed).expect("a network").run().expect("it ends");
    let flow = measured.flows.into_iter().next().expect("one flow");
    assert!(flow.intact);
    flow
}

/// Completion time in seconds of files that follow each other on one connection, without the first: a file every 4 s.
/// The rates are those of the ECF paper; the delays are assumed, as of networks without load.
fn later_files(scheduler: &str, kilobytes: u64) -> f64 {
    let text = format!(
        "duration = \"33s\"\n\
         [paths.wifi]\nrate = \"0.3Mbit\"\ndelay = \"20ms\"\n\
         [paths.lte]\nrate = \"8.6Mbit\"\ndelay = \"45ms\"\n\
         [flows.file]\ndirection = \"download\"\nscheduler = \"{scheduler}\"\n\
         blocks = \"{kilobytes}KiB\"\nrate = \"{}kbit\"\n{HISTORICAL}",
        kilobytes as f64 * 1024.0 * 8.0 / 4.0 / 1e3
    );
    let flow = flow(&text, 1);
    let times: Vec<f64> = flow.blocks.iter().skip(1).map(|block| block.latency.as_secs_f64()).collect();
    assert!(times.len() >= 6, "{}", times.len());
    times.iter().sum::<f64>() / times.len() as f64
}

/// Lim et al. (CoNEXT 2017): downloads over 0.3 and 8.6 Mb/s take up to 20% less time than with the lowest
/// RTT first, and never more.
#[test]
fn ecf_completes_files_earlier_than_the_lowest_rtt() {
    let mut gains = Vec::new();
    for kilobytes in [256, 512, 1024] {
        let [minrtt, ecf] = ["minrtt", "ecf"].map(|scheduler| later_files(scheduler, kilobytes));
        println!(
            "{kilobytes} KiB: minrtt {minrtt:.3} s, ecf {ecf:.3} s ({:+.1}%)",
            100.0 * (ecf / minrtt - 1.0)
        );
        assert!(ecf < 1.03 * minrtt, "{kilobytes} KiB: {ecf} s, minrtt {minrtt} s");
        gains.push(1.0 - ecf / minrtt);
    }
    let best = gains.iter().copied().fold(0.0, f64::max);
    assert!((0.1..0.5).contains(&best), "{gains:?}");
}

/// The network of the BLEST paper (Ferlin et al., IFIP Networking 2016, section IV): rates, loss, queues and buffers.
/// The delays are one-way.
fn wlan_and_3g(seconds: u64, keys: &str) -> String {
    format!(
        "duration = \"{seconds}s\"\n\
         [paths.wlan]\nrate = \"25Mbit\"\ndelay = \"25ms\"\nloss = \"1%\"\nqueue = \"100p\"\n\
         [paths.3g]\nrate = \"5Mbit\"\ndelay = \"65ms\"\nqueue = \"3750p\"\n\
         [flows.f]\nrcvbuf = \"1MiB\"\nsndbuf = \"1MiB\"\n{keys}\n{HISTORICAL}"
    )
}

/// Mean goodput in bit/s, and bytes reinjected in all, of sixteen runs.
fn bulk(scheduler: &str, congestion: &str) -> (f64, u64) {
    let text = wlan_and_3g(60, &format!("scheduler = \"{scheduler}\"\ncongestion = \"{congestion}\""));
    let runs: Vec<FlowSummary> = (1..=16).map(|seed| flow(&text, seed)).collect();
    let goodput = runs.iter().map(|run| run.goodput).sum::<f64>() / runs.len() as f64;
    let reinjected = runs.iter().flat_map(|run| &run.paths).map(|path| path.reinjected).sum();
    (goodput, reinjected)
}

/// Ferlin et al. (IFIP Networking 2016): 12% more goodput and 80% less retransmitted data than with the lowest RTT. With
/// LIA, one byte in a thousand is reinjected, and the difference is a fifth.
#[test]
fn blest_reinjects_less_and_is_not_slower() {
    for (congestion, faster, reinjected) in [("olia", 1.05, 0.3), ("cubic", 1.05, 0.3), ("lia", 1.0, 1.0)] {
        let [minrtt, blest] = ["minrtt", "blest"].map(|scheduler| bulk(scheduler, congestion));
        println!(
            "{congestion}: minrtt {:.2} Mb/s and {} B reinjected, blest {:.2} Mb/s ({:+.1}%) and {} B ({:+.0}%)",
            minrtt.0 / 1e6,
            minrtt.1,
            blest.0 / 1e6,
            100.0 * (blest.0 / minrtt.0 - 1.0),
            blest.1,
            100.0 * (blest.1 as f64 / minrtt.1 as f64 - 1.0),
        );
        assert!(blest.0 >= faster * minrtt.0, "{congestion}: {blest:?} {minrtt:?}");
        assert!((blest.1 as f64) < reinjected * minrtt.1 as f64, "{congestion}: {blest:?} {minrtt:?}");
    }
}

/// Mean delay in milliseconds of a stream of 1 Mb/s, in blocks of 1400 bytes, over four runs.
fn stream_delay(scheduler: &str, stack: &str) -> f64 {
    let keys = format!(
        "scheduler = \"{scheduler}\"\ncongestion = \"olia\"\nblocks = \"1400B\"\nrate = \"1Mbit\"\nnagle = false\n{stack}"
    );
    let text = wlan_and_3g(30, &keys);
    let mean = |seed| {
        let blocks = flow(&text, seed).blocks;
        let sum: f64 = blocks.iter().map(|block| block.latency.as_secs_f64()).sum();
        1e3 * sum / blocks.len() as f64
    };
    (1..=4).map(mean).sum::<f64>() / 4.0
}

/// Ferlin et al. (IFIP Networking 2016): mean delays of a stream of 1 Mb/s are 68 ms with the lowest RTT, 53.2 with OTIAS,
/// 62.8 with BLEST and 843.7 with DAPS.
#[test]
fn delay_of_a_stream_has_the_order_of_the_blest_paper() {
    let [minrtt, blest, otias, sttf, daps] =
        ["minrtt", "blest", "otias", "sttf", "daps"].map(|scheduler| stream_delay(scheduler, ""));
    println!("minrtt {minrtt:.1} ms, blest {blest:.1}, otias {otias:.1}, sttf {sttf:.1}, daps {daps:.1}");
    let queued =
        ["otias", "sttf", "daps", "minrtt"].map(|scheduler| stream_delay(scheduler, "subflow_queues = true"));
    println!("with subflow queues: otias, sttf, daps and minrtt {queued:.1?} ms");
    assert!(otias < 0.9 * minrtt && blest < 1.02 * minrtt && sttf < 1.05 * minrtt);
    assert!(daps > 1.2 * minrtt);
}

/// Goodput in Mb/s on each of two equal paths.
fn rates(keys: &str) -> Vec<f64> {
    let text = format!(
        "duration = \"30s\"\nwarmup = \"5s\"\n[paths.a]\nrate = \"10Mbit\"\nrtt = \"40ms\"\n\
         [paths.b]\nrate = \"10Mbit\"\nrtt = \"40ms\"\n[flows.f]\n{keys}\n"
    );
    flow(&text, 1).paths.iter().map(|path| path.bytes_acked as f64 * 8.0 / 25e6).collect()
}

/// The weights are the shares of a stream that the windows do not limit, and of bulk data if full subflows are waited for.
#[test]
fn weights_are_the_shares() {
    let stream = "blocks = \"1400B\"\nrate = \"4Mbit\"\nnagle = false\n";
    for (weights, share) in [("3,1", 0.75), ("1,1", 0.5), ("1,4", 0.2)] {
        for (keys, strict) in [(stream, false), ("", true)] {
            let scheduler = format!(
                "scheduler = {{ kind = \"weighted-roundrobin\", weights = \"{weights}\", strict = {strict} }}"
            );
            let rates = rates(&format!("{keys}{scheduler}\nopportunistic_retransmission = false"));
            let found = rates[0] / (rates[0] + rates[1]);
            println!("weights {weights}, strict {strict}: {rates:.2?} Mb/s, share {found:.3}");
            assert!((found - share).abs() < 0.01, "{weights}, strict {strict}: {found}");
        }
    }
    let bulk = rates("scheduler = { kind = \"weighted-roundrobin\", weights = \"3,1\" }");
    println!("weights 3,1, bulk: {bulk:.2?} Mb/s");
    assert!(bulk.iter().sum::<f64>() > 18.0, "full subflows are skipped: {bulk:?}");
}

/// `backup` uses the second path only after the first has failed, and `priority` when the first is full.
#[test]
fn backup_waits_for_a_failure_and_priority_for_a_full_window() {
    let order = rates("scheduler = { kind = \"backup\", order = \"1\" }");
    let spill = rates("scheduler = \"priority\"");
    println!("backup {order:.2?} Mb/s, priority {spill:.2?} Mb/s");
    assert!(order[0] < 0.05 && order[1] > 9.0, "{order:?}");
    assert!(spill.iter().sum::<f64>() > 18.0, "{spill:?}");
    let slow = rates("scheduler = \"priority\"\nblocks = \"1400B\"\nrate = \"4Mbit\"\n");
    assert!(slow[1] < 0.05 * slow[0], "{slow:?}");
    let text = "duration = \"20s\"\n[paths.a]\nrate = \"10Mbit\"\nrtt = \"40ms\"\n[paths.b]\nrate = \"10Mbit\"\nrtt = \"40ms\"\n\
        [flows.f]\nscheduler = \"backup\"\n[[events]]\nat = \"10s\"\npath = \"a\"\nset = { up = false }\n";
    let failed = flow(text, 1);
    let bytes: Vec<u64> = failed.paths.iter().map(|path| path.bytes_arrived).collect();
    println!("backup after a failure at half of the time: {bytes:?} bytes");
    assert!(bytes[1] as f64 > 0.7 * bytes[0] as f64, "{bytes:?}");
}

/// Frömmgen et al. (Middleware 2017): a copy at the first transmission hides losses from a stream of small
/// blocks. Bulk data still gets more than the capacity of one path, unlike with full redundancy.
#[test]
fn opportunistic_copies_hide_losses_and_keep_more_goodput_than_full_redundancy() {
    let run = |scheduler: &str, keys: &str| {
        let text = format!(
            "duration = \"30s\"\n[paths.a]\nrate = \"10Mbit\"\nrtt = \"40ms\"\nloss = \"2%\"\n\
             [paths.b]\nrate = \"10Mbit\"\nrtt = \"50ms\"\nloss = \"2%\"\n[flows.f]\nscheduler = \"{scheduler}\"\n{keys}\n"
        );
        (1..=4).map(|seed| flow(&text, seed)).collect::<Vec<_>>()
    };
    let tail = |scheduler| {
        let runs = run(scheduler, "blocks = \"1000B\"\nrate = \"200kbit\"\nnagle = false\n");
        let worst = runs.iter().filter_map(|run| run.latency).map(|latency| latency[2]).sum::<f64>();
        1e3 * worst / runs.len() as f64
    };
    let names = ["minrtt", "redundant", "opportunistic-redundant"];
    let tails = names.map(tail);
    let goodput = names.map(|scheduler| {
        let runs = run(scheduler, "congestion = \"bbr\"");
        runs.iter().map(|run| run.goodput).sum::<f64>() / runs.len() as f64 / 1e6
    });
    println!("{names:?}: 99th percentile {tails:.1?} ms, goodput {goodput:.2?} Mb/s");
    assert!(tails[2] < 0.7 * tails[0], "{tails:?}");
    assert!(goodput[2] > 1.1 * goodput[1], "{goodput:?}");
}

/// MPTCP tutorial of ACM SIGCOMM 2020: blocks of 10 KB every 250 ms over two paths of 20 Mb/s with RTTs of 40 and 80 ms.
/// Until its acknowledgement, a block takes 40 to 50 ms with the lowest RTT. With round robin it takes about 90 ms.
#[test]
fn block_delay_depends_on_the_scheduler_as_in_the_sigcomm_tutorial() {
    let delay = |keys: &str, rtt: f64| {
        let text = format!(
            "duration = \"30s\"\nwarmup = \"2s\"\n[paths.a]\nrate = \"20Mbit\"\nrtt = \"40ms\"\n\
             [paths.b]\nrate = \"20Mbit\"\nrtt = \"80ms\"\n\
             [flows.f]\nblocks = \"10kB\"\nrate = \"320kbit\"\nnagle = false\nscheduler = {keys}\n{HISTORICAL}"
        );
        let flow = flow(&text, 1);
        // The end of a block arrives half an RTT before its acknowledgement.
        1e3 * flow.latency.expect("blocks")[0] + rtt / 2.0
    };
    let names = [
        "ontime",
        "minrtt",
        "redundant",
        "opportunistic-redundant",
        "blest",
        "ecf",
        "otias",
        "sttf",
        "priority",
        "backup",
    ];
    for name in names {
        let found = delay(&format!("\"{name}\""), 40.0);
        println!("{name}: {found:.1} ms");
        assert!((40.0..50.0).contains(&found), "{name}: {found}");
    }
    for name in ["roundrobin", "weighted-roundrobin", "maxrtt"] {
        let found = delay(&format!("\"{name}\""), 80.0);
        println!("{name}: {found:.1} ms");
        assert!((75.0..95.0).contains(&found), "{name}: {found}");
    }
    let linux = delay("\"linux\"\nstack = \"linux\"", 40.0);
    println!("linux: {linux:.1} ms");
    assert!((40.0..50.0).contains(&linux), "{linux}");
}
