//! Compares throughput under random loss with Linux's CUBIC and Reno. Both stacks send to Linux over the same link,
//! which drops the data packets with the same numbers.
//!
//! Takes a quarter of an hour, so it runs only on request (`make check-long`). THROUGHPUT_SEEDS sets the number of
//! seeds (20), THROUGHPUT_SECONDS the approximate time of each transfer (12), and THROUGHPUT_HERTZ the kernel's
//! CONFIG_HZ (250).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod relay;

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mptcp_live::congestion::{LinuxCubic, Reno, SlowStart};
use mptcp_live::{Config, Driver, Interface, MptcpStream, Pipe};

use crate::laboratory::{End, Namespace, Port, Protocol, alone, at, connect_by, linux, ours};
use relay::Line;

/// Number of parallel links.
const SITES: usize = 4;
const RTT: Duration = Duration::from_millis(40);
/// Link rate in bytes per second, more than windows use under these losses.
const RATE: f64 = 100e6 / 8.0;
/// Time limit for all transfers.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[derive(Clone, Copy)]
enum Sender {
    Linux,
    Ours,
}

#[derive(Clone, Copy)]
struct Case {
    congestion: &'static str,
    loss: f64,
    /// Expected rate in Mb/s, which determines the size of transfers.
    expected: f64,
}

impl Case {
    fn config(self, hertz: u32) -> Config {
        let cubic = self.congestion == "cubic";
        Config {
            multipath: false,
            congestion: if cubic { LinuxCubic::new(hertz).into() } else { Reno.into() },
            slow_start: if cubic { SlowStart::HyStart } else { SlowStart::Standard },
            pacing: false,
            ..Config::default()
        }
    }
}

/// Reads all data. Returns the time since the first byte.
fn read_all(stream: &mut TcpStream) -> (u64, Duration) {
    let (mut buffer, mut count, mut began) = (vec![0; 1 << 18], 0, None);
    loop {
        let some = stream.read(&mut buffer).unwrap();
        let began = *began.get_or_insert_with(Instant::now);
        if some == 0 {
            return (count, began.elapsed());
        }
        count += some as u64;
    }
}

/// Sends `bytes` to the listener over a running link. Returns the rate in Mb/s.
fn transfer(end: &impl End, listener: &TcpListener, bytes: u64) -> f64 {
    end.be_patient();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_all(&mut listener.accept().unwrap().0));
        let piece = vec![0; 1 << 16];
        let mut left = bytes as usize;
        while left > 0 {
            let some = left.min(piece.len());
            end.send_all(&piece[..some]).unwrap();
            left -= some;
        }
        end.half_close().unwrap();
        let (count, time) = reading.join().unwrap();
        assert_eq!(count, bytes);
        count as f64 * 8e-6 / time.as_secs_f64()
    })
}

/// Runs one transfer over its own link.
fn run(case: Case, sender: Sender, seed: u64, seconds: u64, hertz: u32) -> f64 {
    let there = Namespace::bare().unwrap();
    let receiver = Port::device(&there, "line", linux(1));
    let listener = there.listen(at(linux(1)), Protocol::Tcp);
    let bytes = (case.expected * 1e6 / 8.0 * seconds as f64) as u64;
    let line = Line { loss: case.loss, seed, rate: RATE, rtt: RTT, queue: 500_000 };
    let stop = AtomicBool::new(false);
    let over = |port: Port, work: &(dyn Fn() -> f64 + Sync)| {
        std::thread::scope(|scope| {
            scope.spawn(|| line.carry(&port, &receiver, &stop));
            let rate = work();
            stop.store(true, Ordering::Relaxed);
            rate
        })
    };
    match sender {
        Sender::Linux => {
            let here = Namespace::bare().unwrap();
            over(Port::device(&here, "line", ours(1)), &|| {
                transfer(
                    &here.run(|| connect_by(at(linux(1)), Protocol::Tcp, case.congestion)).unwrap(),
                    &listener,
                    bytes,
                )
            })
        }
        Sender::Ours => {
            let (near, far) = Pipe::pair("line", 1_500).unwrap();
            let driver = Driver::start(vec![Interface::new(near, [ours(1)])]).unwrap();
            over(Port::Pipe(far), &|| {
                let config = case.config(hertz);
                transfer(&MptcpStream::connect(&driver, at(linux(1)), config).unwrap(), &listener, bytes)
            })
        }
    }
}

/// Mean rates of Linux and mptcplab over all seeds, in Mb/s.
fn compare(case: Case, seeds: u64, seconds: u64, hertz: u32) -> (f64, f64) {
    let (next, sums) = (AtomicU64::new(1), Mutex::new((0.0, 0.0)));
    std::thread::scope(|scope| {
        for _ in 0..SITES {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > seeds {
                        return;
                    }
                    let rates = [Sender::Linux, Sender::Ours].map(|who| run(case, who, seed, seconds, hertz));
                    println!("  seed {seed}: Linux {:.2}, ours {:.2} Mb/s", rates[0], rates[1]);
                    let mut sums = sums.lock().unwrap();
                    *sums = (sums.0 + rates[0], sums.1 + rates[1]);
                }
            });
        }
    });
    let sums = sums.into_inner().unwrap();
    (sums.0 / seeds as f64, sums.1 / seeds as f64)
}

#[ignore = "takes a quarter of an hour; make check-long"]
#[test]
fn losses_cost_as_much_as_they_cost_linux() {
    alone(PATIENCE, || {
        let (seeds, seconds) = (variable("THROUGHPUT_SEEDS", 20), variable("THROUGHPUT_SECONDS", 12));
        let hertz = variable("THROUGHPUT_HERTZ", 250) as u32;
        if Namespace::bare().is_none() {
            return;
        }
        let cases =
            [("cubic", 0.001, 11.0), ("cubic", 0.01, 3.5), ("reno", 0.001, 11.0), ("reno", 0.01, 3.5)];
        let mut apart = Vec::new();
        for (congestion, loss, expected) in cases {
            let (linux, ours) = compare(Case { congestion, loss, expected }, seeds, seconds, hertz);
            let percent = (ours / linux - 1.0) * 100.0;
            println!(
                "{congestion}, loss {} %: Linux {linux:.2}, ours {ours:.2} Mb/s, {percent:+.1} %",
                loss * 100.0
            );
            if percent.abs() > 5.0 {
                apart.push(format!("{congestion} at {} %: {percent:+.1} %", loss * 100.0));
            }
        }
        assert!(apart.is_empty(), "further than 5 % from Linux: {apart:?}");
    });
}
