//! What a path with nothing else to do carries before anybody knows whether it is late: more of `never_slower`.

use crate::never_slower::{Path, completion, mean_completion};

/// Seconds that a file takes with M1 that waits until something is late, with M1 that does not, and with TCP over the first path; means
/// over so many seeds. Without a `buffer` both are tuned.
fn late_early_tcp(paths: &[Path], buffer: Option<u64>, bytes: u64, seeds: u64) -> [f64; 3] {
    let tuned = if buffer.is_none() { "autotuning = true" } else { "" };
    let rules = ["opportunistic = \"sooner\"", "", "transport = \"tcp\"\npaths = [\"p0\"]"];
    rules.map(|keys| {
        mean_completion(paths, buffer.unwrap_or(4_000_000), bytes, &format!("{tuned}\n{keys}"), seeds)
    })
}

#[test]
fn what_a_far_path_loses_at_the_end_is_there_before_that_is_found() {
    // The window of the far path doubles until it loses two segments, which it finds out when the near path was done for 0.2 s.
    let paths: [Path; 2] = [(37_278, 15_493, "50p", ""), (4_366, 326_304, "40p", "")];
    let [late, early, tcp] = late_early_tcp(&paths, None, 10_000_000, 1);
    assert!(late > 1.05 * tcp, "it waits: {:.3}", late / tcp);
    assert!(early < 1.02 * tcp, "{:.3}", early / tcp);
}

#[test]
fn what_a_slow_path_loses_holds_up_no_window() {
    // 73.7 Mb/s in a window of less than its round trip, beside 2.2 Mb/s with a queue of ten; and 10.9 Mb/s that lose 1.7 % while windows
    // are still small.
    let near: [Path; 2] = [(73_670, 63_476, "459p", ""), (2_224, 6_174, "10p", "")];
    let [late, early, tcp] = late_early_tcp(&near, Some(525_284), 10_000_000, 1);
    assert!(late > 1.05 * tcp && early < 1.03 * tcp, "{:.3}, {:.3}", late / tcp, early / tcp);
    let lossy: [Path; 2] = [(66_536, 384_394, "3357p", ""), (10_855, 381_258, "871p", "loss = \"1.674%\"")];
    let [late, early, tcp] = late_early_tcp(&lossy, None, 3_000_000, 20);
    assert!(late > 1.05 * tcp && early < late - 0.03 * tcp, "{:.3}, {:.3}", late / tcp, early / tcp);
}

#[test]
fn copies_take_no_room_from_what_is_new() {
    // A path that is a quarter as fast is not copied while a window is full: 1.06 times as long as with TCP.
    let paths: [Path; 3] =
        [(43_964, 83_973, "705p", ""), (2_003, 33_499, "10p", ""), (10_815, 61_255, "143p", "")];
    for bytes in [1_000_000, 3_000_000] {
        let [_, early, tcp] = late_early_tcp(&paths, Some(398_211), bytes, 1);
        assert!(early < 1.05 * tcp, "{:.3}", early / tcp);
    }
    // Nor do they fill the near path's queue of twenty, on which it has losses of its own to mend: 0.41 s.
    let paths: [Path; 2] = [(28_100, 74_000, "359p", ""), (5_950, 21_900, "20p", "")];
    let took = completion(&paths, 421_000, 300_000, "");
    assert!(took < 0.4, "{took:.3} s");
}
