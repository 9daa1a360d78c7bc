pub(crate) mod changes;
pub mod limits;
pub(crate) mod reasons;
pub(crate) mod watch;
