//! The driver: a thread that runs an MPTCP endpoint on real packets and the system's clock.
//!
//! Owns the devices and the time. Sleeps in ppoll(2) until a packet, a deadline or a socket needs it. Never
//! waits busily, and holds no lock while it sleeps, reads or writes. A packet that a device rejects is lost,
//! and the protocol retransmits it.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use mptcp::observe::{Observer, Wanted};
use mptcp::{Endpoint, InterfaceChange, InterfaceId};
use mptcp_clock::{Instant, Rng};

use crate::blocks::Blocks;
use crate::capture::Capture;
use crate::device::Device;
use crate::impairment::{Edge, Lanes, QUIET};
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::shared::{Address, Counters, Shared};
use crate::tun::Offload;
use crate::waiting::{Woken, wake};
use crate::{Link, sys};

/// Maximum payload of a segment that a device splits (GSO), bytes: the largest IP packet minus the largest
/// headers.
const GSO_MAX: u16 = 65_535 - 120;

/// A link, and the addresses of the endpoint on it.
#[derive(Debug)]
pub struct Interface {
    /// The TUN device, Ethernet interface or pipe.
    pub link: Link,
    /// IPv4 and IPv6 addresses of the endpoint, not of the kernel.
    pub addresses: Vec<IpAddr>,
    /// Backup priority of the subflows on this link (RFC 8684 section 3.3.8).
    pub backup: bool,
    /// Impairments at this device; `None` for none.
    pub edge: Option<Edge>,
}

impl Interface {
    /// An interface without backup priority or impairments.
    pub fn new(link: impl Into<Link>, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        Self { link: link.into(), addresses: addresses.into_iter().collect(), backup: false, edge: None }
    }
}

/// A running endpoint. Dropping the driver resets the remaining connections.
#[derive(Debug)]
pub struct Driver {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Driver {
    /// Starts an endpoint with these interfaces on its own thread.
    ///
    /// # Errors
    /// If no interface has an address, or if the system provides no descriptor, thread or randomness.
    pub fn start(interfaces: Vec<Interface>) -> io::Result<Self> {
        Self::start_captured(interfaces, None)
    }

    /// As [`Self::start`], and captures every packet in a pcapng file with an interface block per device.
    /// [`Self::stop`] returns errors of the capture.
    ///
    /// # Errors
    /// As [`Self::start`], and if the file cannot be created.
    pub fn start_captured(interfaces: Vec<Interface>, pcap: Option<&Path>) -> io::Result<Self> {
        let mut endpoint = Endpoint::new(Rng::secret(seed()?));
        let (mut devices, mut addresses, mut silent) = (Vec::new(), Vec::new(), Vec::new());
        for interface in interfaces {
            let (device, mtu) = (interface.link.name().to_owned(), interface.link.mtu());
            let ids: Vec<(IpAddr, InterfaceId)> = interface
                .addresses
                .into_iter()
                .map(|address| (address, endpoint.add_interface(address, interface.backup)))
                .collect();
            if interface.link.offload() == Offload::Full {
                ids.iter().for_each(|&(_, id)| endpoint.set_gso_max(id, GSO_MAX));
            }
            addresses.extend(ids.iter().map(|&(address, interface)| Address {
                interface,
                address,
                device: device.clone(),
                mtu,
            }));
            let edge = interface.edge.map(|edge| Box::new(Lanes::new(edge)));
            let cut = Arc::new(AtomicBool::new(false));
            silent.extend(ids.iter().map(|_| Arc::clone(&cut)));
            devices.push(Device {
                link: interface.link,
                ids,
                up: true,
                silent: cut,
                blocks: Blocks::default(),
                edge,
            });
        }
        if addresses.is_empty() {
            let what = "an endpoint needs an interface with an address";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let names = || devices.iter().map(|device| device.link.name());
        let capture = pcap.map(|path| Capture::create(path, names())).transpose()?;
        let shared = Arc::new(Shared::new(endpoint, addresses, silent)?);
        let mut worker = Worker {
            shared: Arc::clone(&shared),
            devices,
            capture,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            held: Vec::new(),
            held_turns: 0,
        };
        let thread = std::thread::Builder::new().name("mptcp-live".to_owned()).spawn(move || worker.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Sets the observer of new connections, for the `wanted` events. The driver calls the observer under its
    /// lock, so the observer must return quickly. Times are relative to the start of the driver.
    pub fn observe(&self, observer: Arc<dyn Observer>, wanted: Wanted) {
        self.shared.lock().endpoint.set_observer(observer, wanted);
    }

    /// Packet counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters
    }

    /// Waits up to `patience` until all connections without sockets have ended. Returns whether they have.
    pub fn drain(&self, patience: Duration) -> bool {
        let deadline = std::time::Instant::now() + patience;
        let mut core = self.shared.lock();
        while core.sockets.values().any(|status| status.orphan) {
            let Ok(next) = self.shared.wait(core, Some(deadline), |core| Some(&mut core.drained)) else {
                return false;
            };
            core = next;
        }
        true
    }
}

impl Driver {
    /// Resets the remaining connections and ends the thread.
    ///
    /// # Errors
    /// An error of the capture, or of polling.
    pub fn stop(mut self) -> io::Result<()> {
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        {
            let mut core = self.shared.lock();
            core.stopping = true;
            self.shared.ring(&core);
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(io::Error::other("the driver's thread panicked")),
            Some(Ok(result)) => result,
            None => Ok(()),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Errors are ignored on drop; call `stop` to get them.
        let _ = self.join();
    }
}

fn seed() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes)
}

/// Maximum number of iterations after which woken applications run while packets keep arriving.
const HELD_TURNS: u32 = 4;

struct Worker {
    shared: Arc<Shared>,
    devices: Vec<Device>,
    capture: Option<Capture>,
    inbox: Inbox,
    outbox: Outbox,
    /// Waiters to wake before the thread sleeps, or after [`HELD_TURNS`] iterations: an application that is woken for
    /// each packet falls asleep after each one.
    held: Vec<Woken>,
    held_turns: u32,
}

/// Work of the thread after it has released the lock of the endpoint.
struct Turn {
    /// Time until the next deadline; zero if the endpoint has more to send, `None` without a deadline.
    idle: Option<Duration>,
    stopping: bool,
    woken: Vec<Woken>,
}

impl Worker {
    fn run(&mut self) -> io::Result<()> {
        let guard = Stop(Arc::clone(&self.shared));
        let mut counted = Counters::default();
        let result = loop {
            counted.turns += 1;
            let turn = self.turn(&mut counted);
            self.held.extend(turn.woken);
            self.outbox.write(&mut self.devices, self.capture.as_mut(), &mut counted);
            if turn.stopping {
                break Ok(());
            }
            if let Err(error) = self.read(turn.idle, &mut counted) {
                break Err(error);
            }
        };
        self.wake_held();
        drop(guard);
        self.capture.take().map_or(Ok(()), Capture::finish).and(result)
    }

    /// Passes events to the endpoint, and gets its actions.
    fn turn(&mut self, counted: &mut Counters) -> Turn {
        let mut core = self.shared.lock();
        self.shared.wake_up();
        let core = &mut *core;
        add(&mut core.counters, std::mem::take(counted));
        let now = self.shared.now();
        for id in self.inbox.gone.drain(..) {
            core.endpoint.handle_interface(now, id, InterfaceChange::Down);
        }
        for (interface, segment) in self.inbox.arrived.drain(..) {
            core.endpoint.handle_segment(now, interface, segment);
        }
        for notice in self.inbox.notices.drain(..) {
            core.endpoint.handle_icmp(now, notice);
        }
        if core.stopping {
            core.abort_all(now);
        }
        if core.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            core.endpoint.handle_timeout(now);
        }
        let lingering = core.end_lingering(now);
        let full = self.outbox.fill(now, core, &self.devices);
        core.take_events(now);
        let idle = if full {
            Some(Duration::ZERO)
        } else {
            let next = core.endpoint.poll_timeout().into_iter().chain(lingering).min();
            let next = next.filter(|&at| at < Instant::FAR_FUTURE);
            next.map(|at| Duration::from_nanos(at.since(self.shared.now()).as_nanos()))
        };
        Turn { idle, stopping: core.stopping, woken: std::mem::take(&mut core.woken) }
    }

    fn wake_held(&mut self) {
        self.held_turns = 0;
        if !self.held.is_empty() {
            wake(std::mem::take(&mut self.held));
        }
    }

    /// Reads pending packets; sleeps first if there are none.
    fn read(&mut self, idle: Option<Duration>, counted: &mut Counters) -> io::Result<()> {
        let any = self.inbox.read(&mut self.devices, self.capture.as_mut(), counted);
        self.held_turns += 1;
        if !any || self.held_turns >= HELD_TURNS {
            self.wake_held();
        }
        if any || idle.is_some_and(|idle| idle.is_zero()) || !self.shared.fall_asleep() {
            return Ok(());
        }
        let late = self.devices.iter().filter_map(|device| device.edge.as_ref()).any(|edge| edge.hold());
        let quiet = late && idle.is_none_or(|idle| idle > QUIET);
        let idle = if quiet { Some(QUIET) } else { idle };
        let quiet_since = quiet.then(std::time::Instant::now);
        let mut fds = vec![self.shared.bell.as_fd()];
        fds.extend(self.devices.iter().filter(|device| device.up).map(|device| device.link.as_fd()));
        if sys::wait_readable(&fds, idle)? {
            self.shared.silence();
        }
        let any = self.inbox.read(&mut self.devices, self.capture.as_mut(), counted);
        if !any && quiet_since.is_some_and(|since| since.elapsed() >= QUIET) {
            self.inbox.release(&mut self.devices);
            self.outbox.release(&mut self.devices, counted);
        }
        Ok(())
    }
}

fn add(total: &mut Counters, more: Counters) {
    total.received += more.received;
    total.ignored += more.ignored;
    total.sent += more.sent;
    total.dropped += more.dropped;
    total.turns += more.turns;
}

/// Notifies the sockets when the thread ends, also after a panic.
struct Stop(Arc<Shared>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
