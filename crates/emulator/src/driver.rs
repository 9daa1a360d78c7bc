//! The wall clock and the devices around an emulation: one thread that reads, lets time pass, writes and sleeps.
//!
//! Owns the thread. It reads up to [`BATCH`] packets of a device before it looks at the clock for what is due, sleeps until the very
//! instant of the next departure, and counts how late each packet was written. Allocates nothing for a packet. Never makes a device.

use std::io::{self, ErrorKind, PipeWriter};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use mptcp_clock::{Duration, Instant};
use mptcp_live::{Link, Sleeper, monotonic, run_first};
use netsim::Counters;

use crate::capture::Recording;
use crate::control::Control;
use crate::emulation::Emulation;
use crate::lateness::{Lateness, Spread};
use crate::ports::{Attachment, Ports};
use crate::turns::Turns;

/// Packets read from one device before anything that is due is written.
const BATCH: usize = 16;
/// Between two looks for those who watch.
const PUBLISH: Duration = Duration::from_millis(50);

/// Both directions of a link: from its first end to its second, and back.
pub type LinkCounters = [Counters; 2];

/// What there was so far.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Since the start.
    pub elapsed: Duration,
    /// By link of the scenario.
    pub links: Vec<LinkCounters>,
    /// How they were used, in the same order.
    pub uses: Vec<[netsim::LinkUse; 2]>,
    /// From when packets were due to when they were with their device.
    pub lateness: Spread,
    /// Turns of the loop, each from when it was to begin: no packet waited longer to be read than the longest, and a tick of 5 ms.
    pub turns: Spread,
    /// Whether the thread ran before all ordinary ones.
    pub first: bool,
    /// Packets for nobody.
    pub ignored: u64,
    /// Packets without room, in the emulator or at a device.
    pub refused: u64,
    /// Packets for devices that were down, as devices of hosts that were told are.
    pub down: u64,
    /// Packets missing in the capture.
    pub left_out: u64,
}

/// A network that runs.
#[derive(Debug)]
pub struct Driver {
    epoch: u64,
    published: Arc<Mutex<Snapshot>>,
    /// Changes that the thread has not made yet.
    asked: Arc<Mutex<Vec<Control>>>,
    /// Closed to end the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<io::Result<Snapshot>>>,
}

impl Driver {
    /// Starts at time zero. Each device of the plan is attached once, and nothing is offloaded.
    ///
    /// # Errors
    /// When the system gives no thread or no descriptors.
    pub fn start(
        emulation: Emulation,
        links: usize,
        attached: Vec<Attachment>,
        recording: Option<Recording>,
    ) -> io::Result<Self> {
        let (ended, stop) = io::pipe()?;
        let sources = attached.iter().map(|one| &one.link as &dyn AsFd).chain([&ended as &dyn AsFd]);
        let sleeper = Sleeper::new(sources)?;
        let published = Arc::new(Mutex::new(Snapshot::default()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let epoch = monotonic();
        let ports = Ports::of(emulation.plan(), &attached);
        let turn = Loop {
            emulation,
            links,
            attached,
            ports,
            recording,
            sleeper,
            published: Arc::clone(&published),
            asked: Arc::clone(&asked),
            lateness: Lateness::default(),
            turns: Turns::default(),
            refused: 0,
            down: 0,
            first: false,
            epoch,
        };
        let thread =
            std::thread::Builder::new().name("mptcplab-links".to_owned()).spawn(move || turn.run())?;
        Ok(Self { epoch, published, asked, stop: Some(stop), thread: Some(thread) })
    }

    /// Asks for a change of a link, which is made within a turn of the thread: some milliseconds.
    pub fn change(&self, control: Control) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(control);
    }

    /// What there was a moment ago.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Time zero, nanoseconds of the monotonic clock.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether it still runs; [`Self::stop`] says why it does not.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends it, and gives what there was.
    ///
    /// # Errors
    /// What ended it before, or kept the capture from being written.
    pub fn stop(mut self) -> io::Result<Snapshot> {
        self.stop = None;
        let Some(thread) = self.thread.take() else { return Ok(self.snapshot()) };
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the links ended by itself")))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // Whoever wants to know how it went calls `stop`.
            let _ = thread.join();
        }
    }
}

struct Loop {
    emulation: Emulation,
    links: usize,
    attached: Vec<Attachment>,
    ports: Ports,
    recording: Option<Recording>,
    sleeper: Sleeper,
    published: Arc<Mutex<Snapshot>>,
    asked: Arc<Mutex<Vec<Control>>>,
    lateness: Lateness,
    turns: Turns,
    refused: u64,
    down: u64,
    first: bool,
    /// Time zero, nanoseconds of the monotonic clock.
    epoch: u64,
}

impl Loop {
    fn run(mut self) -> io::Result<Snapshot> {
        self.first = run_first().is_ok();
        let mut publish = Instant::ZERO;
        self.turns.begin(self.now());
        while !self.sleeper.is_ready(self.attached.len()) {
            self.obey();
            self.write_due()?;
            let more = self.read()?;
            self.write_due()?;
            let now = self.now();
            if now >= publish {
                publish = now + PUBLISH;
                self.publish(now);
            }
            let wake = self.turns.end(self.now(), self.emulation.next_time(), more);
            self.sleeper.sleep(Some(self.epoch.saturating_add(wake.as_nanos())))?;
            self.turns.begin(self.now());
        }
        let mut last = self.look(self.now());
        last.left_out = self.recording.map_or(Ok(0), Recording::finish)?;
        Ok(last)
    }

    /// Makes the changes that were asked for. Who asks at this moment is heard in the next turn.
    fn obey(&mut self) {
        let Ok(mut asked) = self.asked.try_lock() else { return };
        if asked.is_empty() {
            return;
        }
        let all = std::mem::take(&mut *asked);
        drop(asked);
        for control in &all {
            self.emulation.change(self.now(), control);
        }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(monotonic().saturating_sub(self.epoch))
    }

    /// Reads what the devices have that were ready; whether one may have more.
    fn read(&mut self) -> io::Result<bool> {
        let mut more = false;
        for at in 0..self.attached.len() {
            if !self.sleeper.is_ready(at) {
                continue;
            }
            let mut count = 0;
            while count < BATCH {
                match self.attached[at].link.read(self.emulation.room()) {
                    Ok(length) => {
                        let port = self.ports.outward(at, &self.emulation.room()[..length]);
                        if let Some(recording) = &self.recording {
                            recording.keep(at, &self.emulation.room()[..length]);
                        }
                        let now = Instant::from_nanos(monotonic().saturating_sub(self.epoch));
                        self.emulation.offer(now, port, length);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // EBADFD: the device was removed, with its namespace.
                    Err(error) => return Err(told(&self.attached[at].link, &error)),
                }
                count += 1;
            }
            more |= count == BATCH;
            if more {
                self.write_due()?;
            }
        }
        Ok(more)
    }

    /// Gives the devices what is due.
    fn write_due(&mut self) -> io::Result<()> {
        loop {
            let now = Instant::from_nanos(monotonic().saturating_sub(self.epoch));
            let Some(delivery) = self.emulation.deliver(now) else { return Ok(()) };
            let Some(at) = self.ports.inward(delivery.port) else { continue };
            let link = &self.attached[at].link;
            if let Some(recording) = &self.recording {
                recording.keep(at, delivery.packet);
            }
            match link.write(delivery.packet) {
                Ok(()) => {}
                // As on a real wire nobody hears of it.
                Err(error) if error.raw_os_error() == Some(EIO) => self.down += 1,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::OutOfMemory | ErrorKind::InvalidInput
                    ) =>
                {
                    self.refused += 1;
                }
                Err(error) => return Err(told(link, &error)),
            }
            let written = Instant::from_nanos(monotonic().saturating_sub(self.epoch));
            self.lateness.count(written.since(delivery.due));
        }
    }

    fn publish(&mut self, now: Instant) {
        let snapshot = self.look(now);
        // Who looks at this moment sees the one before.
        if let Ok(mut published) = self.published.try_lock() {
            *published = snapshot;
        }
    }

    fn look(&mut self, now: Instant) -> Snapshot {
        Snapshot {
            elapsed: now.since(Instant::ZERO),
            links: (0..self.links).filter_map(|link| self.emulation.counters(link)).collect(),
            uses: (0..self.links).filter_map(|link| self.emulation.link_use(link)).collect(),
            lateness: self.lateness.spread(),
            turns: self.turns.spread(),
            first: self.first,
            ignored: self.emulation.ignored(),
            refused: self.refused + self.emulation.refused(),
            down: self.down,
            left_out: 0,
        }
    }
}

/// The error of a device that is down (asm-generic/errno-base.h).
const EIO: i32 = 5;

fn told(link: &Link, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("device {}: {error}", link.name()))
}
