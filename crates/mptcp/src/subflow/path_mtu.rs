//! The path MTU of a subflow (RFC 1191, RFC 8201, RFC 4821). It limits the segment size, because larger
//! segments would be lost.
//!
//! Owns the present limit, unconfirmed ICMP reports, and the search for a larger size. Sizes have the unit of the MSS
//! option: payload with TCP options. Never sends a probe or splits a segment: the connection does.

use mptcp_clock::{Duration, Instant};

/// Common MTUs (RFC 1191 section 7.1), bytes: for routers that report none.
const PLATEAUS: [u32; 9] = [65_535, 32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 552];
/// The smallest MTU accepted for IPv4: Linux's `min_pmtu`. Forged smaller values would be costly.
const LEAST_V4: u32 = 552;
/// The smallest MTU accepted for IPv6 (RFC 8201 section 4).
const LEAST_V6: u32 = 1280;
/// The first size of a search, and the size after a black hole (RFC 4821 section 7.2): Linux's `tcp_base_mss`.
const BASE: u16 = 1024;
/// The minimum segment size: Linux's `tcp_mtu_probe_floor` with the options of a segment.
const FLOOR: u16 = 88;
/// The resolution of the search, bytes: Linux's `tcp_probe_threshold`.
const CLOSE: u16 = 8;
/// The number of reports that reduce the segment size at once, until the next search: about the number of
/// [`PLATEAUS`]. Each causes the retransmission of a flight. RFC 5927 section 7.2 lets further reports wait
/// for a timeout.
const MAX_BELIEVED: u8 = 8;
/// The interval at which a larger path MTU is tried (RFC 1191 section 6.3, RFC 8899 section 5.1.1).
const AGAIN: Duration = Duration::from_secs(600);

/// The decision about an ICMP report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooBig {
    /// The report is redundant or implausible.
    Ignored,
    /// Larger segments have arrived, so the report applies only after a timeout (RFC 5927 section 7.2).
    Later,
    /// Segments become smaller.
    Now,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PathMtu {
    /// The maximum segment size; `u16::MAX` if only the MSS limits it.
    limit: u16,
    /// The size stated by an unconfirmed report, and the offset of the reported segment.
    claimed: Option<(u16, u64)>,
    /// The upper end of the search. `None` without a search.
    high: Option<u16>,
    /// The time at which a larger size is tried.
    again_at: Instant,
    /// The path MTU limits segments, or a report or search is pending.
    known: bool,
    /// The time of the last reduction, and the number of reports that reduced the size at once.
    shrunk_at: Instant,
    believed: u8,
}

/// An ICMP report: the segment of `size` bytes at `offset`, last sent at `sent_at`, was too large. The MTU is `mtu`
/// bytes, including `headers`; 0 if not stated.
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
    #[inline]
    pub(crate) fn limit(&self) -> u16 {
        self.limit
    }

    /// Starts a search between a size that every path supports and `full` (RFC 4821 section 7.2).
    pub(crate) fn begin_search(&mut self, full: u16) {
        (self.limit, self.high, self.known) = (BASE.min(full), Some(full), true);
    }

    /// Processes an ICMP report. Segments of up to `proven` bytes have arrived.
    pub(crate) fn on_too_big(&mut self, now: Instant, report: TooBigReport, proven: u16) -> TooBig {
        let TooBigReport { size, offset, sent_at, mtu, headers } = report;
        let packet = u32::from(size) + headers;
        let v6 = headers == 60;
        let mtu = match mtu {
            // RFC 4443 section 3.2: IPv6 routers always state the MTU.
            0 if v6 => return TooBig::Ignored,
            // RFC 1191 section 5: the next smaller common MTU.
            0 => PLATEAUS.into_iter().find(|plateau| *plateau < packet).unwrap_or(LEAST_V4),
            mtu => mtu,
        };
        // RFC 1191 section 6.1, RFC 5927 section 7.2: an MTU that the segment did not exceed is invalid.
        if mtu >= packet || (v6 && mtu < LEAST_V6) {
            return TooBig::Ignored;
        }
        let min_mtu = if v6 { LEAST_V6 } else { LEAST_V4 };
        let claim = (mtu.max(min_mtu) - headers) as u16;
        if claim >= self.limit.min(size) {
            return TooBig::Ignored;
        }
        // A segment from before the last reduction had the old size.
        if proven > claim || sent_at < self.shrunk_at || self.believed >= MAX_BELIEVED {
            (self.claimed, self.known) = (Some((claim, offset)), true);
            return TooBig::Later;
        }
        self.shrink(now, claim);
        self.believed += 1;
        TooBig::Now
    }

    /// Applies an unconfirmed report after a timeout (RFC 5927 section 7.2). Returns whether segments become smaller.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> bool {
        match self.claimed.take() {
            Some((claim, _)) if claim < self.limit => self.shrink(now, claim),
            _ => return false,
        }
        true
    }

    /// Drops an unconfirmed report whose segment has arrived.
    pub(crate) fn on_arrival(&mut self, una: u64) {
        self.claimed = self.claimed.filter(|(_, offset)| una <= *offset);
    }

    /// Reduces the size after repeated timeouts without a report, which may be caused by a black hole (RFC 4821 section
    /// 7.7). Returns whether segments become smaller.
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

    /// Whether the path MTU needs attention: a limit, a search or an unconfirmed report.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.known
    }

    /// The size of the next probe: between known good and bad sizes (RFC 4821 section 7.3).
    pub(crate) fn next_probe(&self) -> Option<u16> {
        let high = self.high.filter(|high| *high >= self.limit.saturating_add(CLOSE))?;
        Some(self.limit + (high - self.limit).div_ceil(2))
    }

    pub(crate) fn on_probe_arrived(&mut self, now: Instant, size: u16) {
        self.limit = self.limit.max(size);
        self.rest(now);
    }

    pub(crate) fn on_probe_lost(&mut self, now: Instant, size: u16) {
        self.high = self.high.map(|high| high.min(size - 1));
        self.rest(now);
    }

    fn rest(&mut self, now: Instant) {
        if self.next_probe().is_none() {
            self.again_at = now + AGAIN;
        }
    }

    /// Tries a larger size, up to `full`, once the interval has passed: step by step if a search exists,
    /// otherwise at once. Returns whether segments become larger.
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
