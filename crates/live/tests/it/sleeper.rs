//! A sleep ends exactly at its time, or when a descriptor is ready.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{Read, Write};
use std::os::fd::AsFd;

use mptcp_live::{Sleeper, monotonic, namespace};

#[test]
fn it_wakes_at_an_instant_or_by_a_source() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let mut sleeper = Sleeper::new([&reader as &dyn AsFd]).unwrap();
    for millis in [3, 1, 0] {
        let at = monotonic() + millis * 1_000_000;
        sleeper.sleep(Some(at)).unwrap();
        assert!(monotonic() >= at);
        assert!(!sleeper.is_ready(0));
    }
    writer.write_all(b"x").unwrap();
    for at in [None, Some(monotonic() + 3_600_000_000_000), Some(0)] {
        sleeper.sleep(at).unwrap();
        assert!(sleeper.is_ready(0));
    }
    reader.read_exact(&mut [0]).unwrap();
    // A new time replaces the previous one.
    let at = monotonic() + 2_000_000;
    sleeper.sleep(Some(at)).unwrap();
    assert!(monotonic() >= at && !sleeper.is_ready(0) && !sleeper.is_ready(7));
    drop(writer);
    sleeper.sleep(None).unwrap();
    assert!(sleeper.is_ready(0), "the end of a pipe is news, too");
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let said = namespace::within("no-such-namespace", || Ok(())).unwrap_err().to_string();
    assert!(
        said.contains("network namespace no-such-namespace") && said.contains("ip netns lists"),
        "{said}"
    );
}
