//! Durations of frames and waiting times on the medium. `medium` needs them for each transmission, and
//! `rate_control` to compare rates. Owns arithmetic only, without absolute time or stations.
//!
//! Durations follow IEEE 802.11-2016, sections 16.3 (DSSS and CCK), 17.4 (OFDM) and 19.4 (HT).

use mptcp_clock::Duration;

use super::parameters::{CellParameters, CollisionWait, Standard};

/// Length of an ACK or a CTS, bytes.
const ACK: u32 = 14;
/// Length of a compressed block acknowledgement, bytes.
const BLOCK_ACK: u32 = 32;

/// A rate of a cell's physical layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhyRate {
    pub(crate) bits_per_second: u64,
    coding: Coding,
    /// SIFS and the ACK of a frame at this rate.
    pub(crate) answer: Duration,
    /// SIFS and the block ACK at this rate.
    pub(crate) block_answer: Duration,
    /// SNR in dB at which half of the frames of 1000 bytes are lost.
    pub(crate) threshold_db: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Coding {
    Dsss,
    Ofdm { bits: u32 },
    Ht { bits: u32, streams: u32 },
}

/// Rate in 100 kb/s, and threshold. The threshold is the minimum sensitivity of the standard (tables 17-18 and
/// 19-23; 16.3.8.2 for 11 Mb/s), minus the noise floor (-94 dBm), minus 9 dB. Receivers are typically 9 dB better
/// than the standard requires. 1 and 5.5 Mb/s are interpolated.
const DSSS: [(u64, f64); 4] = [(10, 2.0), (20, 5.0), (55, 7.0), (110, 9.0)];
/// Rate in 100 kb/s, data bits per symbol, and threshold.
const OFDM: [(u64, u32, f64); 8] = [
    (60, 24, 3.0),
    (90, 36, 4.0),
    (120, 48, 6.0),
    (180, 72, 8.0),
    (240, 96, 11.0),
    (360, 144, 15.0),
    (480, 192, 19.0),
    (540, 216, 20.0),
];
/// Data bits per symbol and stream, and threshold, for MCS 0 to 7.
const HT: [(u32, f64); 8] =
    [(26, 3.0), (52, 6.0), (78, 8.0), (104, 11.0), (156, 15.0), (208, 19.0), (234, 20.0), (260, 21.0)];
/// Additional SNR for a second stream, dB: two streams share the power.
const SECOND_STREAM_DB: f64 = 3.0;

/// Durations in a cell.
#[derive(Clone, Debug)]
pub(crate) struct Phy {
    pub(crate) slot: Duration,
    pub(crate) difs: Duration,
    /// Duration before each OFDM frame: CTS-to-self and SIFS, or zero.
    pub(crate) protection: Duration,
    /// In ascending order of rate.
    pub(crate) rates: Vec<PhyRate>,
    /// MAC overhead per IP packet, bytes: header, LLC/SNAP, encryption, frame check sequence.
    pub(crate) overhead: u32,
    dsss_preamble: Duration,
    extension: Duration,
    short_guard: bool,
}

impl Phy {
    pub(crate) fn new(cell: &CellParameters) -> Self {
        let five = cell.channel.is_5_ghz();
        let b = cell.standard == Standard::B;
        let slot = Duration::from_micros(if !b && (five || cell.short_slot) { 9 } else { 20 });
        let sifs = Duration::from_micros(if five { 16 } else { 10 });
        let difs = sifs + slot * 2;
        let mut phy = Self {
            slot,
            difs,
            protection: Duration::ZERO,
            rates: Vec::new(),
            overhead: 24
                + 8
                + 4
                + if cell.standard == Standard::N { 2 } else { 0 }
                + if cell.wpa2 { 16 } else { 0 },
            dsss_preamble: Duration::from_micros(if cell.short_preamble { 96 } else { 192 }),
            extension: Duration::from_micros(if five || b { 0 } else { 6 }),
            short_guard: cell.short_guard,
        };
        phy.rates = phy.rates_of(cell, sifs);
        if cell.protection && !b && !five {
            phy.protection = phy.dsss(ACK, cell.protection_rate) + sifs;
        }
        phy
    }

    /// The rates of a standard, with the durations of their acknowledgements.
    fn rates_of(&self, cell: &CellParameters, sifs: Duration) -> Vec<PhyRate> {
        let rate = |bits_per_second, coding, threshold_db| {
            let (answer, block_answer) = self.answers(bits_per_second, coding, cell.max_ack_rate);
            let (answer, block_answer) = (sifs + answer, sifs + block_answer);
            PhyRate { bits_per_second, coding, answer, block_answer, threshold_db }
        };
        let ofdm = |(units, bits, threshold)| rate(units * 100_000, Coding::Ofdm { bits }, threshold);
        match cell.standard {
            Standard::B => DSSS.map(|(units, at)| rate(units * 100_000, Coding::Dsss, at)).to_vec(),
            Standard::A | Standard::G => OFDM.map(ofdm).to_vec(),
            Standard::N => {
                let symbol = if cell.short_guard { 3_600 } else { 4_000 };
                let mut rates = Vec::new();
                for streams in 1..=u32::from(cell.streams.clamp(1, 2)) {
                    let more = SECOND_STREAM_DB * f64::from(streams - 1);
                    rates.extend(HT.map(|(bits, at)| {
                        let bits = bits * streams;
                        rate(
                            u64::from(bits) * 1_000_000_000 / symbol,
                            Coding::Ht { bits, streams },
                            at + more,
                        )
                    }));
                }
                rates.sort_by_key(|rate| rate.bits_per_second);
                rates
            }
        }
    }

    /// Durations of an ACK and a block ACK. They use the highest basic rate not above the data rate (section
    /// 10.7.6.5): 1, 2, 5.5, 11 or 6, 12, 24 Mb/s.
    fn answers(&self, data: u64, coding: Coding, max: u64) -> (Duration, Duration) {
        let basic = |basics: &[u64]| {
            let fits = basics.iter().rev().find(|&&basic| basic <= data.min(max));
            fits.or(basics.first()).copied().unwrap_or(data)
        };
        if coding == Coding::Dsss {
            let rate = basic(&[1_000_000, 2_000_000, 5_500_000, 11_000_000]);
            (self.dsss(ACK, rate), self.dsss(BLOCK_ACK, rate))
        } else {
            let bits = basic(&[6_000_000, 12_000_000, 24_000_000]) / 250_000;
            (self.ofdm(ACK, bits as u32), self.ofdm(BLOCK_ACK, bits as u32))
        }
    }

    /// Waiting time after a destroyed frame whose acknowledgement would take `answer`.
    pub(crate) fn collision_wait(&self, rule: CollisionWait, answer: Duration) -> Duration {
        let lowest = self.rates.first().map_or(Duration::ZERO, |rate| rate.answer);
        match rule {
            CollisionWait::Eifs => self.difs + lowest,
            CollisionWait::DynamicEifs => self.difs + answer,
            CollisionWait::Difs => self.difs,
        }
    }

    /// Index of the highest rate not above `bits_per_second`; of the lowest rate if all are above.
    pub(crate) fn rate_at_most(&self, bits_per_second: u64) -> usize {
        self.rates.iter().rposition(|rate| rate.bits_per_second <= bits_per_second).unwrap_or(0)
    }

    /// Duration of a MAC frame or aggregate of `bytes`.
    pub(crate) fn duration(&self, bytes: u32, rate: &PhyRate) -> Duration {
        match rate.coding {
            Coding::Dsss => self.dsss(bytes, rate.bits_per_second),
            Coding::Ofdm { bits } => self.ofdm(bytes, bits),
            Coding::Ht { bits, streams } => {
                let symbols = (22 + 8 * u64::from(bytes)).div_ceil(u64::from(bits));
                let nanos = if self.short_guard {
                    (symbols * 3_600).next_multiple_of(4_000)
                } else {
                    symbols * 4_000
                };
                let preamble = 32 + 4 * u64::from(streams);
                Duration::from_micros(preamble) + Duration::from_nanos(nanos) + self.extension
            }
        }
    }

    fn dsss(&self, bytes: u32, rate: u64) -> Duration {
        let micros = (u64::from(bytes) * 8_000_000).div_ceil(rate.max(1));
        self.dsss_preamble + Duration::from_micros(micros)
    }

    fn ofdm(&self, bytes: u32, bits: u32) -> Duration {
        let symbols = (22 + 8 * u64::from(bytes)).div_ceil(u64::from(bits));
        Duration::from_micros(20 + 4 * symbols) + self.extension
    }
}

impl CellParameters {
    /// The data rates of the standard with these streams and this guard interval, in ascending order, bit/s.
    #[must_use]
    pub fn rates(&self) -> Vec<u64> {
        Phy::new(self).rates.iter().map(|rate| rate.bits_per_second).collect()
    }
}

#[cfg(test)]
mod tests;
