//! Random loss on a link direction. Decides one frame at a time, in order; knows no time.

use mptcp_clock::Stream;

/// A loss model. Probabilities lie in 0..=1; values outside count as the nearer end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each frame is lost with this probability, independently.
    Bernoulli(f64),
    /// Bursts.
    GilbertElliott(GilbertElliott),
}

/// The two-state model of Gilbert (1960) and Elliott (1963), stepped once a frame like `gemodel`
/// of tc-netem(8): the state a frame finds decides its loss, then the state may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability of going from good to bad (netem's `p`).
    pub good_to_bad: f64,
    /// Probability of going from bad to good (netem's `r`). Bad periods last 1/r frames on average.
    pub bad_to_good: f64,
    /// Loss in the bad state (netem's `1-h`).
    pub loss_in_bad: f64,
    /// Loss in the good state (netem's `1-k`).
    pub loss_in_good: f64,
}

impl GilbertElliott {
    /// The share of frames lost in the long run.
    #[must_use]
    pub fn mean_loss(&self) -> f64 {
        let bad = self.good_to_bad / (self.good_to_bad + self.bad_to_good);
        bad * self.loss_in_bad + (1.0 - bad) * self.loss_in_good
    }
}

/// A loss model at work: its stream and its state.
#[derive(Debug)]
pub(crate) struct LossProcess {
    stream: Stream,
    bad: bool,
}

impl LossProcess {
    /// A process in the good state.
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, bad: false }
    }

    /// Back to the good state, as a new model begins.
    pub(crate) fn restart(&mut self) {
        self.bad = false;
    }

    /// Whether the next frame is lost.
    #[inline]
    pub(crate) fn takes(&mut self, model: &Loss) -> bool {
        match model {
            Loss::None => false,
            Loss::Bernoulli(p) => self.stream.chance(*p),
            Loss::GilbertElliott(model) => {
                let (leave, loss) = if self.bad {
                    (model.bad_to_good, model.loss_in_bad)
                } else {
                    (model.good_to_bad, model.loss_in_good)
                };
                self.bad ^= self.stream.chance(leave);
                self.stream.chance(loss)
            }
        }
    }
}
