//! Published parameters of the Gilbert-Elliott loss model, with their sources.
//!
//! A scenario selects parameters by the name of a preset, instead of four probabilities. Owns the values;
//! `names` has the names. docs/fabrics.md states which sources were read, and which are quoted from others.

use netsim::GilbertElliott;

use crate::scenario::names::LossPreset;

/// The parameters of a preset.
pub(super) fn loss(preset: LossPreset) -> GilbertElliott {
    match preset {
        // F. Michel's thesis (UCLouvain 2023) has ranges from in-flight measurements: p 1% to 8%, r 8% to
        // 50%, h 0% to 10%, k 98% to 100%. The first preset combines the lower ends of p and r with the upper
        // ends of 1-h and 1-k. The second preset combines the opposite ends.
        LossPreset::InFlightLong => model([0.01, 0.08, 1.0, 0.02]),
        LossPreset::InFlightShort => model([0.08, 0.5, 0.9, 0.0]),
        // Fitted to 0.1% loss in an IP backbone: p = 0.00001333, r = 0.00601795, h = 0.554949, k = 0.999999.
        LossPreset::Backbone => model([0.00001333, 0.00601795, 0.445051, 0.000001]),
        LossPreset::InriaMaryland => repeated(0.23, 0.60),
        LossPreset::ColumbiaGmd => repeated(0.0047, 0.149),
        LossPreset::ColumbiaUmass => repeated(0.09, 0.33),
        LossPreset::UcscUmass => repeated(0.0282, 0.441),
    }
}

fn model([good_to_bad, bad_to_good, loss_in_bad, loss_in_good]: [f64; 4]) -> GilbertElliott {
    GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good }
}

/// Gilbert's model, with total loss in the bad state and no loss in the good state. `lost` is the measured
/// loss rate (ulp), and `lost_again` the loss rate after a lost packet (clp). Rounded to 0.001%.
fn repeated(lost: f64, lost_again: f64) -> GilbertElliott {
    let good_to_bad = lost * (1.0 - lost_again) / (1.0 - lost);
    model([(good_to_bad * 1e5).round() / 1e5, ((1.0 - lost_again) * 1e5).round() / 1e5, 1.0, 0.0])
}
