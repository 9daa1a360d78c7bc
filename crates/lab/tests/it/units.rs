//! Quantities: parsing, printing, and error messages.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use mptcp_lab::scenario::Scenario;
use mptcp_lab::scenario::units::{Distance, LineRate, Percent, QueueSize, Size, Span, UnitError};
use proptest::prelude::*;

/// Parses `text` and prints it.
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
    assert!(bytes.ends_with("not \"MB/s\" (try \"64Mbit\")"), "{bytes}");
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
    assert_eq!(again::<QueueSize>("-80ms"), "must not be negative");
    assert_eq!(again::<QueueSize>("0ms"), "must be greater than 0");
    assert_eq!(again::<QueueSize>("-3p"), "must be a whole number of packets, at least 1p");
}

#[test]
fn percentages_need_their_sign() {
    assert_eq!("0.03%".parse(), Ok(Percent(0.03)));
    assert_eq!(again::<Percent>("0.03"), "must be in percent (try \"3%\", or \"0.03%\" if it is in percent)");
    assert_eq!(again::<Percent>("3"), "must be in percent (try \"3%\")");
    assert_eq!(again::<Percent>("three"), "must be a number and a unit, such as \"10%\"");
    assert_eq!(again::<Percent>("1e3%"), "must be between 0% and 100%");
    assert_eq!(again::<Percent>("1e-1%"), "0.1%");
    assert_eq!(again::<Percent>("1"), "must be in percent, such as \"1%\" or \"100%\"");
}

/// The suggestion of a message, if any.
fn suggested<T: FromStr<Err = UnitError> + Display>(text: &str) -> Option<String> {
    let problem = text.parse::<T>().err()?.0;
    let (_, rest) = problem.split_once("(try \"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

#[test]
fn a_suggestion_has_the_value_that_was_written() {
    for (text, wanted) in [
        ("300K", Some("300kbit")),
        ("8kbps", Some("8kbit")),
        ("8KBPS", None),
        ("8kBps", Some("64kbit")),
        ("1,5Mbit", Some("1.5Mbit")),
        ("1,500kbit", None),
        ("10MB/s", Some("80Mbit")),
        ("20MB/s", Some("160Mbit")),
        ("20KB/s", None),
        ("20MB", None),
        ("1mb", None),
        ("100Mbits/sec", Some("100Mbit")),
        ("2.5 Gbits/s", Some("2.5Gbit")),
        ("10000000", Some("10Mbit")),
        ("5", None),
        ("fast", None),
    ] {
        assert_eq!(suggested::<LineRate>(text).as_deref(), wanted, "{text}");
    }
    for (text, wanted) in [
        ("10,5ms", Some("10.5ms")),
        ("1,000ms", None),
        ("0,001s", Some("1ms")),
        ("10msec", Some("10ms")),
        ("2 minutes", Some("2min")),
        ("90 mins", Some("90min")),
        ("5m", None),
        ("3 days", None),
        ("1d", Some("86400s")),
        ("150\u{b5}s", Some("150us")),
        ("0.02", None),
        ("10", None),
    ] {
        assert_eq!(suggested::<Span>(text).as_deref(), wanted, "{text}");
    }
    for (text, wanted) in [
        ("200Kb", None),
        ("1mb", None),
        ("64K", None),
        ("1TB", Some("1000000MB")),
        ("64kib", Some("64KB")),
        ("8Mbit", Some("1MB")),
        ("1500 bytes", Some("1500B")),
        ("1,5MB", Some("1.5MB")),
    ] {
        assert_eq!(suggested::<Size>(text).as_deref(), wanted, "{text}");
    }
    for (text, wanted) in [
        ("1mb", None),
        ("53 packets", Some("53p")),
        ("100pkts", Some("100p")),
        ("20msec", Some("20ms")),
        ("2.5p", None),
    ] {
        assert_eq!(suggested::<QueueSize>(text).as_deref(), wanted, "{text}");
    }
    for (text, wanted) in
        [("3km", Some("3000m")), ("10ft", Some("3.048m")), ("3,5m", Some("3.5m")), ("3", None)]
    {
        assert_eq!(suggested::<Distance>(text).as_deref(), wanted, "{text}");
    }
    for (text, wanted) in
        [("3 percent", Some("3%")), ("0,5%", Some("0.5%")), ("0.03", Some("3%")), ("300", None)]
    {
        assert_eq!(suggested::<Percent>(text).as_deref(), wanted, "{text}");
    }
}

#[test]
fn what_is_clear_is_read() {
    assert_eq!(again::<QueueSize>("1000 p"), "1000p");
    assert_eq!(again::<LineRate>("1e7bit"), "10Mbit");
    assert_eq!(again::<Span>("1e-2s"), "10ms");
    assert_eq!(again::<Span>("2e-3 s"), "2ms");
    assert_eq!(again::<Size>("1e6B"), "1MB");
    let needs = again::<Span>("0.02");
    assert_eq!(needs, "needs a unit, such as \"0.02ms\" or \"0.02s\"");
}

/// The value of a number with a common unit in the smallest unit, independent of the code under test.
fn meant(number: f64, unit: &str) -> Option<f64> {
    Some(match unit {
        "bps" | "bit/s" | "bits/s" | "bits" => number,
        "kbps" | "Kbps" | "kbits/s" | "Kbit" | "kbits/sec" => number * 1e3,
        "Mbps" | "mbps" | "Mbits/s" | "Mbits" => number * 1e6,
        "Gbps" | "Gbits/sec" => number * 1e9,
        "B/s" | "bytes/s" | "Bps" => number * 8.0,
        "kB/s" | "kBps" | "kbytes/s" => number * 8e3,
        "MB/s" | "MBps" | "Mbytes/s" => number * 8e6,
        "MiB/s" => number * 8.0 * 1_048_576.0,
        "GB/s" => number * 8e9,
        _ => return None,
    })
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

    /// A suggestion for a rate has the same value, to a bit.
    #[test]
    fn no_suggestion_changes_a_rate(
        whole in 1u32..100_000, part in 0u32..1000, comma in any::<bool>(), power in prop::option::of(-3i32..4),
        unit in prop::sample::select(vec![
            "bps", "bit/s", "bits/s", "bits", "kbps", "Kbps", "kbits/s", "Kbit", "kbits/sec", "Mbps", "mbps", "Mbits/s",
            "Mbits", "Gbps", "Gbits/sec", "B/s", "bytes/s", "Bps", "kB/s", "kBps", "kbytes/s", "MB/s", "MBps",
            "Mbytes/s", "MiB/s", "GB/s",
        ]),
    ) {
        let mark = if comma { "," } else { "." };
        let power_text = power.map_or_else(String::new, |power| format!("e{power}"));
        let text = format!("{whole}{mark}{part}{power_text}{unit}");
        let number: f64 = format!("{whole}.{part}{power_text}").parse().expect("a number");
        let wanted = meant(number, unit).expect("a unit");
        if let Some(suggestion) = suggested::<LineRate>(&text) {
            let LineRate(bits) = suggestion.parse().expect("a suggestion can be read");
            let bits = bits.expect("a rate") as f64;
            prop_assert!((bits - wanted).abs() <= 1e-8 * wanted + 0.5, "{text}: {suggestion} is {bits}, not {wanted}");
        }
    }

    /// Times, sizes, queues, distances and fractions, with a decimal point or comma and any power of ten.
    #[test]
    fn no_suggestion_changes_a_quantity(
        whole in 1u32..1000, part in 0u32..1000, comma in any::<bool>(), power in prop::option::of(-3i32..4),
        (unit, scale, kind) in prop::sample::select(vec![
            ("ms", 1e6, 0), ("msec", 1e6, 0), ("s", 1e9, 0), ("seconds", 1e9, 0), ("usec", 1e3, 0), ("min", 60e9, 0),
            ("minutes", 60e9, 0), ("hours", 3600e9, 0), ("B", 1.0, 1), ("kB", 1e3, 1), ("KB", 1024.0, 1),
            ("bytes", 1.0, 1), ("MB", 1e6, 1), ("mib", 1_048_576.0, 1), ("Mbit", 125e3, 1), ("ms", 1e6, 2),
            ("kB", 1e3, 3), ("m", 1.0, 4), ("km", 1e3, 4), ("ft", 0.3048, 4), ("mm", 1e-3, 4), ("%", 1.0, 5),
            ("percent", 1.0, 5),
        ]),
    ) {
        let mark = if comma { "," } else { "." };
        let power_text = power.map_or_else(String::new, |power| format!("e{power}"));
        let text = format!("{whole}{mark}{part}{power_text}{unit}");
        let wanted = format!("{whole}.{part}{power_text}").parse::<f64>().expect("a number") * scale;
        let found = match kind {
            0 => suggested::<Span>(&text).map(|again| (again.parse::<Span>().expect("a time").0.as_nanos() as f64, again)),
            1 => suggested::<Size>(&text).map(|again| (again.parse::<Size>().expect("a size").0 as f64, again)),
            4 => suggested::<Distance>(&text).map(|again| (again.parse::<Distance>().expect("a length").0, again)),
            5 => suggested::<Percent>(&text).map(|again| (again.parse::<Percent>().expect("a share").0, again)),
            _ => suggested::<QueueSize>(&text).map(|again| match again.parse::<QueueSize>().expect("a queue") {
                QueueSize::Bytes(bytes) => (bytes as f64, again),
                QueueSize::Time(time) => (time.as_nanos() as f64, again),
                other => (f64::NAN, format!("{again}: {other}")),
            }),
        };
        if let Some((value, again)) = found {
            let least = if kind < 4 { 0.5 } else { 1e-6 };
            prop_assert!((value - wanted).abs() <= 1e-8 * wanted + least, "{text}: {again} is {value}, not {wanted}");
        }
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

/// An ambiguous unit gets both meanings as suggestions.
#[test]
fn a_unit_of_two_meanings_gets_both() {
    for (text, wanted) in [
        ("10MB", "(write \"80Mbit\" for megabytes per second, \"10Mbit\" for megabits per second)"),
        ("1mb", "(write \"8Mbit\" for megabytes per second, \"1Mbit\" for megabits per second)"),
        ("20KB/s", "(write \"160kbit\" for kB/s of 1,000 bytes, \"163840bit\" for KB/s of 1,024 bytes)"),
    ] {
        assert!(again::<LineRate>(text).ends_with(wanted), "{text}: {}", again::<LineRate>(text));
    }
    let time = again::<Span>("5m");
    assert!(time.ends_with("(write \"5min\" for minutes, \"5ms\" for milliseconds)"), "{time}");
    for (text, wanted) in [
        ("60K", "(write \"60KB\" for 1,024 bytes each, \"60kB\" for 1,000 bytes each)"),
        ("200Kb", "(write \"200KB\" for kilobytes, \"25kB\" for kilobits)"),
        ("1M", "(write \"1MB\" for millions of bytes, \"1MiB\" for 2^20 bytes each)"),
    ] {
        assert!(again::<Size>(text).ends_with(wanted), "{text}: {}", again::<Size>(text));
        assert!(again::<QueueSize>(text).ends_with(wanted), "{text}: {}", again::<QueueSize>(text));
    }
    assert!(!again::<Size>("0K").contains("(write"), "{}", again::<Size>("0K"));
}
