//! Cookies of TCP Fast Open that servers gave (RFC 7413 section 4.1.3).
//!
//! Owns the cache of a client and its bound. Never makes a cookie.

use std::net::IpAddr;

use mptcp_wire::Cookie;
use rustc_hash::FxHashMap;

/// Servers whose cookies are kept; beyond it others give way.
const MAX_COOKIES: usize = 1024;

/// Cookies and MSS by server; an empty cookie where a server gave none.
#[derive(Debug, Default)]
pub(crate) struct ServerCookies(FxHashMap<IpAddr, (Cookie, u16)>);

impl ServerCookies {
    /// Keeps the cookie of a server that has an MSS of `mss`; without a cookie the one that is known stays.
    #[cold]
    pub(crate) fn keep(&mut self, server: IpAddr, cookie: Option<Cookie>, mss: u16) {
        let known = || self.0.get(&server).map(|(known, _)| known.clone());
        let cookie = cookie.or_else(known).unwrap_or_default();
        if self.0.len() >= MAX_COOKIES
            && !self.0.contains_key(&server)
            && let Some(other) = self.0.keys().min().copied()
        {
            self.0.remove(&other);
        }
        self.0.insert(server, (cookie, mss));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What a server gave: a cookie, perhaps an empty one, and its MSS.
    pub(crate) fn of(&self, server: IpAddr) -> Option<&(Cookie, u16)> {
        self.0.get(&server)
    }
}
