//! A test bench for links: two hosts, one link, numbered frames.

use mptcp_clock::{Duration, Instant};
use netsim::{AddressId, Event, Frame, LinkId, Network, Parameters, Rate, SendOutcome};

pub fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

pub fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

/// 8 Mb/s: a byte takes 1 µs.
pub fn line(delay_ms: u64) -> Parameters {
    Parameters { rate: Rate::new(8_000_000), delay: Duration::from_millis(delay_ms), ..Parameters::default() }
}

pub struct Pair {
    pub network: Network<u64>,
    pub link: LinkId,
    pub address: AddressId,
}

impl Pair {
    pub fn new(parameters: Parameters) -> Self {
        Self::seeded(1, parameters)
    }

    pub fn seeded(seed: u64, parameters: Parameters) -> Self {
        let mut network = Network::new(seed);
        let (client, server) = (network.add_host(), network.add_host());
        let link = network.add_link("wire", client, server, parameters.clone(), parameters).expect("a link");
        let address = network.add_address(server, None).expect("an address");
        Self { network, link, address }
    }

    /// Advances time to `at`, then sends frame `number` with `bytes`.
    pub fn send(&mut self, at: Instant, bytes: u32, number: u64) -> SendOutcome {
        let frame = Frame {
            bytes,
            destination: self.address,
            label: 0,
            ecn: netsim::Codepoint::NotEct,
            payload: number,
        };
        self.network.send(at, self.link.forward(), frame)
    }

    /// Arrivals up to and at `limit`: (nanoseconds, number).
    pub fn arrivals_until(&mut self, limit: Instant) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| self.network.next_until(limit)).filter_map(arrival).collect()
    }

    pub fn arrivals(&mut self) -> Vec<(u64, u64)> {
        self.arrivals_until(Instant::from_nanos(u64::MAX - 1))
    }
}

pub fn arrival((at, event): (Instant, Event<u64>)) -> Option<(u64, u64)> {
    match event {
        Event::Arrived { frame, .. } => Some((at.as_nanos(), frame.payload)),
        _ => None,
    }
}
