//! What cells on two channels are to each other. Only values.

use super::parameters::{Channel, Coupling};

/// How strongly cells disturb each other, unless [`crate::Network::couple`] says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interference {
    /// By the overlap of the channels: one channel is one medium, five channels or more apart, or in
    /// another band, nothing is heard, and in between both factors fall evenly.
    #[default]
    Ideal,
    /// As measured in one room by a study of interference between two 802.11g networks.
    Ucl,
}

impl Interference {
    /// The coupling of two channels.
    #[must_use]
    pub fn coupling(self, a: Channel, b: Channel) -> Coupling {
        let apart = f64::from(a.0.abs_diff(b.0));
        let other_band = a.is_5_ghz() != b.is_5_ghz();
        let overlap = if other_band { 0.0 } else { (1.0 - apart / 5.0).max(0.0) };
        Coupling { carrier_sense: overlap, collision: overlap }
    }
}
