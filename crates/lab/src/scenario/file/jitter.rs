//! The table `jitter` of a scenario file: random delays in hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::units::Span;

table! {
    /// Random delays in hosts, so that runs with different seeds are independent repetitions. `0s` disables a
    /// delay.
    JitterTable {
        /// Maximum random delay of the start of each flow, at most 1s. The delay never exceeds 1% of the
        /// remaining run time. Default: 10ms.
        start: Span,
        /// Maximum random processing time of a received frame in a host. Frames stay in order. Kernel hosts
        /// ignore this key. Default: 20us.
        processing: Span,
    }
}
