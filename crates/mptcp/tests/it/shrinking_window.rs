//! A peer that shrinks its window while data is in flight, and drops the data beyond it (RFC 9293 section
//! 3.8.6).

#![allow(clippy::unwrap_used, reason = "a test")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::pair::{Fate, Pair, pattern};
use mptcp::scheduler::Linux;
use mptcp::{Config, LinuxStack};
use mptcp_clock::Duration;

/// Initial window of the peer, bytes.
const WHOLE: u64 = 60_000;

fn configs() -> [(&'static str, Config); 4] {
    let small = |config: Config| Config { receive_buffer: WHOLE, ..config };
    let linux =
        Config { linux_stack: LinuxStack::LINUX, scheduler: Linux::default().into(), ..Config::default() };
    let counted = LinuxStack { buffer_memory: false, ..LinuxStack::LINUX };
    [
        ("mptcp", small(Config::default())),
        ("linux", small(linux.clone())),
        ("linux, buffers in bytes", small(Config { linux_stack: counted, ..linux })),
        ("tcp", small(Config::tcp())),
    ]
}

/// The peer offers `window` bytes for two seconds, and drops data beyond. The sender sends only data within
/// earlier windows, and continues when the window opens.
#[test]
fn shrinking_window_causes_no_stall_and_is_respected() {
    for (name, config) in configs() {
        for window in [0_u32, 1, 700, 5_000] {
            let mut pair = Pair::builder().links(&[10, 30]).config(config.clone()).connect();
            let (is_small, scale) = (Rc::new(Cell::new(false)), Cell::new(0_u32));
            // Per path: the latest acknowledgement, and the bytes sent while the window was small.
            let acknowledged = RefCell::new([0_u32; 2]);
            let sent = Rc::new(Cell::new(0_u64));
            let (small, count) = (Rc::clone(&is_small), Rc::clone(&sent));
            pair.rule = Box::new(move |to_server, path, segment| {
                if !to_server {
                    acknowledged.borrow_mut()[path] = segment.acknowledgment.value();
                    if let Some(own) = segment.options.window_scale {
                        scale.set(own.into());
                    } else if small.get() {
                        let mut less = segment.clone();
                        less.window = (window >> scale.get()) as u16;
                        return Fate::Replace(Box::new(less));
                    }
                    return Fate::Deliver;
                }
                if !small.get() || segment.payload.is_empty() {
                    return Fate::Deliver;
                }
                count.set(count.get() + segment.payload.len() as u64);
                let from = segment.sequence.value().wrapping_sub(acknowledged.borrow()[path]);
                let beyond = from.wrapping_add(segment.payload.len() as u32) as i32 > window as i32;
                if beyond { Fate::Drop } else { Fate::Deliver }
            });
            pair.transfer(&pattern(300_000), Duration::from_millis(150));
            let before = pair.received[0].len();
            is_small.set(true);
            pair.run(Duration::from_secs(2));
            let during = sent.get();
            // Data within earlier windows, and its retransmissions with doubling timeouts.
            assert!(during <= 3 * WHOLE, "{name}: {during} bytes into a window of {window}");
            let in_flight: u64 = {
                let info = pair.client.info(pair.now, pair.connection).unwrap();
                info.subflows.iter().map(|subflow| subflow.in_flight).sum()
            };
            assert!(in_flight <= 2 * WHOLE, "{name}: {in_flight} bytes in flight");
            is_small.set(false);
            let all = pair.client.info(pair.now, pair.connection).unwrap().bytes_written;
            pair.run(Duration::from_secs(8));
            let after = pair.received[0].len() as u64;
            assert!(before > 0 && after == all, "{name}: {after} of {all} bytes after a window of {window}");
            assert_eq!(pair.received[0], pattern(300_000)[..all as usize], "{name}");
        }
    }
}
