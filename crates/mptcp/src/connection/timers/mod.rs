//! Timers of a connection: deadlines, arming, and `handle_timeout` for expired ones.

pub(crate) mod arm;
pub(crate) mod deadlines;
pub(crate) mod timeouts;
