//! Finds verdicts about a connection: packets that prove them, their costs, and remedies.
//!
//! `missing` computes which limit cost how much, from the time in each state. The other files look for one kind of
//! cause each. Every constant is explained where it stands.

mod bucket;
mod evidence;
mod host_facts;
mod limits;
mod losses;
mod missing;
mod policer;
mod random;
mod rank;
mod silence;
mod structure;

pub(crate) use evidence::Case;
pub use host_facts::HostFacts;
pub(crate) use missing::MissingRates;
pub(crate) use random::random_losses;
pub(crate) use rank::diagnose;
