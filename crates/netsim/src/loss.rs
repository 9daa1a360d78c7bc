//! Random loss on a link direction: the models that come with the network, and a place for those of others.
//!
//! Decides one frame at a time, in the order in which frames leave. Never looks into a frame.

use std::fmt;
use std::sync::Arc;

use mptcp_clock::{Instant, Rng};

/// A loss model from outside this crate. Each link direction has one of its own.
pub trait LossModel: fmt::Debug + Send {
    /// Whether the next frame, of `bytes` on the wire, is lost as it leaves at `at`. Called once for each frame, in
    /// order; all chance comes from `random`, which is the direction's own.
    fn takes(&mut self, at: Instant, bytes: u32, random: &mut Rng) -> bool;
}

/// A loss model. Probabilities lie in 0..=1; values outside count as the nearer end.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each frame is lost with this probability, independently.
    Bernoulli(f64),
    /// Bursts.
    GilbertElliott(GilbertElliott),
    /// A model from outside.
    Custom(CustomLoss),
}

/// How a [`LossModel`] is made, anew for each direction and each time it is set.
#[derive(Clone)]
pub struct CustomLoss {
    identity: Arc<str>,
    make: Arc<dyn Fn() -> Box<dyn LossModel> + Send + Sync>,
}

impl CustomLoss {
    /// A maker of models. `identity` says which model with which parameters: makers of one identity count as equal.
    pub fn new(
        identity: impl Into<Arc<str>>,
        make: impl Fn() -> Box<dyn LossModel> + Send + Sync + 'static,
    ) -> Self {
        Self { identity: identity.into(), make: Arc::new(make) }
    }

    /// Which model with which parameters.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }
}

impl PartialEq for CustomLoss {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl fmt::Debug for CustomLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomLoss({})", self.identity)
    }
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
    stream: Rng,
    bad: bool,
    /// The model from outside, made when the first frame asks for it.
    custom: Option<Box<dyn LossModel>>,
}

impl LossProcess {
    /// A process in the good state.
    pub(crate) fn new(stream: Rng) -> Self {
        Self { stream, bad: false, custom: None }
    }

    /// Back to the first state, as a new model begins.
    pub(crate) fn restart(&mut self) {
        self.bad = false;
        self.custom = None;
    }

    /// Whether the next frame, of `bytes`, is lost as it leaves at `at`.
    #[inline]
    pub(crate) fn takes(&mut self, model: &Loss, at: Instant, bytes: u32) -> bool {
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
            Loss::Custom(maker) => self.ask(maker, at, bytes),
        }
    }

    #[cold]
    fn ask(&mut self, maker: &CustomLoss, at: Instant, bytes: u32) -> bool {
        self.custom.get_or_insert_with(|| (maker.make)()).takes(at, bytes, &mut self.stream)
    }
}

#[cfg(test)]
mod tests;
