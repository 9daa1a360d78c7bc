//! The rate of a path, from the spacing of acknowledgements and of arrivals.
//!
//! Within a train, data left the bottleneck back to back. Segments that were sent together and arrive apart were spaced by
//! the bottleneck.

use super::histogram::Histogram;

/// Least data of one train, in segments.
const TRAIN: u64 = 5;
/// Longest train, ns.
const LONGEST_TRAIN: u64 = 2_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// The rate of a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathRate {
    /// Rates of trains of acknowledgements, bytes/s, weighted by bytes.
    train_rates: Histogram,
    /// Time and delivered bytes at the start of the train.
    train: Option<(u64, u64)>,
    trains: u64,
    /// Time of one segment, ns.
    spacing: u64,
    /// Rates of segments that were sent together and arrived apart, bytes/s, weighted by bytes.
    pair_rates: Histogram,
    /// Time of the last acknowledgement, and the time at which its data was sent, ns.
    pair: Option<(u64, u64)>,
    /// Time and timestamp of the last new segment.
    arrival: Option<(u64, u32)>,
}

impl PathRate {
    /// Takes the total of delivered bytes after an acknowledgement; `size` is that of a segment.
    pub(super) fn delivered(&mut self, time: u64, delivered: u64, size: u64) {
        let Some((since, start)) = self.train else {
            self.train = Some((time, delivered));
            return;
        };
        let took = time.saturating_sub(since);
        if delivered - start < TRAIN * size && took <= LONGEST_TRAIN {
            return;
        }
        // Acknowledgements that arrive together say nothing.
        if took > MILLISECOND / 4 {
            let bytes = (delivered - start) as f64;
            self.train_rates.add(bytes / (took as f64 / 1e9), bytes);
        }
        self.train = Some((time, delivered));
        self.trains += 1;
        if self.trains % 64 == 8 {
            let capacity = self.capacity(size).unwrap_or(f64::INFINITY);
            self.spacing = (size as f64 / capacity * 1e9) as u64;
        }
    }

    /// Takes newly acknowledged bytes, and the time at which the last of them was sent.
    pub(super) fn paired(&mut self, time: u64, sent: Option<u64>, bytes: u64) {
        let before = std::mem::replace(&mut self.pair, sent.map(|sent| (time, sent)));
        let (Some((earlier, sent_earlier)), Some(sent)) = (before, sent) else { return };
        let (apart, sent_apart) = (time.saturating_sub(earlier), sent.saturating_sub(sent_earlier));
        if apart > MILLISECOND / 20 && apart > 2 * sent_apart {
            self.pair_rates.add(bytes as f64 / (apart as f64 / 1e9), bytes as f64);
        }
    }

    /// Takes a segment that arrives far from its sender: segments with equal timestamps were sent together.
    pub(super) fn arrived(&mut self, time: u64, stamp: u32, bytes: u64) {
        let before = self.arrival.replace((time, stamp));
        let Some((earlier, earlier_stamp)) = before else { return };
        let apart = time.saturating_sub(earlier);
        // A timestamp lasts a millisecond or longer.
        if earlier_stamp == stamp && apart > MILLISECOND / 20 {
            self.pair_rates.add(bytes as f64 / (apart as f64 / 1e9), bytes as f64);
        }
    }

    /// Whether enough segments were sent together.
    pub(super) fn has_pairs(&self, size: u64) -> bool {
        self.pair_rates.total() >= 8.0 * size as f64
    }

    /// The rate while the path was busy, bytes/s; None if too little was acknowledged.
    pub(super) fn capacity(&self, size: u64) -> Option<f64> {
        let has_trains = self.train_rates.total() >= 20.0 * size as f64;
        let trains = has_trains.then(|| self.train_rates.quantile(0.75)).flatten();
        let pairs = self.has_pairs(size).then(|| self.pair_rates.quantile(0.5)).flatten();
        trains.into_iter().chain(pairs).reduce(f64::max)
    }

    /// Time that the path needs for one segment, ns; 0 while it is unknown.
    pub(super) const fn spacing(&self) -> u64 {
        self.spacing
    }
}
