//! Linux's data path, as alternatives that `Config::linux_stack` selects: subflow queues, reinjection, receive window.

pub(crate) mod queues;
pub(crate) mod reinject;
pub(crate) mod window;
