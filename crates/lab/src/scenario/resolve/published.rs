//! Losses that somebody measured: the numbers behind the presets, each with its source.
//!
//! Owns no name (those are in `names`). docs/fabrics.md says which sources were read and which only quoted elsewhere.

use netsim::GilbertElliott;

use crate::scenario::names::LossPreset;

/// The model of a preset.
pub(super) fn loss(preset: LossPreset) -> GilbertElliott {
    match preset {
        // F. Michel's thesis (UCLouvain 2023), from measurements in flight, gives ranges: p 1 to 8 %, r 8 to 50 %, h 0 to 10 %, k 98 to
        // 100 %. These are the lower ends of p and r with the upper ones of 1-h and 1-k, and the other way round.
        LossPreset::InFlightLong => model([0.01, 0.08, 1.0, 0.02]),
        LossPreset::InFlightShort => model([0.08, 0.5, 0.9, 0.0]),
        // Fitted to 0.1 % lost in an IP backbone: p = 0.00001333, r = 0.00601795, h = 0.554949, k = 0.999999.
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

/// Gilbert's model, which loses all in the bad state and nothing in the good one, of what measurements say: the share that is lost
/// (ulp), and the share of the packets after a lost one that is lost too (clp). In hundred-thousandths, which a file can say.
fn repeated(lost: f64, lost_again: f64) -> GilbertElliott {
    let good_to_bad = lost * (1.0 - lost_again) / (1.0 - lost);
    model([(good_to_bad * 1e5).round() / 1e5, ((1.0 - lost_again) * 1e5).round() / 1e5, 1.0, 0.0])
}
