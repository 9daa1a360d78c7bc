//! Distribution of a positive value in bins of equal ratio.

/// Ratio of neighbouring bins.
const RATIO: f64 = 1.03;
/// Smallest value with a bin of its own.
const LEAST: f64 = 1e-7;
/// Bins at most: values up to `LEAST * RATIO^MOST`, about 6e14.
const MOST: usize = 1700;

/// A weighted histogram. Its quantiles are exact to 3%.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// Number of the first bin in `weights`.
    first: usize,
    weights: Vec<f64>,
    total: f64,
}

impl Histogram {
    /// Adds a value with a weight.
    pub(crate) fn add(&mut self, value: f64, weight: f64) {
        let bin = ((value.max(LEAST) / LEAST).ln() / RATIO.ln()) as usize;
        let bin = bin.min(MOST);
        if self.weights.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let more = self.first - bin;
            self.weights.splice(0..0, std::iter::repeat_n(0.0, more));
            self.first = bin;
        }
        let at = bin - self.first;
        if at >= self.weights.len() {
            self.weights.resize(at + 1, 0.0);
        }
        self.weights[at] += weight;
        self.total += weight;
    }

    /// The value below which this share of the weight lies; None without values.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let mut left = self.total * share;
        for (at, weight) in self.weights.iter().enumerate() {
            left -= weight;
            if left <= 0.0 && *weight > 0.0 {
                return Some(LEAST * RATIO.powf((self.first + at) as f64 + 0.5));
            }
        }
        self.weights.last().map(|_| LEAST * RATIO.powf((self.first + self.weights.len()) as f64))
    }

    /// Sum of the weights.
    pub(crate) const fn total(&self) -> f64 {
        self.total
    }
}
