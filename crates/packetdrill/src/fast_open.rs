//! Linux's settings of TCP Fast Open (RFC 7413), which packetdrill scripts change by sysctl(8) and socket
//! options.
//!
//! Owns the meaning of the bits of `tcp_fastopen`, and the parsing of keys. Never creates cookies: the endpoint does.

/// `net.ipv4.tcp_fastopen` and `tcp_fastopen_key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastOpenSettings {
    /// The bits of `tcp_fastopen`.
    pub(crate) mode: u64,
    /// The key of the cookies, for SipHash.
    pub(crate) key: [u64; 2],
}

impl Default for FastOpenSettings {
    fn default() -> Self {
        Self { mode: Self::CLIENT, key: [0, 0] }
    }
}

impl FastOpenSettings {
    const CLIENT: u64 = 0x1;
    const SERVER: u64 = 0x2;
    const CLIENT_WITHOUT_COOKIE: u64 = 0x4;
    const SERVER_WITHOUT_COOKIE: u64 = 0x200;
    const ALL_LISTENERS: u64 = 0x400;

    /// Whether a client may send data in a SYN.
    pub(crate) fn client(self) -> bool {
        self.mode & Self::CLIENT != 0
    }

    /// Whether a client may send data in a SYN without a cookie.
    pub(crate) fn client_without_cookie(self) -> bool {
        self.mode & Self::CLIENT_WITHOUT_COOKIE != 0
    }

    /// Whether a listener accepts data in a SYN. `asked` is whether the listener has TCP_FASTOPEN set.
    pub(crate) fn server(self, asked: bool) -> bool {
        self.mode & Self::SERVER != 0 && (asked || self.mode & Self::ALL_LISTENERS != 0)
    }

    /// Whether a listener accepts data in a SYN without a cookie.
    pub(crate) fn server_without_cookie(self) -> bool {
        self.mode & Self::SERVER_WITHOUT_COOKIE != 0
    }
}

/// Parses a key of the form `a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`.
pub(crate) fn parse_key(text: &str) -> Option<[u64; 2]> {
    let mut bytes = [0; 16];
    let mut words = text.trim().split('-');
    for chunk in bytes.chunks_exact_mut(4) {
        let word = u32::from_str_radix(words.next()?, 16).ok()?;
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    words.next().is_none().then(|| key_of(bytes))
}

/// Converts the 16 bytes of TCP_FASTOPEN_KEY to a key.
pub(crate) fn key_of(bytes: [u8; 16]) -> [u64; 2] {
    let half = |from: usize| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[from..from + 8]);
        u64::from_le_bytes(half)
    };
    [half(0), half(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_key_are_little_endian() {
        assert_eq!(
            parse_key("04030201-08070605-0c0b0a09-100f0e0d"),
            Some([0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09])
        );
        assert_eq!(parse_key("04030201-08070605"), None);
        assert_eq!(parse_key("04030201-08070605-0c0b0a09-100f0e0d-1"), None);
    }

    #[test]
    fn the_bits_are_linuxs() {
        let settings = FastOpenSettings { mode: 0x602, key: [0, 0] };
        assert!(settings.server(false) && settings.server_without_cookie() && !settings.client());
        let settings = FastOpenSettings { mode: 0x70403, key: [0, 0] };
        assert!(settings.client() && settings.server(false) && !settings.server_without_cookie());
        let settings = FastOpenSettings { mode: 0x3, key: [0, 0] };
        assert!(settings.server(true) && !settings.server(false));
    }
}
