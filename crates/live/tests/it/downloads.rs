//! Downloads from Linux over four subflows: none stalls because Linux sends beyond the window.
//!
//! DOWNLOADS sets the number of downloads (default 1), DOWNLOADS_BYTES their size (20,000,000). `--nocapture` prints
//! the times.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;
use std::time::{Duration, Instant};

use crate::laboratory::{End, Namespace, Protocol, alone, at, linux, ours, wait_until};
use mptcp_live::{Config, Driver, Interface, MptcpStream, Offload, SubflowInfo, SubflowState};

/// Time limit of a download: 50 times the usual time.
const PATIENCE: Duration = Duration::from_secs(45);

fn variable(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn downloads_over_four_subflows_do_not_stand_still() {
    let count = variable("DOWNLOADS", 1);
    alone(PATIENCE * 2 * count as u32, move || download(count, variable("DOWNLOADS_BYTES", 20_000_000)));
}

fn download(count: usize, bytes: usize) {
    let mut times = Vec::new();
    for number in 0..count {
        let Some(namespace) = Namespace::bare() else { return };
        let tuns = [1, 2].map(|path| namespace.device(path, Offload::Full).unwrap());
        if number % 2 == 1 {
            for path in [1, 2] {
                namespace.limit(path, "200mbit", "300k");
            }
        }
        namespace.ip(&format!("mptcp endpoint add {} dev path2 signal", linux(2))).unwrap();
        let interfaces = tuns.into_iter().zip(1_u8..).map(|(tun, path)| Interface::new(tun, [ours(path)]));
        let driver = Driver::start(interfaces.collect()).unwrap();
        let listener = namespace.listen(at("0.0.0.0".parse().unwrap()), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (mut them, _) = listener.accept().unwrap();
        us.be_patient();
        wait_until("four subflows are there", || {
            them.write_all(b"?").unwrap();
            assert_eq!(us.read_some(&mut [0; 1]).unwrap(), 1);
            let open = |s: &&SubflowInfo| s.state == SubflowState::Established;
            us.info().unwrap().subflows.iter().filter(open).count() == 4
        });
        let begin = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let piece = vec![7; 1 << 18];
                let mut left = bytes;
                while left > 0 {
                    // A reader that stops ends the writer.
                    let Ok(sent) = them.write(&piece[..left.min(piece.len())]) else { return };
                    left -= sent;
                }
            });
            let (mut buffer, mut read) = (vec![0; 1 << 18], 0);
            while read < bytes && begin.elapsed() < PATIENCE {
                read += us.read_some(&mut buffer).unwrap();
            }
            if read < bytes {
                us.abort().unwrap();
            }
            times.push((begin.elapsed(), read));
            eprintln!("{number}: {read} bytes in {:?}", begin.elapsed());
        });
    }
    times.sort();
    eprintln!("shortest, median, longest: {:?}", [0, count / 2, count - 1].map(|at| times[at].0));
    assert!(times.iter().all(|&(_, read)| read == bytes), "{times:?}");
}
