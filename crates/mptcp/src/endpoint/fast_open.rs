//! TCP Fast Open (RFC 7413): data in the SYN, and server cookies.
//!
//! Data in the SYN saves one RTT. A cookie proves that the client receives packets at its address, so forged
//! SYNs cannot deliver data. Owns the computation of cookies, which matches Linux.

use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{Cookie, Options, Segment};
use siphasher::sip::SipHasher24;

use crate::config::{Config, ServerFastOpen};
use crate::endpoint::Endpoint;
use crate::endpoint::connect::ConnectError;
use crate::ids::{ConnectionId, InterfaceId};
use crate::subflow::Subflow;

impl Endpoint {
    /// Whether the cookie of a server is known.
    #[must_use]
    pub fn has_cookie(&self, server: IpAddr) -> bool {
        self.cookies.of(server).is_some_and(|(cookie, _)| !cookie.is_empty())
    }

    /// Space for data in a SYN to a server after all options, bytes. `mss` is the MSS of the device. If a
    /// SYN/ACK of the server is cached, the smaller MSS of both hosts applies.
    #[must_use]
    pub fn room_in_syn(&self, server: IpAddr, mss: u16) -> usize {
        let known = self.cookies.of(server).map_or(mss, |(_, known)| mss.min(*known));
        usize::from(known).saturating_sub(Options::SPACE)
    }

    /// Opens a connection as [`Endpoint::connect`] does, with data in the SYN. The SYN carries at most one
    /// segment of the server's MSS; the remaining data follows the handshake. If `cookies` is set, data needs
    /// a cookie of the server. Without a known cookie, the SYN requests one and carries no data.
    ///
    /// # Errors
    ///
    /// Fails as [`Endpoint::connect`] does.
    pub fn connect_fast_open(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
        data: Bytes,
        cookies: bool,
    ) -> Result<ConnectionId, ConnectError> {
        let known = self.cookies.of(remote.ip()).cloned();
        let cookie = cookies.then(|| known.map(|(cookie, _)| cookie).unwrap_or_default());
        let may_send = cookie.as_ref().is_none_or(|cookie| !cookie.is_empty());
        // As in Linux, the SYN reserves space for all options.
        let room = self.room_in_syn(remote.ip(), config.mss);
        let mut unsent = data;
        let first = unsent.split_to(if may_send { room.min(unsent.len()) } else { 0 });
        self.open(now, interface, remote, config, |subflow| {
            subflow.handshake_mut().cookie = cookie;
            subflow.handshake_mut().syn_data = first;
        })
        .inspect(|&id| {
            self.with(now, id, |connection| connection.start_stream_with(unsent));
        })
    }
}

/// Accepts the data of a SYN with a valid cookie, or of any SYN if the server requires no cookies. A SYN that
/// requests a cookie or has a wrong one gets a cookie in the SYN/ACK.
pub(crate) fn read_syn(subflow: &mut Subflow, syn: &Segment, settings: ServerFastOpen) {
    let make = |key: [u64; 2]| cookie_for(key, syn.source.ip(), syn.destination.ip());
    let expected = make(settings.key);
    let presented = syn.options.fast_open.as_ref().filter(|cookie| !cookie.is_empty());
    let valid = presented.is_some_and(|presented| {
        *presented == expected || settings.old_key.map(make).as_ref() == Some(presented)
    });
    if !syn.payload.is_empty() && (valid || !settings.cookies) {
        subflow.handshake_mut().syn_data = syn.payload.clone();
    } else if syn.options.fast_open.is_some() && settings.cookies && !valid {
        subflow.handshake_mut().cookie = Some(expected);
        subflow.handshake_mut().cookie_experimental = syn.options.fast_open_experimental;
    }
}

/// SipHash-2-4 over the client address and the server address; eight bytes.
fn cookie_for(key: [u64; 2], client: IpAddr, server: IpAddr) -> Cookie {
    let mut hasher = SipHasher24::new_with_keys(key[0], key[1]);
    for address in [client, server] {
        match address {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
    }
    hasher.finish().to_le_bytes().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::cookie_for;

    /// The expected values are those of Linux 6.18 for the key a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4.
    #[test]
    fn cookies_equal_those_of_linux() -> Result<(), std::net::AddrParseError> {
        let key = [0xb2b2_b2b2_a1a1_a1a1, 0xd4d4_d4d4_c3c3_c3c3];
        let narrow = cookie_for(key, "192.0.2.1".parse()?, "192.168.0.1".parse()?);
        assert_eq!(narrow.as_slice(), 0x3021_b9d8_8901_7eeb_u64.to_be_bytes());
        let wide = cookie_for(key, "fd3d:fa7b:d17d::1".parse()?, "fd3d:0a0b:17d6::1".parse()?);
        assert_eq!(wide.as_slice(), 0xc1d1_e974_2a47_a9bc_u64.to_be_bytes());
        Ok(())
    }
}
