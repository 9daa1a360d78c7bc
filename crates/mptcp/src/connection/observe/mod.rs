//! Events of a connection for an observer: they show why data was sent or blocked.
//!
//! Owns the comparison of states (`changes`, `observer`), the reasons for scheduling and blocking (`reasons`), and the
//! time per limit (`limits`). Never changes the protocol's behaviour.

pub(crate) mod changes;
pub mod limits;
pub(crate) mod observer;
pub(crate) mod reasons;
