//! A common interface of both ends of a connection, mptcplab's and Linux's.
//!
//! Owns the trait and helpers for transfers.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use mptcp_live::{MptcpStream, SubflowState};

/// Maximum time of a blocking call before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// An end of a connection, mptcplab's or Linux's.
pub trait End: Sync {
    fn read_some(&self, buffer: &mut [u8]) -> io::Result<usize>;
    fn send_all(&self, data: &[u8]) -> io::Result<()>;
    fn half_close(&self) -> io::Result<()>;
    fn be_patient(&self);
    fn wait_for_ever(&self);
}

impl End for MptcpStream {
    fn read_some(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(buffer)
    }
    fn send_all(&self, data: &[u8]) -> io::Result<()> {
        (&mut &*self).write_all(data)
    }
    fn half_close(&self) -> io::Result<()> {
        self.shutdown_write()
    }
    fn be_patient(&self) {
        self.set_read_timeout(Some(PATIENCE)).unwrap();
        self.set_write_timeout(Some(PATIENCE)).unwrap();
    }
    fn wait_for_ever(&self) {
        self.set_read_timeout(None).unwrap();
        self.set_write_timeout(None).unwrap();
    }
}

impl End for TcpStream {
    fn read_some(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(buffer)
    }
    fn send_all(&self, data: &[u8]) -> io::Result<()> {
        (&mut &*self).write_all(data)
    }
    fn half_close(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
    fn be_patient(&self) {
        self.set_read_timeout(Some(PATIENCE)).unwrap();
        self.set_write_timeout(Some(PATIENCE)).unwrap();
    }
    fn wait_for_ever(&self) {
        self.set_read_timeout(None).unwrap();
        self.set_write_timeout(None).unwrap();
    }
}

/// Reads to the end of the peer's stream.
pub fn receive(end: &impl End) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 65_536]);
    loop {
        match end.read_some(&mut buffer) {
            Ok(0) => return all,
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(error) => panic!("reading after {} bytes: {error}", all.len()),
        }
    }
}

/// Sends all of `data` and closes that direction.
pub fn send(end: &impl End, data: &[u8]) {
    end.send_all(data).unwrap_or_else(|error| panic!("writing {} bytes: {error}", data.len()));
    end.half_close().unwrap();
}

/// Sends `forth` from `a` and `back` from `b` at the same time, and compares the received bytes.
pub fn exchange(a: &impl End, b: &impl End, forth: &[u8], back: &[u8]) {
    a.be_patient();
    b.be_patient();
    std::thread::scope(|scope| {
        scope.spawn(|| send(a, forth));
        scope.spawn(|| send(b, back));
        scope.spawn(|| same(&receive(a), back, "back"));
        same(&receive(b), forth, "forth");
    });
}

/// Compares without printing megabytes.
pub fn same(received: &[u8], sent: &[u8], which: &str) {
    assert_eq!(received.len(), sent.len(), "length of what went {which}");
    let wrong = received.iter().zip(sent).position(|(a, b)| a != b);
    assert_eq!(wrong, None, "first wrong byte of what went {which}");
}

/// Bytes without repetition at short distances.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 ^ i as u8).collect()
}

/// Exchanges a byte in each direction. The opener joins once the peer's DSS has confirmed MPTCP.
pub fn greet(a: &impl End, b: &impl End) {
    a.be_patient();
    b.be_patient();
    for (from, to) in [(a as &dyn End, b as &dyn End), (b, a)] {
        from.send_all(b"?").unwrap();
        assert_eq!(to.read_some(&mut [0; 2]).unwrap(), 1);
    }
}

pub fn established(stream: &MptcpStream) -> usize {
    let subflows = stream.info().unwrap().subflows;
    subflows.iter().filter(|subflow| subflow.state == SubflowState::Established).count()
}

/// Waits until `us` has `count` subflows that carry data. Sends a message from time to time, because a new subflow is
/// on probation until data is acknowledged.
pub fn joined(us: &MptcpStream, them: &impl End, count: usize) {
    wait_until("the subflows carry data", || {
        greet(us, them);
        let subflows = us.info().unwrap().subflows;
        let ready = |s: &&mptcp_live::SubflowInfo| s.state == SubflowState::Established && !s.probation;
        subflows.iter().filter(ready).count() == count
    });
}

pub fn both_carried(stream: &MptcpStream) {
    let subflows = stream.info().unwrap().subflows;
    assert_eq!(subflows.len(), 2);
    assert_ne!(subflows[0].interface, subflows[1].interface);
    for subflow in &subflows {
        let tally = subflow.stats;
        assert!(tally.bytes_sent > 0 && tally.bytes_received > 0, "subflow {}: {tally:?}", subflow.id);
    }
}

/// A reordering middlebox may hold a join's SYN until retransmissions pass it, after 1, 3, 7, 15 and 31 s.
const HELD: Duration = Duration::from_secs(60);

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < HELD, "{what}: not after {HELD:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
