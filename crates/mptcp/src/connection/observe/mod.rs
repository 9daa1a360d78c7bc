//! Events of a connection for an observer.
//!
//! Owns the comparison of states (`changes`, `observer`), the reasons for scheduling and blocking (`reasons`), and the
//! time per limit (`limits`). Never changes the protocol's behaviour.

pub(crate) mod changes;
pub mod limits;
pub(crate) mod observer;
pub(crate) mod reasons;
