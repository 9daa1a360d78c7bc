//! A listening port as a Python object, similar to `socket.socket`.
//!
//! Owns the reference to the listener and its timeout.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::stream::MptcpStream;
use super::{name, patiently, span, unless_blocked};

/// A port that accepts MPTCP and TCP connections.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct MptcpListener {
    inner: RwLock<Option<Arc<mptcp_live::MptcpListener>>>,
    timeout: RwLock<Option<f64>>,
}

impl MptcpListener {
    pub(super) fn new(listener: mptcp_live::MptcpListener) -> Self {
        Self { inner: RwLock::new(Some(Arc::new(listener))), timeout: RwLock::new(None) }
    }

    fn get(&self) -> PyResult<Arc<mptcp_live::MptcpListener>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| PyOSError::new_err("the listener is closed"))
    }
}

#[pymethods]
impl MptcpListener {
    /// Waits for a connection. Returns it with the peer's address and port.
    fn accept(&self, py: Python<'_>) -> PyResult<(MptcpStream, (String, u16))> {
        let listener = self.get()?;
        let (stream, peer) =
            patiently(py, span(self.gettimeout())?, |slice| unless_blocked(listener.accept_timeout(slice)))?;
        Ok((MptcpStream::new(stream)?, name(peer)))
    }

    /// Sets the seconds that `accept` waits before it raises `TimeoutError`. None waits forever, 0 not at all.
    fn settimeout(&self, timeout: Option<f64>) -> PyResult<()> {
        span(timeout)?;
        *self.timeout.write().unwrap_or_else(PoisonError::into_inner) = timeout;
        Ok(())
    }

    /// The timeout in seconds.
    fn gettimeout(&self) -> Option<f64> {
        *self.timeout.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The local address and port.
    fn getsockname(&self) -> PyResult<(String, u16)> {
        self.get().map(|listener| name(listener.local_addr()))
    }

    /// Stops listening, and resets connections that were not accepted.
    fn close(&self) {
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(&self, _kind: Option<Py<PyAny>>, _error: Option<Py<PyAny>>, _trace: Option<Py<PyAny>>) {
        self.close();
    }
}
