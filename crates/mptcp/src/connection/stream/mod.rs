//! The byte streams of a connection, one in each direction.
//!
//! Owns written data (`send_buffer`), the writer (`write`, `writer`), and the reassembly of received data (`recv`).
//! Never sends or receives a segment.

pub(crate) mod recv;
pub(crate) mod send_buffer;
pub(crate) mod write;
pub(crate) mod writer;
