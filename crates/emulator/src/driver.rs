//! The real-time driver of an emulation: one thread that passes packets between network devices and the
//! simulated links of [`Emulation`].
//!
//! The plan lists the hosts of a scenario and their devices. A device is the end of a link at a host. A port
//! is the index of a device among all devices. Owns the thread. It reads up to [`BATCH`] packets per device,
//! writes the packets that are due, sleeps until the next departure, and measures how late it writes each
//! packet. Allocates nothing per packet. Never creates devices.

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

/// Maximum number of packets read from one device before due packets are written.
const BATCH: usize = 16;
/// Interval between updates of the snapshot.
const PUBLISH: Duration = Duration::from_millis(50);

/// Counters of both directions of a link, forward and backward.
pub type LinkCounters = [Counters; 2];

/// State of a running emulation.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Time since the start.
    pub elapsed: Duration,
    /// Counters, by link of the scenario.
    pub links: Vec<LinkCounters>,
    /// Current parameters of both directions of each link, in the order of `links`.
    pub parameters: Vec<[netsim::Parameters; 2]>,
    /// Use of both directions of each link, in the order of `links`.
    pub uses: Vec<[netsim::LinkUse; 2]>,
    /// Delay from the due time of packets until they are written.
    pub lateness: Spread,
    /// Duration of loop iterations, each from the time at which it was due. A packet waits at its device for
    /// at most their maximum plus 5 ms, the longest sleep.
    pub turns: Spread,
    /// Whether the thread has real-time priority.
    pub first: bool,
    /// Packets to addresses outside the scenario.
    pub ignored: u64,
    /// Packets dropped for lack of space, in the emulator or at a device.
    pub refused: u64,
    /// Packets to devices that were down.
    pub down: u64,
    /// Packets missing in the capture; 0 until the end.
    pub left_out: u64,
}

/// A running emulation.
#[derive(Debug)]
pub struct Driver {
    epoch: u64,
    published: Arc<Mutex<Snapshot>>,
    /// Changes that the thread has not applied yet.
    asked: Arc<Mutex<Vec<Control>>>,
    /// Closed to stop the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<io::Result<Snapshot>>>,
}

impl Driver {
    /// Starts an emulation of `links` links. Each device of the plan must have one attachment in `attached`,
    /// without offload.
    ///
    /// # Errors
    /// If the system provides no thread or descriptors.
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

    /// Requests a change of a link, which the thread applies within milliseconds.
    pub fn change(&self, control: Control) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(control);
    }

    /// The state at the last update.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Time zero, in nanoseconds of the monotonic clock.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether the thread is running. If it has ended, [`Self::stop`] returns the reason.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops the emulation and returns its final state.
    ///
    /// # Errors
    /// The error that stopped the thread, or an error of the capture.
    pub fn stop(mut self) -> io::Result<Snapshot> {
        self.stop = None;
        let Some(thread) = self.thread.take() else { return Ok(self.snapshot()) };
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the links panicked")))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // Errors are ignored on drop; call `stop` to get them.
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
    /// Time zero, in nanoseconds of the monotonic clock.
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

    /// Applies requested changes. If the lock is taken, the changes wait for the next iteration.
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

    /// Reads packets from ready devices. Returns whether a device may have more packets.
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

    /// Writes due packets to the devices.
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
                // The packet is lost, as on a real link.
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
        // A concurrent reader sees the previous snapshot.
        if let Ok(mut published) = self.published.try_lock() {
            *published = snapshot;
        }
    }

    fn look(&mut self, now: Instant) -> Snapshot {
        Snapshot {
            elapsed: now.since(Instant::ZERO),
            links: (0..self.links).filter_map(|link| self.emulation.counters(link)).collect(),
            parameters: (0..self.links).filter_map(|link| self.emulation.parameters(link)).collect(),
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

/// Error of a device that is down (asm-generic/errno-base.h).
const EIO: i32 = 5;

fn told(link: &Link, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("device {}: {error}", link.name()))
}
