//! A link between two devices in user space, with loss, delay and a queue.
//!
//! Owns the choice of lost packets. It depends on the number of a data packet and a seed, not on the time, so that two
//! senders lose the same packets.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mptcp_clock::Rng;

use crate::laboratory::Port;

/// Larger packets carry data, in bytes.
const BARE: usize = 200;
/// A data packet that is always lost, so that slow start ends there for every sender. Otherwise HyStart could end it
/// earlier, because a busy machine makes RTTs look long.
const FIRST_LOST: u64 = 25;
/// Interval of polling the devices, small compared with the RTT.
const PAUSE: Duration = Duration::from_micros(250);

/// A link's treatment of data packets towards the receiver.
#[derive(Clone, Copy)]
pub struct Line {
    pub loss: f64,
    pub seed: u64,
    /// Link rate, in bytes per second.
    pub rate: f64,
    /// RTT, half in each direction.
    pub rtt: Duration,
    /// Queue size, in bytes.
    pub queue: usize,
}

impl Line {
    /// Forwards packets until `stop`.
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
