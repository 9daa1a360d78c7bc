//! What the driver's thread and the sockets share: the endpoint behind a lock, and the bell that wakes the thread.
//!
//! Owns the state of each socket as events have told it. A socket changes the endpoint under the lock
//! and rings; the thread does all input and output, and wakes those that events are for. Never touches a device.

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

/// How long a connection may take to end without its socket: Linux's `tcp_fin_timeout` and
/// `net.mptcp.close_timeout`.
const LINGER: mptcp_clock::Duration = mptcp_clock::Duration::from_secs(60);

/// Work of a driver so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments that came in and were for us.
    pub received: u64,
    /// Packets that came in and were not: neither TCP nor ICMP about it, damaged, or for another address.
    pub ignored: u64,
    /// Packets that went out.
    pub sent: u64,
    /// Packets that the device did not take.
    pub dropped: u64,
    /// Times that the thread had its turn: after sleeping, or for more of the same.
    pub turns: u64,
}

/// An address of the endpoint's and the device that it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What the endpoint calls it.
    pub interface: InterfaceId,
    /// The address.
    pub address: IpAddr,
    /// The device.
    pub device: String,
    /// Longest IP packet of the device, bytes.
    pub mtu: usize,
}

/// What a socket has to know of its connection.
#[derive(Debug, Default)]
pub(crate) struct Status {
    pub opened: bool,
    /// The peer has sent all it will.
    pub finished: bool,
    pub closed: Option<CloseReason>,
    /// What the endpoint handed out and the application did not take yet.
    pub unread: Bytes,
    /// No more will be read, or written.
    pub read_closed: bool,
    pub write_closed: bool,
    pub nonblocking: bool,
    pub read_timeout: Option<Duration>,
    pub write_timeout: Option<Duration>,
    /// As it was at the end.
    pub last: Option<ConnectionInfo>,
    /// Its socket is gone; the connection ends in the background.
    pub orphan: bool,
    /// The port where it waits to be accepted.
    pub waits_at: Option<u16>,
    pub waiters: Waiters,
}

/// Connections that wait to be accepted at a port.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    pub queue: VecDeque<ConnectionId>,
    pub waiters: Waiters,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub endpoint: Endpoint,
    pub sockets: HashMap<ConnectionId, Status>,
    /// By port.
    pub backlogs: HashMap<u16, Backlog>,
    /// Connections without sockets, and when they have lasted too long; in that order.
    lingering: VecDeque<(Instant, ConnectionId)>,
    /// Those who wait for connections without sockets to end.
    pub drained: Waiters,
    /// To be woken when the lock is free.
    pub woken: Vec<Woken>,
    pub counters: Counters,
    pub stopping: bool,
    /// The thread is gone, and nothing will happen any more.
    pub stopped: bool,
}

#[derive(Debug)]
pub(crate) struct Shared {
    core: Mutex<Core>,
    pub bell: File,
    /// A socket has given the endpoint something to do since the thread's last turn.
    wanted: AtomicBool,
    /// The thread waits for packets, time or the bell.
    asleep: AtomicBool,
    origin: std::time::Instant,
    /// The endpoint's addresses.
    pub addresses: Vec<Address>,
    /// For each of them, whether the link of its device carries nothing.
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

    /// The time, from the start of the driver.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        // A panic elsewhere stops the driver, which is told by `stopped`.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread if it sleeps and the endpoint has something for it to do.
    pub(crate) fn ring(&self, core: &Core) {
        if !core.stopping && !core.endpoint.wants_transmit() {
            return;
        }
        self.wanted.store(true, Ordering::SeqCst);
        if self.asleep.swap(false, Ordering::SeqCst) {
            // Only a counter at its end could fail, and then the bell rings already.
            let _ = (&self.bell).write(&1_u64.to_ne_bytes());
        }
    }

    /// The thread begins a turn, under the lock, and will see what sockets have done until now.
    pub(crate) fn wake_up(&self) {
        self.asleep.store(false, Ordering::SeqCst);
        self.wanted.store(false, Ordering::SeqCst);
    }

    /// The thread is going to sleep: from here on the bell rings. False when a socket wants something.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        !self.wanted.load(Ordering::SeqCst)
    }

    /// The bell was heard.
    pub(crate) fn silence(&self) {
        // An empty counter would block, which is just as well.
        let _ = (&self.bell).read(&mut [0; 8]);
    }

    /// Nothing will happen any more: tells everybody.
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

    /// Waits until something has happened to the socket, listener or driver that `of` finds; `WouldBlock` after
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
    /// Nothing comes from a driver that has stopped.
    pub(crate) fn check_running(&self) -> io::Result<()> {
        if self.stopped {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the driver has stopped"));
        }
        Ok(())
    }

    /// Takes in what the endpoint has to tell, and collects those to be woken.
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
            // RFC 9293 section 3.10.4 as Linux has it: data for a socket that is gone ends the connection.
            EventKind::Readable if status.orphan => self.endpoint.abort(now, id),
            EventKind::Readable => status.waiters.served(Interest::Read, &mut self.woken),
            EventKind::Writable => status.waiters.served(Interest::Write, &mut self.woken),
            EventKind::Closed(how) => {
                status.closed = Some(how);
                status.last = self.endpoint.info(now, id);
                status.waiters.all(&mut self.woken);
                if status.orphan {
                    // What came and nobody will read must not keep it.
                    self.endpoint.discard(now, id);
                    self.sockets.remove(&id);
                    self.drained.all(&mut self.woken);
                } else if let Some(port) = status.waits_at {
                    // Its place is for others, and its data goes with it: callers that reset without end must fill neither.
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

    /// The socket of a connection is dropped. Linux resets when data was left unread (RFC 2525
    /// section 2.17), gives up what is not open yet, and closes in the background otherwise.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId) {
        let Some(status) = self.sockets.get_mut(&id) else { return };
        if status.closed.is_some() {
            // What nobody will read is let go of; subflows that are still ending have a minute for that by themselves.
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

    /// Ends the connections without sockets that have lasted too long; returns when to look next.
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

    /// Ends every connection at once, and tells the peers.
    pub(crate) fn abort_all(&mut self, now: Instant) {
        let all: Vec<ConnectionId> = self.endpoint.connections().collect();
        all.into_iter().for_each(|id| self.endpoint.abort(now, id));
    }
}
