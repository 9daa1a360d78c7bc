//! What cells on two channels are to each other, and which of them therefore share a medium.

use super::air::Air;
use super::parameters::{Channel, Coupling};

/// How strongly cells disturb each other, unless [`crate::Network::couple`] says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interference {
    /// By the overlap of the channels: one channel is one medium, five channels or more apart (at 5 GHz
    /// four), or in another band, nothing is heard, and in between both factors fall evenly.
    #[default]
    Ideal,
    /// Two 802.11g networks within 3 m, as University College London saw them ("Wireless
    /// Interference and MPTCP"): with a saturated UDP sender in each, channels 1 and 11 carried
    /// together 1.5 times what one carried alone, with few transmissions that failed for good, and one
    /// channel only 0.6 times, with many. So neighbouring radios leak into channels that should not
    /// hear them, and on one channel they fail to hear each other.
    ///
    /// The factors were found by measurement, as ratios of the total of both cells to one alone, for
    /// frames of 1500 bytes, under rate control (in parentheses at 54 Mb/s throughout):
    ///
    /// | channels | carrier sense | collision | ratio | ratio with protection | given up |
    /// |---|---|---|---|---|---|
    /// | 4 or more apart | 0.5 | 0.05 | 1.50 (1.50) | 1.49 (1.49) | none |
    /// | one | 0.05 | 1.0 | 0.74 (0.75) | 0.61 (0.62) | 3 % (5 % with protection) |
    ///
    /// On one channel longer exchanges collide more: protection, which 2.4 GHz networks commonly use,
    /// makes the preset meet the study's 0.6. In between both factors change evenly. At 5 GHz, and between the bands, as
    /// [`Self::Ideal`].
    Ucl,
}

/// Channels as far apart as this count as separate, by number; numbers are 5 MHz apart.
const SEPARATE: f64 = 5.0;
/// At 5 GHz: channels of 20 MHz lie side by side, as 36 and 40 (IEEE 802.11-2016 section 17.3.8.4).
const SEPARATE_5_GHZ: f64 = 4.0;
/// In the measured preset.
const SEPARATE_UCL: f64 = 4.0;
const SAME_UCL: Coupling = Coupling { carrier_sense: 0.05, collision: 1.0 };
const OTHER_UCL: Coupling = Coupling { carrier_sense: 0.5, collision: 0.05 };

impl Interference {
    /// The coupling of two channels.
    #[must_use]
    pub fn coupling(self, a: Channel, b: Channel) -> Coupling {
        let apart = f64::from(a.0.abs_diff(b.0));
        if a.is_5_ghz() != b.is_5_ghz() {
            return Coupling::default();
        }
        if self == Self::Ideal || a.is_5_ghz() {
            let separate = if a.is_5_ghz() { SEPARATE_5_GHZ } else { SEPARATE };
            let overlap = (1.0 - apart / separate).max(0.0);
            return Coupling { carrier_sense: overlap, collision: overlap };
        }
        let far = (apart / SEPARATE_UCL).min(1.0);
        let between = |same: f64, other: f64| same + (other - same) * far;
        Coupling {
            carrier_sense: between(SAME_UCL.carrier_sense, OTHER_UCL.carrier_sense),
            collision: between(SAME_UCL.collision, OTHER_UCL.collision),
        }
    }
}

impl Air {
    pub(crate) fn set_interference(&mut self, interference: Interference) {
        self.interference = interference;
        self.recouple();
    }

    pub(crate) fn couple(&mut self, a: u32, b: u32, coupling: Coupling) {
        let pair = (a.min(b), a.max(b));
        self.given.retain(|&(a, b, _)| (a, b) != pair);
        self.given.push((pair.0, pair.1, coupling));
        self.recouple();
    }

    /// The coupling of two cells.
    #[inline]
    pub(super) fn coupling(&self, a: u32, b: u32) -> Coupling {
        self.couplings[a as usize][b as usize]
    }

    /// Computes what cells are to each other, and joins the media of those that are anything.
    pub(super) fn recouple(&mut self) {
        let own = Coupling { carrier_sense: 1.0, collision: 1.0 };
        let channels: Vec<_> = self.cells.iter().map(|cell| cell.parameters.channel).collect();
        let row = |&a| channels.iter().map(|&b| self.interference.coupling(a, b)).collect();
        self.couplings = channels.iter().map(row).collect();
        for &(a, b, coupling) in &self.given {
            self.couplings[a as usize][b as usize] = coupling;
            self.couplings[b as usize][a as usize] = coupling;
        }
        for a in 0..self.cells.len() {
            self.couplings[a][a] = own;
            for b in a + 1..self.cells.len() {
                if self.couplings[a][b] != Coupling::default() {
                    self.join(self.cells[a].medium, self.cells[b].medium);
                }
            }
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        if a == b {
            return;
        }
        let (into, from) = (a.min(b), a.max(b));
        let old = &mut self.media[from as usize];
        let (members, on_air) = (std::mem::take(&mut old.members), std::mem::take(&mut old.on_air));
        let neighbours = std::mem::take(&mut old.neighbours);
        let medium = &mut self.media[into as usize];
        medium.members.extend(members);
        medium.members.sort_unstable();
        medium.neighbours.extend(neighbours);
        medium.neighbours.sort_unstable();
        medium.on_air.extend(on_air);
        for cell in self.cells.iter_mut().filter(|cell| cell.medium == from) {
            cell.medium = into;
        }
    }
}
