//! A middlebox that translates addresses and ports (NAT). Scenarios test with it whether MPTCP joins subflows
//! whose addresses changed on the way.
//!
//! The first end of the link is the inside. Each inside address and port has one outside port, until its
//! mapping has been idle for `timeout`.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::Segment;

use super::{Maker, Middlebox, Travelling, maker};
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;
use crate::scenario::units::Span;

const KEYS: &[Key] = &[Key::of::<Span>(
    "timeout",
    "nat: idle time after which a mapping is removed. Default: 124min, the minimum of RFC 5382.",
)];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Translates addresses and ports, and removes idle mappings.";
    Kind::built_in("nat", about, KEYS, |keys| {
        if keys.has("direction") {
            let problem = "must not be set for nat: the first end of the path is its inside";
            return Err(keys.error("direction", problem));
        }
        let timeout = keys.positive_time("timeout", TIMEOUT)?;
        Ok(maker(move |site| Nat::new(timeout, site.random)))
    })
}

/// Sum of the last bytes of an outside IPv4 address and its inside address.
pub(crate) const LAST_BYTES: u8 = 255;
/// RFC 5382 section 5, REQ-5: 2 hours and 4 minutes for established connections.
const TIMEOUT: Duration = Duration::from_secs(124 * 60);
/// Outside ports (RFC 6335 section 6: dynamic ports).
const PORTS: std::ops::Range<u16> = 49_152..65_535;

#[derive(Debug)]
struct Mapping {
    inside: SocketAddr,
    outside: SocketAddr,
    used: Instant,
}

#[derive(Debug)]
struct Nat {
    timeout: Duration,
    random: Rng,
    mappings: Vec<Mapping>,
}

impl Nat {
    fn new(timeout: Duration, random: Rng) -> Self {
        Self { timeout, random, mappings: Vec::new() }
    }

    /// The outside address and port of `inside`, the same for all peers (RFC 4787 REQ-1). Created on demand.
    fn outside_of(&mut self, now: Instant, inside: SocketAddr) -> SocketAddr {
        if let Some(mapping) = self.mappings.iter_mut().find(|mapping| mapping.inside == inside) {
            mapping.used = now;
            return mapping.outside;
        }
        let outside = loop {
            let port = PORTS.start + self.random.below(u64::from(PORTS.end - PORTS.start)) as u16;
            let drawn = SocketAddr::new(outside_address(inside.ip()), port);
            if !self.mappings.iter().any(|mapping| mapping.outside == drawn) {
                break drawn;
            }
        };
        self.mappings.push(Mapping { inside, outside, used: now });
        outside
    }
}

impl Middlebox for Nat {
    fn take(&mut self, now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        let timeout = self.timeout;
        self.mappings.retain(|mapping| now.since(mapping.used) < timeout);
        match side {
            Side::Forward => segment.source = self.outside_of(now, segment.source),
            Side::Backward => {
                let known = self.mappings.iter_mut().find(|mapping| mapping.outside == segment.destination);
                // RFC 5382 REQ-3: segments from outside without a mapping are dropped.
                let Some(mapping) = known else { return };
                mapping.used = now;
                segment.destination = mapping.inside;
            }
        }
        out.push((side, segment));
    }
}

/// The outside address of an inside address: only the last byte differs.
fn outside_address(inside: IpAddr) -> IpAddr {
    match inside {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            IpAddr::from([a, b, c, LAST_BYTES - d])
        }
        IpAddr::V6(_) => inside,
    }
}
