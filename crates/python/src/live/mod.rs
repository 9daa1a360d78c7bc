//! Python bindings of MPTCP on real packets, without logic.
//!
//! Owns the conversion of values and the waiting in slices. A waiting call releases the interpreter, and handles
//! signals such as Ctrl-C between two slices. Never decides anything about a connection.

mod bulk;
mod config;
mod driver;
mod info;
mod listener;
mod stream;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyBlockingIOError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;

pub(crate) use bulk::{kernel_receive_for, kernel_send_for};
pub(crate) use driver::Driver;
pub(crate) use info::connection as connection_row;
pub(crate) use listener::MptcpListener;
pub(crate) use stream::MptcpStream;

/// Maximum delay before a signal such as Ctrl-C is handled.
const SLICE: Duration = Duration::from_millis(100);

/// The result of one attempt; None to wait longer.
type Attempt<T> = io::Result<Option<T>>;

/// Converts a timeout as in Python's sockets: None waits forever, 0 not at all.
fn span(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let told = |seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| PyValueError::new_err(format!("timeout = {seconds}: must be 0 or more seconds")))
    };
    seconds.map(told).transpose()
}

/// Repeats `attempt` until it has a result, the timeout has passed, or a signal handler raises. `attempt` may wait for
/// the given time.
fn patiently<T: Send>(
    py: Python<'_>,
    timeout: Option<Duration>,
    attempt: impl Fn(Duration) -> Attempt<T> + Sync,
) -> PyResult<T> {
    let deadline = timeout.and_then(|span| Instant::now().checked_add(span));
    loop {
        let left = deadline.map_or(SLICE, |at| at.saturating_duration_since(Instant::now()));
        if let Some(got) = py.detach(|| attempt(left.min(SLICE)))? {
            return Ok(got);
        }
        py.check_signals()?;
        if deadline.is_some_and(|at| at <= Instant::now()) {
            return Err(match timeout {
                Some(Duration::ZERO) => PyBlockingIOError::new_err("the call would block"),
                _ => PyTimeoutError::new_err("timed out"),
            });
        }
    }
}

/// Converts "would block" to None.
fn unless_blocked<T>(result: io::Result<T>) -> Attempt<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        other => other.map(Some),
    }
}

/// An address as in Python's sockets.
fn name(address: SocketAddr) -> (String, u16) {
    (address.ip().to_string(), address.port())
}
