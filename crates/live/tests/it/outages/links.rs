//! Links that go down temporarily.
//!
//! Owns the random plan of outages, and the record of past ones.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use mptcp_clock::Rng;
use mptcp_live::Driver;

use crate::laboratory::Namespace;

/// The way in which a link goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It drops all packets without a notification.
    Silence,
    /// Linux takes its device down.
    Linux,
    /// mptcplab takes an interface down and notifies the peer. The connection must keep another interface: otherwise
    /// its subflows are gone, and Linux refuses a join after its last byte (MP_TCPRST with reason 3).
    Interface,
}

/// A link that goes down some time after the start of the transfers.
#[derive(Clone, Copy, Debug)]
struct Outage {
    path: u8,
    after: Duration,
    length: Duration,
}

pub struct Links<'a> {
    how: How,
    plan: Vec<Outage>,
    namespace: &'a Namespace,
    driver: &'a Driver,
    /// Past and current outages; the end of a current one is its planned end.
    log: Mutex<Vec<(Instant, Instant)>>,
}

fn millis(random: &mut Rng, most: u64) -> Duration {
    Duration::from_micros(random.below(most * 1_000) + 1)
}

impl<'a> Links<'a> {
    /// One link, or both in turn, one to three times.
    pub fn draw(random: &mut Rng, how: How, namespace: &'a Namespace, driver: &'a Driver) -> Self {
        let first = 1 + random.below(2) as u8;
        let turns = random.chance(0.3);
        let plan = (0..1 + random.below(3)).map(|number| {
            let most = if random.chance(0.5) { 10 } else { 60 };
            Outage {
                path: if turns && how != How::Interface && number % 2 == 1 { 3 - first } else { first },
                after: millis(random, most),
                // Outages of 40 ms are frequent, because they can cause a stall.
                length: if random.chance(0.2) { Duration::from_millis(40) } else { millis(random, 200) },
            }
        });
        Self { how, plan: plan.collect(), namespace, driver, log: Mutex::default() }
    }

    /// Takes links down and up as planned.
    pub fn play(&self) {
        for outage in &self.plan {
            std::thread::sleep(outage.after);
            let begin = Instant::now();
            self.log.lock().unwrap().push((begin, begin + outage.length));
            self.set(outage.path, false);
            std::thread::sleep(outage.length);
            self.set(outage.path, true);
            self.log.lock().unwrap().last_mut().unwrap().1 = Instant::now();
        }
    }

    fn set(&self, path: u8, up: bool) {
        let device = format!("path{path}");
        let interfaces = self.driver.addresses().iter().filter(|known| known.device == device);
        match self.how {
            How::Silence => interfaces.for_each(|i| self.driver.set_silent(i.interface, !up).unwrap()),
            How::Interface => interfaces.for_each(|i| self.driver.set_interface(i.interface, up).unwrap()),
            How::Linux => {
                let state = if up { "up" } else { "down" };
                self.namespace.ip(&format!("link set {device} {state}")).unwrap();
            }
        }
    }

    /// The end of the last outage that overlaps this interval.
    pub fn down_until(&self, from: Instant, to: Instant) -> Option<Instant> {
        let log = self.log.lock().unwrap();
        log.iter().filter(|(begin, end)| *begin <= to && *end >= from).map(|(_, end)| *end).max()
    }

    /// Starts and ends of the outages, in seconds from `origin`.
    pub fn told(&self, origin: Instant) -> String {
        let seconds = |at: Instant| {
            let after = at.saturating_duration_since(origin).as_secs_f64();
            after - origin.saturating_duration_since(at).as_secs_f64()
        };
        let log = self.log.lock().unwrap();
        let paths = self.plan.iter().map(|outage| outage.path);
        let spans = log.iter().zip(paths);
        spans
            .map(|((begin, end), path)| format!("path {path} {:.4}..{:.4} ", seconds(*begin), seconds(*end)))
            .collect()
    }
}
