//! Two endpoints exchange a file over two paths of 10 and 25 ms in virtual time. The network is a list.
//! Each path has 10 Mb/s in both directions and an unlimited queue.
//!
//!     cargo run -p mptcp --example back_to_back

use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use mptcp::clock::{Duration, Instant, Rng};
use mptcp::{Config, Endpoint, EventKind, InterfaceId};
use mptcp_wire::Segment;

/// Serialisation time of one byte at 10 Mb/s.
const BYTE: Duration = Duration::from_nanos(800);
/// Headers of a segment, roughly.
const HEADERS: usize = 80;

/// The result of a transfer.
pub struct Outcome {
    /// Virtual time from the SYN to the last byte.
    pub took: Duration,
    /// Segments on the wire, both ways.
    pub segments: u64,
    /// Payload bytes that each path carried.
    pub carried: Vec<u64>,
}

/// Sends `size` bytes from a client with an interface for each one-way delay (milliseconds) to a server with one.
pub fn transfer(size: usize, delays: &[u64]) -> Result<Outcome, Box<dyn Error>> {
    let mut client = Endpoint::new(Rng::new(1, "client"));
    let mut server = Endpoint::new(Rng::new(1, "server"));
    for path in 0..delays.len() {
        client.add_interface([10, path as u8, 0, 2].into(), false);
    }
    let far = server.add_interface([10, 9, 0, 1].into(), false);
    server.listen(80, Config::default())?;
    let mut now = Instant::ZERO;
    let connection = client.connect(now, InterfaceId(0), ([10, 9, 0, 1], 80).into(), Config::default())?;

    // Segments in flight by arrival time and number: the direction, the path and the segment.
    let mut wires: BTreeMap<(Instant, u64), (bool, usize, Segment)> = BTreeMap::new();
    let (mut segments, mut received, mut accepted) = (0, 0, None);
    let mut carried = vec![0; delays.len()];
    // The time at which each link is idle again, in both directions.
    let mut free = vec![[Instant::ZERO; 2]; delays.len()];
    let mut left = Bytes::from(vec![0x5a; size]);
    while received < size {
        // The applications write and read.
        let taken = client.write(now, connection, left.clone());
        left = left.slice(taken..);
        while let Some(event) = server.poll_event() {
            if event.kind == EventKind::Accepted {
                accepted = Some(event.connection);
            }
        }
        while let Some(data) = accepted.and_then(|connection| server.read(now, connection)) {
            received += data.len();
        }
        while client.poll_event().is_some() {}
        // The endpoints send.
        for to_server in [true, false] {
            let from = if to_server { &mut client } else { &mut server };
            while let Some(sent) = from.poll_transmit(now) {
                let near = if to_server { sent.segment.source } else { sent.segment.destination };
                let path = usize::from(second_octet(near.ip()));
                segments += 1;
                carried[path] += sent.segment.payload.len() as u64;
                let line = &mut free[path][usize::from(to_server)];
                *line = now.max(*line) + BYTE * (sent.segment.payload.len() + HEADERS) as u64;
                let arrival = *line + Duration::from_millis(delays[path]);
                wires.insert((arrival, segments), (to_server, path, sent.segment));
            }
        }
        // On to the next moment at which something happens.
        let arrival = wires.keys().next().map(|&(at, _)| at);
        let moments = [arrival, client.poll_timeout(), server.poll_timeout()];
        now = moments.into_iter().flatten().min().ok_or("nothing will ever happen again")?.max(now);
        client.handle_timeout(now);
        server.handle_timeout(now);
        while let Some(entry) = wires.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                (true, _, segment) => server.handle_segment(now, far, segment),
                (false, path, segment) => client.handle_segment(now, InterfaceId(path as u32), segment),
            }
        }
    }
    Ok(Outcome { took: now.since(Instant::ZERO), segments, carried })
}

fn second_octet(address: std::net::IpAddr) -> u8 {
    match address {
        std::net::IpAddr::V4(address) => address.octets()[1],
        std::net::IpAddr::V6(_) => 0,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let outcome = transfer(1_000_000, &[10, 25])?;
    println!("1 MB in {:?} of virtual time, {} segments", outcome.took, outcome.segments);
    for (path, bytes) in outcome.carried.iter().enumerate() {
        println!("path {path} carried {bytes} bytes");
    }
    Ok(())
}
