//! The thread that drives an endpoint: packets in, packets out, timers.
//!
//! Owns the devices and the time. Sleeps in ppoll(2) until a packet, a deadline or a socket wants it;
//! nothing here waits busily, and no lock is held while it sleeps, reads or writes. A packet that a device
//! does not take is lost, which the protocol repairs.

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

use crate::capture::Capture;
use crate::device::Device;
use crate::impairment::{Edge, Lanes, QUIET};
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::shared::{Address, Counters, Shared};
use crate::tun::Offload;
use crate::waiting::{Woken, wake};
use crate::{Link, sys};

/// Payload of the largest segment that a device cuts, bytes: a packet without the longest headers.
const GSO_MAX: u16 = 65_535 - 120;

/// A link and the addresses that the endpoint has on it.
#[derive(Debug)]
pub struct Interface {
    /// The device, or what stands for it.
    pub link: Link,
    /// Addresses of the endpoint, not of the kernel; of either family.
    pub addresses: Vec<IpAddr>,
    /// Its subflows are used only when no other works (RFC 8684 section 3.3.8).
    pub backup: bool,
    /// A bad network at this device; None is the device as it is.
    pub edge: Option<Edge>,
}

impl Interface {
    /// A regular interface.
    pub fn new(link: impl Into<Link>, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        Self { link: link.into(), addresses: addresses.into_iter().collect(), backup: false, edge: None }
    }
}

/// A running endpoint. Dropping it resets the connections that are left.
#[derive(Debug)]
pub struct Driver {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Driver {
    /// Starts an endpoint over these interfaces, on a thread of its own.
    ///
    /// # Errors
    /// When there is no address, or the system gives no descriptor, thread or randomness.
    pub fn start(interfaces: Vec<Interface>) -> io::Result<Self> {
        Self::start_captured(interfaces, None)
    }

    /// As [`Self::start`], and writes every packet to a pcapng file, with an interface block for each device.
    /// [`Self::stop`] says whether all of it could be written.
    ///
    /// # Errors
    /// As [`Self::start`], and when the file cannot be made.
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
            devices.push(Device { link: interface.link, ids, up: true, silent: cut, edge });
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
        };
        let thread = std::thread::Builder::new().name("mptcp-live".to_owned()).spawn(move || worker.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Tells `observer` of what happens on connections that begin from now on, as far as it is `wanted`. It is told under the
    /// lock of the driver, so it has to be quick; times are since the driver began.
    pub fn observe(&self, observer: Arc<dyn Observer>, wanted: Wanted) {
        self.shared.lock().endpoint.set_observer(observer, wanted);
    }

    /// Packets so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters
    }

    /// Waits until the connections whose sockets are gone have ended, `patience` at most; returns whether
    /// they have.
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
    /// Ends the connections that are left, as dropping it does, and the thread.
    ///
    /// # Errors
    /// When the capture could not be written, or waiting for packets failed.
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
        // Who wants to know calls `stop`.
        let _ = self.join();
    }
}

fn seed() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes)
}

struct Worker {
    shared: Arc<Shared>,
    devices: Vec<Device>,
    capture: Option<Capture>,
    inbox: Inbox,
    outbox: Outbox,
}

/// What the thread does after the endpoint had its turn.
struct Turn {
    /// How long there is nothing to do; None is for ever.
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
            wake(turn.woken);
            self.outbox.write(&mut self.devices, self.capture.as_mut(), &mut counted);
            if turn.stopping {
                break Ok(());
            }
            if let Err(error) = self.read(turn.idle, &mut counted) {
                break Err(error);
            }
        };
        drop(guard);
        self.capture.take().map_or(Ok(()), Capture::finish).and(result)
    }

    /// Tells the endpoint what has happened, and asks it what to do.
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

    /// Reads what has come; sleeps before when that is nothing.
    fn read(&mut self, idle: Option<Duration>, counted: &mut Counters) -> io::Result<()> {
        let any = self.inbox.read(&mut self.devices, self.capture.as_mut(), counted);
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

/// Tells the sockets at the end, also after a panic, that nothing more will come.
struct Stop(Arc<Shared>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
