//! State that the driver thread and the sockets share: the endpoint under a lock, and the eventfd that wakes
//! the thread.
//!
//! Owns the state of each socket, which the endpoint's events update. A socket changes the endpoint under the
//! lock and signals the eventfd. The thread does all input and output, and wakes waiters.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use mptcp::{CloseReason, ConnectionId, ConnectionInfo, Endpoint, EventKind, InterfaceId};
use mptcp_clock::Instant;

use crate::sys;
use crate::waiting::{self, Interest, Waiters, Woken};

/// Maximum time for closing a connection without a socket: `tcp_fin_timeout` and `net.mptcp.close_timeout` of
/// Linux.
const LINGER: mptcp_clock::Duration = mptcp_clock::Duration::from_secs(60);

/// Counters of a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Received segments for the endpoint.
    pub received: u64,
    /// Ignored packets: neither TCP nor related ICMP, corrupted, or for another address.
    pub ignored: u64,
    /// Sent packets.
    pub sent: u64,
    /// Packets that a device rejected.
    pub dropped: u64,
    /// Iterations of the thread.
    pub turns: u64,
}

/// An address of the endpoint, and its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface.
    pub interface: InterfaceId,
    /// The address.
    pub address: IpAddr,
    /// The device.
    pub device: String,
    /// MTU of the device, bytes.
    pub mtu: usize,
}

/// State of a socket.
#[derive(Debug, Default)]
pub(crate) struct Status {
    pub opened: bool,
    /// The peer has ended its stream.
    pub finished: bool,
    pub closed: Option<CloseReason>,
    /// Data from the endpoint that the application has not read.
    pub unread: Bytes,
    /// The application has closed the socket for reading, or for writing.
    pub read_closed: bool,
    pub write_closed: bool,
    pub nonblocking: bool,
    pub read_timeout: Option<Duration>,
    pub write_timeout: Option<Duration>,
    /// The final state of the connection; `None` while it is open.
    pub last: Option<ConnectionInfo>,
    /// The socket was dropped, and the connection closes in the background.
    pub orphan: bool,
    /// The listening port whose accept queue contains the connection; `None` if it is in no queue.
    pub waits_at: Option<u16>,
    pub waiters: Waiters,
}

/// Accept queue of a listening port.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    pub queue: VecDeque<ConnectionId>,
    pub waiters: Waiters,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub endpoint: Endpoint,
    pub sockets: HashMap<ConnectionId, Status>,
    /// Accept queues by listening port.
    pub backlogs: HashMap<u16, Backlog>,
    /// Connections without sockets, ordered by their deadline.
    lingering: VecDeque<(Instant, ConnectionId)>,
    /// Waiters for the end of connections without sockets.
    pub drained: Waiters,
    /// Waiters to wake after the lock is released.
    pub woken: Vec<Woken>,
    pub counters: Counters,
    pub stopping: bool,
    /// The thread has ended.
    pub stopped: bool,
}

#[derive(Debug)]
pub(crate) struct Shared {
    core: Mutex<Core>,
    pub bell: File,
    /// A socket has changed the endpoint since the last iteration of the thread.
    wanted: AtomicBool,
    /// The thread sleeps.
    asleep: AtomicBool,
    origin: std::time::Instant,
    /// Addresses of the endpoint.
    pub addresses: Vec<Address>,
    /// For each address: whether its device drops all packets.
    pub silent: Vec<Arc<AtomicBool>>,
}

impl Shared {
    pub(crate) fn new(
        endpoint: Endpoint,
        addresses: Vec<Address>,
        silent: Vec<Arc<AtomicBool>>,
    ) -> io::Result<Self> {
        let core = Core {
            endpoint,
            sockets: HashMap::new(),
            backlogs: HashMap::new(),
            lingering: VecDeque::new(),
            drained: Waiters::default(),
            woken: Vec::new(),
            counters: Counters::default(),
            stopping: false,
            stopped: false,
        };
        Ok(Self {
            core: Mutex::new(core),
            bell: File::from(sys::eventfd()?),
            wanted: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            // CLOCK_MONOTONIC on Linux.
            origin: std::time::Instant::now(),
            addresses,
            silent,
        })
    }

    /// Time since the start of the driver.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        // A panic elsewhere stops the driver, which `stopped` reports.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes a sleeping thread if the endpoint has work.
    pub(crate) fn ring(&self, core: &Core) {
        if !core.stopping && !core.endpoint.wants_transmit() {
            return;
        }
        self.wanted.store(true, Ordering::SeqCst);
        if self.asleep.swap(false, Ordering::SeqCst) {
            // Fails only if the counter is at its maximum, and then the eventfd is readable anyway.
            let _ = (&self.bell).write(&1_u64.to_ne_bytes());
        }
    }

    /// Marks the start of an iteration, under the lock. The iteration sees all earlier changes of sockets.
    pub(crate) fn wake_up(&self) {
        self.asleep.store(false, Ordering::SeqCst);
        self.wanted.store(false, Ordering::SeqCst);
    }

    /// Marks the start of sleep: from here on, sockets signal the eventfd. False if a socket has work.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        !self.wanted.load(Ordering::SeqCst)
    }

    /// Clears the eventfd.
    pub(crate) fn silence(&self) {
        // With the counter at zero, the read fails with `WouldBlock`, which is fine.
        let _ = (&self.bell).read(&mut [0; 8]);
    }

    /// Stops all sockets and wakes their waiters.
    pub(crate) fn stop(&self) {
        let mut core = self.lock();
        let core_ref = &mut *core;
        core_ref.stopped = true;
        let mut woken = std::mem::take(&mut core_ref.woken);
        core_ref.sockets.values_mut().for_each(|status| status.waiters.all(&mut woken));
        core_ref.backlogs.values_mut().for_each(|backlog| backlog.waiters.all(&mut woken));
        core_ref.drained.all(&mut woken);
        drop(core);
        waiting::wake(woken);
    }

    /// Waits for an event of the socket, listener or driver whose waiters `of` finds. `WouldBlock` after
    /// `deadline`, as in the standard library.
    pub(crate) fn wait<'a>(
        &'a self,
        core: MutexGuard<'a, Core>,
        deadline: Option<std::time::Instant>,
        of: impl Fn(&mut Core) -> Option<&mut Waiters>,
    ) -> io::Result<MutexGuard<'a, Core>> {
        core.check_running()?;
        waiting::sleep(core, deadline, of).ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }
}

impl Core {
    /// An error if the driver has stopped.
    pub(crate) fn check_running(&self) -> io::Result<()> {
        if self.stopped {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the driver has stopped"));
        }
        Ok(())
    }

    /// Handles the events of the endpoint, and collects the waiters to wake.
    pub(crate) fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.poll_event() {
            self.take_event(now, event.connection, event.kind);
        }
    }

    fn take_event(&mut self, now: Instant, id: ConnectionId, kind: EventKind) {
        if kind == EventKind::Accepted {
            return self.take_accepted(now, id);
        }
        let Some(status) = self.sockets.get_mut(&id) else { return };
        match kind {
            EventKind::Connected => {
                status.opened = true;
                status.waiters.served(Interest::Write, &mut self.woken);
            }
            EventKind::Finished => {
                status.finished = true;
                status.waiters.served(Interest::Read, &mut self.woken);
            }
            // RFC 9293 section 3.10.4, as in Linux: data for a closed socket resets the connection.
            EventKind::Readable if status.orphan => self.endpoint.abort(now, id),
            EventKind::Readable => status.waiters.served(Interest::Read, &mut self.woken),
            EventKind::Writable => status.waiters.served(Interest::Write, &mut self.woken),
            EventKind::Closed(how) => {
                status.closed = Some(how);
                status.last = self.endpoint.info(now, id);
                status.waiters.all(&mut self.woken);
                if status.orphan {
                    // Unread data must not keep the connection alive.
                    self.endpoint.discard(now, id);
                    self.sockets.remove(&id);
                    self.drained.all(&mut self.woken);
                } else if let Some(port) = status.waits_at {
                    // Frees the slot in the accept queue and the connection's data. Otherwise, peers could
                    // exhaust both by resetting connections.
                    if let Some(backlog) = self.backlogs.get_mut(&port) {
                        backlog.queue.retain(|waiting| *waiting != id);
                    }
                    self.abandon(now, id);
                }
            }
            EventKind::Accepted | EventKind::Subflows | EventKind::FellBack(_) => {}
        }
    }

    fn take_accepted(&mut self, now: Instant, id: ConnectionId) {
        let waits_at = self.endpoint.connection(id).and_then(mptcp::Connection::local_port);
        match waits_at.and_then(|port| self.backlogs.get_mut(&port)) {
            Some(backlog) => {
                backlog.queue.push_back(id);
                backlog.waiters.served(Interest::Read, &mut self.woken);
                self.sockets.insert(id, Status { opened: true, waits_at, ..Status::default() });
            }
            None => self.endpoint.abort(now, id),
        }
    }

    /// Handles a dropped socket. As in Linux, resets the connection if data is unread (RFC 2525 section 2.17),
    /// aborts an incomplete handshake, and otherwise closes in the background.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId) {
        let Some(status) = self.sockets.get_mut(&id) else { return };
        if status.closed.is_some() {
            // Discards unread data. Closing subflows keep their own timeout of a minute.
            self.endpoint.discard(now, id);
            self.sockets.remove(&id);
            return;
        }
        status.orphan = true;
        self.lingering.push_back((now + LINGER, id));
        if status.opened && status.unread.is_empty() && self.endpoint.read(now, id).is_none() {
            self.endpoint.close(now, id);
        } else {
            self.endpoint.abort(now, id);
        }
    }

    /// Resets connections without sockets after their deadline. Returns the next deadline.
    pub(crate) fn end_lingering(&mut self, now: Instant) -> Option<Instant> {
        while let Some(&(at, id)) = self.lingering.front() {
            if self.sockets.get(&id).is_some_and(|status| status.orphan) {
                if at > now {
                    return Some(at);
                }
                self.endpoint.abort(now, id);
            }
            self.lingering.pop_front();
        }
        None
    }

    /// Resets every connection, and notifies the peers.
    pub(crate) fn abort_all(&mut self, now: Instant) {
        let all: Vec<ConnectionId> = self.endpoint.connections().collect();
        all.into_iter().for_each(|id| self.endpoint.abort(now, id));
    }
}
