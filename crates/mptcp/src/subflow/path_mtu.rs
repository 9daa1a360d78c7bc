//! What is known of the largest packet that a path carries (RFC 1191, RFC 8201, RFC 4821).
//!
//! Owns the sizes: what goes, what was said and is not believed yet, where to look for more. All of them count as the MSS
//! option does, payload with TCP options. Who sends what is the connection's affair.

use mptcp_clock::{Duration, Instant};

/// Sizes of packets that links are known to have (RFC 1191 section 7.1), bytes: for routers that say none.
const PLATEAUS: [u32; 9] = [65_535, 32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 552];
/// Smallest packet of IPv4 that an ICMP message is believed about: Linux's `min_pmtu`. Less would cost who sends it nothing.
const LEAST_V4: u32 = 552;
/// RFC 8201 section 4: a message that says less is none.
const LEAST_V6: u32 = 1280;
/// RFC 4821 section 7.2: what the search begins with, and what a black hole leaves; Linux's `tcp_base_mss`.
const BASE: u16 = 1024;
/// No smaller segments are tried: Linux's `tcp_mtu_probe_floor`, and the options of a segment beside.
const FLOOR: u16 = 88;
/// The search ends when it is known this closely, bytes: Linux's `tcp_probe_threshold`.
const CLOSE: u16 = 8;
/// Messages that shrink segments at once, until it is looked whether the path carries more: about as many as there are sizes of
/// [`PLATEAUS`]. Each has a whole flight retransmitted, and RFC 5927 section 7.2 lets the others wait for a timeout.
const MAX_BELIEVED: u8 = 8;
/// When to look whether the path carries more than it did (RFC 1191 section 6.3, RFC 8899 section 5.1.1).
const AGAIN: Duration = Duration::from_secs(600);

/// What to make of an ICMP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooBig {
    /// It says nothing new, or nothing that can be.
    Ignored,
    /// Larger ones have arrived: it counts when nothing arrives any more (RFC 5927 section 7.2).
    Later,
    /// Segments shrink.
    Now,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PathMtu {
    /// The largest segment that goes; `u16::MAX` where only the ends limit it.
    limit: u16,
    /// What a message said that was not believed, and the offset of the segment that it was about.
    claimed: Option<(u16, u64)>,
    /// Up to which size the search goes on; no search without.
    high: Option<u16>,
    /// When to look for more.
    again_at: Instant,
    /// Something limits it, or may.
    known: bool,
    /// When segments shrank last, and how many messages did that at once.
    shrunk_at: Instant,
    believed: u8,
}

/// What a router says: a segment of `size` bytes at `offset`, sent last at `sent_at`, did not fit. A packet has at most `mtu` bytes
/// of which `headers` are no segment; 0 where it does not say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooBigReport {
    pub(crate) size: u16,
    pub(crate) offset: u64,
    pub(crate) sent_at: Instant,
    pub(crate) mtu: u32,
    pub(crate) headers: u32,
}

impl Default for PathMtu {
    fn default() -> Self {
        Self {
            limit: u16::MAX,
            claimed: None,
            high: None,
            again_at: Instant::FAR_FUTURE,
            known: false,
            shrunk_at: Instant::ZERO,
            believed: 0,
        }
    }
}

impl PathMtu {
    /// The largest segment that goes.
    #[inline]
    pub(crate) fn limit(&self) -> u16 {
        self.limit
    }

    /// Begins with what every path carries, and looks for more up to `full` (RFC 4821 section 7.2).
    pub(crate) fn begin_search(&mut self, full: u16) {
        (self.limit, self.high, self.known) = (BASE.min(full), Some(full), true);
    }

    /// A router says that a segment did not fit. Segments of `proven` have arrived.
    pub(crate) fn on_too_big(&mut self, now: Instant, report: TooBigReport, proven: u16) -> TooBig {
        let TooBigReport { size, offset, sent_at, mtu, headers } = report;
        let packet = u32::from(size) + headers;
        let v6 = headers == 60;
        let mtu = match mtu {
            // RFC 4443 section 3.2: there is no such message in IPv6.
            0 if v6 => return TooBig::Ignored,
            // RFC 1191 section 5: the next smaller one that links have.
            0 => PLATEAUS.into_iter().find(|plateau| *plateau < packet).unwrap_or(LEAST_V4),
            mtu => mtu,
        };
        // RFC 1191 section 6.1, RFC 5927 section 7.2: what would have let the segment pass is no answer to it.
        if mtu >= packet || (v6 && mtu < LEAST_V6) {
            return TooBig::Ignored;
        }
        let least = if v6 { LEAST_V6 } else { LEAST_V4 };
        let claim = (mtu.max(least) - headers) as u16;
        if claim >= self.limit.min(size) {
            return TooBig::Ignored;
        }
        // A segment that was not sent since they shrank had the size that is known to be too large.
        if proven > claim || sent_at < self.shrunk_at || self.believed >= MAX_BELIEVED {
            (self.claimed, self.known) = (Some((claim, offset)), true);
            return TooBig::Later;
        }
        self.shrink(now, claim);
        self.believed += 1;
        TooBig::Now
    }

    /// Nothing has arrived for a timeout: what was said before may be right (RFC 5927 section 7.2). Returns whether segments
    /// shrink.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> bool {
        match self.claimed.take() {
            Some((claim, _)) if claim < self.limit => self.shrink(now, claim),
            _ => return false,
        }
        true
    }

    /// All before `una` has arrived: a message about a part of it was wrong.
    pub(crate) fn on_arrival(&mut self, una: u64) {
        self.claimed = self.claimed.filter(|(_, offset)| una <= *offset);
    }

    /// Nothing arrives, again and again, and nobody says why: large packets may vanish (RFC 4821 section 7.7). Returns whether
    /// segments shrink.
    pub(crate) fn on_black_hole(&mut self, now: Instant, full: u16) -> bool {
        let limit = self.limit.min(full);
        let smaller = if limit > BASE { BASE } else { (limit / 2).max(FLOOR) };
        if smaller >= limit {
            return false;
        }
        self.shrink(now, smaller);
        self.high = Some(full);
        true
    }

    fn shrink(&mut self, now: Instant, limit: u16) {
        (self.limit, self.claimed, self.known) = (limit, None, true);
        self.high = self.high.map(|_| limit);
        (self.again_at, self.shrunk_at) = (now + AGAIN, now);
    }

    /// Whether there may be more to do than to send what fits.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.known
    }

    /// The size to be tried next: between what passes and what does not (RFC 4821 section 7.3).
    pub(crate) fn next_probe(&self) -> Option<u16> {
        let high = self.high.filter(|high| *high >= self.limit.saturating_add(CLOSE))?;
        Some(self.limit + (high - self.limit).div_ceil(2))
    }

    /// A probe of this size has arrived.
    pub(crate) fn on_probe_arrived(&mut self, now: Instant, size: u16) {
        self.limit = self.limit.max(size);
        self.rest(now);
    }

    /// A probe of this size was lost, and nothing else.
    pub(crate) fn on_probe_lost(&mut self, now: Instant, size: u16) {
        self.high = self.high.map(|high| high.min(size - 1));
        self.rest(now);
    }

    fn rest(&mut self, now: Instant) {
        if self.next_probe().is_none() {
            self.again_at = now + AGAIN;
        }
    }

    /// Whether it is time to look for more, up to `full`: by a search, or at once where there is none. Returns whether segments
    /// grow.
    pub(crate) fn raise(&mut self, now: Instant, full: u16) -> bool {
        if now < self.again_at {
            return false;
        }
        (self.again_at, self.believed) = (Instant::FAR_FUTURE, 0);
        if self.high.is_some() {
            self.high = Some(full);
            return false;
        }
        (self.limit, self.known) = (u16::MAX, self.claimed.is_some());
        true
    }
}
