//! Drives the MPTCP endpoint under test in place of the kernel: clock, timers, packets from and to
//! packetdrill.
//!
//! Owns the lock and the loop of the timer thread. System calls change the endpoint under the lock, and blocking calls
//! wait here. Events are processed at once, so a reply is queued before the call that injected a packet returns. Never
//! interprets a system call.

use std::net::IpAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use mptcp::{Endpoint, IcmpError, IcmpMessage, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Notice, Packet, Undelivered};

use crate::device::{self, Device, Left};
use crate::errno::{Result, fail};
use crate::flags::Flags;
use crate::settings::Settings;
use crate::sockets::Sockets;
use crate::watching::Epolls;

/// The state behind the lock.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) endpoint: Endpoint,
    pub(crate) settings: Settings,
    pub(crate) interfaces: Vec<(IpAddr, InterfaceId)>,
    pub(crate) sockets: Sockets,
    pub(crate) epolls: Epolls,
    device: Device,
    /// The counters that the file holds.
    counted: String,
    stopping: bool,
}

/// The stack under test.
#[derive(Debug)]
pub(crate) struct Stack {
    core: Mutex<Core>,
    changed: Condvar,
    origin: std::time::Instant,
    /// Time of day at the stack's instant zero, in microseconds since 1970.
    epoch: i64,
    pub(crate) flags: Flags,
}

impl Stack {
    pub(crate) fn new(flags: Flags) -> Self {
        let mut endpoint = Endpoint::new(Rng::new(flags.seed, "packetdrill"));
        let interfaces =
            flags.local.iter().map(|&address| (address, endpoint.add_interface(address, false))).collect();
        let core = Core {
            endpoint,
            settings: Settings::default(),
            interfaces,
            sockets: Sockets::default(),
            epolls: Epolls::default(),
            device: Device::default(),
            counted: String::new(),
            stopping: false,
        };
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            core: Mutex::new(core),
            changed: Condvar::new(),
            origin: std::time::Instant::now(),
            epoch: i64::try_from(since.as_micros()).unwrap_or(0),
            flags,
        }
    }

    /// The stack's time. It starts at one second, as Linux's timestamps do not start at zero.
    pub(crate) fn now(&self) -> Instant {
        let elapsed = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX / 2);
        Instant::ZERO + Duration::from_secs(1) + Duration::from_nanos(elapsed)
    }

    /// Converts an instant to the time of day, in microseconds since 1970.
    pub(crate) fn time_of_day(&self, at: Instant) -> i64 {
        self.epoch + i64::try_from(at.since(Instant::ZERO).as_micros()).unwrap_or(0)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` under the lock, then processes timers, events and outgoing packets.
    pub(crate) fn act<T>(&self, work: impl FnOnce(&mut Core, Instant) -> T) -> T {
        let mut core = self.lock();
        let result = work(&mut core, self.now());
        core.turn(self);
        self.changed.notify_all();
        result
    }

    /// Calls `attempt` until it returns a result. After the deadline, the errno is `late`.
    pub(crate) fn wait<T>(
        &self,
        deadline: Option<std::time::Instant>,
        late: i32,
        mut attempt: impl FnMut(&mut Core, Instant) -> Option<Result<T>>,
    ) -> Result<T> {
        let mut core = self.lock();
        loop {
            if let Some(result) = attempt(&mut core, self.now()) {
                core.turn(self);
                self.changed.notify_all();
                return result;
            }
            // The attempt may have changed the endpoint: its packets must leave before this thread sleeps.
            core.turn(self);
            let left = deadline.map(|deadline| deadline.saturating_duration_since(std::time::Instant::now()));
            core = match left {
                Some(left) if left.is_zero() => return fail(late),
                Some(left) => self.changed.wait_timeout(core, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(core).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Receives a packet or an ICMP message. Drops packets for unknown addresses, as a host does.
    pub(crate) fn receive(&self, bytes: &[u8]) {
        if let Ok(notice) = Notice::parse(&Bytes::copy_from_slice(bytes)) {
            self.act(|core, now| core.endpoint.handle_icmp(now, told(&notice)));
            return;
        }
        let Ok(packet) = Packet::parse(&Bytes::copy_from_slice(bytes)) else { return };
        self.act(|core, now| {
            let to = packet.segment.destination.ip();
            let Some(&(_, interface)) = core.interfaces.iter().find(|(address, _)| *address == to) else {
                return;
            };
            core.endpoint.handle_segment(now, interface, packet.segment);
        });
    }

    /// The next outgoing packet; None after `patience`.
    pub(crate) fn next_packet(&self) -> Option<Left> {
        let deadline = std::time::Instant::now() + self.flags.patience;
        self.wait(Some(deadline), libc::EAGAIN, |core, _| core.device.pop().map(Ok)).ok()
    }

    /// Runs the timers until [`Stack::stop`].
    pub(crate) fn run_timers(&self) {
        let mut core = self.lock();
        while !core.stopping {
            core.turn(self);
            self.changed.notify_all();
            let next = core.endpoint.poll_timeout().filter(|&at| at < Instant::FAR_FUTURE);
            core = match next {
                None => self.changed.wait(core).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let left = std::time::Duration::from_nanos(at.since(self.now()).as_nanos());
                    self.changed.wait_timeout(core, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }
}

impl Core {
    /// Handles due timers, outgoing packets and socket events.
    fn turn(&mut self, stack: &Stack) {
        let now = stack.now();
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        self.transmit(now);
        self.look(now);
        self.write_counters(stack);
    }

    /// Processes events and sends the endpoint's segments.
    pub(crate) fn transmit(&mut self, now: Instant) {
        self.take_events(now);
        while let Some(transmit) = self.endpoint.poll_transmit(now) {
            let class = transmit.subflow.map_or(0, |(id, _)| self.sockets.traffic_class(id));
            let burst = transmit.subflow.and_then(|(id, subflow)| {
                let info = self.endpoint.info(now, id)?;
                let found = info.subflows.iter().find(|known| known.id == subflow)?;
                Some(device::burst(found, self.settings.least_burst))
            });
            self.device.send(now, transmit.segment, class, burst.unwrap_or(0));
        }
        self.device.flush(now);
        self.take_events(now);
    }

    /// Reads the record of the script's `ip` and `sysctl` commands again.
    pub(crate) fn refresh(&mut self, stack: &Stack) {
        let Some(path) = &stack.flags.settings else { return };
        // The record is missing until the first command.
        let record = std::fs::read_to_string(path).unwrap_or_default();
        self.settings = Settings::read(&record);
        for &address in &self.settings.addresses {
            if !self.interfaces.iter().any(|(known, _)| *known == address) {
                self.interfaces.push((address, self.endpoint.add_interface(address, false)));
            }
        }
    }

    /// Writes the counters with Linux's names, in the form of `nstat -zjs`.
    fn write_counters(&mut self, stack: &Stack) {
        let Some(path) = &stack.flags.counters else { return };
        let counters = self.endpoint.counters();
        let text = format!(
            "{{\"kernel\":{{\"MPTcpExtMPCapableSYNRX\":{},\"MPTcpExtMPCapableFallbackACK\":{}}}}}\n",
            counters.capable_syns_received, counters.capable_fallback_acks
        );
        if self.counted != text {
            // A script that needs the counters fails by itself and prints the reason.
            let _ = std::fs::write(path, &text);
            self.counted = text;
        }
    }
}

/// Converts an ICMP notice to the endpoint's type.
fn told(notice: &Notice) -> IcmpMessage {
    let &Notice { source: local, destination: remote, sequence, what } = notice;
    let error = match what {
        Undelivered::Network => IcmpError::NetworkUnreachable,
        Undelivered::Host => IcmpError::HostUnreachable,
        Undelivered::Protocol => IcmpError::ProtocolUnreachable,
        Undelivered::Port => IcmpError::PortUnreachable,
        Undelivered::Prohibited => IcmpError::Prohibited,
        Undelivered::TimeExceeded => IcmpError::TimeExceeded,
        Undelivered::TooBig { mtu } => IcmpError::TooBig { mtu },
    };
    IcmpMessage { local, remote, sequence, error }
}
