//! Networks that files over drawn networks found: more of `never_slower`.

use crate::never_slower::{Path, completion};

/// Time of a file over that of TCP on the first path.
fn of_tcp(paths: &[Path], buffer: u64, bytes: u64) -> f64 {
    let tcp = completion(paths, buffer, bytes, "transport = \"tcp\"\npaths = [\"p0\"]");
    completion(paths, buffer, bytes, "") / tcp
}

#[test]
fn a_last_segment_that_tcp_does_not_need_is_not_what_a_full_queue_drops() {
    // 30 kB are 21 segments of TCP; here 96 bytes are left for another one, which came to a full queue: 3.1 times as long.
    let paths = [(6_191, 5_806, "12p", ""), (2_731, 231_478, "18p", "")];
    let took = of_tcp(&paths, 4_000_000, 30_000);
    assert!(took < 1.05, "{took:.2}");
    // 2.2 times; so short that the window has not doubled yet.
    let paths = [(5_019, 5_051, "10p", ""), (12_079, 151_403, "61p", "")];
    let took = of_tcp(&paths, 4_000_000, 20_000);
    assert!(took < 1.05, "{took:.2}");
}
