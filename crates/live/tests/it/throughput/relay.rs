//! A line between two devices, in user space: it loses, takes its time, and has a queue.
//!
//! Owns which packets are lost: by the number of a data packet and a seed, not by the time, so that two senders that send as much
//! lose as much.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mptcp_clock::Rng;

use crate::laboratory::Port;

/// Packets of more bytes carry data.
const BARE: usize = 200;
/// The data packet that is always lost: slow start ends there, for everybody, and not where threads that wait for a busy machine
/// make round trips look long (HyStart).
const FIRST_LOST: u64 = 25;
/// Between two looks at the devices: little beside the round trip.
const PAUSE: Duration = Duration::from_micros(250);

/// What the line does to data packets on the way to the receiver.
#[derive(Clone, Copy)]
pub struct Line {
    pub loss: f64,
    pub seed: u64,
    /// Bytes a second.
    pub rate: f64,
    /// There and back, half each way.
    pub rtt: Duration,
    /// Bytes that may wait.
    pub queue: usize,
}

impl Line {
    /// Carries packets until `stop`.
    pub fn carry(self, sender: &Port, receiver: &Port, stop: &AtomicBool) {
        let mut random = Rng::new(self.seed, "line");
        let mut count = 0_u64;
        let (mut forth, mut back) = (VecDeque::new(), VecDeque::new());
        let mut free = Instant::now();
        let mut buffer = vec![0; 65_536];
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            while let Some(packet) = sender.take(&mut buffer) {
                if packet.len() > BARE {
                    count += 1;
                    if random.unit() < self.loss || count == FIRST_LOST {
                        continue;
                    }
                }
                let waiting = free.saturating_duration_since(now).as_secs_f64() * self.rate;
                if waiting as usize + packet.len() <= self.queue {
                    free = free.max(now) + Duration::from_secs_f64(packet.len() as f64 / self.rate);
                    forth.push_back((free + self.rtt / 2, packet));
                }
            }
            while let Some(packet) = receiver.take(&mut buffer) {
                back.push_back((now + self.rtt / 2, packet));
            }
            for (waiting, port) in [(&mut forth, receiver), (&mut back, sender)] {
                while waiting.front().is_some_and(|(due, _)| *due <= now) {
                    if let Some((_, packet)) = waiting.pop_front() {
                        port.put(packet);
                    }
                }
            }
            std::thread::sleep(PAUSE);
        }
    }
}
