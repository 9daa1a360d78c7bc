//! The byte streams of a connection: writes and send buffer in one direction, reassembly in the other.

pub(crate) mod recv;
pub(crate) mod send_buffer;
pub(crate) mod write;
pub(crate) mod writer;
