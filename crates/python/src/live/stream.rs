//! A connection as a Python object, similar to `socket.socket`.
//!
//! Owns the reference to the stream, its timeout, and the conversion of buffers.

use std::net::Shutdown;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView, PySlice};

use super::bulk::{self, Bulk};
use super::{SLICE, config, info, name, patiently, span, unless_blocked};

/// Maximum bytes that are copied from a Python buffer at once.
const PIECE: usize = 1 << 20;

/// Mean slice length, in bytes, below which slices are joined.
const SMALL: usize = 8192;

/// A connection.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct MptcpStream {
    inner: RwLock<Option<Arc<mptcp_live::MptcpStream>>>,
    timeout: RwLock<Option<f64>>,
}

impl MptcpStream {
    pub(super) fn new(stream: mptcp_live::MptcpStream) -> PyResult<Self> {
        // A call on the inner stream waits at most `SLICE`; `patiently` repeats it until the timeout that
        // Python set (`timeout`).
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(SLICE))?;
        Ok(Self { inner: RwLock::new(Some(Arc::new(stream))), timeout: RwLock::new(None) })
    }

    fn get(&self) -> PyResult<Arc<mptcp_live::MptcpStream>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| PyOSError::new_err("the socket is closed"))
    }

    fn read(&self, py: Python<'_>, most: usize) -> PyResult<Vec<Bytes>> {
        let stream = self.get()?;
        patiently(py, span(self.gettimeout())?, |_| unless_blocked(stream.read_slices(most)))
    }
}

#[pymethods]
impl MptcpStream {
    /// Reads at most `size` bytes. Returns an empty result at the end of the peer's stream.
    fn recv<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        let slices = self.read(py, size)?;
        let length = slices.iter().map(Bytes::len).sum();
        PyBytes::new_with(py, length, |room| {
            let mut begin = 0;
            for slice in &slices {
                room[begin..begin + slice.len()].copy_from_slice(slice);
                begin += slice.len();
            }
            Ok(())
        })
    }

    /// Reads into a writable buffer, such as a bytearray. Returns the number of bytes.
    fn recv_into(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let room = bytes_of(buffer)?;
        if room.getattr("readonly")?.extract()? {
            return Err(PyBufferError::new_err("recv_into needs a writable buffer"));
        }
        let mut slices = self.read(py, room.len()?)?;
        let count = slices.iter().map(Bytes::len).sum::<usize>();
        if count < slices.len() * SMALL {
            // Joining small slices costs less than one view for each.
            slices = vec![Bytes::from(slices.concat())];
        }
        let mut begin = 0;
        for slice in slices {
            let part = room.get_item(PySlice::new(py, begin, begin + slice.len() as isize, 1))?;
            PyBuffer::<u8>::get(&part)?.copy_from_slice(py, &slice)?;
            begin += slice.len() as isize;
        }
        Ok(count)
    }

    /// Writes as much as the send buffer has space for. Returns the number of bytes.
    fn send(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let piece = piece(&bytes_of(data)?, 0)?;
        let stream = self.get()?;
        patiently(py, span(self.gettimeout())?, |_| unless_blocked(stream.write_bytes(&piece)))
    }

    /// Writes all data.
    fn sendall(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = bytes_of(data)?;
        let stream = self.get()?;
        let timeout = span(self.gettimeout())?;
        let mut sent = 0;
        loop {
            let mut piece = piece(&data, sent)?;
            if piece.is_empty() {
                return Ok(());
            }
            sent += piece.len();
            while !piece.is_empty() {
                let taken = patiently(py, timeout, |_| unless_blocked(stream.write_bytes(&piece)))?;
                piece = piece.slice(taken..);
            }
        }
    }

    /// Sends for a time with blocking calls of `block` bytes. Returns the bytes, the seconds, and whether the peer has
    /// closed the connection.
    fn send_for(&self, py: Python<'_>, seconds: f64, block: usize) -> PyResult<Bulk> {
        let (stream, time) = (self.get()?, bulk::time(seconds)?);
        bulk::result(py.detach(|| mptcp_live::bulk::send(&stream, block, time)))
    }

    /// As `send_for`, in the other direction.
    fn receive_for(&self, py: Python<'_>, seconds: f64, block: usize) -> PyResult<Bulk> {
        let (stream, time) = (self.get()?, bulk::time(seconds)?);
        bulk::result(py.detach(|| mptcp_live::bulk::receive(&stream, block, time)))
    }

    /// Closes one or both directions: `SHUT_RD` (0), `SHUT_WR` (1) or `SHUT_RDWR` (2) of the module socket.
    fn shutdown(&self, how: i32) -> PyResult<()> {
        let how = match how {
            0 => Shutdown::Read,
            1 => Shutdown::Write,
            2 => Shutdown::Both,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "how = {how}: must be SHUT_RD, SHUT_WR or SHUT_RDWR"
                )));
            }
        };
        Ok(self.get()?.shutdown(how)?)
    }

    /// Closes the connection in the background, or resets it if data was left unread.
    fn close(&self) {
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Aborts the connection and notifies the peer (MP_FASTCLOSE).
    fn abort(&self) -> PyResult<()> {
        Ok(self.get()?.abort()?)
    }

    /// Sets the seconds that a call waits before it raises `TimeoutError`. None waits forever, 0 not at all.
    fn settimeout(&self, timeout: Option<f64>) -> PyResult<()> {
        span(timeout)?;
        *self.timeout.write().unwrap_or_else(PoisonError::into_inner) = timeout;
        Ok(())
    }

    /// The timeout in seconds.
    fn gettimeout(&self) -> Option<f64> {
        *self.timeout.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Disables or enables Nagle's algorithm.
    fn set_nodelay(&self, nodelay: bool) -> PyResult<()> {
        Ok(self.get()?.set_nodelay(nodelay)?)
    }

    /// Changes the congestion controller.
    fn set_congestion(&self, congestion: &str) -> PyResult<()> {
        Ok(self.get()?.set_congestion(&config::congestion(congestion)?)?)
    }

    /// Changes the scheduler.
    fn set_scheduler(&self, scheduler: &str) -> PyResult<()> {
        Ok(self.get()?.set_scheduler(&config::scheduler(scheduler)?)?)
    }

    /// State of the connection and its paths; see `ConnectionInfo`.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::connection(py, &self.get()?.info()?)
    }

    /// The local address and port.
    fn getsockname(&self) -> PyResult<(String, u16)> {
        Ok(name(self.get()?.local_addr()?))
    }

    /// The peer's address and port.
    fn getpeername(&self) -> PyResult<(String, u16)> {
        Ok(name(self.get()?.peer_addr()?))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(&self, _kind: Option<Py<PyAny>>, _error: Option<Py<PyAny>>, _trace: Option<Py<PyAny>>) {
        self.close();
    }
}

/// A byte view of any buffer.
fn bytes_of<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    PyMemoryView::from(data)?.call_method1("cast", ("B",))
}

/// A copy of at most `PIECE` bytes of a view, from `begin` on.
fn piece(view: &Bound<'_, PyAny>, begin: usize) -> PyResult<Bytes> {
    let (begin, end) = (begin as isize, begin.saturating_add(PIECE) as isize);
    let part = view.get_item(PySlice::new(view.py(), begin, end, 1))?;
    PyBuffer::<u8>::get(&part)?.to_vec(view.py()).map(Bytes::from)
}
