//! TCP Fast Open cookies that servers gave to this host (RFC 7413 section 4.1.3). The next SYN to such a
//! server may carry data.
//!
//! Owns the cache of a client and its size limit. Never creates a cookie.

use std::net::IpAddr;

use mptcp_wire::Cookie;
use rustc_hash::FxHashMap;

/// Maximum number of servers in the cache; at the limit, the lowest address is evicted.
const MAX_COOKIES: usize = 1024;

/// Cookie and MSS by server. The cookie is empty if the server gave none.
#[derive(Debug, Default)]
pub(crate) struct ServerCookies(FxHashMap<IpAddr, (Cookie, u16)>);

impl ServerCookies {
    /// Stores the cookie and the MSS of a server. `None` keeps the known cookie.
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

    /// The cookie, possibly empty, and the MSS of a server; `None` if the server is unknown.
    pub(crate) fn of(&self, server: IpAddr) -> Option<&(Cookie, u16)> {
        self.0.get(&server)
    }
}
