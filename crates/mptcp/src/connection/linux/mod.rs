pub(crate) mod queues;
pub(crate) mod reinject;
pub(crate) mod window;
