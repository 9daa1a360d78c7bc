//! The Internet checksum (RFC 1071) of TCP, IPv4 and the DSS option.
//!
//! Owns the sum over chunks of any length, so that header and payload need no common buffer. The caller passes bytes.

use std::net::IpAddr;

/// A partial one's complement sum.
///
/// Chunks may have any length. The result equals the sum of the joined chunks.
///
/// ```
/// use mptcp_wire::Checksum;
/// let mut sum = Checksum::new();
/// sum.add(&[0x00, 0x01, 0xf2]);
/// sum.add(&[0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
/// assert_eq!(sum.folded(), 0xddf2); // the example of RFC 1071 section 3
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    /// Unfolded sum of 16-bit big-endian words; each chunk adds less than 2^16.
    sum: u64,
    /// The number of bytes so far is odd, so the next byte is the low half of a word.
    odd: bool,
}

impl Checksum {
    /// An empty sum.
    #[must_use]
    pub const fn new() -> Self {
        Self { sum: 0, odd: false }
    }

    /// The sum of the TCP pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1).
    ///
    /// `length` is the length of TCP header and payload, in bytes.
    #[must_use]
    pub fn tcp(source: IpAddr, destination: IpAddr, length: u32) -> Self {
        const TCP: u64 = 6;
        let mut checksum = Self::new();
        for address in [source, destination] {
            match address {
                IpAddr::V4(address) => checksum.add(&address.octets()),
                IpAddr::V6(address) => checksum.add(&address.octets()),
            }
        }
        checksum.sum += TCP + u64::from(length >> 16) + u64::from(length & 0xffff);
        checksum
    }

    /// The sum of the DSS pseudo-header (RFC 8684 section 3.3.1).
    ///
    /// `data_sequence` always has 64 bits, even if the option carries 32. `subflow_sequence` and `length` are as in the
    /// option, so `length` counts a DATA_FIN.
    #[must_use]
    pub fn dss(data_sequence: u64, subflow_sequence: u32, length: u16) -> Self {
        let mut checksum = Self::new();
        checksum.add(&data_sequence.to_be_bytes());
        checksum.add(&subflow_sequence.to_be_bytes());
        checksum.add(&length.to_be_bytes());
        checksum
    }

    /// Appends bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let sum = sum_of(bytes);
        self.sum += u64::from(if self.odd { sum.swap_bytes() } else { sum });
        self.odd ^= bytes.len() % 2 == 1;
    }

    /// The sum in 16 bits, as a device with checksum offload expects it in the field.
    #[must_use]
    pub const fn folded(&self) -> u16 {
        fold(self.sum)
    }

    /// The value of a checksum field that was zero or omitted in the sum.
    #[must_use]
    pub const fn value(&self) -> u16 {
        !self.folded()
    }

    /// Whether `found` is the right value of a field that was zero or omitted in the sum.
    ///
    /// One's complement has two forms of zero; both are accepted.
    #[must_use]
    pub fn accepts(&self, found: u16) -> bool {
        fold(self.sum + u64::from(found)) == 0xffff
    }
}

const fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    ((sum >> 16) + (sum & 0xffff)) as u16
}

/// The folded sum of one chunk, as big-endian words.
///
/// One's complement addition is independent of byte order and word size (RFC 1071 section 2). This function therefore
/// adds eight bytes at a time in native order, in four parallel sums.
fn sum_of(bytes: &[u8]) -> u16 {
    let mut lanes = [0u64; 4];
    let (blocks, tail) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = add_carry(*lane, u64::from_ne_bytes(*word));
        }
    }
    let mut sum = lanes.into_iter().fold(0, add_carry);
    let (words, tail) = tail.as_chunks::<8>();
    for word in words {
        sum = add_carry(sum, u64::from_ne_bytes(*word));
    }
    if !tail.is_empty() {
        let mut last = [0; 8];
        last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
        sum = add_carry(sum, u64::from_ne_bytes(last));
    }
    u16::from_be(fold(sum))
}

const fn add_carry(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + carry as u64
}
