//! TCP Fast Open (RFC 7413): connections opened with data in the SYN, and the cookies that we give.
//!
//! Owns the making of cookies, in Linux's way. What becomes of a SYN's data is the
//! connection's affair.

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
    /// Whether a server has given us a cookie.
    #[must_use]
    pub fn has_cookie(&self, server: IpAddr) -> bool {
        self.cookies.of(server).is_some_and(|(cookie, _)| !cookie.is_empty())
    }

    /// How much data a SYN to a server has room for beside all options, of a connection whose device carries segments of `mss`
    /// bytes: the server's MSS is that of its last answer to such a SYN.
    #[must_use]
    pub fn room_in_syn(&self, server: IpAddr, mss: u16) -> usize {
        let known = self.cookies.of(server).map_or(mss, |(_, known)| mss.min(*known));
        usize::from(known).saturating_sub(Options::SPACE)
    }

    /// Opens a connection as [`Endpoint::connect`] does, with data in the SYN: as much as fits one segment of the server's
    /// MSS, if that is known from before; the rest follows the handshake. With `cookies`, only with a cookie of the server's: without one, the SYN asks for it, and the data follows the
    /// handshake.
    ///
    /// # Errors
    /// When the interface cannot reach the address.
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
        let early = cookie.as_ref().is_none_or(|cookie| !cookie.is_empty());
        // As in Linux, the SYN leaves room for all options.
        let room = self.room_in_syn(remote.ip(), config.mss);
        let mut rest = data;
        let first = rest.split_to(if early { room.min(rest.len()) } else { 0 });
        self.open(now, interface, remote, config, |subflow| {
            subflow.handshake_mut().cookie = cookie;
            subflow.handshake_mut().syn_data = first;
        })
        .inspect(|&id| {
            self.with(now, id, |connection| connection.begin_stream_with(rest));
        })
    }
}

/// What a listener makes of a SYN: its data, and a cookie for who asks or has a wrong one.
pub(crate) fn read_syn(subflow: &mut Subflow, syn: &Segment, settings: ServerFastOpen) {
    let make = |key: [u64; 2]| cookie_for(key, syn.source.ip(), syn.destination.ip());
    let expected = make(settings.key);
    let shown = syn.options.fast_open.as_ref().filter(|cookie| !cookie.is_empty());
    let valid =
        shown.is_some_and(|shown| *shown == expected || settings.old_key.map(make).as_ref() == Some(shown));
    if !syn.payload.is_empty() && (valid || !settings.cookies) {
        subflow.handshake_mut().syn_data = syn.payload.clone();
    } else if syn.options.fast_open.is_some() && settings.cookies && !valid {
        subflow.handshake_mut().cookie = Some(expected);
        subflow.handshake_mut().cookie_experimental = syn.options.fast_open_experimental;
    }
}

/// SipHash-2-4 over both addresses, the client's first; eight bytes.
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

    /// What Linux 6.18 gives for the key a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4.
    #[test]
    fn cookies_are_linuxs() -> Result<(), std::net::AddrParseError> {
        let key = [0xb2b2_b2b2_a1a1_a1a1, 0xd4d4_d4d4_c3c3_c3c3];
        let narrow = cookie_for(key, "192.0.2.1".parse()?, "192.168.0.1".parse()?);
        assert_eq!(narrow.as_slice(), 0x3021_b9d8_8901_7eeb_u64.to_be_bytes());
        let wide = cookie_for(key, "fd3d:fa7b:d17d::1".parse()?, "fd3d:0a0b:17d6::1".parse()?);
        assert_eq!(wide.as_slice(), 0xc1d1_e974_2a47_a9bc_u64.to_be_bytes());
        Ok(())
    }
}
