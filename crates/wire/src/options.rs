//! TCP options as values.
//!
//! Owns the values, their length and, in `parse` and `emit`, their encoding. Never decides which
//! options a segment should carry.

use arrayvec::ArrayVec;

use crate::mptcp::{Dss, MptcpOption};
use crate::{Seq, sequence};

mod emit;
mod parse;

pub(crate) use emit::Field;

/// Option kinds (the IANA registry of TCP parameters).
pub(crate) mod kind {
    pub(crate) const END: u8 = 0;
    pub(crate) const NOP: u8 = 1;
    pub(crate) const MSS: u8 = 2;
    pub(crate) const WINDOW_SCALE: u8 = 3;
    pub(crate) const SACK_PERMITTED: u8 = 4;
    pub(crate) const SACK: u8 = 5;
    pub(crate) const TIMESTAMPS: u8 = 8;
    pub(crate) const MPTCP: u8 = 30;
    pub(crate) const FAST_OPEN: u8 = 34;
    /// Shared experiments (RFC 6994), and the experiment number of Fast Open from before RFC 7413, which Linux still
    /// accepts.
    pub(crate) const EXPERIMENT: u8 = 254;
    pub(crate) const FAST_OPEN_MAGIC: [u8; 2] = [0xf9, 0x89];
}

/// The timestamps option (RFC 7323 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's timestamp clock.
    pub value: u32,
    /// The echoed timestamp of the peer.
    pub echo: u32,
}

/// A block of received data, `[left, right)` (RFC 2018 section 3).
pub type SackBlock = (sequence::Seq, sequence::Seq);

/// A cookie of TCP Fast Open (RFC 7413 section 4.1.1): 4 to 16 bytes, an even number. An empty one requests a cookie.
pub type Cookie = ArrayVec<u8, 16>;

/// Up to four SACK blocks; three fit next to timestamps.
pub type Sack = ArrayVec<SackBlock, 4>;

/// The options of one segment.
///
/// Common options have their own fields, so that reading them is cheap. If a peer used an unusual form (order, padding,
/// unknown kinds, repetition), the received bytes are kept too. They are encoded unchanged until a field changes.
///
/// ```
/// use mptcp_wire::Options;
///
/// let mut options = Options::default();
/// (options.mss, options.sack_permitted) = (Some(1460), true);
/// let bytes = options.emit()?;
/// assert_eq!(Options::parse(&bytes), Ok(options));
/// # Ok::<(), mptcp_wire::EmitError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 section 3.7.1); on SYN only.
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323 section 2.2); on SYN only. Values above 14 mean 14.
    pub window_scale: Option<u8>,
    /// The SACK-permitted option (RFC 2018 section 2); on SYN only.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// TCP Fast Open; on SYN only.
    pub fast_open: Option<Cookie>,
    /// Fast Open uses its experimental form, from before it had its own option kind.
    pub fast_open_experimental: bool,
    /// Selective acknowledgement blocks.
    pub sack: Sack,
    /// The MPTCP data sequence signal, the only MPTCP option of nearly every segment.
    pub dss: Option<Dss>,
    /// All other MPTCP options, in order; nearly always empty.
    pub mptcp: Vec<MptcpOption>,
    /// The received bytes, if they differ from the encoded fields.
    pub(crate) verbatim: Option<Box<[u8]>>,
}

impl Options {
    /// Maximum length of the options in a TCP header, in bytes.
    pub const SPACE: usize = 40;

    /// Encoded length in bytes with padding: a multiple of 4. More than [`Self::SPACE`] if the options do not fit.
    #[must_use]
    #[inline]
    pub fn length(&self) -> usize {
        // Linux's layouts: NOPs pad each option to a multiple of four.
        let mut length = if self.timestamps.is_some() { 12 } else { 0 };
        if let Some(dss) = &self.dss {
            length += dss.padded_length();
        }
        if !self.sack.is_empty() {
            length += 4 + 8 * self.sack.len();
        }
        if self.has_rare() { self.length_with_rare(length) } else { length }
    }

    /// Whether there are options that established connections do not use, or an unusual form.
    #[inline]
    fn has_rare(&self) -> bool {
        let of_syn = self.mss.is_some() | self.window_scale.is_some() | self.sack_permitted;
        of_syn | self.fast_open.is_some() | !self.mptcp.is_empty() | self.verbatim.is_some()
    }

    /// Adds the rare options to the `length` of the common ones, in bytes.
    #[cold]
    fn length_with_rare(&self, mut length: usize) -> usize {
        if self.verbatim.is_some()
            && let Some(verbatim) = self.as_received()
        {
            return verbatim.len();
        }
        if self.sack_permitted && self.timestamps.is_none() {
            length += 4;
        }
        if self.mss.is_some() {
            length += 4;
        }
        if self.window_scale.is_some() {
            length += 4;
        }
        if let Some(cookie) = &self.fast_open {
            let head = if self.fast_open_experimental { 4 } else { 2 };
            length += (head + cookie.len()).next_multiple_of(4);
        }
        length + self.length_of_others()
    }

    /// Length of the MPTCP options other than DSS, in bytes.
    fn length_of_others(&self) -> usize {
        self.mptcp.iter().map(|option| option.length().next_multiple_of(4)).sum()
    }

    /// The received bytes, unless a field has changed.
    #[cold]
    fn as_received(&self) -> Option<&[u8]> {
        let verbatim = self.verbatim.as_deref()?;
        Self::parse(verbatim).is_ok_and(|received| received == *self).then_some(verbatim)
    }

    /// Whether there is any MPTCP option.
    #[must_use]
    pub fn has_mptcp(&self) -> bool {
        self.dss.is_some() || !self.mptcp.is_empty()
    }

    /// Removes all options, and keeps allocated memory.
    #[inline(always)]
    pub fn clear(&mut self) {
        if !self.mptcp.is_empty() {
            self.mptcp.clear();
        }
        self.verbatim = None;
        self.fast_open = None;
        self.mss = None;
        self.window_scale = None;
        self.sack_permitted = false;
        self.timestamps = None;
        self.fast_open_experimental = false;
        self.sack.clear();
        self.dss = None;
    }

    /// Drops the received bytes, so that encoding and comparison use the fields only.
    pub fn make_canonical(&mut self) {
        self.verbatim = None;
    }

    /// The highest right edge of the SACK blocks; None without blocks.
    #[must_use]
    pub fn highest_sacked(&self) -> Option<Seq> {
        let (_, first) = *self.sack.first()?;
        Some(
            self.sack
                .iter()
                .fold(first, |top, &(_, right)| if right.offset_from(top) > 0 { right } else { top }),
        )
    }
}
