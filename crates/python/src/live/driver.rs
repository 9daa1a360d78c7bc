//! A running endpoint as a Python object, for `mptcplab.live.Driver`.
//!
//! Owns the reference to the driver and its event log; decides nothing about connections.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use mptcp_live::observe::Wanted;
use mptcp_live::{Ethernet, EventLog, Interface, InterfaceId, Link, Offload, Tun};
use pyo3::exceptions::{PyOSError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::config::Table;
use super::{MptcpListener, MptcpStream, patiently, span};
use crate::events::{Trace, filter, plain_columns};

/// An endpoint over TUN devices, with its thread.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Driver {
    inner: RwLock<Option<Arc<mptcp_live::Driver>>>,
    events: OnceLock<Arc<EventLog>>,
}

impl Driver {
    fn get(&self) -> PyResult<Arc<mptcp_live::Driver>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| PyOSError::new_err("the driver has stopped"))
    }
}

/// Name, addresses of the endpoint, backup, offload, and Ethernet address of the next hop.
type Device = (String, Vec<String>, bool, bool, Option<String>);

/// Parses an Ethernet address, such as `02:00:00:00:00:01`.
fn ethernet_address(text: &str) -> PyResult<[u8; 6]> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|part| u8::from_str_radix(part, 16).ok()).collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| {
        PyValueError::new_err(format!("{text:?}: must be an Ethernet address, such as 02:00:00:00:00:01"))
    })
}

/// Parses an IP address.
pub(super) fn address(text: &str) -> PyResult<IpAddr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("{text:?}: must be an IP address")))
}

#[pymethods]
impl Driver {
    /// Starts an endpoint over existing or new devices: (name, addresses of the endpoint, backup, offload, Ethernet
    /// address of the next hop). Without a next hop, the device is a TUN device. With `pcap`, captures every packet to
    /// that file.
    #[new]
    #[pyo3(signature = (interfaces, pcap = None))]
    fn new(interfaces: Vec<Device>, pcap: Option<PathBuf>) -> PyResult<Self> {
        let mut opened = Vec::new();
        for (name, addresses, backup, offload, next_hop) in interfaces {
            let addresses = addresses.iter().map(|text| address(text)).collect::<PyResult<Vec<_>>>()?;
            let offload = if offload { Offload::Full } else { Offload::None };
            let link = match next_hop {
                Some(next_hop) => Link::from(Ethernet::open(&name, ethernet_address(&next_hop)?)?),
                None => Link::from(Tun::open_with(&name, offload)?),
            };
            opened.push(Interface { backup, ..Interface::new(link, addresses) });
        }
        let driver = mptcp_live::Driver::start_captured(opened, pcap.as_deref())?;
        Ok(Self { inner: RwLock::new(Some(Arc::new(driver))), events: OnceLock::new() })
    }

    /// The addresses of the endpoint: (interface number, address, device, MTU).
    fn addresses(&self) -> PyResult<Vec<(u32, String, String, usize)>> {
        let driver = self.get()?;
        let rows = driver
            .addresses()
            .iter()
            .map(|known| (known.interface.0, known.address.to_string(), known.device.clone(), known.mtu));
        Ok(rows.collect())
    }

    /// Records the events of later connections, at most `limit` between two calls of `take_events`. `wanted` has the
    /// form of `trace` in `run` (results.rs).
    fn trace(&self, wanted: Trace, limit: u64) -> PyResult<()> {
        let Some(filter) = filter(Some(wanted))? else { return Ok(()) };
        let driver = self.get()?;
        let log = Arc::new(EventLog::new(&driver, limit));
        if self.events.set(Arc::clone(&log)).is_err() {
            return Err(PyValueError::new_err("the driver is already traced; start another driver"));
        }
        let wanted = Wanted { kinds: filter.kinds, from: filter.from, until: filter.until };
        driver.observe(log, wanted);
        Ok(())
    }

    /// The events since the last call, as columns; None if tracing is off.
    fn take_events<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.events.get().map(|log| plain_columns(py, log.take())).transpose()
    }

    /// Packet counters since the start.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.get()?.counters();
        let row = PyDict::new(py);
        row.set_item("received", counters.received)?;
        row.set_item("ignored", counters.ignored)?;
        row.set_item("sent", counters.sent)?;
        row.set_item("dropped", counters.dropped)?;
        Ok(row)
    }

    /// Connects to an address and port. `timeout` is in seconds; None waits forever.
    #[pyo3(signature = (host, port, config, timeout = None))]
    fn connect(
        &self,
        py: Python<'_>,
        host: &str,
        port: u16,
        config: Table,
        timeout: Option<f64>,
    ) -> PyResult<MptcpStream> {
        let remote = SocketAddr::new(address(host)?, port);
        let stream = mptcp_live::MptcpStream::open(&*self.get()?, remote, config.config()?)?;
        let connected = patiently(py, span(timeout)?, |slice| {
            stream.wait_connected(Some(slice)).map(|done| done.then_some(()))
        });
        match connected {
            Err(error) if error.is_instance_of::<PyTimeoutError>(py) => {
                let spent = timeout.map_or(String::new(), |seconds| format!(" in {seconds} s"));
                Err(PyTimeoutError::new_err(format!("no answer from {remote}{spent}")))
            }
            Err(error) => Err(error),
            Ok(()) => MptcpStream::new(stream),
        }
    }

    /// Listens on an address of the endpoint, or on all (`0.0.0.0`, `::`). Port 0 selects a free port.
    #[pyo3(signature = (host, port, config, backlog))]
    fn listen(&self, host: &str, port: u16, config: Table, backlog: usize) -> PyResult<MptcpListener> {
        let at = SocketAddr::new(address(host)?, port);
        let config = config.config()?;
        Ok(MptcpListener::new(mptcp_live::MptcpListener::bind_to(&*self.get()?, at, config, backlog)?))
    }

    /// Brings an interface up or down, for all connections.
    fn set_interface(&self, interface: u32, up: bool) -> PyResult<()> {
        Ok(self.get()?.set_interface(InterfaceId(interface), up)?)
    }

    /// Makes the subflows of an interface backup or regular subflows.
    fn set_backup(&self, interface: u32, backup: bool) -> PyResult<()> {
        Ok(self.get()?.set_backup(InterfaceId(interface), backup)?)
    }

    /// Waits at most `timeout` seconds until connections without sockets have ended. Returns whether they have.
    fn drain(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        let driver = self.get()?;
        let drained = patiently(py, span(Some(timeout))?, |slice| Ok(driver.drain(slice).then_some(())));
        match drained {
            Ok(()) => Ok(true),
            // With a timeout of 0, the call only checks.
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyOSError>(py) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Resets the remaining connections and ends the thread. Raises an error if the capture could not be written.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let driver = self.inner.write().unwrap_or_else(PoisonError::into_inner).take();
        let Some(driver) = driver else { return Ok(()) };
        // Another thread may still be in a call that holds the driver; wait until it returns.
        py.detach(|| {
            let mut shared = driver;
            loop {
                match Arc::try_unwrap(shared) {
                    Ok(alone) => return alone.stop(),
                    Err(still) => shared = still,
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        })?;
        Ok(())
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Option<Py<PyAny>>,
        _error: Option<Py<PyAny>>,
        _trace: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.stop(py)
    }
}
