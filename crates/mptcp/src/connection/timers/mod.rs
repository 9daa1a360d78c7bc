//! Timers of a connection: window probes, data-level retransmissions, the DATA_FIN and announcements.
//!
//! Owns the deadlines (`deadlines`), the choice of timers and their durations (`arm`), and `handle_timeout`, which runs
//! expired timers (`timeouts`). Never owns the timers of subflows.

pub(crate) mod arm;
pub(crate) mod deadlines;
pub(crate) mod timeouts;
