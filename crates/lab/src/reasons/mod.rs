//! Limiting factors of a flow: findings and sentences from the use of each path's capacity.
//!
//! Summaries, `mptcplab why` and the page print them. Owns the thresholds and the words. The world attributes the
//! capacity of each path to causes (docs/events.md); a run on real packets brings the same facts.

mod buffers;
mod facts;
mod finding;
mod findings;
mod queues;

pub use facts::{AbsentFacts, FlowFacts, PathFacts};
pub use finding::Finding;
pub use findings::{findings, is_healthy, reached, sentences};
pub use queues::{is_bloated, long_queues, queueing_delay};

/// A flow that uses this share of its links' capacity is healthy.
pub const FULL: f64 = 0.9;
/// Minimum share of the links' capacity for which a cause is named.
pub const LEAST: f64 = 0.03;
/// A path that lacked a subflow for this share of the time, and carried nothing, never joined.
pub const NEVER_JOINED: f64 = 0.9;
/// Causes that a larger buffer removes.
pub const BUFFERS: [&str; 3] = ["receive_window", "send_buffer", "both_buffers"];
/// A full Ethernet frame, bits.
pub const FRAME_BITS: f64 = 1514.0 * 8.0;

/// Causes that belong to one path.
const OF_PATHS: [&str; 20] = [
    "lower_rate",
    "down",
    "loss",
    "queue_overflow",
    "policer",
    "path_mtu",
    "middlebox",
    "ack_loss",
    "reordering",
    "delay_change",
    "spurious",
    "window",
    "ack_queue",
    "scheduler",
    "penalty",
    "pacing",
    "local_queue",
    "joining",
    "closed",
    "cross_traffic",
];
