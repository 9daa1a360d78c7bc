//! Tests SNR and frame loss against the model in the module documentation.

use super::super::parameters::{Channel, Standard};
use super::*;

fn cell(channel: u8, exponent: f64) -> CellParameters {
    let standard = if channel < 36 { Standard::G } else { Standard::A };
    let (channel, path_loss_exponent) = (Channel(channel), exponent);
    CellParameters { channel, path_loss_exponent, power_dbm: 16.0, ..CellParameters::ideal(standard) }
}

fn close(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-9, "{is}, {should} expected");
}

#[test]
fn a_signal_falls_by_its_exponent_each_decade_from_free_space_at_a_metre() {
    // 16 dBm, 40.2 dB over the first metre, noise at -94 dBm.
    close(snr_db(&cell(1, 3.0), 1.0), 69.8);
    close(snr_db(&cell(1, 3.0), 10.0), 39.8);
    close(snr_db(&cell(1, 3.0), 100.0), 9.8);
    close(snr_db(&cell(1, 2.0), 100.0), 29.8);
    close(snr_db(&cell(36, 3.0), 10.0), 33.2);
    let strong = CellParameters { power_dbm: 20.0, ..cell(1, 3.0) };
    close(snr_db(&strong, 10.0), 43.8);
}

#[test]
fn nobody_is_nearer_than_ten_centimetres() {
    close(snr_db(&cell(1, 3.0), 0.1), 99.8);
    close(snr_db(&cell(1, 3.0), 0.0), 99.8);
    close(snr_db(&cell(1, 3.0), -5.0), 99.8);
    close(snr_db(&cell(1, 3.0), f64::NAN), 69.8);
}

#[test]
fn at_its_threshold_every_other_frame_of_a_thousand_bytes_is_read() {
    let bit = log_success(20.0, 20.0);
    close(success(bit, 1000), 0.5);
    // Bit errors are independent.
    close(success(bit, 2000), 0.25);
    close(success(bit, 500), 0.5_f64.sqrt());
    close(success(bit, 0), 1.0);
}

#[test]
fn errors_fall_tenfold_with_every_two_decibels() {
    let error = |above: f64| -log_success(20.0 + above, 20.0);
    for above in [-4.0, -2.0, 0.0, 2.0, 6.0] {
        assert!((error(above) / error(above + 2.0) - 10.0).abs() < 1e-6);
    }
    assert_eq!(success(log_success(90.0, 3.0), 1514), 1.0, "at 90 dB, nothing is lost");
    assert_eq!(success(log_success(-90.0, 3.0), 1514), 0.0);
    // Extreme values give no infinity.
    assert!(log_success(1e9, 0.0) < 0.0 && log_success(-1e9, 0.0).is_finite());
    close(log_success(1e9, 0.0) / log_success(100.0, 0.0), 1.0);
}
