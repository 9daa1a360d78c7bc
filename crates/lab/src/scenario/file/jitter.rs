//! The table of random delays in hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::units::Span;

table! {
    /// Random delays in hosts, so that runs with different seeds are independent repetitions. `0s` disables a
    /// delay.
    JitterTable {
        /// Maximum random delay of the start of each flow. It never exceeds 1% of the remaining run time. At
        /// most 1s. Default: 10ms.
        start: Span,
        /// Maximum random processing time of a received frame in a host, which keeps the order of frames.
        /// Kernel hosts ignore it. Default: 20us.
        processing: Span,
    }
}
