//! Coupling between pairs of cells: the probabilities that stations of one cell sense or destroy
//! transmissions of the other. Cells on close channels disturb each other, so they share a medium, and their
//! transmissions are handled together. Owns the couplings, and the media that result from them.

use super::cells::Cells;
use super::interference::Interference;
use super::parameters::Coupling;

impl Cells {
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

    /// Recomputes all couplings, and merges the media of coupled cells.
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
