//! An honest neighbour that exchanges data with the attacked host (the victim) over its own interface.
//!
//! Part of a random case, a simulated attack whose steps random bytes control. Owns the neighbour's
//! connection, its two streams and the check of every byte. No attack targets the neighbour, and none may
//! disturb it.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp::{CloseReason, Config, ConnectionId, Endpoint, EventKind, InterfaceId};
use mptcp_clock::{Instant, Rng};

/// The victim's port for the neighbour.
pub(super) const PORT: u16 = 9_000;

/// Bytes of one direction of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub wanted: u64,
    pub written: u64,
    pub read: u64,
}

#[derive(Debug)]
/// The neighbour, and its connection to the victim.
pub(super) struct Friend {
    pub endpoint: Endpoint,
    pub interface: InterfaceId,
    pub address: SocketAddr,
    connection: ConnectionId,
    /// The victim's connection, once accepted.
    pub accepted: Option<ConnectionId>,
    /// Bytes towards the victim, and from the victim.
    pub counts: [Count; 2],
    pub closed: Option<CloseReason>,
}

fn byte(direction: usize, at: u64) -> u8 {
    let mixed = (at ^ (direction as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8 ^ at as u8
}

fn pour(endpoint: &mut Endpoint, now: Instant, id: ConnectionId, direction: usize, count: &mut Count) {
    while count.written < count.wanted {
        let offered = (count.wanted - count.written).min(endpoint.writable(id)).min(65_536);
        if offered == 0 {
            endpoint.await_writable(now, id);
            return;
        }
        let data: Vec<u8> = (count.written..count.written + offered).map(|at| byte(direction, at)).collect();
        let taken = endpoint.write(now, id, Bytes::from(data)) as u64;
        count.written += taken;
        if taken == 0 {
            return;
        }
    }
}

fn drain(endpoint: &mut Endpoint, now: Instant, id: ConnectionId, direction: usize, count: &mut Count) {
    while let Some(data) = endpoint.read(now, id) {
        for &found in &data {
            assert!(
                found == byte(direction, count.read) && count.read < count.written,
                "an honest stream is corrupt at byte {} of direction {direction}",
                count.read
            );
            count.read += 1;
        }
    }
}

impl Friend {
    /// Connects to the victim.
    pub fn new(now: Instant, interface: InterfaceId, host: SocketAddr, config: Config) -> Option<Self> {
        let mut endpoint = Endpoint::new(Rng::new(3, "friend"));
        let address = SocketAddr::from(([10, 99, 0, 2], 0));
        let near = endpoint.add_interface(address.ip(), false);
        let connection = endpoint.connect(now, near, host, config).ok()?;
        let counts = [Count::default(); 2];
        Some(Self { endpoint, interface, address, connection, accepted: None, counts, closed: None })
    }

    /// Writes and reads as much as possible at both ends.
    pub fn work(&mut self, now: Instant, victim: &mut Endpoint) {
        while let Some(event) = self.endpoint.poll_event() {
            if let EventKind::Closed(how) = event.kind {
                self.closed = Some(how);
            }
        }
        let Some(accepted) = self.accepted else { return };
        let [up, down] = &mut self.counts;
        pour(&mut self.endpoint, now, self.connection, 0, up);
        drain(victim, now, accepted, 0, up);
        pour(victim, now, accepted, 1, down);
        drain(&mut self.endpoint, now, self.connection, 1, down);
    }

    /// Closes both directions.
    pub fn close(&mut self, now: Instant, victim: &mut Endpoint) {
        self.endpoint.close(now, self.connection);
        self.accepted.into_iter().for_each(|accepted| victim.close(now, accepted));
    }

    /// Checks that both streams are complete.
    pub fn assert_unharmed(&self) {
        for (direction, count) in self.counts.iter().enumerate() {
            assert!(
                count.read == count.wanted,
                "an honest stream is incomplete: direction {direction}, {count:?}, closed {:?}",
                self.closed
            );
        }
    }
}
