//! A driver for real time: the packets of an endpoint travel in UDP datagrams, one socket for each interface.
//!
//! A client with two interfaces sends data to a server, which returns it. Both run in this process, over loopback.
//!
//!     cargo run -p mptcp --example driver

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time;

use bytes::Bytes;
use mptcp::clock::{Instant, Rng};
use mptcp::wire::Packet;
use mptcp::{Config, ConnectionId, Endpoint, Event, EventKind, InterfaceId};

/// An endpoint, its clock and its sockets.
pub struct Node {
    /// The protocol.
    pub endpoint: Endpoint,
    started: time::Instant,
    /// By interface.
    sockets: Vec<UdpSocket>,
    /// The socket of each address of the peer.
    routes: HashMap<IpAddr, SocketAddr>,
}

impl Node {
    /// A node with an interface for each address. A program with real peers needs a secret seed.
    pub fn new(seed: u64, addresses: &[IpAddr]) -> io::Result<Self> {
        let mut endpoint = Endpoint::new(Rng::new(seed, "driver"));
        let mut sockets = Vec::new();
        for &address in addresses {
            endpoint.add_interface(address, false);
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_nonblocking(true)?;
            sockets.push(socket);
        }
        Ok(Self { endpoint, started: time::Instant::now(), sockets, routes: HashMap::new() })
    }

    /// Adds the addresses of the peer.
    pub fn route(&mut self, addresses: &[IpAddr], peer: &Self) -> io::Result<()> {
        for (address, socket) in addresses.iter().zip(&peer.sockets) {
            self.routes.insert(*address, socket.local_addr()?);
        }
        Ok(())
    }

    /// The time of the endpoint: it never decreases.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// One turn of the loop: packets in, timers, packets out. Returns the next event for the application.
    pub fn turn(&mut self) -> io::Result<Option<Event>> {
        let now = self.now();
        let mut buffer = [0; 2048];
        for (number, socket) in self.sockets.iter().enumerate() {
            loop {
                match socket.recv(&mut buffer) {
                    // A damaged packet is lost.
                    Ok(length) => {
                        if let Ok(packet) = Packet::parse(&Bytes::copy_from_slice(&buffer[..length])) {
                            self.endpoint.handle_segment(now, InterfaceId(number as u32), packet.segment);
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        while let Some(sent) = self.endpoint.poll_transmit(now) {
            let Some(to) = self.routes.get(&sent.segment.destination.ip()) else { continue };
            let mut bytes = Vec::new();
            Packet::new(sent.segment).emit(&mut bytes).map_err(io::Error::other)?;
            // A full socket buffer loses the packet, as a full queue does.
            let _ = self.sockets[sent.interface.0 as usize].send_to(&bytes, to);
        }
        Ok(self.endpoint.poll_event())
    }

    /// Waits until a timer is due, at most a millisecond. A real driver waits for its sockets too.
    pub fn rest(&self) {
        let wait = time::Duration::from_millis(1);
        let due = self.endpoint.poll_timeout().map(|at| at.since(self.now()));
        thread::sleep(due.map_or(wait, |due| wait.min(time::Duration::from_nanos(due.as_nanos()))));
    }
}

/// Data that waits for space in the send buffer of a connection.
#[derive(Default)]
struct Outgoing(VecDeque<Bytes>);

impl Outgoing {
    /// Writes as much as fits; [`EventKind::Writable`] follows when there is space again.
    fn write(&mut self, node: &mut Node, connection: ConnectionId) {
        let now = node.now();
        while let Some(data) = self.0.front_mut() {
            let taken = node.endpoint.write(now, connection, data.clone());
            if taken < data.len() {
                let _ = data.split_to(taken);
                return;
            }
            self.0.pop_front();
        }
    }
}

/// Returns all data of one connection to its sender.
fn serve(mut node: Node) -> io::Result<()> {
    let (mut outgoing, mut has_ended) = (Outgoing::default(), false);
    loop {
        let Some(Event { connection, kind }) = node.turn()? else {
            node.rest();
            continue;
        };
        let now = node.now();
        node.endpoint.read_all(now, connection, |data| outgoing.0.push_back(data));
        outgoing.write(&mut node, connection);
        has_ended |= kind == EventKind::Finished;
        if has_ended && outgoing.0.is_empty() {
            node.endpoint.close(now, connection);
        }
        if let EventKind::Closed(_) = kind {
            return Ok(());
        }
    }
}

/// Sends `size` bytes and returns the bytes that come back, and the number of subflows.
pub fn echo(size: usize) -> Result<(usize, usize), Box<dyn Error>> {
    let (near, far) = ([[10, 0, 1, 2].into(), [10, 0, 2, 2].into()], [[10, 0, 9, 1].into()]);
    let (mut client, mut server) = (Node::new(1, &near)?, Node::new(2, &far)?);
    client.route(&far, &server)?;
    server.route(&near, &client)?;
    server.endpoint.listen(7, Config::default())?;
    let serving = thread::spawn(move || serve(server));

    let now = client.now();
    let connection = client.endpoint.connect(now, InterfaceId(0), (far[0], 7).into(), Config::default())?;
    let mut outgoing = Outgoing([Bytes::from(vec![0x5a; size])].into());
    let (mut returned, mut subflows) = (0, 0);
    loop {
        let Some(Event { kind, .. }) = client.turn()? else {
            client.rest();
            continue;
        };
        let now = client.now();
        client.endpoint.read_all(now, connection, |data| returned += data.len());
        outgoing.write(&mut client, connection);
        if outgoing.0.is_empty() {
            client.endpoint.close(now, connection);
        }
        if let Some(info) = client.endpoint.info(now, connection) {
            subflows = subflows.max(info.subflows.len());
        }
        match kind {
            EventKind::Finished => break,
            EventKind::Closed(reason) => return Err(format!("the connection ended: {reason:?}").into()),
            _ => {}
        }
    }
    // The last acknowledgement leaves, so that the server ends too.
    while !serving.is_finished() {
        client.turn()?;
        client.rest();
    }
    serving.join().map_err(|_| "the server panicked")??;
    Ok((returned, subflows))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (returned, subflows) = echo(1_000_000)?;
    println!("{returned} bytes came back over {subflows} subflows");
    Ok(())
}
