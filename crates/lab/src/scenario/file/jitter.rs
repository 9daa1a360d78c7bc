//! The table of jitter: chance in what would otherwise be the same in every run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::units::Span;

table! {
    /// Chance by seed in hosts that would otherwise do the same in every run, so that seeds are repetitions and intervals are
    /// intervals. `0s` turns either off.
    JitterTable {
        /// Each flow opens its connection later than `start` says, by up to this, and by no more than a hundredth of the time
        /// that is left for it. Default: 10ms.
        start: Span,
        /// A host takes up to so long for each frame that it gets, without changing their order. Not on the kernel, whose hosts
        /// take their own time. Default: 20us.
        processing: Span,
    }
}
