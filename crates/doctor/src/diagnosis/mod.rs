//! Draws conclusions from what was tracked: verdicts, with packets that prove them, their costs, and what to try.
//!
//! `missing` computes which limit cost how much, from the time in each state. The other files look for one kind of
//! cause each. Every constant is explained where it stands.

mod evidence;
mod limits;
mod losses;
mod missing;
mod policer;
mod rank;
mod structure;

pub(crate) use evidence::Case;
pub(crate) use losses::random_losses;
pub(crate) use missing::MissingRates;
pub use rank::HostFacts;
pub(crate) use rank::diagnose;
