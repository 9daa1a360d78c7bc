//! Detection of wrong scripts: wrong expectations and wrong syntax.

use crate::script;

/// A script that passes.
const RIGHT: &str = "rfc 9293 3.5
rule Something.
stack tcp
listen
       < SYN seq 0 mss(1000) sackok
       > SYN+ACK seq 0 ack 1 win 65535 mss(1460) sackok
+100ms < ACK seq 1 ack 1
write 100
       > PSH+ACK seq 1 ack 1 len 100
+50ms  < ACK seq 1001 ack 101 len 1000
       > ACK seq 101 ack 1 sack(1001-2001)
       = state established
";

/// The message for a script.
fn fault_of(text: &str) -> String {
    script::run("wrong.txt", text).err().unwrap_or_default()
}

/// The message for [`RIGHT`] with one change.
fn changed(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from), "{from}");
    fault_of(&RIGHT.replacen(from, to, 1))
}

#[track_caller]
fn assert_says(fault: &str, line: usize, what: &str) {
    assert!(fault.starts_with(&format!("wrong.txt:{line}: ")) && fault.contains(what), "{fault}");
}

#[test]
fn a_right_script_passes() {
    assert_eq!(fault_of(RIGHT), "");
}

#[test]
fn another_number_is_noticed() {
    assert_says(&changed("> PSH+ACK seq 1 ack 1", "> PSH+ACK seq 2 ack 1"), 9, "seq 1, not 2");
    assert_says(&changed("> PSH+ACK seq 1 ack 1", "> PSH+ACK seq 1 ack 2"), 9, "ack 1, not 2");
    assert_says(&changed("len 100\n", "len 99\n"), 9, "len 100, not 99");
    assert_says(&changed("win 65535", "win 65534"), 6, "win 65535, not 65534");
}

#[test]
fn other_flags_are_noticed() {
    assert_says(&changed("> PSH+ACK", "> ACK"), 9, "flags PSH+ACK, not ACK");
}

#[test]
fn another_time_is_noticed() {
    assert_says(&changed("       > PSH+ACK", "+1ms   > PSH+ACK"), 9, "sent at 100ms, not at 101ms");
    assert_eq!(changed("       > PSH+ACK", "+1ms~1ms > PSH+ACK"), "");
}

#[test]
fn a_segment_that_is_not_expected_is_noticed() {
    let fault = changed("       > PSH+ACK seq 1 ack 1 len 100\n", "");
    assert_says(&fault, 9, "the host sent unexpected segments");
    let fault = fault_of(&RIGHT.replace("       > ACK seq 101 ack 1 sack(1001-2001)\n", ""));
    assert_says(&fault, 11, "before the script ends");
}

#[test]
fn a_segment_that_does_not_come_is_noticed() {
    let fault = changed("       = state", "       > ACK seq 101 ack 1\n       = state");
    assert_says(&fault, 12, "the host sent nothing within 300s; expected: ACK seq 101 ack 1");
}

#[test]
fn other_options_are_noticed() {
    assert_says(&changed("mss(1460)", "mss(1461)"), 6, "mss is `1460`, not `1461`");
    assert_says(&changed("mss(1460) sackok", "mss(1460)"), 6, "sackok is not expected");
    assert_says(&changed("mss(1460) sackok", "mss(1460) sackok wscale(7)"), 6, "wscale(7) is missing");
    assert_says(&changed("sack(1001-2001)", "sack(1001-2000)"), 11, "sack is `1001-2001`");
}

#[test]
fn another_state_is_noticed() {
    assert_says(&changed("= state established", "= state closed"), 12, "state is established, not closed");
}

#[test]
fn wrong_payload_is_noticed() {
    let text = RIGHT.replace("< ACK seq 1001 ack 101 len 1000", "< ACK seq 1 ack 101 len 1000 junk");
    let text = text.replace("> ACK seq 101 ack 1 sack(1001-2001)", "> ACK seq 101 ack 1001\nread 1000");
    assert_says(&fault_of(&text), 12, "byte 0 of the stream");
}

/// HMACs depend on keys and nonces that the script omits. A peer with another key is detected.
#[test]
fn a_wrong_hmac_is_noticed() {
    let text = "rfc 8684 3.2\nrule Something.\nstack mptcp\nbegin multipath-data\n\
                < [b] SYN seq 0 mss(1000) mp_join(id=1)\npeer nonce 6\n\
                > [b] SYN+ACK seq 0 ack 1 mss(1460) mp_join\n";
    assert_says(&fault_of(text), 7, "mp_join hmac is `wrong`, not nothing");
}

#[test]
fn a_script_that_should_fail_and_passes_is_noticed() {
    let text = RIGHT.replacen("stack tcp", "unsupported A reason.\nstack tcp", 1);
    assert!(fault_of(&text).contains("it passes now"), "{}", fault_of(&text));
    let text = text.replace("= state established", "= state closed");
    assert_eq!(fault_of(&text), "");
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    for (from, to, line, what) in [
        ("rfc 9293 3.5\n", "", 1, "the head lacks `rfc`"),
        ("rule Something.\n", "\n", 1, "the head lacks `rule`"),
        ("stack tcp", "stack udp", 3, "stack = `udp`: must be tcp, mptcp or linux"),
        ("listen\n", "listne\n", 4, "unknown call `listne`"),
        ("listen\n", "set rakc off\n", 4, "unknown setting `rakc`"),
        ("< SYN seq 0", "< SIN seq 0", 5, "unknown flag `SIN`"),
        ("< SYN seq 0", "< SYN", 5, "the sequence number is missing"),
        ("< ACK seq 1 ack 1\n", "< ACK seq 1\n", 7, "ACK requires `ack NUMBER`"),
        ("mss(1000)", "mms(1000)", 5, "unknown word `mms` in a segment"),
        ("mss(1000)", "mss(1000", 5, "`)` is missing"),
        ("mss(1000)", "mss(many)", 5, "= `many`: must be a number"),
        ("+100ms", "+100", 7, "`100`: expected a time"),
        ("+50ms ", "@50ms ", 10, "50ms has passed; the time is 100ms"),
        ("= state", "= colour", 12, "unknown fact `colour`"),
        ("write 100", "begin nowhere", 8, "nowhere.txt"),
    ] {
        assert_says(&changed(from, to), line, what);
    }
}
