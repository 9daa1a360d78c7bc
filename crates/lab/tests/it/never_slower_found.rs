//! Networks that files over drawn networks found: more of `never_slower`.

use crate::never_slower::{Path, completion, latest_blocks, latest_blocks_of, mean_goodput};

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

/// The 99th percentile of blocks over that of TCP on a path.
fn blocks_of_tcp(paths: &[Path], buffer: u64, rate: &str, best: &str) -> f64 {
    let tcp = latest_blocks(paths, buffer, rate, &format!("transport = \"tcp\"\npaths = [\"{best}\"]"));
    latest_blocks(paths, buffer, rate, "") / tcp
}

#[test]
fn blocks_do_not_wait_for_near_paths_of_slow_lines() {
    // 5 ms there and back, and 2.5 ms for each segment: the last of a block came a quarter later.
    let paths = [
        (1_117, 15_528, "10p", ""),
        (1_352, 5_532, "10p", ""),
        (4_579, 5_292, "10p", ""),
        (33_811, 7_653, "71p", ""),
    ];
    let took = blocks_of_tcp(&paths, 1_108_000, "16Mbit", "p3");
    assert!(took < 1.02, "{took:.2}");
}

#[test]
fn blocks_go_on_the_path_that_carries_all_of_them() {
    // 4 Mb/s are more than the nearest line has: it kept a full queue, and lost some. 1.5 times as long as on the second path alone.
    let paths = [(3_639, 43_572, "38p", ""), (10_239, 82_186, "293p", ""), (11_217, 386_109, "533p", "")];
    let took = blocks_of_tcp(&paths, 2_035_000, "4Mbit", "p1");
    assert!(took < 1.05, "{took:.2}");
    // A backlog of 50 ms, until the far path was worth its 145: 1.2.
    let paths = [(3_100, 5_307, "10p", ""), (31_480, 289_924, "971p", "")];
    let took = blocks_of_tcp(&paths, 4_000_000, "4Mbit", "p1");
    assert!(took < 1.05, "{took:.2}");
}

#[test]
fn blocks_do_not_wait_for_a_near_path_whose_losses_keep_its_window_small() {
    // 16 Mb/s on a line of 75, whose window has 11 behind a loss: a backlog, and then the far path for what was late already, 1.9 times as
    // long as there alone.
    let paths = [
        (28_900, 97_700, "643p", ""),
        (74_600, 8_040, "17p", "loss = \"1.09%\""),
        (5_550, 283_000, "48p", ""),
    ];
    let took = blocks_of_tcp(&paths, 4_000_000, "16Mbit", "p0");
    assert!(took < 1.05, "{took:.2}");
}

#[test]
fn blocks_wait_for_a_window_that_grows_again_and_not_for_a_far_path() {
    // A loss halves the window, and half of a block is left for ten milliseconds; it went on a path of 34 ms: 1.6 times as long.
    let paths = [
        (9_362, 68_695, "69p", "loss = \"0.0356%\""),
        (1_903, 331_479, "258p", ""),
        (95_417, 9_071, "177p", "loss = \"0.0334%\""),
    ];
    let took = blocks_of_tcp(&paths, 234_312, "16Mbit", "p2");
    assert!(took < 1.2, "{took:.2}");
}

#[test]
fn blocks_do_not_wait_for_a_path_that_says_nothing() {
    // What it sent again is lost too: it has no room before a timer rings, and 4 Mb/s waited for that, 1.8 times as long.
    let paths = [
        (52_169, 12_337, "160p", "loss = \"0.9926%\""),
        (4_745, 59_359, "19p", ""),
        (1_462, 17_413, "10p", ""),
    ];
    let took = blocks_of_tcp(&paths, 4_000_000, "4Mbit", "p1");
    assert!(took < 1.1, "{took:.2}");
}

#[test]
fn a_far_path_carries_the_blocks_that_a_near_one_comes_to_only_later() {
    // Behind a loss the near path has not enough for a while: what had waited longest went on the far one then, and all behind it waited
    // for that, 1.2 times as long.
    let paths = [
        (84_422, 8_968, "109p", "loss = \"0.1451%\""),
        (11_712, 75_595, "45p", ""),
        (2_492, 89_760, "74p", ""),
        (1_235, 46_396, "10p", "loss = \"0.0129%\""),
    ];
    // Six seeds have 0.9 to 1.06, sixty 0.98.
    let of = |keys: &str| latest_blocks_of(&paths, 4_000_000, "16Mbit", keys, 30);
    let took = of("") / of("transport = \"tcp\"\npaths = [\"p0\"]");
    assert!(took < 1.05, "{took:.2}");
}

#[test]
fn the_last_piece_of_a_block_need_not_wait_for_a_delayed_acknowledgement() {
    // Of 8 KiB five segments leave; with RFC 9293's rule the rest waits until all are acknowledged, the fifth after 40 ms: 1.2 times as
    // long as TCP, which waits as well.
    let paths = [
        (48_600, 45_500, "612p", ""),
        (9_100, 16_700, "10p", ""),
        (35_500, 134_000, "214p", ""),
        (18_000, 56_000, "26p", "loss = \"0.08%\""),
    ];
    let nagle =
        |keys: &str| latest_blocks(&paths, 4_000_000, "500kbit", &format!("minshall = false\n{keys}"));
    let took = nagle("") / nagle("transport = \"tcp\"\npaths = [\"p1\"]");
    assert!(took < 0.9, "{took:.2}");
    assert!(blocks_of_tcp(&paths, 4_000_000, "500kbit", "p1") < 1.02, "nobody waits");
}

#[test]
fn a_delayed_acknowledgement_of_a_block_is_no_queue() {
    // The answer to the end of a block comes 40 ms late, and tells of no queue: what followed went on the far path, and took 2.6 times
    // as long; 77 ms and a round trip.
    let paths = [(83_800, 9_430, "31p", ""), (31_700, 77_600, "82p", "")];
    let took = blocks_of_tcp(&paths, 4_000_000, "1Mbit", "p0");
    assert!(took < 1.02, "{took:.2}");
    // 2.0 times as long: the near line has 22 ms for a block, and seemed to have 70.
    let paths = [
        (2_910, 5_900, "10p", ""),
        (1_490, 111_000, "10p", ""),
        (20_400, 294_000, "149p", ""),
        (59_000, 57_700, "477p", ""),
    ];
    let took = blocks_of_tcp(&paths, 4_000_000, "1Mbit", "p0");
    assert!(took < 1.05, "{took:.2}");
}

#[test]
fn the_end_of_a_block_does_not_wait_for_that_of_the_last_one() {
    // That is acknowledged after a round trip and 40 ms, and the next block is there by then: 1.4 times as long, block after block.
    let paths = [(8_020, 273_000, "301p", ""), (9_200, 154_000, "435p", ""), (20_900, 54_400, "64p", "")];
    let took = blocks_of_tcp(&paths, 480_000, "1Mbit", "p2");
    assert!(took < 1.02, "{took:.2}");
}

#[test]
fn a_line_that_gets_two_segments_of_a_block_tells_how_slow_it_is() {
    // One acknowledgement is no burst: of each block the nearest path got two segments, which took it 19 ms. Twice as long.
    let paths = [(1_270, 11_400, "10p", ""), (14_200, 20_100, "81p", ""), (96_200, 23_200, "567p", "")];
    let took = blocks_of_tcp(&paths, 239_000, "500kbit", "p2");
    assert!(took < 1.02, "{took:.2}");
}

#[test]
fn what_is_written_next_takes_the_end_of_a_block_along() {
    // It comes in 16 ms; the end went on a near line instead, behind all that M1 had repeated there: 1.3 times as long.
    let paths = [
        (27_571, 127_668, "338p", ""),
        (1_567, 106_584, "10p", "loss = \"1.114%\""),
        (1_406, 188_310, "47p", ""),
        (3_225, 25_974, "30p", ""),
    ];
    let took = blocks_of_tcp(&paths, 234_000, "4Mbit", "p0");
    assert!(took < 1.02, "{took:.2}");
}

#[test]
fn a_line_that_blocks_do_not_fill_is_no_slower_for_that() {
    // The 60 Mb/s that carry the stream were forgotten, as blocks came no faster than they left; then others got parts of it: 1.1.
    let paths = [(87_500, 121_000, "290p", ""), (59_700, 87_800, "164p", ""), (8_390, 78_800, "245p", "")];
    let took = blocks_of_tcp(&paths, 4_000_000, "16Mbit", "p1");
    assert!(took < 1.02, "{took:.2}");
}

#[test]
fn who_waited_for_room_a_moment_ago_may_write_as_it_goes() {
    // The application filled the buffer at the start, and again each second; between, the window was shared as for bulk data. 2.3 times as
    // long.
    let paths = [
        (70_600, 139_000, "3189p", ""),
        (6_000, 7_980, "13p", ""),
        (7_370, 15_800, "34p", "loss = \"0.91%\""),
    ];
    let took = blocks_of_tcp(&paths, 338_000, "16Mbit", "p0");
    assert!(took < 1.05, "{took:.2}");
}

#[test]
fn a_path_with_little_to_spare_carries_a_stream() {
    // 17.3 Mb/s of payload for 16, beside a near path that loses: 1.7 times as long.
    let paths = [
        (18_200, 65_200, "287p", ""),
        (1_710, 25_900, "17p", ""),
        (48_400, 10_400, "178p", "loss = \"0.67%\""),
    ];
    let took = blocks_of_tcp(&paths, 2_690_000, "16Mbit", "p0");
    assert!(took < 1.2, "{took:.2}");
}

#[test]
fn the_end_of_a_file_does_not_wait_for_a_near_path_of_a_slow_line() {
    // The first path doubles, and what it delivered is of a smaller window: it seemed to take twice as long as it did, and the last
    // segments went on a line that takes 9 ms for each. 1.35 times as long as TCP.
    let paths = [(43_779, 19_350, "139p", ""), (1_309, 9_307, "10p", "")];
    let took = of_tcp(&paths, 4_000_000, 100_000);
    assert!(took < 1.02, "{took:.2}");
    // 1.32, 1.12 now.
    let paths = [(66_200, 21_400, "89p", ""), (1_200, 13_000, "10p", ""), (14_300, 31_900, "11p", "")];
    let took = of_tcp(&paths, 4_000_000, 300_000);
    assert!(took < 1.2, "{took:.2}");
}

#[test]
fn what_came_behind_a_gap_goes_again_at_the_end() {
    // The small queue of the near path drops every second segment of its second window; what came between waits behind these, and was
    // taken for arrived. 1.26, 1.09 now.
    let paths = [(96_507, 35_557, "513p", ""), (1_876, 11_431, "10p", "")];
    let took = of_tcp(&paths, 244_000, 300_000);
    assert!(took < 1.15, "{took:.2}");
    // What is sent again into a full queue is lost again: all behind it waited for the timer, twice as long as TCP.
    let paths = [(10_503, 6_804, "10p", ""), (5_880, 21_956, "10p", ""), (16_694, 33_163, "224p", "")];
    let took = of_tcp(&paths, 4_000_000, 200_000);
    assert!(took < 1.15, "{took:.2}");
}

#[test]
fn what_would_come_last_goes_again_first() {
    // Of the first path's window the last segment is dropped; a near path has room for ten, and took the ten oldest: 1.2.
    let paths = [(1_336, 31_807, "10p", ""), (35_381, 232_186, "2998p", ""), (1_074, 13_297, "10p", "")];
    let took = of_tcp(&paths, 204_000, 30_000);
    assert!(took < 0.8, "{took:.2}");
}

#[test]
fn the_end_does_not_wait_for_a_path_that_has_lost_its_last_segment() {
    // Two segments were left, and waited 0.2 s for the nearest path, which had lost its only one: 1.9 times as long.
    let paths = [
        (90_870, 49_966, "486p", ""),
        (1_633, 37_051, "15p", ""),
        (47_256, 25_885, "39p", "loss = \"0.33%\""),
        (1_589, 9_228, "10p", ""),
    ];
    let took = of_tcp(&paths, 4_000_000, 300_000);
    assert!(took < 1.1, "{took:.2}");
}

#[test]
fn one_loss_that_no_full_window_caused_says_something() {
    // The third path is nearer by 4 ms and loses one in 206: a second loss was waited for, and two blocks in a hundred and fifty then waited for
    // their repairs, 1.1 times as long; and one that is nearer by 1 ms, 1.13.
    let paths = [
        (20_660, 36_716, "118p", ""),
        (3_829, 117_898, "136p", ""),
        (2_975, 29_978, "27p", "loss = \"0.4855%\""),
        (18_859, 259_392, "247p", ""),
    ];
    let took = blocks_of_tcp(&paths, 4_000_000, "500kbit", "p0");
    assert!(took < 1.02, "{took:.2}");
    let paths = [
        (72_854, 77_094, "354p", ""),
        (85_991, 17_089, "101p", ""),
        (4_923, 182_579, "30p", "loss = \"0.0269%\""),
        (33_776, 15_277, "188p", "loss = \"0.3888%\""),
    ];
    let took = blocks_of_tcp(&paths, 564_806, "500kbit", "p1");
    assert!(took < 1.02, "{took:.2}");
}

#[test]
fn blocks_wait_for_what_was_sent_again() {
    // A loss is found after a round trip and its repair answered after another one: longer than an answer takes, and so nobody waited for
    // that path, and what stood behind the loss went on one of 235 ms, 2.6 times as long.
    let paths = [
        (5_319, 139_807, "62p", "loss = \"0.0991%\""),
        (3_168, 150_467, "82p", "loss = \"0.651%\""),
        (73_126, 7_982, "177p", "loss = \"0.0948%\""),
        (35_200, 234_810, "998p", ""),
    ];
    let took = blocks_of_tcp(&paths, 4_000_000, "16Mbit", "p2");
    assert!(took < 1.6, "{took:.2}");
}

#[test]
fn blocks_wait_for_a_window_that_was_halved_by_chance() {
    // A path that carries all of it loses one in 800, or one in 1 800. Its window grows again, and until it was as large what waited for it went on
    // a line of 2 Mb/s, or of 1.2: 1.24 and 1.18 times as long.
    let paths = [
        (10_031, 24_184, "52p", "loss = \"0.1228%\""),
        (11_170, 204_492, "745p", ""),
        (2_034, 22_851, "19p", ""),
    ];
    let took = blocks_of_tcp(&paths, 1_802_770, "4Mbit", "p0");
    assert!(took < 1.1, "{took:.2}");
    let paths = [
        (1_180, 104_120, "13p", ""),
        (37_692, 41_105, "386p", "loss = \"0.0545%\""),
        (26_114, 261_045, "288p", "loss = \"0.5356%\""),
    ];
    let took = blocks_of_tcp(&paths, 1_326_893, "4Mbit", "p1");
    assert!(took < 1.1, "{took:.2}");
    // The path itself waited, too: the end of a block that a window of six segments had room for, until the first of it was answered, and so
    // did the next block's for that, 12 s long. 2.5 times as long in three runs of eight.
    let paths = [
        (1_054, 52_436, "10p", ""),
        (2_322, 69_417, "24p", ""),
        (21_974, 20_037, "16p", "loss = \"0.01506%\""),
        (8_968, 104_020, "28p", ""),
    ];
    let late = latest_blocks_of(&paths, 4_000_000, "1Mbit", "", 8);
    assert!(late < 0.016, "{late:.3} s");
}

#[test]
fn coupled_windows_that_lose_by_chance_get_what_tcp_has_on_the_best_path() {
    // Each of three windows is below its mean most of the time, and grows by what all come to: 0.88 of TCP on the second path, which an hour's hunt
    // found; 0.94 of two paths.
    let three: [Path; 3] = [
        (77_400, 169_000, "3599p", "loss = \"0.96%\""),
        (29_900, 35_700, "61p", "loss = \"0.16%\""),
        (63_500, 75_100, "761p", "loss = \"0.11%\""),
    ];
    let two = [(5_650, 194_000, "28p", "loss = \"1.03%\""), (4_320, 78_700, "92p", "loss = \"0.46%\"")];
    for (paths, buffer) in [(&three[..], 317_000), (&two[..], 4_000_000)] {
        let of = |keys: &str| mean_goodput(paths, buffer, keys, 12);
        let (own, tcp) = (of(""), of("transport = \"tcp\"\npaths = [\"p1\"]"));
        let as_in_the_rfc = of("coupled = \"all\"");
        assert!(
            own > 0.93 * tcp && own > 1.04 * as_in_the_rfc,
            "{own:.2}, {as_in_the_rfc:.2}, {tcp:.2} Mb/s"
        );
    }
}
