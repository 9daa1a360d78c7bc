pub(crate) mod recv;
pub(crate) mod send_buffer;
pub(crate) mod write;
pub(crate) mod writer;
