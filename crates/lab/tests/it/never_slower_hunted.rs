//! Networks that an hour's hunt found, with bulk data: more of `never_slower`.

use crate::never_slower::{Path, TUNED, mean_goodput};

/// Goodput with Multipath TCP and with TCP over the best path, Mb/s.
fn against(paths: &[Path], buffer: u64, best: &str, seeds: u64) -> (f64, f64) {
    let of = |keys: &str| mean_goodput(paths, buffer, keys, seeds);
    (of(""), of(&format!("transport = \"tcp\"\npaths = [\"{best}\"]")))
}

#[test]
fn a_delayed_acknowledgement_sends_the_last_of_a_window_on_no_far_path() {
    // The window is just what the second path needs. The last segment of it is acknowledged 40 ms later, and seemed to have taken longer than
    // the third path does: that got one, and all waited for it; 34.5 of 48.6 Mb/s.
    let paths: [Path; 3] =
        [(22_815, 159_808, "221p", ""), (98_262, 179_438, "1100p", ""), (1_000, 204_188, "70p", "")];
    let (own, tcp) = against(&paths, 1_090_768, "p1", 1);
    assert!(own > 0.95 * tcp, "{own:.2} of {tcp:.2} Mb/s");
}

#[test]
fn a_window_that_is_not_used_is_no_rate() {
    // The window of the last path is twice what it has in flight, and twice of what its line carries seemed to fill that of the connection: the best
    // path was held back for it. 36.8 of 42.8 Mb/s, and 26.3 of 31.8.
    let four: [Path; 4] = [
        (46_400, 321_000, "4471p", ""),
        (2_320, 125_000, "43p", ""),
        (1_680, 317_000, "52p", ""),
        (15_000, 299_000, "335p", ""),
    ];
    let three: [Path; 3] = [
        (47_600, 322_000, "711p", ""),
        (10_300, 282_000, "640p", "loss = \"0.25%\""),
        (15_400, 266_000, "654p", ""),
    ];
    for (paths, buffer, seeds) in [(&four[..], 1_721_000, 1), (&three[..], 1_278_000, 6)] {
        let (own, tcp) = against(paths, buffer, "p0", seeds);
        assert!(own > 0.9 * tcp, "{own:.2} of {tcp:.2} Mb/s");
    }
}

#[test]
fn a_first_window_that_another_path_held_up_is_no_reason_to_stay_small() {
    // The first path loses when the second one does, and holds up the window: in that round trip little is in flight, and half of it is what the
    // second one went on from; 28.0 of 36.3 Mb/s.
    let paths: [Path; 2] = [(1_209, 301_274, "44p", ""), (46_107, 220_797, "308p", "")];
    let (own, tcp) = against(&paths, 1_846_232, "p1", 1);
    assert!(own > tcp, "{own:.2} of {tcp:.2} Mb/s");
}

#[test]
fn a_window_that_the_buffer_held_back_does_not_overflow_its_queue_twice() {
    // With 3.4 MB in flight the congestion window is 6.5 MB when the queue overflows. Half of it was what was in flight: the next loss halved that,
    // to 1.6 MB, where the path holds 2.3; 75.9 of 92.5 Mb/s.
    let paths: [Path; 4] = [
        (1_170, 392_000, "30p", ""),
        (2_730, 319_000, "247p", ""),
        (98_200, 188_600, "742p", ""),
        (3_070, 300_000, "119p", ""),
    ];
    for congestion in ["lia", "olia"] {
        let keys = format!("congestion = \"{congestion}\"");
        let own = mean_goodput(&paths, TUNED, &keys, 1);
        let tcp = mean_goodput(&paths, TUNED, "transport = \"tcp\"\npaths = [\"p2\"]", 1);
        assert!(own > 0.95 * tcp, "{congestion}: {own:.2} of {tcp:.2} Mb/s");
    }
}
