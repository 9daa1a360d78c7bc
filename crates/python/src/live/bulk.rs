//! Bulk transfers of `bench wire`, without logic: a loop of blocking calls in Rust, for mptcplab and for the kernel.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use mptcp_live::bulk::{Moved, receive_on_kernel, send_on_kernel};
use mptcp_live::kernel::duplicate;
use pyo3::prelude::*;

use super::span;

/// Bytes, seconds, and whether the peer has closed the connection.
pub(super) type Bulk = (u64, f64, bool);

pub(super) fn time(seconds: f64) -> PyResult<Duration> {
    span(Some(seconds)).map(Option::unwrap_or_default)
}

pub(super) fn result(moved: io::Result<Moved>) -> PyResult<Bulk> {
    let moved = moved?;
    Ok((moved.bytes, moved.time.as_secs_f64(), moved.ended))
}

/// Sends on a blocking socket of the kernel, for a time. Returns what `MptcpStream.send_for` returns.
#[pyfunction]
pub(crate) fn kernel_send_for(
    py: Python<'_>,
    descriptor: RawFd,
    seconds: f64,
    block: usize,
) -> PyResult<Bulk> {
    let (stream, time) = (duplicate(descriptor)?, time(seconds)?);
    result(py.detach(|| send_on_kernel(&stream, block, time)))
}

/// As `kernel_send_for`, in the other direction.
#[pyfunction]
pub(crate) fn kernel_receive_for(
    py: Python<'_>,
    descriptor: RawFd,
    seconds: f64,
    block: usize,
) -> PyResult<Bulk> {
    let (stream, time) = (duplicate(descriptor)?, time(seconds)?);
    result(py.detach(|| receive_on_kernel(&stream, block, time)))
}
