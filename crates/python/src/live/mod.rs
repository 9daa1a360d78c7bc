//! Multipath TCP on real packets for Python: thin, no logic.
//!
//! Owns the conversion of values and waiting in slices: the interpreter is released while a call waits, and between two
//! slices Ctrl-C is answered. Never decides anything about a connection.

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

pub(crate) use driver::Driver;
pub(crate) use listener::MptcpListener;
pub(crate) use stream::MptcpStream;

/// How long a signal may wait.
const SLICE: Duration = Duration::from_millis(100);

/// What is at hand now; None means to wait (longer).
type Attempt<T> = io::Result<Option<T>>;

/// A timeout as Python's sockets have it: None is for ever, 0 not at all.
fn span(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let told = |seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| PyValueError::new_err(format!("a timeout is 0 or more seconds, not {seconds}")))
    };
    seconds.map(told).transpose()
}

/// Tries until there is something, the timeout has passed, or a signal handler raises. `attempt` may wait for as long as
/// it is told.
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
                Some(Duration::ZERO) => PyBlockingIOError::new_err("nothing is there now"),
                _ => PyTimeoutError::new_err("timed out"),
            });
        }
    }
}

/// Turns "would block" into waiting.
fn unless_blocked<T>(result: io::Result<T>) -> Attempt<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        other => other.map(Some),
    }
}

/// An address as Python's sockets have it.
fn name(address: SocketAddr) -> (String, u16) {
    (address.ip().to_string(), address.port())
}
