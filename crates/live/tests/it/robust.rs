//! Tests the robustness of an endpoint: killed peers, peers that stop reading, very many connections, and a flood of
//! forged SYNs. `--nocapture` shows the memory before and after.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::laboratory::{
    self, End, Fixture, LIMIT, Namespace, PORT, Protocol, at, established, exchange, ferry, greet, linux,
    ours, pattern, raw_socket, receive, same, wait_until, within,
};
use mptcp_live::{CloseReason, Config, Driver, Interface, MptcpListener, MptcpStream, Tun};
use mptcp_wire::{Flags, MpCapable, MptcpOption, Packet, Segment, Seq};

/// The role of the child process.
const ROLE: &str = "MPTCP_TEST_ROLE";

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

/// Runs `test` alone and prints the growth of memory, which must be at most `most` megabytes.
fn bounded(what: &str, most: u64, test: impl FnOnce()) {
    let before = resident();
    test();
    let after = resident();
    println!("{what}: {} MB resident before, {} MB after", before >> 20, after >> 20);
    assert!(after.saturating_sub(before) < most << 20, "{what}: {before} bytes became {after}");
}

/// Starts this test binary in the namespace, as a process to be killed.
fn spawn(namespace: &Namespace, role: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let me = std::env::current_exe().unwrap();
    let mut child = Command::new("ip")
        .args(["netns", "exec", &namespace.name])
        .arg(me)
        .args(["--exact", "robust::a_process_to_be_killed", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the child has ended");
    }
    (child, lines)
}

/// Kills a process with SIGKILL.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Not a test: other tests start it as a process and kill it.
#[test]
#[ignore = "a process that other tests start and kill"]
fn a_process_to_be_killed() {
    let role = std::env::var(ROLE).expect("only other tests start this");
    let mut held: Vec<Box<dyn std::any::Any>> = Vec::new();
    match role.as_str() {
        // A Linux peer that has read everything, or nothing.
        "reader" | "sleeper" => {
            let stream = laboratory::connect(at(ours(1)), Protocol::Mptcp).unwrap();
            stream.send_all(b"?").unwrap();
            if role == "reader" {
                (&stream).read_exact(&mut [0; 1_000]).unwrap();
            }
            held.push(Box::new(stream));
        }
        // An mptcplab endpoint on the device that the test has created.
        "endpoint" => {
            let tun = Tun::open("path1").unwrap();
            let driver = Driver::start(vec![Interface::new(tun, [ours(1)])]).unwrap();
            let stream = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
            stream.send_all(b"?").unwrap();
            (&stream).read_exact(&mut [0; 1]).unwrap();
            held.push(Box::new((driver, stream)));
        }
        other => panic!("no such role: {other}"),
    }
    println!("ready");
    std::io::stdout().flush().unwrap();
    loop {
        std::thread::park();
    }
}

/// A Linux process that is killed with unread data resets the connection. After it has read everything, its stream ends
/// regularly, and the kernel closes the connection. Other connections continue.
#[test]
fn a_killed_linux_peer() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let other = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (mine, _) = listener.accept().unwrap();
        for role in ["reader", "sleeper"] {
            std::thread::scope(|scope| {
                let child = scope.spawn(|| spawn(&namespace, role));
                let (us, _) = listener.accept().unwrap();
                us.be_patient();
                assert_eq!(us.read_some(&mut [0; 9]).unwrap(), 1);
                us.send_all(&pattern(1_000)).unwrap();
                wait_until("it has arrived", || us.info().unwrap().bytes_acked == 1_000);
                let (child, _output) = child.join().unwrap();
                kill(child);
                if role == "sleeper" {
                    assert_eq!(us.read_some(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
                    return;
                }
                assert_eq!(us.read_some(&mut [0; 9]).unwrap(), 0, "its stream has ended");
                us.half_close().unwrap();
                wait_until("it is over", || us.info().unwrap().closed == Some(CloseReason::Finished));
            });
        }
        exchange(&other, &mine, &pattern(100_000), &pattern(100_000));
    });
}

/// The mptcplab process is killed. Its successor does not know the connection, and resets it at Linux.
#[test]
fn our_process_is_killed_and_comes_back() {
    within(LIMIT, || {
        // A persistent device, which survives the process.
        let Some(namespace) = Namespace::bare() else { return };
        namespace.ip("tuntap add path1 mode tun").unwrap();
        namespace.ip(&format!("addr add {}/24 dev path1", linux(1))).unwrap();
        namespace.ip("link set path1 up").unwrap();
        // Time that Linux keeps a connection without subflows.
        namespace.sysctl("net.mptcp.close_timeout", "1");
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        std::thread::scope(|scope| {
            let child = scope.spawn(|| spawn(&namespace, "endpoint"));
            let (them, _) = listener.accept().unwrap();
            them.be_patient();
            assert_eq!(them.read_some(&mut [0; 9]).unwrap(), 1);
            them.send_all(b"!").unwrap();
            let (child, _output) = child.join().unwrap();
            kill(child);
            them.send_all(b"lost").unwrap();
            let tun = namespace.run(|| Tun::open("path1")).unwrap();
            let driver = Driver::start(vec![Interface::new(tun, [ours(1)])]).unwrap();
            // Linux does not report a subflow's reset without MP_FASTCLOSE, but only the later timeout.
            assert_eq!(them.read_some(&mut [0; 9]).unwrap_err().kind(), ErrorKind::NotConnected);
            // The new process works.
            let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
            let (them, _) = listener.accept().unwrap();
            exchange(&us, &them, &pattern(100_000), &pattern(100_000));
        });
    });
}

/// Pause of a reader: MPTCP_TEST_PAUSE seconds, default 3.
fn pause() -> Duration {
    let seconds = std::env::var("MPTCP_TEST_PAUSE").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

/// A reader pauses, at Linux and at mptcplab: the window closes, no end gives up or is busy, and no data is lost.
#[test]
fn a_peer_that_stops_reading() {
    within(LIMIT + 3 * pause(), || {
        for ours_pauses in [false, true] {
            let Some((namespace, driver)) = Fixture::paths(2).build() else { return };
            let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
            let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
            let (them, _) = listener.accept().unwrap();
            greet(&us, &them);
            wait_until("the second subflow is there", || established(&us) == 2);
            let (from, to): (&dyn End, &dyn End) = if ours_pauses { (&them, &us) } else { (&us, &them) };
            for stream in [from, to] {
                stream.wait_for_ever();
            }
            let data = pattern(40_000_000);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    from.send_all(&data).unwrap();
                    from.half_close().unwrap();
                });
                let moved = || {
                    let info = us.info().unwrap();
                    info.bytes_acked + info.bytes_received
                };
                let mut last = moved();
                wait_until("the window is closed", || {
                    std::thread::sleep(Duration::from_millis(300));
                    std::mem::replace(&mut last, moved()) == last && last > 100_000
                });
                let turns = driver.counters().turns;
                std::thread::sleep(pause());
                assert_eq!(moved(), last, "nothing moves");
                let turns = driver.counters().turns - turns;
                let most = 40 * (1 + pause().as_secs());
                println!("we pause {ours_pauses}: {turns} turns in {:?}", pause());
                assert!(turns < most, "{turns} turns in {:?}", pause());
                let mut received = Vec::with_capacity(data.len());
                let mut buffer = vec![0; 1 << 16];
                loop {
                    let count = to.read_some(&mut buffer).unwrap();
                    if count == 0 {
                        break;
                    }
                    received.extend_from_slice(&buffer[..count]);
                }
                same(&received, &data, if ours_pauses { "back" } else { "forth" });
            });
        }
    });
}

/// A thousand sequential connections, opened by either end, leave no state.
#[test]
fn a_thousand_one_after_the_other() {
    Fixture::paths(1).alone().run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        bounded("1000 one after the other", 64, || {
            for number in 0..1_000 {
                let (us, them) = if number % 2 == 0 {
                    let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
                    (us, theirs.accept().unwrap().0)
                } else {
                    let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
                    (mine.accept().unwrap().0, them)
                };
                greet(&us, &them);
            }
            assert!(driver.drain(Duration::from_secs(20)), "connections without sockets still exist");
        });
    });
}

/// A thousand simultaneous connections, each with its own data in both directions.
#[test]
fn a_thousand_at_once() {
    Fixture::paths(1).alone().run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        bounded("1000 at once", 256, || {
            let pairs: Vec<_> = (0..1_000)
                .map(|_| {
                    let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
                    (us, theirs.accept().unwrap().0)
                })
                .collect();
            for (number, (us, them)) in pairs.iter().enumerate() {
                us.be_patient();
                us.send_all(&pattern(2_000 + number)).unwrap();
                us.half_close().unwrap();
                them.send_all(&pattern(3_000 + number)).unwrap();
                them.half_close().unwrap();
            }
            for (number, (us, them)) in pairs.iter().enumerate() {
                same(&receive(them), &pattern(2_000 + number), "forth");
                same(&receive(us), &pattern(3_000 + number), "back");
            }
            drop(pairs);
            assert!(driver.drain(Duration::from_secs(20)), "connections without sockets still exist");
        });
    });
}

/// Number of forged SYNs.
const FORGED: u32 = 100_000;

/// A SYN with MP_CAPABLE from an unused address in 198.18.0.0/15.
fn forged(number: u32) -> Vec<u8> {
    let source = SocketAddrV4::new(Ipv4Addr::from(0xc612_0000 + number), 1_024 + (number % 50_000) as u16);
    let mut syn = Segment::new(source.into(), at(ours(1)));
    (syn.flags, syn.sequence, syn.window) = (Flags::SYN, Seq::new(number.wrapping_mul(77_777)), 64_000);
    let (sender_key, receiver_key) = (None, None);
    let option = MpCapable { version: 1, flags: MpCapable::HMAC, sender_key, receiver_key, data: None };
    syn.options.mss = Some(1_460);
    syn.options.mptcp.push(MptcpOption::Capable(option));
    let mut bytes = Vec::new();
    Packet::new(syn).emit(&mut bytes).unwrap();
    bytes
}

/// 100,000 forged SYNs only fill the backlog. An open connection continues, and a new one from mptcplab works. Soon
/// afterwards, Linux can connect to the flooded port.
#[test]
fn a_flood_of_forged_syns() {
    Fixture::paths(1).alone().run(|namespace, driver| {
        let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (us, _) = mine.accept().unwrap();
        let raw = namespace.run(raw_socket).unwrap();
        let done = AtomicBool::new(false);
        bounded("flood of SYNs", 192, || {
            std::thread::scope(|scope| {
                let meanwhile = scope.spawn(|| {
                    let mut rounds = 0;
                    while !done.load(Ordering::Relaxed) || rounds == 0 {
                        greet(&us, &them);
                        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
                        let (them, _) = theirs.accept().unwrap();
                        ferry(&us, &them, 200_000, 200_000, "during the flood");
                        rounds += 1;
                    }
                    rounds
                });
                let begin = driver.counters();
                for number in 0..FORGED {
                    raw.send(&forged(number), Ipv4Addr::from(0x0a58_0102)).unwrap();
                    // The device's queue holds 2,000 packets; dropped packets would not reach the endpoint.
                    if number % 500 == 499 {
                        let arrived = || driver.counters().received - begin.received > u64::from(number);
                        wait_until("they have arrived", arrived);
                    }
                }
                done.store(true, Ordering::Relaxed);
                println!("{} transfers meanwhile", meanwhile.join().unwrap());
            });
            let later = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            let (here, _) = mine.accept().unwrap();
            exchange(&later, &here, &pattern(100_000), &pattern(100_000));
        });
        ferry(&us, &them, 1_000_000, 1_000_000, "after the flood");
        assert!(driver.counters().received >= u64::from(FORGED));
    });
}
