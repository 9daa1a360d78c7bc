//! One byte over two paths, for `tools/walk`: it is written, sent and acknowledged with nothing else in flight.
//!
//!     cargo run -p mptcp --example one_byte

use std::error::Error;

use bytes::Bytes;
use mptcp::clock::{Duration, Instant, Rng};
use mptcp::{Config, Endpoint, EventKind, InterfaceId};
use mptcp_wire::Segment;

/// Marks the beginning of a part of the walk for the debugger.
#[inline(never)]
fn walk_begins(part: &str) {
    std::hint::black_box(part);
}

/// Marks its end.
#[inline(never)]
fn walk_ends() {
    std::hint::black_box(());
}

/// Delivers all segments of both endpoints, 10 ms each way, until none is left.
fn settle(now: &mut Instant, client: &mut Endpoint, server: &mut Endpoint, far: InterfaceId) {
    for _ in 0..20 {
        let mut to_server = Vec::new();
        let mut to_client = Vec::new();
        while let Some(sent) = client.poll_transmit(*now) {
            to_server.push(sent.segment);
        }
        while let Some(sent) = server.poll_transmit(*now) {
            to_client.push(sent.segment);
        }
        *now += Duration::from_millis(10);
        for segment in to_server {
            server.handle_segment(*now, far, segment);
        }
        for segment in to_client {
            let near = interface_of(&segment);
            client.handle_segment(*now, near, segment);
        }
        client.handle_timeout(*now);
        server.handle_timeout(*now);
    }
}

fn interface_of(segment: &Segment) -> InterfaceId {
    match segment.destination.ip() {
        std::net::IpAddr::V4(address) => InterfaceId(u32::from(address.octets()[1])),
        std::net::IpAddr::V6(_) => InterfaceId(0),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut client = Endpoint::new(Rng::new(1, "client"));
    let mut server = Endpoint::new(Rng::new(1, "server"));
    for path in 0..2 {
        client.add_interface([10, path, 0, 2].into(), false);
    }
    let far = server.add_interface([10, 9, 0, 1].into(), false);
    server.listen(80, Config::default())?;
    let mut now = Instant::ZERO;
    let connection = client.connect(now, InterfaceId(0), ([10, 9, 0, 1], 80).into(), Config::default())?;
    settle(&mut now, &mut client, &mut server, far);
    // Both subflows have carried data, so that nothing is done for the first time.
    client.write(now, connection, Bytes::from(vec![1; 20_000]));
    settle(&mut now, &mut client, &mut server, far);
    while client.poll_event().is_some() {}
    let mut accepted = None;
    while let Some(event) = server.poll_event() {
        if event.kind == EventKind::Accepted {
            accepted = Some(event.connection);
        }
    }
    let accepted = accepted.ok_or("the server accepted nothing")?;
    while server.read(now, accepted).is_some() {}

    walk_begins("write");
    client.write(now, connection, Bytes::from_static(b"x"));
    walk_ends();
    walk_begins("transmit");
    let sent = client.poll_transmit(now).ok_or("the byte is not sent")?;
    walk_ends();
    now += Duration::from_millis(10);
    server.handle_segment(now, far, sent.segment);
    while server.read(now, accepted).is_some() {}
    let mut answer = server.poll_transmit(now);
    while answer.is_none() {
        now = server.poll_timeout().ok_or("no acknowledgement will be sent")?.max(now);
        server.handle_timeout(now);
        answer = server.poll_transmit(now);
    }
    let segment = answer.ok_or("no acknowledgement")?.segment;
    now += Duration::from_millis(10);
    let near = interface_of(&segment);
    walk_begins("acknowledgement");
    client.handle_segment(now, near, segment);
    walk_ends();
    Ok(())
}
