//! Random loss on a link direction: the built-in models, and an interface for models of other crates.
//!
//! Decides on one frame at a time, in the order of departures. Never looks into a frame.

use std::fmt;
use std::sync::Arc;

use mptcp_clock::{Instant, Rng};

/// A loss model from another crate. Each link direction has its own instance.
pub trait LossModel: fmt::Debug + Send {
    /// Whether the next frame, of `bytes`, is lost at its departure at `at`. Called once per frame, in order.
    /// `random` is the only source of randomness.
    fn takes(&mut self, at: Instant, bytes: u32, random: &mut Rng) -> bool;
}

/// A loss model. Probabilities are clamped to 0..=1.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    /// No loss.
    #[default]
    None,
    /// Each frame is lost with this probability, independently.
    Bernoulli(f64),
    /// Burst losses.
    GilbertElliott(GilbertElliott),
    /// A model from another crate.
    Custom(CustomLoss),
}

impl Loss {
    /// The mean loss rate, 0 to 1. `None` for a model from another crate.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        match self {
            Self::None => Some(0.0),
            Self::Bernoulli(p) => Some(*p),
            Self::GilbertElliott(model) => Some(model.mean_loss()),
            Self::Custom(_) => None,
        }
    }
}

/// Creates a [`LossModel`] for each direction, and again each time the loss of a link is changed to it.
#[derive(Clone)]
pub struct CustomLoss {
    identity: Arc<str>,
    make: Arc<dyn Fn() -> Box<dyn LossModel> + Send + Sync>,
}

impl CustomLoss {
    /// Stores the function `make`. `identity` names the model and its parameters; models with the same
    /// identity are equal.
    pub fn new(
        identity: impl Into<Arc<str>>,
        make: impl Fn() -> Box<dyn LossModel> + Send + Sync + 'static,
    ) -> Self {
        Self { identity: identity.into(), make: Arc::new(make) }
    }

    /// The model and its parameters.
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

/// The two-state model of Gilbert (1960) and Elliott (1963), stepped per frame as gemodel in tc-netem(8). The
/// state decides on the loss of a frame, and may change after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Transition probability from good to bad (`p` in netem).
    pub good_to_bad: f64,
    /// Transition probability from bad to good (`r` in netem). Bad periods last 1/r frames on average.
    pub bad_to_good: f64,
    /// Loss in the bad state (`1-h` in netem).
    pub loss_in_bad: f64,
    /// Loss in the good state (`1-k` in netem).
    pub loss_in_good: f64,
}

impl GilbertElliott {
    /// The mean loss rate.
    #[must_use]
    pub fn mean_loss(&self) -> f64 {
        let bad = self.good_to_bad / (self.good_to_bad + self.bad_to_good);
        bad * self.loss_in_bad + (1.0 - bad) * self.loss_in_good
    }
}

/// A running loss model: random stream and state.
#[derive(Debug)]
pub(crate) struct LossProcess {
    stream: Rng,
    bad: bool,
    /// The custom model, created at the first frame.
    custom: Option<Box<dyn LossModel>>,
}

impl LossProcess {
    /// A process in the good state.
    pub(crate) fn new(stream: Rng) -> Self {
        Self { stream, bad: false, custom: None }
    }

    /// Resets the state: good, or a custom model from its start.
    pub(crate) fn restart(&mut self) {
        self.bad = false;
        self.custom = None;
    }

    /// Whether the next frame, of `bytes`, is lost at its departure at `at`.
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
