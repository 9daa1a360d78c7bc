//! Ten networks, each for a property of the default scheduler and congestion control.
//! `tests/test_never_slower.py` is the statistical test over generated networks; docs/scheduler.md explains
//! the model.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// The rules of the kernels in the papers.
const HISTORICAL: &str = "scheduler = \"minrtt\"\nopportunistic_rule = \"original\"\npenalisation = true\ncoupling_scope = \"all\"\npacing = false\nsndbuf_shrinks = true\nrcvbuf_by_path = false\n";

/// A path: rate in kbit/s, RTT in microseconds, queue, and further keys.
type Path = (u32, u32, &'static str, &'static str);

/// Goodput of each flow, Mb/s.
fn goodputs(text: &str) -> Vec<f64> {
    let scenario = Scenario::parse(text, "network").unwrap_or_else(|e| panic!("{e}"));
    let world = World::new(&scenario, 1).expect("a network");
    let flows = world.run().expect("it comes to its end").flows;
    flows.iter().map(|flow| flow.goodput / 1e6).collect()
}

/// The top level of a scenario, and its paths `p0` and so on.
fn network(beginning: &str, paths: &[Path]) -> String {
    let mut text = beginning.to_owned();
    for (at, (rate, rtt, queue, more)) in paths.iter().enumerate() {
        text += &format!(
            "[paths.p{at}]\nrate = \"{rate}kbit\"\nrtt = \"{rtt}us\"\nqueue = \"{queue}\"\n{more}\n"
        );
    }
    text
}

/// Goodput of MPTCP with `keys`, and of plain TCP over the best path, Mb/s.
fn against_best(paths: &[Path], buffers: &str, keys: &str) -> (f64, f64) {
    let text = network("duration = \"20s\"\nwarmup = \"5s\"\nsample = \"1s\"\n", paths);
    let alone = (0..paths.len()).map(|at| {
        let flow = format!("[flows.f]\ntransport = \"tcp\"\npaths = [\"p{at}\"]\n{buffers}\n");
        goodputs(&(text.clone() + &flow))[0]
    });
    let best = alone.fold(0.0, f64::max);
    (goodputs(&format!("{text}[flows.f]\n{buffers}\n{keys}\n"))[0], best)
}

fn buffers(bytes: u64) -> String {
    format!("rcvbuf = \"{bytes}B\"\nsndbuf = \"{bytes}B\"")
}

/// MPTCP reaches at least this fraction of TCP over the best path.
fn keeps(least: f64, paths: &[Path], buffers: &str) {
    let (all, best) = against_best(paths, buffers, "");
    assert!(all >= least * best, "{all:.2} of {best:.2} Mb/s");
}

/// DSL with LTE and its long queue.
const BONDED: [Path; 2] = [(50_000, 20_000, "50ms", ""), (30_000, 60_000, "1s", "jitter = \"15ms\"")];

#[test]
fn a_long_queue_beside_a_fast_path_takes_nothing_from_it_whatever_the_buffer() {
    for kilobytes in [100, 300, 480, 700, 950, 1_700, 3_200] {
        let (both, best) = against_best(&BONDED, &buffers(kilobytes * 1000), "");
        assert!(both > 0.95 * best, "{kilobytes} kB: {both:.1} of {best:.1} Mb/s");
        if kilobytes >= 950 {
            assert!(both > 70.0, "{kilobytes} kB: {both:.1} Mb/s is not the sum");
        }
    }
    let (both, best) = against_best(&BONDED, &buffers(900_000), HISTORICAL);
    assert!(both < 0.7 * best, "M2 halves the fast path: {both:.1} of {best:.1} Mb/s");
}

#[test]
fn a_slow_path_whose_losses_hold_the_window_up_carries_nothing() {
    keeps(0.95, &[(93_000, 38_500, "410p", ""), (1_980, 9_100, "10p", "")], &buffers(860_000));
    keeps(0.95, &[(1_290, 6_430, "10p", ""), (41_800, 73_700, "213p", "")], &buffers(730_000));
}

#[test]
fn three_slow_paths_beside_a_fast_one_take_no_window_from_it() {
    let paths = [
        (17_100, 84_300, "94p", ""),
        (3_380, 25_100, "10p", ""),
        (2_840, 118_000, "82p", ""),
        (72_100, 29_000, "65p", ""),
    ];
    keeps(0.95, &paths, &buffers(257_000));
    let (all, best) = against_best(&paths, &buffers(257_000), HISTORICAL);
    assert!(all < 0.7 * best, "{all:.1} of {best:.1} Mb/s");
}

#[test]
fn what_a_full_window_held_back_does_not_leave_in_one_burst() {
    let paths = [
        (3_230, 121_000, "20p", ""),
        (7_070, 16_900, "11p", ""),
        (9_580, 6_950, "10p", ""),
        (84_900, 129_000, "424p", ""),
    ];
    keeps(0.95, &paths, &buffers(1_164_000));
}

#[test]
fn a_window_that_fills_a_queue_elsewhere_does_not_slow_the_growth_of_a_lossy_path() {
    let paths = [(50_200, 285_000, "1530p", ""), (96_300, 9_000, "89p", "loss = \"0.03%\"")];
    let (both, best) = against_best(&paths, "autotuning = true", "");
    assert!(both > 0.95 * best, "{both:.1} of {best:.1} Mb/s");
    let (coupled, _) = against_best(&paths, "autotuning = true", "coupling_scope = \"all\"");
    assert!(coupled < 0.9 * both, "coupled {coupled:.1}, by bottleneck {both:.1} Mb/s");
}

#[test]
fn a_path_that_loses_many_times_more_than_another_shares_no_bottleneck_with_it() {
    let paths = [(42_400, 233_000, "372p", "loss = \"0.02%\""), (38_500, 17_000, "22p", "loss = \"0.48%\"")];
    let (both, best) = against_best(&paths, &buffers(483_000), "");
    assert!(both > 1.1 * best, "{both:.1} of {best:.1} Mb/s");
    let (coupled, _) = against_best(&paths, &buffers(483_000), "coupling_scope = \"all\"");
    assert!(coupled < 0.9 * both, "coupled {coupled:.1}, by losses {both:.1} Mb/s");
}

#[test]
fn what_another_path_acknowledges_sooner_frees_the_window_for_more() {
    let paths = [(35_900, 193_000, "2184p", ""), (4_820, 6_140, "10p", ""), (3_050, 7_580, "10p", "")];
    keeps(1.15, &paths, &buffers(248_000));
}

#[test]
fn a_first_window_that_overflowed_a_queue_does_not_keep_a_long_path_small() {
    let paths = [(3_740, 115_000, "56p", ""), (93_700, 198_000, "788p", ""), (1_630, 312_000, "33p", "")];
    keeps(0.97, &paths, "autotuning = true");
}

/// The rate of one path falls to a thirtieth between 5 s and 12 s.
#[test]
fn a_path_that_fades_stops_nothing_and_is_used_again() {
    let paths = [(20_000, 40_000, "200p", ""), (10_000, 20_000, "100p", "")];
    let mut text = network("duration = \"18s\"\nsample = \"1s\"\n", &paths);
    text += "[flows.f]\nautotuning = true\n";
    for (at, rate) in [(5, 660), (12, 20_000)] {
        text += &format!("[[events]]\nat = \"{at}s\"\npath = \"p0\"\nset = {{ rate = \"{rate}kbit\" }}\n");
    }
    let scenario = Scenario::parse(&text, "fading").unwrap_or_else(|e| panic!("{e}"));
    let run = World::new(&scenario, 1).expect("a network").run().expect("it comes to its end");
    assert!(run.flows[0].goodput > 16e6, "{:.1} Mb/s", run.flows[0].goodput / 1e6);
}

/// A bottleneck of 20 Mb/s shared by both paths and three TCP flows: MPTCP takes at most a tenth more than
/// with the historical rules. These are the rules of the first MPTCP kernels.
#[test]
fn behind_one_bottleneck_it_takes_about_what_the_historical_rules_take() {
    let share = |keys: &str| {
        let text = format!(
            "duration = \"60s\"\nwarmup = \"10s\"\nsample = \"1s\"\n\
             [links.a]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"1ms\"\nqueue = \"9999p\"\n\
             [links.b]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"1ms\"\nqueue = \"9999p\"\n\
             [links.c]\nends = [\"other\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"1ms\"\nqueue = \"9999p\"\n\
             [links.neck]\nends = [\"r\", \"server\"]\nrate = \"20Mbit\"\ndelay = \"10ms\"\nqueue = \"60p\"\n\
             [flows.m]\nto = \"server\"\nstart = \"1s\"\n{keys}\n\
             [flows.t]\nfrom = \"other\"\nto = \"server\"\ntransport = \"tcp\"\ncount = 3\nstagger = \"137ms\"\n"
        );
        let rates = goodputs(&text);
        rates[0] / (rates[1..].iter().sum::<f64>() / 3.0)
    };
    let (default, historical) = (share(""), share(HISTORICAL));
    assert!(
        default < 1.1 * historical,
        "{default:.2} of a share, and {historical:.2} by the historical rules"
    );
    assert!(
        default > 0.75 * historical,
        "{default:.2} of a share, and {historical:.2} by the historical rules"
    );
    let uncoupled = share("congestion = \"reno\"");
    assert!(
        uncoupled > 1.2 * default,
        "{default:.2} of a share, and {uncoupled:.2} uncoupled: the bottleneck was not noticed"
    );
}
