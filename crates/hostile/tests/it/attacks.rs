//! Compares named attacks with bounds that do not depend on their size. `examples/attacks.rs` prints results that
//! depend on a clock.

use mptcp_hostile::attacks::{ATTACKS, Sample};

fn run(name: &str, size: u64) -> Sample {
    let attack = ATTACKS.iter().find(|attack| attack.name == name).expect("an attack of that name");
    (attack.run)(size)
}

/// Checks the additional heap after an attack, at a size that would show growth.
fn holds(name: &str, size: u64, most: i64) {
    let sample = run(name, size);
    assert!(
        sample.held <= most,
        "{name}: {} bytes held after {} packets, {most} allowed",
        sample.held,
        sample.packets
    );
}

/// Twice the receive buffer of 1 MB, and the state of a connection.
const BUFFER: i64 = (2 << 20) + (512 << 10);

#[test]
fn answers_to_strangers_are_bounded() {
    holds("X1", 50_000, 1 << 20);
}

#[test]
fn shifted_segments_take_no_more_than_the_buffer() {
    holds("X2 subflow", 10_000, BUFFER);
    holds("X2 data", 10_000, BUFFER);
}

#[test]
fn a_byte_out_of_order_pins_no_block() {
    holds("X2 blocks", 200, BUFFER);
}

#[test]
fn an_unread_byte_pins_no_block() {
    holds("X2 blocks read late", 200, BUFFER);
}

#[test]
fn joins_that_are_over_hold_nothing() {
    holds("X2 joins", 20, BUFFER);
}

#[test]
fn small_segments_are_charged() {
    holds("X2 unread", 100_000, BUFFER);
    holds("X2 checksum", 60_000, BUFFER);
}

#[test]
fn mappings_are_bounded() {
    holds("X2 mappings", 50_000, BUFFER);
}

#[test]
fn echoes_that_cannot_be_sent_are_not_kept() {
    holds("X4", 5_000, 64 << 10);
}

#[test]
fn an_aborted_connection_ends() {
    holds("X6", 100, 64 << 10);
}

#[test]
fn probes_of_a_closed_window_end() {
    let (few, many) = (run("X10", 3), run("X10", 30));
    assert!(many.packets <= few.packets + 10, "{} wakeups in 3 days, {} in 30", few.packets, many.packets);
}

#[test]
fn acknowledgements_out_of_the_window_are_rationed() {
    let sample = run("X12", 10_000);
    assert!(sample.answers <= 1_000, "{} answers to {} packets", sample.answers, sample.packets);
}

#[test]
fn what_is_acknowledged_is_let_go_after_a_close() {
    holds("X14", 1_000_000, 256 << 10);
}

#[test]
fn refused_addresses_are_forgotten() {
    holds("X15", 1_000, 256 << 10);
}

#[test]
fn joins_that_nobody_finishes_block_nobody() {
    let sample = run("X16", 80);
    assert!(sample.nanos <= 2_000_000_000, "an honest join waited {} s", sample.nanos / 1_000_000_000);
}

#[test]
fn a_flood_of_syns_keeps_nobody_out() {
    let sample = run("X17", 5_000);
    assert_eq!(sample.answers, 20, "honest callers that came through");
}

#[test]
fn timers_that_moved_leave_nothing() {
    holds("heap", 3_000, 16 << 10);
}
