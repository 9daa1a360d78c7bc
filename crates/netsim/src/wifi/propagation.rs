//! Signal strength and reception probability. `medium` decides with them which frames of a station are lost.
//!
//! Path loss is log-distance (Rappaport, Wireless Communications, section 4.9.1) with free space up to one
//! metre. The bit error rate falls tenfold every 2 dB. Without fading, theory has a steeper curve.

use mptcp_clock::math;

use super::parameters::CellParameters;

/// Thermal noise of 20 MHz at 290 K (-101 dBm) and a noise figure of 7 dB.
const NOISE_DBM: f64 = -94.0;
/// Free-space loss over one metre at 2.44 and 5.25 GHz, dB.
const FIRST_METRE_DB: [f64; 2] = [40.2, 46.8];
/// Minimum distance in metres; replaces smaller distances.
const NEAREST_METRES: f64 = 0.1;
/// Decades of error rate per dB.
const STEEPNESS: f64 = 0.5;
/// Frame length in bits for which the thresholds hold.
const THRESHOLD_BITS: f64 = 8000.0;

/// SNR in dB at a distance in metres.
pub(crate) fn snr_db(cell: &CellParameters, metres: f64) -> f64 {
    let metres = if metres.is_nan() { 1.0 } else { metres.max(NEAREST_METRES) };
    let loss = FIRST_METRE_DB[usize::from(cell.channel.is_5_ghz())]
        + 10.0 * cell.path_loss_exponent * math::log10(metres);
    cell.power_dbm - loss - NOISE_DBM
}

/// Log probability of receiving one bit. At an SNR of `threshold_db`, half of the frames of 1000 bytes are
/// received.
pub(crate) fn log_success(snr_db: f64, threshold_db: f64) -> f64 {
    let margin = (snr_db - threshold_db).clamp(-100.0, 100.0);
    -std::f64::consts::LN_2 / THRESHOLD_BITS * math::pow(10.0, -STEEPNESS * margin)
}

/// Probability of receiving a frame of `bytes`.
#[inline]
pub(crate) fn success(log_success: f64, bytes: u32) -> f64 {
    let log = log_success * f64::from(bytes) * 8.0;
    if log > -1e-9 { 1.0 } else { math::exp(log) }
}

#[cfg(test)]
mod tests;
