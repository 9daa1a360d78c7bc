//! Quantities: what is read, what it is written as, and what is refused with which words.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use mptcp_lab::scenario::Scenario;
use mptcp_lab::scenario::units::{LineRate, Percent, QueueSize, Size, Span, UnitError};
use proptest::prelude::*;

/// Reads `text` and writes it again.
fn again<T: FromStr<Err = UnitError> + Display>(text: &str) -> String {
    text.parse::<T>().map_or_else(|error| error.to_string(), |value| value.to_string())
}

#[test]
fn rates_are_decimal_bits() {
    for (text, bits) in [
        ("8Mbit", 8_000_000),
        ("100kbit", 100_000),
        ("1Gbit", 1_000_000_000),
        ("1.5Mbit", 1_500_000),
        ("8mbit", 8_000_000),
        ("10 Mb/s", 10_000_000),
        ("64bit", 64),
        ("2Tbit", 2_000_000_000_000),
    ] {
        assert_eq!(text.parse(), Ok(LineRate(Some(bits))), "{text}");
    }
    assert_eq!("unlimited".parse(), Ok(LineRate(None)));
    assert_eq!(again::<LineRate>("1500kbit"), "1500kbit");
    assert_eq!(again::<LineRate>("0.008Gbit"), "8Mbit");
    let bytes = again::<LineRate>("8MB/s");
    assert!(bytes.ends_with("not \"MB/s\" (try \"8Mb/s\")"), "{bytes}");
    assert!(again::<LineRate>("8Mbps").contains("(try \"8Mbit\")"));
}

#[test]
fn times_are_exact_to_the_nanosecond() {
    for (text, nanos) in [
        ("10ms", 10_000_000),
        ("150us", 150_000),
        ("1.5s", 1_500_000_000),
        ("10min", 600_000_000_000),
        ("1h", 3_600_000_000_000),
        ("7ns", 7),
        ("0.1ms", 100_000),
        ("0s", 0),
    ] {
        assert_eq!(text.parse::<Span>().map(|span| span.0.as_nanos()), Ok(nanos), "{text}");
    }
}

#[test]
fn sizes_tell_1000_from_1024() {
    for (text, bytes) in [
        ("200KB", 204_800),
        ("200KiB", 204_800),
        ("200kB", 200_000),
        ("15MB", 15_000_000),
        ("15MiB", 15_728_640),
        ("1500B", 1500),
        ("1GB", 1_000_000_000),
        ("1GiB", 1_073_741_824),
    ] {
        assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
    }
}

#[test]
fn queues_are_packets_bytes_or_time() {
    for text in ["53p", "80kB", "80ms", "1500B"] {
        assert_eq!(again::<QueueSize>(text), text);
    }
    assert_eq!(again::<QueueSize>("-80ms"), "cannot be negative");
    assert_eq!(again::<QueueSize>("0ms"), "holds more than nothing");
    assert_eq!(again::<QueueSize>("-3p"), "holds 1p or more");
}

#[test]
fn percentages_need_their_sign() {
    assert_eq!("0.03%".parse(), Ok(Percent(0.03)));
    assert_eq!(again::<Percent>("0.03"), "is in percent (try \"3%\")");
    assert_eq!(again::<Percent>("3"), "is in percent (try \"3%\")");
    assert_eq!(again::<Percent>("three"), "is a number and a unit (try \"10%\")");
    assert_eq!(again::<Percent>("1e3%"), "is in one of %, not \"e3%\" (try \"1%\")");
}

fn survives<T: FromStr<Err = UnitError> + Display + PartialEq + Debug>(
    value: T,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(value.to_string().parse::<T>(), Ok(value));
    Ok(())
}

proptest! {
    #[test]
    fn what_is_written_reads_as_the_same(n in 1u64..1 << 50) {
        survives(LineRate(Some(n + 7)))?;
        survives(Span(mptcp_clock::Duration::from_nanos(n)))?;
        survives(Size(n))?;
        survives(QueueSize::Packets(n))?;
        survives(QueueSize::Bytes(n))?;
        survives(Percent((n % 100_000_001) as f64 / 1e6))?;
    }

    #[test]
    fn any_string_is_a_quantity_or_an_error(text in "\\PC{0,12}|[0-9.+_-]{0,5}[a-zA-Z/%]{0,6}") {
        let _ = (again::<LineRate>(&text), again::<Span>(&text), again::<Size>(&text));
        let _ = (again::<QueueSize>(&text), again::<Percent>(&text));
    }

    #[test]
    fn any_text_is_a_scenario_or_an_error(
        cut in 0usize..900, long in 0usize..40, put in "\\PC{0,8}|[\\[\\]{}=\"\\n.a-z0-9]{0,8}"
    ) {
        let good = include_str!("../good/base.toml");
        let text: String = good.chars().take(cut).chain(put.chars()).chain(good.chars().skip(cut + long)).collect();
        if let Ok(scenario) = Scenario::parse(&text, "any.toml") {
            let written = scenario.to_toml();
            prop_assert_eq!(Scenario::parse(&written, "any.toml").map_err(|error| error.to_string()), Ok(scenario));
        }
    }
}
