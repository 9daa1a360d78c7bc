//! An exchange: a transmission and its acknowledgement, from the first bit to the end of the ACK. `medium`
//! keeps the exchanges in progress, to decide which collide. A radio is one direction between a station and
//! its access point.

use mptcp_clock::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) sender: u32,
    pub(crate) cell: u32,
    /// The radio of its frames; [`NONE`] for background traffic, and if the frames were flushed meanwhile.
    pub(crate) radio: u32,
    /// Number of frames.
    pub(crate) frames: u32,
    /// Length of the frames in bytes.
    pub(crate) bytes: u32,
    pub(crate) rate: usize,
    /// Duration of the frames, including protection.
    pub(crate) data: Duration,
    /// Duration of SIFS and ACK.
    pub(crate) answer: Duration,
    pub(crate) end: Instant,
    /// Destroyed by a collision.
    pub(crate) destroyed: bool,
    /// Destroyed from the first bit on, so that there is no ACK.
    pub(crate) garbled: bool,
    /// The contenders that sense it, as bits.
    pub(crate) heard: Vec<u64>,
}

/// No radio.
pub(crate) const NONE: u32 = u32::MAX;

impl Exchange {
    pub(crate) fn blank() -> Self {
        Self {
            sender: 0,
            cell: 0,
            radio: NONE,
            frames: 0,
            bytes: 0,
            rate: 0,
            data: Duration::ZERO,
            answer: Duration::ZERO,
            end: Instant::ZERO,
            destroyed: false,
            garbled: false,
            heard: Vec::new(),
        }
    }

    pub(crate) fn hear(&mut self, contender: u32) {
        let word = contender as usize / 64;
        if self.heard.len() <= word {
            self.heard.resize(word + 1, 0);
        }
        self.heard[word] |= 1 << (contender % 64);
    }
}

#[cfg(test)]
mod tests;
