pub(crate) mod changes;
pub mod limits;
pub(crate) mod observer;
pub(crate) mod reasons;
