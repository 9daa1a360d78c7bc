//! Linux's data path, as an alternative that `Config::linux_stack` selects for comparison with the kernel.
//!
//! Owns subflow queues (`queues`), reinjection (`reinject`) and the receive window (`window`) as Linux implements them.
//! Never active by default.

pub(crate) mod queues;
pub(crate) mod reinject;
pub(crate) mod window;
