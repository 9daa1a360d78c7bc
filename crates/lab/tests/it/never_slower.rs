//! Networks on which Multipath TCP was slower than plain TCP over its best path, each by the cause that was mended; and one
//! where it has to be: behind a bottleneck that all share. docs/never-slower.md has the whole distribution.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// What the kernels of the papers did.
const HISTORICAL: &str = "scheduler = \"minrtt\"\nopportunistic = \"original\"\npenalisation = true\ncoupled = \"all\"\npacing = false\nsndbuf_shrinks = true\nrcvbuf_by_path = false\n";

/// Goodput of each flow, Mb/s.
fn goodputs(text: &str) -> Vec<f64> {
    let scenario = Scenario::parse(text, "network").unwrap_or_else(|e| panic!("{e}"));
    let world = World::new(&scenario, 1).expect("a network");
    let flows = world.run().expect("it comes to its end").flows;
    flows.iter().map(|flow| flow.goodput / 1e6).collect()
}

/// A path: rate in kbit/s, round trip in microseconds, queue, and further keys.
pub(crate) type Path = (u32, u32, &'static str, &'static str);

/// A scenario's beginning and its paths, `p0` and so on.
pub(crate) fn network(beginning: &str, paths: &[Path]) -> String {
    let mut text = beginning.to_owned();
    for (at, (rate, rtt, queue, more)) in paths.iter().enumerate() {
        text += &format!(
            "[paths.p{at}]\nrate = \"{rate}kbit\"\nrtt = \"{rtt}us\"\nqueue = \"{queue}\"\n{more}\n"
        );
    }
    text
}

/// Multipath TCP with `keys`, and the best that plain TCP has over one of the paths, Mb/s.
fn against_best(paths: &[Path], buffers: &str, keys: &str) -> (f64, f64) {
    let text = network("duration = \"20s\"\nwarmup = \"5s\"\nsample = \"1s\"\n", paths);
    let alone = (0..paths.len()).map(|at| {
        let flow = format!("[flows.f]\ntransport = \"tcp\"\npaths = [\"p{at}\"]\n{buffers}\n");
        goodputs(&(text.clone() + &flow))[0]
    });
    let best = alone.fold(0.0, f64::max);
    (goodputs(&format!("{text}[flows.f]\n{buffers}\n{keys}\n"))[0], best)
}

/// Buffers that are tuned.
pub(crate) const TUNED: u64 = 0;

/// Goodput with `keys`, a mean over so many seeds, Mb/s.
pub(crate) fn mean_goodput(paths: &[Path], buffer: u64, keys: &str, seeds: u64) -> f64 {
    let mut text = network("duration = \"30s\"\nwarmup = \"5s\"\n", paths);
    let buffers = if buffer == TUNED { String::new() } else { buffers(buffer) };
    text += &format!("[flows.f]\n{buffers}\n{keys}\n");
    let scenario = Scenario::parse(&text, "network").unwrap_or_else(|e| panic!("{e}"));
    let of_seed = |seed| {
        let run = World::new(&scenario, seed).expect("a network").run().expect("it comes to its end");
        run.flows[0].goodput / 1e6
    };
    (1..=seeds).map(of_seed).sum::<f64>() / seeds as f64
}

fn buffers(bytes: u64) -> String {
    format!("rcvbuf = \"{bytes}B\"\nsndbuf = \"{bytes}B\"")
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
fn a_slow_path_whose_segments_hold_the_window_up_rests() {
    let paths = [
        (17_100, 84_300, "94p", ""),
        (3_380, 25_100, "10p", ""),
        (2_840, 118_000, "82p", ""),
        (72_100, 29_000, "65p", ""),
    ];
    let (all, best) = against_best(&paths, &buffers(257_000), "");
    assert!(all > 0.95 * best, "{all:.1} of {best:.1} Mb/s");
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
    let (all, best) = against_best(&paths, &buffers(1_164_000), "");
    assert!(all > 0.95 * best, "{all:.1} of {best:.1} Mb/s");
}

#[test]
fn a_window_that_fills_a_queue_elsewhere_does_not_slow_the_growth_of_a_lossy_path() {
    let paths = [(50_200, 285_000, "1530p", ""), (96_300, 9_000, "89p", "loss = \"0.03%\"")];
    let (both, best) = against_best(&paths, "autotuning = true", "");
    assert!(both > 0.95 * best, "{both:.1} of {best:.1} Mb/s");
    let (coupled, _) = against_best(&paths, "autotuning = true", "coupled = \"all\"");
    assert!(coupled < 0.9 * both, "coupled {coupled:.1}, by bottleneck {both:.1} Mb/s");
}

#[test]
fn a_path_that_loses_many_times_more_than_another_shares_no_bottleneck_with_it() {
    let paths = [(42_400, 233_000, "372p", "loss = \"0.02%\""), (38_500, 17_000, "22p", "loss = \"0.48%\"")];
    let (both, best) = against_best(&paths, &buffers(483_000), "");
    assert!(both > 1.1 * best, "{both:.1} of {best:.1} Mb/s");
    let (coupled, _) = against_best(&paths, &buffers(483_000), "coupled = \"all\"");
    assert!(coupled < 0.9 * both, "coupled {coupled:.1}, by losses {both:.1} Mb/s");
}

#[test]
fn a_window_that_one_path_fills_alone_is_not_shared_with_a_small_one_whose_losses_hold_it_up() {
    let paths = [
        (5_250, 7_000, "10p", "loss = \"0.05%\""),
        (23_700, 76_200, "188p", ""),
        (50_800, 36_300, "404p", ""),
        (24_000, 162_000, "770p", ""),
    ];
    let (all, best) = against_best(&paths, &buffers(217_000), "");
    assert!(all > 0.95 * best, "{all:.1} of {best:.1} Mb/s");
}

#[test]
fn a_path_that_has_one_segment_at_a_time_is_not_thought_to_be_as_slow_as_its_delayed_acknowledgements() {
    let paths = [
        (36_900, 23_500, "259p", "loss = \"0.11%\""),
        (1_710, 6_900, "10p", ""),
        (42_300, 12_500, "126p", ""),
        (74_100, 15_400, "412p", ""),
    ];
    let (all, best) = against_best(&paths, &buffers(284_000), "");
    assert!(all > 0.95 * best, "{all:.1} of {best:.1} Mb/s");
}

#[test]
fn what_another_path_says_sooner_frees_the_window_for_more() {
    let paths = [(35_900, 193_000, "2184p", ""), (4_820, 6_140, "10p", ""), (3_050, 7_580, "10p", "")];
    let (all, best) = against_best(&paths, &buffers(248_000), "");
    assert!(all > 1.15 * best, "{all:.1} of {best:.1} Mb/s");
}

#[test]
fn what_is_a_little_late_is_not_sent_again() {
    let paths = [(42_400, 273_000, "3484p", ""), (43_400, 305_000, "4583p", "")];
    let (both, best) = against_best(&paths, &buffers(374_000), "");
    assert!(both > 0.98 * best, "{both:.1} of {best:.1} Mb/s");
}

#[test]
fn a_first_window_that_overflowed_a_queue_does_not_keep_a_long_path_small() {
    let paths = [(3_740, 115_000, "56p", ""), (93_700, 198_000, "788p", ""), (1_630, 312_000, "33p", "")];
    // Where the next overflow cuts it is chance.
    let (all, best) = against_best(&paths, "autotuning = true", "");
    assert!(all > 0.97 * best, "{all:.1} of {best:.1} Mb/s");
}

#[test]
fn a_window_that_is_not_used_does_not_slow_the_growth_of_one_that_is() {
    let paths = [
        (5_290, 235_000, "170p", "loss = \"0.25%\""),
        (98_800, 75_700, "1377p", ""),
        (7_550, 96_100, "33p", ""),
        (52_800, 31_600, "152p", "loss = \"0.01%\""),
    ];
    let (all, best) = against_best(&paths, &buffers(243_000), "");
    assert!(all > 0.95 * best, "{all:.1} of {best:.1} Mb/s");
    let (coupled, _) = against_best(&paths, &buffers(243_000), "coupled = \"all\"");
    assert!(coupled < 0.9 * all, "coupled {coupled:.1}, by use {all:.1} Mb/s");
}

#[test]
fn a_send_buffer_that_was_needed_once_is_there_when_a_loss_needs_it_again() {
    let paths = [(32_900, 25_300, "21p", ""), (1_160, 6_320, "10p", "")];
    let (both, best) = against_best(&paths, "autotuning = true", "");
    assert!(both > 0.95 * best, "{both:.1} of {best:.1} Mb/s");
    // Pacing hides some of it: fewer bursts, fewer losses.
    let unpaced =
        |more: &str| against_best(&paths, "autotuning = true", &format!("pacing = false\n{more}")).0;
    let (kept, shrunk) = (unpaced(""), unpaced("sndbuf_shrinks = true"));
    assert!(shrunk < 0.97 * kept, "{shrunk:.1} of {kept:.1} Mb/s");
}

/// What a window that opens again lets go does not overflow a queue of ten packets: it was 0.71 of the best path.
#[test]
fn a_short_queue_that_is_empty_gets_no_burst() {
    let paths: &[Path] = &[(10_549, 32_517, "10p", "loss = \"0.0194%\""), (53_427, 66_559, "10p", "")];
    let (multipath, best) = against_best(paths, &buffers(261_301), "");
    assert!(multipath > best, "{multipath:.2} of {best:.2} Mb/s");
}

/// A path that was slow for eight seconds is back soon after: how late its data was then, behind a queue of four seconds, is not
/// how long it has to rest. It was 0.73 of the best path.
#[test]
fn a_path_that_was_slow_for_a_while_is_used_again() {
    let text = "duration = \"30s\"\nwarmup = \"5s\"\nsample = \"1s\"\n\
        [paths.wide]\nrate = \"19800kbit\"\nrtt = \"147ms\"\nqueue = \"944p\"\n\
        [paths.near]\nrate = \"4720kbit\"\nrtt = \"54500us\"\nqueue = \"12p\"\n\
        [[events]]\nat = \"12s\"\npath = \"wide\"\nset = { rate = \"2680kbit\" }\n\
        [[events]]\nat = \"20s\"\npath = \"wide\"\nset = { rate = \"19800kbit\" }\n\
        [flows.f]\nautotuning = true\n";
    let alone = goodputs(&format!("{text}transport = \"tcp\"\npaths = [\"wide\"]\n"))[0];
    let both = goodputs(text)[0];
    assert!(both > 1.1 * alone, "{both:.1} of {alone:.1} Mb/s");
}

/// A buffer of one product of the widest path beside a nearer and smaller one: the window is always full, which is no sign that the
/// widest path is in the way.
/// By how much it is above or below the best path is chance in the first slow start; it was 0.71 of it.
#[test]
fn a_path_that_carries_most_is_not_kept_small_for_holding_up_a_nearer_one() {
    let paths = [
        (1_376, 380_128, "44p", ""),
        (10_784, 30_598, "46p", ""),
        (28_100, 10_654, "16p", ""),
        (73_768, 22_827, "299p", ""),
    ];
    let (both, best) = against_best(&paths, &buffers(226_819), "");
    assert!(both > 0.95 * best, "{both:.1} of {best:.1} Mb/s");
}

/// A flow of two subflows among `others` TCP flows behind one bottleneck: its goodput over the mean of theirs.
fn share(others: u32, queue: &str, keys: &str) -> f64 {
    let text = format!(
        "duration = \"60s\"\nwarmup = \"10s\"\nsample = \"1s\"\n\
         [links.a]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"1ms\"\nqueue = \"9999p\"\n\
         [links.b]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"1ms\"\nqueue = \"9999p\"\n\
         [links.c]\nends = [\"other\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"1ms\"\nqueue = \"9999p\"\n\
         [links.neck]\nends = [\"r\", \"server\"]\nrate = \"20Mbit\"\ndelay = \"10ms\"\nqueue = \"{queue}\"\n\
         [flows.m]\nto = \"server\"\nstart = \"1s\"\n{keys}\n\
         [flows.t]\nfrom = \"other\"\nto = \"server\"\ntransport = \"tcp\"\ncount = {others}\nstagger = \"137ms\"\n"
    );
    let rates = goodputs(&text);
    rates[0] / (rates[1..].iter().sum::<f64>() / f64::from(others))
}

#[test]
fn behind_one_bottleneck_it_takes_no_more_than_with_the_historical_rules() {
    let cases = [(1, "50p"), (3, "50p"), (5, "100p")];
    let mean =
        |keys: &str| cases.iter().map(|&(others, queue)| share(others, queue, keys)).sum::<f64>() / 3.0;
    let (ours, historical) = (mean(""), mean(HISTORICAL));
    assert!(ours < 1.1 * historical, "{ours:.2}, with the historical rules {historical:.2}");
    let apart = mean("congestion = \"reno\"");
    assert!(apart > 1.2 * ours, "uncoupled {apart:.2}, ours {ours:.2}: the bottleneck was not noticed");
}

/// Seconds until a file of `bytes` has arrived.
pub(crate) fn completion(paths: &[Path], buffer: u64, bytes: u64, keys: &str) -> f64 {
    mean_completion(paths, buffer, bytes, keys, 1)
}

/// The mean of so many seeds.
pub(crate) fn mean_completion(paths: &[Path], buffer: u64, bytes: u64, keys: &str, seeds: u64) -> f64 {
    let mut text = network("duration = \"30s\"\njitter = { start = \"0s\", processing = \"0s\" }\n", paths);
    text += &format!("[flows.f]\nbytes = \"{bytes}B\"\n{}\n{keys}\n", buffers(buffer));
    let scenario = Scenario::parse(&text, "network").unwrap_or_else(|e| panic!("{e}"));
    let of_seed = |seed| {
        let run = World::new(&scenario, seed).expect("a network").run().expect("it comes to its end");
        run.flows[0].completion.expect("the file arrives")
    };
    (1..=seeds).map(of_seed).sum::<f64>() / seeds as f64
}

#[test]
fn a_segment_that_is_lost_twice_on_a_slow_path_does_not_stop_the_fast_one() {
    let paths = [
        (1_547, 73_238, "29p", ""),
        (72_404, 68_270, "539p", ""),
        (3_757, 7_370, "10p", ""),
        (1_225, 27_964, "10p", ""),
    ];
    let all = completion(&paths, 2_763_343, 10_000_000, "");
    let alone = completion(&paths, 2_763_343, 10_000_000, "transport = \"tcp\"\npaths = [\"p1\"]");
    // A join takes three round trips until its first data, here 0.2 s; a timeout of the slow path is a second.
    assert!(all < alone + 0.6, "{all:.2} s, and {alone:.2} s on the fast path alone");
}

#[test]
fn a_last_segment_goes_with_the_window_that_would_have_held_it_for_tcp() {
    // 70 segments of TCP, three round trips of slow start; with a DSS option in each they are 71.
    let paths = [(50_000, 60_000, "200p", ""), (5_000, 390_000, "100p", "")];
    let tcp = completion(&paths, 1_000_000, 100_000, "transport = \"tcp\"\npaths = [\"p0\"]");
    let both = completion(&paths, 1_000_000, 100_000, "");
    assert!(both < 1.05 * tcp, "{both:.3} s, and {tcp:.3} s of TCP");
}

#[test]
fn a_near_path_of_a_slow_line_does_not_keep_the_end_of_a_short_file() {
    // It took 1.33 times as long.
    let paths = [
        (25_900, 7_090, "51p", ""),
        (1_570, 5_620, "10p", ""),
        (1_250, 66_900, "10p", ""),
        (38_800, 6_390, "19p", ""),
    ];
    let tcp = completion(&paths, 4_000_000, 100_000, "transport = \"tcp\"\npaths = [\"p0\"]");
    let all = completion(&paths, 4_000_000, 100_000, "");
    assert!(all < 1.05 * tcp, "{all:.3} s, and {tcp:.3} s of TCP");
}

#[test]
fn a_window_that_doubles_sends_the_end_of_a_short_file_sooner_than_a_near_path_of_a_slow_line() {
    // It took 1.35 times as long: as if the first path went on with the window that it had.
    let paths = [
        (89_988, 55_269, "212p", ""),
        (1_333, 7_796, "10p", ""),
        (4_087, 82_462, "75p", ""),
        (1_969, 52_931, "22p", ""),
    ];
    let tcp = completion(&paths, 2_535_350, 100_000, "transport = \"tcp\"\npaths = [\"p0\"]");
    let all = completion(&paths, 2_535_350, 100_000, "");
    assert!(all < 1.05 * tcp, "{all:.3} s, and {tcp:.3} s of TCP");
}

#[test]
fn what_comes_no_later_than_what_is_before_it_is_not_sent_again() {
    // Four far paths in a window that one fills: a sixth of all was sent again for nothing, and held up what was new (0.78).
    let paths = [
        (8_040, 251_600, "613p", ""),
        (48_900, 239_800, "1658p", ""),
        (59_280, 318_500, "3165p", ""),
        (68_460, 386_100, "685p", ""),
    ];
    let (all, best) = against_best(&paths, &buffers(2_195_416), "");
    assert!(all > 0.95 * best, "{all:.1} of {best:.1} Mb/s");
}

/// The 99th percentile of the times of blocks of 8 KiB at a rate, after the first 5 s, a mean over two seeds, and over six where a path has
/// losses or jitter; seconds.
pub(crate) fn latest_blocks(paths: &[Path], buffer: u64, rate: &str, keys: &str) -> f64 {
    let seeds = if paths.iter().all(|(.., keys)| keys.is_empty()) { 2 } else { 6 };
    latest_blocks_of(paths, buffer, rate, keys, seeds)
}

/// The same over so many seeds.
pub(crate) fn latest_blocks_of(paths: &[Path], buffer: u64, rate: &str, keys: &str, seeds: u64) -> f64 {
    let mut text = network("duration = \"25s\"\n", paths);
    text += &format!("[flows.f]\nblocks = \"8KiB\"\nrate = \"{rate}\"\n{}\n{keys}\n", buffers(buffer));
    let scenario = Scenario::parse(&text, "network").unwrap_or_else(|e| panic!("{e}"));
    let of_seed = |seed| {
        let run = World::new(&scenario, seed).expect("a network").run().expect("it comes to its end");
        let blocks = &run.flows[0].blocks;
        let opening = blocks[0].written_at + mptcp_clock::Duration::from_secs(5);
        let mut times: Vec<f64> =
            blocks.iter().filter(|b| b.written_at >= opening).map(|b| b.latency.as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() * 99 / 100]
    };
    (1..=seeds).map(of_seed).sum::<f64>() / seeds as f64
}

#[test]
fn blocks_at_a_rate_do_not_wait_for_what_a_near_path_loses() {
    // A near path that loses, and two that are too slow: its blocks took up to 2.6 times as long as the best path's.
    let paths =
        [(1_500, 5_000, "10p", ""), (45_500, 30_000, "151p", ""), (7_800, 7_000, "10p", "loss = \"1.98%\"")];
    let tcp = latest_blocks(&paths, 314_636, "4Mbit", "transport = \"tcp\"\npaths = [\"p1\"]");
    let all = latest_blocks(&paths, 314_636, "4Mbit", "");
    assert!(all < 1.05 * tcp, "{all:.4} s, and {tcp:.4} s of TCP");
}

#[test]
fn blocks_at_a_rate_do_not_overflow_the_queue_of_a_near_path() {
    // What is too much for the first path: it took 2.8 times as long to fill and to overflow its queue, again and again.
    let paths = [(11_500, 18_000, "36p", ""), (48_500, 267_000, "3887p", "")];
    let tcp = latest_blocks(&paths, 3_096_631, "16Mbit", "transport = \"tcp\"\npaths = [\"p1\"]");
    let all = latest_blocks(&paths, 3_096_631, "16Mbit", "");
    assert!(all < 1.3 * tcp, "{all:.4} s, and {tcp:.4} s of TCP");
}
