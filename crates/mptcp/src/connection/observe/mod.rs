//! Events of a connection for an observer. Nothing here changes the protocol's behaviour.

pub(crate) mod changes;
pub mod limits;
pub(crate) mod observer;
pub(crate) mod reasons;
